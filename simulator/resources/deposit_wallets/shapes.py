"""How deposit wallets, Lightning entries and deposits are shown: the table "Deposit wallet" and what follows it.

Each variant has its own shape; fields of another variant are absent (decision H19).
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, cast

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_decimal
from simulator.kernel.world import World
from simulator.resources.deposit_wallets.records import (
    Deposit,
    Invoice,
    LightningAddress,
    LightningEntry,
    Wallet,
    addresses_by_wallet,
    entries,
    wallets,
)
from simulator.resources.reference import NETWORK_ASSETS, listing
from simulator.wire.json import JsonObject
from simulator.wire.shapes import AmountText, Assumed, Count, Format, Pagination, Prefix, Timestamp

WalletNetwork = Literal["stellar", "celo", "bitcoin"]
WalletStatus = Literal["active", "disabled"]

TOKEN_PATTERN = r"^[A-Za-z0-9]{1,12}$"
"""Whatever somebody sends to an address: assets of the service, and tokens that it does not know."""
TokenText = Annotated[str, Format(pattern=TOKEN_PATTERN)]
NullableText = Annotated[str | None, Assumed("H19")]


class LightningAddressShape(TypedDict):
    id: Annotated[str, Prefix("ln_")]
    wallet_id: NotRequired[Annotated[str, Prefix("wal_")]]
    type: Literal["lightning_address"]
    address: str
    lnurl: Annotated[str, Format(pattern="^lnurl1[02-9ac-hj-np-z]+$")]
    status: Annotated[Literal["active", "disabled"], Assumed("S13")]
    created_at: Timestamp


class InvoiceShape(TypedDict):
    id: Annotated[str, Prefix("ln_")]
    wallet_id: NotRequired[Annotated[str, Prefix("wal_")]]
    type: Literal["invoice"]
    payment_request: Annotated[str, Format(pattern="^lnbc[02-9ac-hj-np-z0-9]+$")]
    amount_sats: Count
    description: NullableText
    status: Annotated[Literal["pending", "paid", "expired", "disabled"], Assumed("S13")]
    expires_at: Timestamp
    created_at: Timestamp


class LightningAddressObject(LightningAddressShape):
    """A Lightning address as events carry it."""

    reference: Annotated[str | None, Assumed("W8")]


class InvoiceObject(InvoiceShape):
    """An invoice as events carry it."""

    reference: Annotated[str | None, Assumed("W8")]


class StellarWallet(TypedDict):
    id: Annotated[str, Prefix("wal_")]
    network: Literal["stellar"]
    assets: list[Literal["XLM", "USDC"]]
    address: Annotated[str, Format(pattern="^G[A-Z2-7]{55}$")]
    memo: Annotated[str, Format(pattern="^[0-9]+$")]
    memo_type: Literal["id"]
    label: NullableText
    reference: NullableText
    status: WalletStatus
    created_at: Timestamp


class CeloWallet(TypedDict):
    id: Annotated[str, Prefix("wal_")]
    network: Literal["celo"]
    assets: list[Literal["CELO", "USDT", "USDC", "CUSD"]]
    address: Annotated[str, Format(pattern="^0x[0-9a-fA-F]{40}$")]
    label: NullableText
    reference: NullableText
    status: WalletStatus
    created_at: Timestamp


class BitcoinWallet(TypedDict):
    id: Annotated[str, Prefix("wal_")]
    network: Literal["bitcoin"]
    assets: list[Literal["BTC"]]
    address: Annotated[str, Format(pattern="^bc1[02-9ac-hj-np-z]+$")]
    lightning_addresses: list[LightningAddressShape]
    confirmations_required: Count
    label: NullableText
    reference: NullableText
    status: WalletStatus
    created_at: Timestamp


class OnChainDeposit(TypedDict):
    id: Annotated[str, Prefix("dep_")]
    wallet_id: Annotated[str, Prefix("wal_")]
    network: WalletNetwork
    asset: TokenText
    amount: AmountText
    channel: Literal["on_chain"]
    tx_hash: str
    confirmations: Count
    status: Annotated[Literal["detected", "confirmed", "failed"], Assumed("S12")]
    reference: NullableText
    reason: NotRequired[Annotated[str, Assumed("S12")]]
    created_at: Timestamp


class LightningDeposit(TypedDict):
    id: Annotated[str, Prefix("dep_")]
    wallet_id: Annotated[str, Prefix("wal_")]
    network: Literal["bitcoin"]
    asset: Literal["BTC"]
    amount: AmountText
    channel: Literal["lightning"]
    tx_hash: None
    status: Annotated[Literal["confirmed"], Assumed("S13")]
    reference: NullableText
    created_at: Timestamp


WalletShape: TypeAlias = StellarWallet | CeloWallet | BitcoinWallet
LightningShape: TypeAlias = LightningAddressShape | InvoiceShape
DepositShape: TypeAlias = OnChainDeposit | LightningDeposit


class WalletList(TypedDict):
    data: list[WalletShape]
    pagination: Pagination


class LightningList(TypedDict):
    data: list[LightningShape]
    pagination: Pagination


class DepositList(TypedDict):
    data: list[DepositShape]
    pagination: Pagination


def render_wallet(world: World, wallet: Wallet) -> JsonObject:
    """The wallet in the shape of its network; a bitcoin wallet with all its Lightning addresses, oldest first."""
    shape: JsonObject = {
        "id": wallet.id,
        "network": wallet.network,
        "assets": list(NETWORK_ASSETS[wallet.network]),
        "address": wallet.address,
    }
    if wallet.network == "stellar":
        shape |= {"memo": wallet.memo, "memo_type": "id"}
    if wallet.network == "bitcoin":
        table = entries(world, wallet.environment)
        own = addresses_by_wallet(world, wallet.environment).get(wallet.id) or ()
        shape["lightning_addresses"] = [render_entry(world, table[entry_id], nested=True) for entry_id in own]
        shape["confirmations_required"] = required_confirmations(wallet.network)
    return shape | {
        "label": wallet.label,
        "reference": wallet.reference,
        "status": wallet.status,
        "created_at": format_timestamp(wallet.created_at_ms),
    }


def render_entry(world: World, entry: LightningEntry, *, nested: bool = False) -> JsonObject:
    """A Lightning entry in the shape of its type; inside its wallet without `wallet_id`."""
    head: JsonObject = {"id": entry.id} if nested else {"id": entry.id, "wallet_id": entry.wallet_id}
    head["type"] = entry.kind
    if entry.kind == "invoice":
        invoice = cast(Invoice, entry)
        return head | {
            "payment_request": invoice.payment_request,
            "amount_sats": invoice.amount_sats,
            "description": invoice.description,
            "status": invoice.status,
            "expires_at": format_timestamp(invoice.expires_at_ms),
            "created_at": format_timestamp(invoice.created_at_ms),
        }
    address = cast(LightningAddress, entry)
    return head | {
        "address": address.address,
        "lnurl": address.lnurl,
        "status": address.status,
        "created_at": format_timestamp(address.created_at_ms),
    }


def entry_in_events(world: World, entry: LightningEntry) -> JsonObject:
    """What the events of a Lightning entry carry besides: the reference of its wallet (decision W8)."""
    return {"reference": wallets(world, entry.environment)[entry.wallet_id].reference}


def render_deposit(world: World, deposit: Deposit) -> JsonObject:
    """A deposit; on-chain with `confirmations`, failed with `reason` (decision S12)."""
    shape: JsonObject = {
        "id": deposit.id,
        "wallet_id": deposit.wallet_id,
        "network": deposit.network,
        "asset": deposit.asset,
        "amount": format_decimal(deposit.amount),
        "channel": deposit.channel,
        "tx_hash": deposit.tx_hash,
    }
    if deposit.confirmations is not None:
        shape["confirmations"] = deposit.confirmations
    shape |= {"status": deposit.status, "reference": deposit.reference}
    if deposit.reason is not None:
        shape["reason"] = deposit.reason
    shape["created_at"] = format_timestamp(deposit.created_at_ms)
    return shape


def required_confirmations(network: str) -> int:
    """On-chain confirmations before a deposit is credited, from the currency listing."""
    return listing(NETWORK_ASSETS[network][0], network).confirmations
