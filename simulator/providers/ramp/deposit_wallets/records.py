"""Deposit wallets, their Lightning entries, and deposits. Networks have canonical names, and amounts are exact."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypeAlias

from simulator.engine.rows.kind import Record
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Wallet(Record):
    """A receiving address. On stellar, wallets share one address, and `memo` identifies the wallet."""

    kind = "wallet"
    network: str
    address: str
    memo: str | None
    label: str | None
    reference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LightningAddress(Record):
    """A reusable Lightning address, name@domain."""

    kind = "lightning_address"
    wallet_id: Id
    address: str
    lnurl: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice(Record):
    """A request for one payment. It can be paid before `expires_at_ms` (decision S1)."""

    kind = "invoice"
    wallet_id: Id
    amount_sats: int
    description: str | None
    payment_request: str
    expires_at_ms: Milliseconds


LightningEntry: TypeAlias = LightningAddress | Invoice
"""The two types of Lightning entry that a bitcoin wallet can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit(Record):
    """A deposit to a wallet."""

    kind = "deposit"
    wallet_id: Id
    network: str
    asset: str
    amount: Decimal
    channel: Literal["on_chain", "lightning"]
    tx_hash: str | None
    confirmations: int | None
    """None for a Lightning payment."""
    reference: str | None
    reason: str | None = None
    """The reason for the failure."""


WALLETS = TableKey("wallets", Wallet, per_environment=True)
LIGHTNING: TableKey[LightningEntry] = TableKey("lightning", LightningEntry, per_environment=True)
DEPOSITS = TableKey("deposits", Deposit, per_environment=True)
ADDRESSES_BY_WALLET = TableKey("lightning_addresses", tuple[str, ...], per_environment=True)
"""Maps a wallet id to the ids of the wallet's Lightning addresses, oldest first."""
ADDRESSES_BY_USERNAME = TableKey("lightning_usernames", str, per_environment=True)
"""Maps a username to the id of its Lightning address. A username stays taken after its address is disabled."""


def wallets(world: World, environment: str) -> Table[Wallet]:
    return world.store[WALLETS.of(environment)]


def entries(world: World, environment: str) -> Table[LightningEntry]:
    """Return the Lightning addresses and invoices of all wallets, oldest first."""
    return world.store[LIGHTNING.of(environment)]
