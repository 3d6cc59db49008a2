"""Double-entry bookkeeping with holds (decisions M10 and M11).

The postings of each entry sum to zero in each currency. Each owner has the accounts `<owner>/available` and
`<owner>/held`, which are never negative. The accounts of the service, `fees` and `world`, may be.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.money import ZERO, add, negated, subtract
from simulator.kernel.store import Store, TableKey

OUTSIDE = "world"


class Unbalanced(Exception):
    """The postings of an entry do not sum to zero in every currency."""


class Overdrawn(Exception):
    """The entry would make an owner's account negative."""


@dataclass(frozen=True, slots=True)
class Posting:
    """A debit or credit in an entry. `amount` is added to the account's balance. A negative amount is a debit."""

    account: str
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement of money, with its number, time, purpose, resource and postings."""

    number: int
    at_ms: Milliseconds
    purpose: str
    resource_id: Id
    postings: tuple[Posting, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """An amount reserved for a resource. Its status is `pending`, then `posted` (spent) or `voided` (returned)."""

    id: Id
    owner: str
    currency: str
    amount: Decimal
    status: str


BALANCES = TableKey("ledger.balances", Decimal)
ENTRIES = TableKey("ledger.entries", Entry)
HOLDS = TableKey("ledger.holds", Hold)
TOUCHED = TableKey("ledger.touched", Milliseconds)
"""The time of the last entry that changed each balance, with the keys of the balances: `account|currency`."""


@lru_cache(maxsize=1024)  # interned, because every posting stores it
def available(owner: str) -> str:
    return f"{owner}/available"


@lru_cache(maxsize=1024)
def held(owner: str) -> str:
    return f"{owner}/held"


class Ledger:
    """The ledger of one world."""

    __slots__ = ("_balances", "_entries", "_holds", "_touched")

    def __init__(self, store: Store) -> None:
        self._balances = store[BALANCES]
        self._entries = store[ENTRIES]
        self._holds = store[HOLDS]
        self._touched = store[TOUCHED]

    def balance(self, account: str, currency: str) -> Decimal:
        return self._balances.get(f"{account}|{currency}") or ZERO

    def touched_at_ms(self, account: str, currency: str) -> int | None:
        """Return the time at which an entry last changed this balance, or None if no entry has changed it."""
        return self._touched.get(f"{account}|{currency}")

    def entries(self) -> Iterable[Entry]:
        return self._entries.values()

    def holds(self) -> Iterable[Hold]:
        return self._holds.values()

    def totals(self) -> dict[str, Decimal]:
        """Return the sum over all accounts for each currency. The sum is always zero."""
        sums: dict[str, Decimal] = {}
        for key, amount in self._balances.items():
            currency = key.rpartition("|")[2]
            sums[currency] = add(sums.get(currency, ZERO), amount)
        return sums

    def post(self, at_ms: int, purpose: str, resource_id: str, *postings: Posting) -> Entry:
        """Write one entry. If the entry is invalid, raise `Unbalanced` or `Overdrawn` and write nothing."""
        sums: dict[str, Decimal] = {}
        for posting in postings:
            sums[posting.currency] = add(sums.get(posting.currency, ZERO), posting.amount)
        if any(sums.values()):
            raise Unbalanced(f"{purpose} of {resource_id}: {sums}")
        after: dict[str, Decimal] = {}
        for posting in postings:
            key = f"{posting.account}|{posting.currency}"
            before = after[key] if key in after else self._balances.get(key) or ZERO
            after[key] = add(before, posting.amount)
        for key, amount in after.items():
            if amount < 0 and "/" in key.partition("|")[0]:
                raise Overdrawn(f"{purpose} of {resource_id}: {key} would be {amount}")
        for key, amount in after.items():
            self._balances.put(key, amount)
            self._touched.put(key, at_ms)
        entry = Entry(len(self._entries) + 1, at_ms, purpose, resource_id, postings)
        self._entries.put(str(entry.number), entry)
        return entry

    def begin_as(self, other: Ledger) -> None:
        """Start this empty ledger with the immutable entries of another ledger. Call this inside a transaction."""
        self._balances.put_all(other._balances)
        self._touched.put_all(other._touched)
        self._entries.put_all(other._entries)

    def move(
        self, at_ms: int, purpose: str, resource_id: str, currency: str, amount: Decimal, source: str, target: str
    ) -> None:
        """Transfer an amount between two accounts. If the amount is zero, nothing is written."""
        if amount:
            taken, given = Posting(source, currency, negated(amount)), Posting(target, currency, amount)
            self.post(at_ms, purpose, resource_id, taken, given)

    def hold(self, at_ms: int, resource_id: str, owner: str, currency: str, amount: Decimal) -> None:
        """Transfer an amount from available to held. Raise `ValueError` if the resource already has a hold."""
        if self.pending_hold(resource_id) is not None:
            raise ValueError(f"{resource_id} already has a hold")
        self.move(at_ms, "hold", resource_id, currency, amount, available(owner), held(owner))
        self._holds.put(resource_id, Hold(resource_id, owner, currency, amount, "pending"))

    def post_hold(self, at_ms: int, resource_id: str, kept: Decimal = ZERO, keeper: str = OUTSIDE) -> None:
        """Spend the hold for a resource: transfer `kept` to the account `keeper`, and the rest to `world`."""
        hold = self._pending(resource_id)
        pot = held(hold.owner)
        self.post(
            at_ms,
            "post",
            resource_id,
            Posting(pot, hold.currency, negated(hold.amount)),
            Posting(OUTSIDE, hold.currency, subtract(hold.amount, kept)),
            Posting(keeper, hold.currency, kept),
        )
        self._settle(hold, "posted")

    def void_hold(self, at_ms: int, resource_id: str) -> None:
        """Release the hold for a resource: transfer its amount from held to available."""
        hold = self._pending(resource_id)
        self.move(at_ms, "void", resource_id, hold.currency, hold.amount, held(hold.owner), available(hold.owner))
        self._settle(hold, "voided")

    def pending_hold(self, resource_id: str) -> Hold | None:
        hold = self._holds.get(resource_id)
        return hold if hold is not None and hold.status == "pending" else None

    def _pending(self, resource_id: str) -> Hold:
        hold = self.pending_hold(resource_id)
        if hold is None:
            raise KeyError(f"there is no pending hold for {resource_id}")
        return hold

    def _settle(self, hold: Hold, status: str) -> None:
        self._holds.put(hold.id, Hold(hold.id, hold.owner, hold.currency, hold.amount, status))
