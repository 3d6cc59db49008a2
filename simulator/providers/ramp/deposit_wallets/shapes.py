"""Response models for deposit wallets, Lightning entries and deposits, one for each network and type. Fields of other
networks or types are absent (table "Deposit wallet"; decision H19).
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from simulator.engine.text.shapes import (
    AmountText,
    Assumed,
    Clauses,
    Count,
    Format,
    Known,
    OneOf,
    Prefix,
    Timestamp,
    page_shape,
)
from simulator.providers.ramp.deposit_wallets import states
from simulator.providers.ramp.reference import NETWORK_ASSETS
from simulator.providers.ramp.shapes import ASSET_CODES, CANONICAL_NETWORKS

WalletStatus = Literal["active", "disabled"]

TOKEN_PATTERN = r"^[A-Za-z0-9]{1,12}$"
"""Any token that can arrive at an address: the service's assets, and unknown tokens."""

REASON_MEANINGS = {
    "wallet_disabled": "The wallet is disabled.",
    "wrong_asset": "The wallet's network does not have this asset.",
    "missing_memo": "It was sent to a stellar address without its memo.",
    "wrong_memo": "It was sent to a stellar address with another memo.",
    "rejected": "It was rejected later, without a more specific reason.",
}
NullableText = Annotated[str | None, Assumed("H19", "nullable")]


def _assets(network: str) -> dict[str, str]:
    return {code: ASSET_CODES[code] for code in NETWORK_ASSETS[network]}


WalletId = Annotated[str, Prefix("wal_")]
EntryId = Annotated[str, Prefix("ln_")]


class LightningAddressShape(TypedDict):
    """A Lightning address of a bitcoin wallet, in the form name@domain. It can be paid any number of times."""

    id: EntryId
    """The id of the entry, as used in DELETE /wallets/{id}/lightning/{lightning_id}."""
    wallet_id: NotRequired[WalletId]
    """The id of the wallet that is credited. Absent if the entry is returned inside its wallet."""
    type: Literal["lightning_address"]
    address: str
    """The address that payers enter, in the form name@domain."""
    lnurl: Annotated[str, Format(pattern="^lnurl1[02-9ac-hj-np-z]+$"), Assumed("S13", "pattern")]
    """The same address in LNURL form, for wallet apps that support only LNURL."""
    status: Annotated[str, OneOf(states.LIGHTNING_ADDRESS_MEANINGS), Assumed("S13", "enum")]
    """The status. Only an `active` address can be paid."""
    created_at: Timestamp
    """The creation time."""


class InvoiceShape(TypedDict):
    """A Lightning invoice of a bitcoin wallet. It can be paid once, with one amount, before its expiry."""

    id: EntryId
    """The id of the entry, as used in DELETE /wallets/{id}/lightning/{lightning_id}."""
    wallet_id: NotRequired[WalletId]
    """The wallet that is credited."""
    type: Literal["invoice"]
    payment_request: Annotated[str, Format(pattern="^lnbc[02-9ac-hj-np-z0-9]+$"), Assumed("S13", "pattern")]
    """The invoice in BOLT11 format. The payer pays this string."""
    amount_sats: Count
    """The amount, in satoshi. One satoshi is a hundred millionth of a bitcoin."""
    description: NullableText
    """The description for the payer, or null if none was given."""
    status: Annotated[str, OneOf(states.INVOICE_MEANINGS), Assumed("S13", "enum")]
    """The status."""
    expires_at: Timestamp
    """The expiry time. The invoice can be paid before this time."""
    created_at: Timestamp
    """The creation time."""


class LightningAddressObject(LightningAddressShape):
    """A Lightning address in an event."""

    reference: Annotated[str | None, Assumed("W8")]
    """The reference of the entry's wallet, or null if the wallet has none."""


class InvoiceObject(InvoiceShape):
    """An invoice in an event."""

    reference: Annotated[str | None, Assumed("W8")]
    """The reference of the entry's wallet, or null if the wallet has none."""


class _Wallet(TypedDict):
    id: WalletId
    """The id of the wallet, as used in all paths under /wallets."""


class WalletLabels(TypedDict):
    """The last fields of every wallet."""

    label: NullableText
    """Your label, or null if none was given."""
    reference: NullableText
    """Your own reference, or null if none was given. Deposits to the wallet and events about it contain this reference.
    """
    status: Annotated[str, OneOf(states.WALLET_MEANINGS)]
    """The status. Only an `active` wallet credits deposits."""
    created_at: Timestamp
    """The creation time."""


class StellarWallet(_Wallet, WalletLabels):
    """A deposit wallet on stellar. Its address is shared, and its memo identifies the wallet."""

    network: Literal["stellar"]
    assets: list[Annotated[str, OneOf(_assets("stellar"))]]
    """The assets that can be deposited to this wallet."""
    address: Annotated[str, Format(pattern="^G[A-Z2-7]{55}$")]
    """The deposit address. Several wallets share the address, so only the memo identifies this wallet."""
    memo: Annotated[str, Format(pattern="^[0-9]+$"), Assumed("wallet-memo", "pattern")]
    """The memo that every deposit needs. A deposit without a memo or with another memo is not credited."""
    memo_type: Annotated[Literal["id"], Assumed("wallet-memo", "enum")]
    """The type of the stellar memo."""


class CeloWallet(_Wallet, WalletLabels):
    """A deposit wallet on celo, with its own address."""

    network: Literal["celo"]
    assets: list[Annotated[str, OneOf(_assets("celo"))]]
    """The assets that can be deposited to this wallet."""
    address: Annotated[str, Format(pattern="^0x[0-9a-fA-F]{40}$")]
    """The deposit address, which belongs to this wallet only."""


class BitcoinWallet(_Wallet, WalletLabels):
    """A deposit wallet on bitcoin, with its own address and its Lightning addresses."""

    network: Literal["bitcoin"]
    assets: list[Annotated[str, OneOf(_assets("bitcoin"))]]
    """The assets that can be deposited to this wallet."""
    address: Annotated[str, Format(pattern="^bc1[02-9ac-hj-np-z]+$")]
    """The on-chain deposit address (native SegWit), which belongs to this wallet only."""
    lightning_addresses: list[LightningAddressShape]
    """The wallet's Lightning addresses, oldest first, including disabled addresses. Invoices are listed separately."""
    confirmations_required: Count
    """The number of confirmations that an on-chain deposit needs to be credited."""


class _Arrived(TypedDict):
    id: Annotated[str, Prefix("dep_")]
    """The id of the deposit. The transaction that credits the deposit contains it as `deposit_id`."""
    wallet_id: WalletId
    """The id of the wallet that received the deposit."""
    amount: AmountText
    """The amount, in `asset`."""
    reference: NullableText
    """The reference of the wallet, or null if it has none."""
    created_at: Timestamp
    """The time at which the deposit was detected."""


class OnChainDeposit(_Arrived):
    """An on-chain deposit to a wallet's address."""

    network: Annotated[str, OneOf(CANONICAL_NETWORKS)]
    """The network of the wallet."""
    asset: Annotated[str, Format(pattern=TOKEN_PATTERN), Known(ASSET_CODES), Assumed("deposit-asset", "pattern")]
    """The asset that was sent. This can be a token that the service does not know and does not credit."""
    channel: Literal["on_chain"]
    tx_hash: str
    """The hash of the on-chain transaction."""
    confirmations: Count
    """The number of confirmations so far."""
    status: Annotated[str, OneOf(states.DEPOSIT_MEANINGS), Assumed("S12", "enum")]
    """The status of the deposit."""
    reason: NotRequired[Annotated[str, Known(REASON_MEANINGS), Assumed("S12")]]
    """The reason why the deposit was not credited. Present once the deposit has failed."""


class LightningDeposit(_Arrived):
    """A payment to a wallet's Lightning address or invoice."""

    network: Literal["bitcoin"]
    asset: Literal["BTC"]
    channel: Literal["lightning"]
    tx_hash: None
    """Always null, because there is no on-chain transaction."""
    status: Annotated[str, OneOf({"confirmed": states.DEPOSIT_MEANINGS["confirmed"]}), Assumed("S13", "enum")]
    """Always `confirmed`, because a Lightning payment is credited immediately."""


WalletShape: TypeAlias = StellarWallet | CeloWallet | BitcoinWallet
LightningEntryShape: TypeAlias = LightningAddressShape | InvoiceShape
DepositShape: TypeAlias = OnChainDeposit | LightningDeposit
WalletList = page_shape("WalletList", WalletShape, "deposit wallets", "The wallets of this page.")

LightningList = page_shape(
    "LightningList",
    LightningEntryShape,
    "the Lightning entries of a wallet",
    "The Lightning addresses and invoices of this page.",
)

DepositList = page_shape("DepositList", DepositShape, "the deposits to a wallet", "The deposits of this page.")

CLAUSES: Clauses = {
    "Deposit wallet": (StellarWallet, CeloWallet, BitcoinWallet),
    "Lightning entry": (LightningAddressShape, InvoiceShape, LightningAddressObject, InvoiceObject),
    "Pagination envelope and error envelope": (WalletList, LightningList, DepositList),
    "Deposit": (OnChainDeposit, LightningDeposit),
}
