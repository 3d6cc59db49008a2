"""How deposit wallets, Lightning entries and deposits are shown: the table "Deposit wallet" and what follows it.

Each variant has its own shape; fields of another variant are absent (decision H19).
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_decimal
from simulator.kernel.world import World
from simulator.resources.deposit_wallets.records import (
    ADDRESSES_BY_WALLET,
    Deposit,
    Invoice,
    LightningAddress,
    LightningEntry,
    Wallet,
    entries,
    wallets,
)
from simulator.resources.deposit_wallets.states import DEPOSIT_STATUSES, INVOICE, LIGHTNING_ADDRESS, WALLET_STATUSES
from simulator.resources.reference import NETWORK_ASSETS, NETWORKS, listing
from simulator.wire.records import present
from simulator.wire.shapes import AmountText, Assumed, Clauses, Count, Format, OneOf, Pagination, Prefix, Timestamp

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
    status: Annotated[str, OneOf(tuple(LIGHTNING_ADDRESS.rows)), Assumed("S13")]
    created_at: Timestamp


class InvoiceShape(TypedDict):
    id: Annotated[str, Prefix("ln_")]
    wallet_id: NotRequired[Annotated[str, Prefix("wal_")]]
    type: Literal["invoice"]
    payment_request: Annotated[str, Format(pattern="^lnbc[02-9ac-hj-np-z0-9]+$")]
    amount_sats: Count
    description: NullableText
    status: Annotated[str, OneOf(tuple(INVOICE.rows)), Assumed("S13")]
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
    assets: list[Annotated[str, OneOf(NETWORK_ASSETS["stellar"])]]
    address: Annotated[str, Format(pattern="^G[A-Z2-7]{55}$")]
    memo: Annotated[str, Format(pattern="^[0-9]+$")]
    memo_type: Literal["id"]
    label: NullableText
    reference: NullableText
    status: Annotated[str, OneOf(WALLET_STATUSES)]
    created_at: Timestamp


class CeloWallet(TypedDict):
    id: Annotated[str, Prefix("wal_")]
    network: Literal["celo"]
    assets: list[Annotated[str, OneOf(NETWORK_ASSETS["celo"])]]
    address: Annotated[str, Format(pattern="^0x[0-9a-fA-F]{40}$")]
    label: NullableText
    reference: NullableText
    status: Annotated[str, OneOf(WALLET_STATUSES)]
    created_at: Timestamp


class BitcoinWallet(TypedDict):
    id: Annotated[str, Prefix("wal_")]
    network: Literal["bitcoin"]
    assets: list[Annotated[str, OneOf(NETWORK_ASSETS["bitcoin"])]]
    address: Annotated[str, Format(pattern="^bc1[02-9ac-hj-np-z]+$")]
    lightning_addresses: list[LightningAddressShape]
    confirmations_required: Count
    label: NullableText
    reference: NullableText
    status: Annotated[str, OneOf(WALLET_STATUSES)]
    created_at: Timestamp


class OnChainDeposit(TypedDict):
    id: Annotated[str, Prefix("dep_")]
    wallet_id: Annotated[str, Prefix("wal_")]
    network: Annotated[str, OneOf(NETWORKS)]
    asset: TokenText
    amount: AmountText
    channel: Literal["on_chain"]
    tx_hash: str
    confirmations: Count
    status: Annotated[str, OneOf(DEPOSIT_STATUSES), Assumed("S12")]
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
    status: Annotated[str, OneOf(("confirmed",)), Assumed("S13")]
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


class _WalletTail(TypedDict):
    """What wallets of all networks end in."""

    label: str | None
    reference: str | None
    status: str
    created_at: str


def render_wallet(world: World, wallet: Wallet) -> WalletShape:
    """The wallet in the shape of its network; a bitcoin wallet with all its Lightning addresses, oldest first."""
    assets = list(NETWORK_ASSETS[wallet.network])
    tail: _WalletTail = {
        "label": wallet.label,
        "reference": wallet.reference,
        "status": wallet.status,
        "created_at": format_timestamp(wallet.created_at_ms),
    }
    if wallet.network == "stellar":
        stellar: StellarWallet = {
            "id": wallet.id,
            "network": "stellar",
            "assets": assets,
            "address": wallet.address,
            "memo": present(wallet.memo),
            "memo_type": "id",
            **tail,
        }
        return stellar
    if wallet.network == "celo":
        celo: CeloWallet = {"id": wallet.id, "network": "celo", "assets": assets, "address": wallet.address, **tail}
        return celo
    bitcoin: BitcoinWallet = {
        "id": wallet.id,
        "network": "bitcoin",
        "assets": assets,
        "address": wallet.address,
        "lightning_addresses": _addresses(world, wallet),
        "confirmations_required": required_confirmations(wallet.network),
        **tail,
    }
    return bitcoin


def _addresses(world: World, wallet: Wallet) -> list[LightningAddressShape]:
    table = entries(world, wallet.environment)
    own = world.store[ADDRESSES_BY_WALLET.of(wallet.environment)].get(wallet.id) or ()
    shown = [_render_address(entry) for entry in map(table.__getitem__, own) if isinstance(entry, LightningAddress)]
    for shape in shown:
        del shape["wallet_id"]
    return shown


def render_entry(world: World, entry: LightningEntry) -> LightningShape:
    """A Lightning entry in the shape of its type."""
    return _render_invoice(entry) if isinstance(entry, Invoice) else _render_address(entry)


def _render_invoice(invoice: Invoice) -> InvoiceShape:
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


def _render_address(address: LightningAddress) -> LightningAddressShape:
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
    """What the events of a Lightning entry carry besides: the reference of its wallet (decision W8)."""
    return {"reference": wallets(world, entry.environment)[entry.wallet_id].reference}


class _Reason(TypedDict, total=False):
    reason: str


def render_deposit(world: World, deposit: Deposit) -> DepositShape:
    """A deposit; on-chain with `confirmations`, failed with `reason` (decision S12)."""
    if deposit.channel == "lightning":
        over_lightning: LightningDeposit = {
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
        return over_lightning
    reason: _Reason = {} if deposit.reason is None else {"reason": deposit.reason}
    on_chain: OnChainDeposit = {
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
    return on_chain


def required_confirmations(network: str) -> int:
    """On-chain confirmations before a deposit is credited, from the currency listing."""
    return listing(NETWORK_ASSETS[network][0], network).confirmations


CLAUSES: Clauses = {
    "Deposit wallet": (StellarWallet, CeloWallet, BitcoinWallet),
    "Lightning entry": (LightningAddressShape, InvoiceShape),
    "Deposit": (OnChainDeposit, LightningDeposit),
}
