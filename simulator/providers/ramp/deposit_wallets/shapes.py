"""How deposit wallets, Lightning entries and deposits are shown: the table "Deposit wallet" and what follows it.

Each variant has its own shape; fields of another variant are absent (decision H19).
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
from simulator.providers.ramp.deposit_wallets.states import (
    DEPOSIT_MEANINGS,
    INVOICE_MEANINGS,
    LIGHTNING_ADDRESS_MEANINGS,
    WALLET_MEANINGS,
)
from simulator.providers.ramp.reference import NETWORK_ASSETS
from simulator.providers.ramp.shapes import ASSET_CODES, CANONICAL_NETWORKS

WalletStatus = Literal["active", "disabled"]

TOKEN_PATTERN = r"^[A-Za-z0-9]{1,12}$"
"""Whatever somebody sends to an address: assets of the service, and tokens that it does not know."""

REASON_MEANINGS = {
    "wallet_disabled": "The wallet is disabled.",
    "wrong_asset": "The wallet's network does not have this asset.",
    "missing_memo": "It came to a stellar address without its memo.",
    "wrong_memo": "It came to a stellar address with another memo.",
    "rejected": "It was turned down later, without a reason of its own.",
}
NullableText = Annotated[str | None, Assumed("H19", "nullable")]


def _assets(network: str) -> dict[str, str]:
    """The assets of a network, with what each is."""
    return {code: ASSET_CODES[code] for code in NETWORK_ASSETS[network]}


WalletId = Annotated[str, Prefix("wal_")]
EntryId = Annotated[str, Prefix("ln_")]


class LightningAddressShape(TypedDict):
    """A Lightning address of a bitcoin wallet: name@domain, to be paid any number of times."""

    id: EntryId
    """Names the entry, for DELETE /wallets/{id}/lightning/{lightning_id}."""
    wallet_id: NotRequired[WalletId]
    """The wallet that is credited; left out where the entry stands inside its wallet."""
    type: Literal["lightning_address"]
    address: str
    """What a payer enters: name@domain."""
    lnurl: Annotated[str, Format(pattern="^lnurl1[02-9ac-hj-np-z]+$"), Assumed("S13", "pattern")]
    """The same for payers whose wallet knows LNURL only."""
    status: Annotated[str, OneOf(LIGHTNING_ADDRESS_MEANINGS), Assumed("S13", "enum")]
    """Whether it can be paid."""
    created_at: Timestamp
    """When it was made."""


class InvoiceShape(TypedDict):
    """A Lightning invoice of a bitcoin wallet: for one payment of one amount, within its time."""

    id: EntryId
    """Names the entry, for DELETE /wallets/{id}/lightning/{lightning_id}."""
    wallet_id: NotRequired[WalletId]
    """The wallet that is credited."""
    type: Literal["invoice"]
    payment_request: Annotated[str, Format(pattern="^lnbc[02-9ac-hj-np-z0-9]+$"), Assumed("S13", "pattern")]
    """What a payer pays: the invoice itself, as BOLT11 writes it."""
    amount_sats: Count
    """How much it is for, in satoshi: a hundred millionth of a bitcoin."""
    description: NullableText
    """What it says to the payer; null when nothing was given."""
    status: Annotated[str, OneOf(INVOICE_MEANINGS), Assumed("S13", "enum")]
    """Whether it waits, was paid, or has ended unpaid."""
    expires_at: Timestamp
    """Until when it can be paid."""
    created_at: Timestamp
    """When it was made."""


class LightningAddressObject(LightningAddressShape):
    """A Lightning address as events carry it."""

    reference: Annotated[str | None, Assumed("W8")]
    """The reference of its wallet; null when that has none."""


class InvoiceObject(InvoiceShape):
    """An invoice as events carry it."""

    reference: Annotated[str | None, Assumed("W8")]
    """The reference of its wallet; null when that has none."""


class _Labels(TypedDict):
    id: WalletId
    """Names the wallet in every path below /wallets."""
    label: NullableText
    """The caller's label; null when none was given."""
    reference: NullableText
    """The caller's own reference, which every deposit and event carries; null when none was given."""
    status: Annotated[str, OneOf(WALLET_MEANINGS)]
    """Whether deposits to it are credited."""
    created_at: Timestamp
    """When it was made."""


class StellarWallet(_Labels):
    """A deposit wallet on stellar: an address that wallets share, and a memo that tells them apart."""

    network: Literal["stellar"]
    assets: list[Annotated[str, OneOf(_assets("stellar"))]]
    """The assets that are credited when they are deposited here."""
    address: Annotated[str, Format(pattern="^G[A-Z2-7]{55}$")]
    """Where to deposit; the address is shared, so that only the memo says whose deposit it is."""
    memo: Annotated[str, Format(pattern="^[0-9]+$"), Assumed("wallet-memo", "pattern")]
    """Must go with every deposit: without it, or with another one, nothing is credited."""
    memo_type: Annotated[Literal["id"], Assumed("wallet-memo", "enum")]
    """Which of stellar's types of memo this is."""


class CeloWallet(_Labels):
    """A deposit wallet on celo: an address of its own."""

    network: Literal["celo"]
    assets: list[Annotated[str, OneOf(_assets("celo"))]]
    """The assets that are credited when they are deposited here."""
    address: Annotated[str, Format(pattern="^0x[0-9a-fA-F]{40}$")]
    """Where to deposit; no other wallet has this address."""


class BitcoinWallet(_Labels):
    """A deposit wallet on bitcoin: an address of its own, and what receives over Lightning."""

    network: Literal["bitcoin"]
    assets: list[Annotated[str, OneOf(_assets("bitcoin"))]]
    """The assets that are credited when they are deposited here."""
    address: Annotated[str, Format(pattern="^bc1[02-9ac-hj-np-z]+$")]
    """Where to deposit on the chain (native SegWit); no other wallet has this address."""
    lightning_addresses: list[LightningAddressShape]
    """Its Lightning addresses, oldest first, disabled ones too; its invoices are listed apart."""
    confirmations_required: Count
    """How many confirmations a deposit on the chain needs before it is credited."""


class _Arrived(TypedDict):
    id: Annotated[str, Prefix("dep_")]
    """Names the deposit; the transaction that credits it has it as `deposit_id`."""
    wallet_id: WalletId
    """The wallet that it came to."""
    amount: AmountText
    """How much came, in `asset`."""
    reference: NullableText
    """The reference of the wallet; null when that has none."""
    created_at: Timestamp
    """When it was seen."""


class OnChainDeposit(_Arrived):
    """What came to a wallet's address over the chain."""

    network: Annotated[str, OneOf(CANONICAL_NETWORKS)]
    """The network it came over: the wallet's."""
    asset: Annotated[str, Format(pattern=TOKEN_PATTERN), Known(ASSET_CODES), Assumed("deposit-asset", "pattern")]
    """What came: whatever somebody sent, also a token that the service does not know and does not credit."""
    channel: Literal["on_chain"]
    tx_hash: str
    """The transaction on the chain."""
    confirmations: Count
    """How many confirmations it has."""
    status: Annotated[str, OneOf(DEPOSIT_MEANINGS), Assumed("S12", "enum")]
    """How far the deposit has come."""
    reason: NotRequired[Annotated[str, Known(REASON_MEANINGS), Assumed("S12")]]
    """Why it could not be credited; there once it has failed."""


class LightningDeposit(_Arrived):
    """What was paid to a wallet's Lightning address or invoice."""

    network: Literal["bitcoin"]
    asset: Literal["BTC"]
    channel: Literal["lightning"]
    tx_hash: None
    """Always null: there is no transaction on the chain."""
    status: Annotated[str, OneOf({"confirmed": DEPOSIT_MEANINGS["confirmed"]}), Assumed("S13", "enum")]
    """Always `confirmed`: a payment over Lightning is credited at once."""


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
