"""The ledger of the account: balances and entries."""

from __future__ import annotations

from decimal import Decimal

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_entry
from simulator.engine.control.objects.inspection_shapes import LedgerEntry
from simulator.engine.control.operation import WHOLE, Query, calls_under
from simulator.engine.records.records import find
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.kernel.journal import newest
from simulator.kernel.ledger import Entry
from simulator.kernel.money import ZERO, add

operation = calls_under("Seeing")

_ENTRIES: Query = {
    "entries": {**WHOLE, "description": "At most this many entries, the newest. They are listed oldest first."}
}


class LedgerSum(TypedDict):
    currency: str
    """The currency, an asset with its network: `KES`, `USDC.celo`."""
    account: str
    """The ledger account."""
    amount: str
    """The sum of its postings. It is negative for money that came from outside."""


class BookEntry(LedgerEntry):
    resource_id: str | None
    """The resource that caused the entry; null for a balance that was opened or set."""


class LedgerBooks(TypedDict):
    accounts: list[LedgerSum]
    """The balance of each account. All accounts of a currency sum to zero."""
    entries: list[BookEntry]
    """The entries, oldest first."""


@operation("GET /ledger", "Get the ledger", query=_ENTRIES, by_environment=True)
async def ledger(call: ControlCall) -> LedgerBooks:
    """Return the ledger of the account in the environment of the header. Use it to reconcile your own records.

    `available` and `held` are the balances of the account, `clearing` money received for a ramp in progress, `fees` the
    earnings of the service, and `world` the other side of money that came from outside or went there.
    `USER_ID/available` belongs to another platform user and shows transfers from this account. `entries` limits the
    list of entries but not the sums.
    """
    world, environment = call.world, call.environment
    call.check_environment()
    own = f"{vocabulary_of(world).provider.account(environment)}/"

    def is_own(entry: Entry) -> bool:
        if any(posting.account.startswith(own) for posting in entry.postings):
            return True
        record = find(world, entry.resource_id)  # a ramp moves money that bypasses the balances of the account
        return record is not None and record.environment == environment and not record.owner

    def short_name(account: str) -> str:
        return account.removeprefix(own).removeprefix(f"{environment}:")

    def show(entry: Entry) -> BookEntry:
        shown = show_entry(entry)
        return {
            **shown,
            "resource_id": None if find(world, entry.resource_id) is None else entry.resource_id,
            "postings": [{**posting, "account": short_name(posting["account"])} for posting in shown["postings"]],
        }

    entries = list(filter(is_own, world.ledger.entries()))
    sums: dict[tuple[str, str], Decimal] = {}
    for posting in (posting for entry in entries for posting in entry.postings):
        key = posting.currency, posting.account
        sums[key] = add(sums.get(key, ZERO), posting.amount)
    return {
        "accounts": [
            {"currency": currency, "account": short_name(account), "amount": f"{amount:f}"}
            for (currency, account), amount in sums.items()
        ],
        "entries": [show(entry) for entry in newest(entries, call.whole("entries"))],
    }
