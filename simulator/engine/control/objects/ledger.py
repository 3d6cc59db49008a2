"""The account's ledger: balances and entries."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_entry
from simulator.engine.control.objects.inspection_shapes import LedgerEntry
from simulator.engine.control.operation import WHOLE, Query, Raw, calls_under
from simulator.engine.records.appended import AppendedRows
from simulator.engine.records.records import find
from simulator.engine.server.running.chunks import json_list
from simulator.engine.text.json import dumps
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.journal import newest
from simulator.kernel.ledger import ENTRIES, Entry
from simulator.kernel.money import ZERO, add
from simulator.kernel.world import PerWorld, World

operation = calls_under("Seeing")

_ENTRIES: Query = {
    "entries": {**WHOLE, "description": "The maximum number of entries. The newest are returned, oldest first."}
}


class LedgerSum(TypedDict):
    currency: str
    """The currency, or an asset with its network: `KES`, `USDC.celo`."""
    account: str
    """The ledger account."""
    amount: str
    """The sum of the account's postings. The sum of an account for third parties is negative if more money came from it
    than went to it.
    """


class BookEntry(LedgerEntry):
    resource_id: str | None
    """The resource that caused the entry; null if the entry opened or set a balance."""


class LedgerBooks(TypedDict):
    accounts: list[LedgerSum]
    """The balance of each account. All accounts of a currency sum to zero."""
    entries: list[BookEntry]
    """The entries, oldest first."""


@operation("GET /ledger", "Get the ledger", query=_ENTRIES, by_environment=True)
async def ledger(call: ControlCall) -> Raw[LedgerBooks]:
    """Return the account's ledger in the environment named in the header. Use the ledger to reconcile your own records.

    `available` and `held` are the balances of the account. `clearing` is money received for an onramp or offramp in
    progress, and `fees` is what the service has earned. `world` is the account outside the service from which money
    comes and to which it goes. `USER_ID/available` belongs to another platform user and contains the transfers from
    this account. `entries` limits the list of entries but not the sums.
    """
    world, environment = call.world, call.environment
    books = _BOOKS[world].setdefault(environment, _Books(world))
    while books.read(world, environment):
        await asyncio.sleep(0)
    own = _own_prefix(world, environment)

    def short_name(account: str) -> str:
        return account.removeprefix(own).removeprefix(f"{environment}:")

    def show(entry: Entry) -> BookEntry:
        shown = show_entry(entry)
        return {
            **shown,
            "resource_id": None if find(world, entry.resource_id) is None else entry.resource_id,
            "postings": [{**posting, "account": short_name(posting["account"])} for posting in shown["postings"]],
        }

    accounts = [
        {"currency": currency, "account": short_name(account), "amount": f"{amount:f}"}
        for (currency, account), amount in books.sums.items()
    ]
    entries = world.store[ENTRIES]
    shown = (entries[key] for key in newest(books.keys, call.whole("entries")))
    opening = b'{"accounts":%b,"entries":[' % dumps(accounts)
    return Raw(await json_list(shown, lambda entry: dumps(show(entry)), opening))


class _Books:
    """The sums and entries of one environment. A call reads only entries added since the last call, in chunks."""

    def __init__(self, world: World) -> None:
        self._rows = AppendedRows(world.store[ENTRIES])
        self.sums: dict[tuple[str, str], Decimal] = {}
        """Sums by currency and account."""
        self.keys: list[str] = []
        """The keys of the entries, oldest first."""

    def read(self, world: World, environment: str) -> bool:
        """Read a chunk of the new entries. Return True if there may be more new entries."""
        if self._rows.starts_over():
            self.sums, self.keys = {}, []
        taken = self._rows.take(_SLICE)
        for key, entry in taken:
            if _is_own(world, environment, entry):
                self.keys.append(key)
                for posting in entry.postings:
                    place = posting.currency, posting.account
                    self.sums[place] = add(self.sums.get(place, ZERO), posting.amount)
        return len(taken) == _SLICE


_SLICE = 1_000
"""The number of entries read in one chunk. Reading a chunk takes a few milliseconds."""

_BOOKS: PerWorld[dict[str, _Books]] = PerWorld(dict)


def _is_own(world: World, environment: str, entry: Entry) -> bool:
    own = _own_prefix(world, environment)
    if any(posting.account.startswith(own) for posting in entry.postings):
        return True
    record = find(world, entry.resource_id)  # A ramp order moves money that bypasses the balances of the account.
    return record is not None and record.environment == environment and not record.owner


def _own_prefix(world: World, environment: str) -> str:
    """Return the prefix that the names of the account's own balances share in the ledger."""
    return f"{vocabulary_of(world).provider.account(environment)}/"
