"""Renders wallets, Lightning entries and deposits as response models."""

from __future__ import annotations

from typing_extensions import TypedDict

from simulator.engine.records.records import present
from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_decimal
from simulator.kernel.world import World
from simulator.providers.ramp.deposit_wallets import records, shapes
from simulator.providers.ramp.deposit_wallets.records import Deposit, Invoice, LightningAddress, LightningEntry, Wallet
from simulator.providers.ramp.reference import LISTINGS, NETWORK_ASSETS


def render_wallet(world: World, wallet: Wallet) -> shapes.WalletShape:
    """Return the wallet in the response model for its network. The Lightning addresses are oldest first."""
    assets = list(NETWORK_ASSETS[wallet.network])
    tail: shapes.WalletLabels = {
        "label": wallet.label,
        "reference": wallet.reference,
        "status": wallet.status,
        "created_at": format_timestamp(wallet.created_at_ms),
    }
    if wallet.network == "stellar":
        return {
            "id": wallet.id,
            "network": "stellar",
            "assets": assets,
            "address": wallet.address,
            "memo": present(wallet.memo),
            "memo_type": "id",
            **tail,
        }
    if wallet.network == "celo":
        return {"id": wallet.id, "network": "celo", "assets": assets, "address": wallet.address, **tail}
    return {
        "id": wallet.id,
        "network": "bitcoin",
        "assets": assets,
        "address": wallet.address,
        "lightning_addresses": _addresses(world, wallet),
        "confirmations_required": required_confirmations(wallet.network),
        **tail,
    }


def _addresses(world: World, wallet: Wallet) -> list[shapes.LightningAddressShape]:
    table = records.entries(world, wallet.environment)
    own = world.store[records.ADDRESSES_BY_WALLET.of(wallet.environment)].get(wallet.id) or ()
    shown = [_render_address(entry) for entry in map(table.__getitem__, own) if isinstance(entry, LightningAddress)]
    for shape in shown:
        del shape["wallet_id"]
    return shown


def render_entry(world: World, entry: LightningEntry) -> shapes.LightningEntryShape:
    """Return a Lightning entry in the response model for its type."""
    return _render_invoice(entry) if isinstance(entry, Invoice) else _render_address(entry)


def _render_invoice(invoice: Invoice) -> shapes.InvoiceShape:
    return {
        "id": invoice.id,
        "wallet_id": invoice.wallet_id,
        "type": "invoice",
        "payment_request": invoice.payment_request,
        "amount_sats": invoice.amount_sats,
        "description": invoice.description,
        "status": invoice.status,
        "expires_at": format_timestamp(invoice.expires_at_ms),
        "created_at": format_timestamp(invoice.created_at_ms),
    }


def _render_address(address: LightningAddress) -> shapes.LightningAddressShape:
    return {
        "id": address.id,
        "wallet_id": address.wallet_id,
        "type": "lightning_address",
        "address": address.address,
        "lnurl": address.lnurl,
        "status": address.status,
        "created_at": format_timestamp(address.created_at_ms),
    }


def entry_in_events(world: World, entry: LightningEntry) -> dict[str, str | None]:
    """Return the additional field for events about a Lightning entry: the reference of its wallet (decision W8)."""
    return {"reference": records.wallets(world, entry.environment)[entry.wallet_id].reference}


class _Reason(TypedDict, total=False):
    reason: str


def render_deposit(world: World, deposit: Deposit) -> shapes.DepositShape:
    """Return a deposit (S12). An on-chain deposit has `confirmations`, and a failed deposit has `reason`."""
    if deposit.channel == "lightning":
        return {
            "id": deposit.id,
            "wallet_id": deposit.wallet_id,
            "network": "bitcoin",
            "asset": "BTC",
            "amount": format_decimal(deposit.amount),
            "channel": "lightning",
            "tx_hash": None,
            "status": deposit.status,
            "reference": deposit.reference,
            "created_at": format_timestamp(deposit.created_at_ms),
        }
    reason: _Reason = {} if deposit.reason is None else {"reason": deposit.reason}
    return {
        "id": deposit.id,
        "wallet_id": deposit.wallet_id,
        "network": deposit.network,
        "asset": deposit.asset,
        "amount": format_decimal(deposit.amount),
        "channel": "on_chain",
        "tx_hash": present(deposit.tx_hash),
        "confirmations": present(deposit.confirmations),
        "status": deposit.status,
        "reference": deposit.reference,
        **reason,
        "created_at": format_timestamp(deposit.created_at_ms),
    }


def required_confirmations(network: str) -> int:
    """Return the number of confirmations that an on-chain deposit needs. The number is part of the currency listing."""
    return LISTINGS[NETWORK_ASSETS[network][0], network].confirmations
