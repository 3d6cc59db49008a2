"""The account's books: what every account of the ledger holds, and the entries that made it so."""

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
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.server.running.chunks import json_list
from simulator.engine.text.json import dumps
from simulator.kernel.journal import newest
from simulator.kernel.ledger import ENTRIES, Entry
from simulator.kernel.money import ZERO, add
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World

operation = calls_under("Seeing")

_ENTRIES: Query = {"entries": {**WHOLE, "description": "The newest that many entries, oldest first."}}


class LedgerSum(TypedDict):
    currency: str
    """The currency, an asset with its network: `KES`, `USDC.celo`."""
    account: str
    """The account of the books."""
    amount: str
    """What it holds, the sum of its postings; negative for what lies outside and came from there."""


class BookEntry(LedgerEntry):
    resource_id: str | None
    """The transaction or deposit that the money moved for; null for a balance that was opened or set."""


class LedgerBooks(TypedDict):
    accounts: list[LedgerSum]
    """What each account holds, by currency; all accounts of a currency sum up to zero."""
    entries: list[BookEntry]
    """The entries, oldest first."""


@operation("GET /ledger", "The account's books", query=_ENTRIES, by_environment=True)
async def ledger(call: ControlCall) -> Raw[LedgerBooks]:
    """The books of the account in the environment of the header: `available` and `held` are its own.

    `clearing` has what payers and depositors have sent of a ramp, `fees` what the service earned, `world` what came
    from outside and went there. Those of other platform users, `USER_ID/available`, show what they had from this
    account. `entries` bounds the entries that are shown, never the sums.
    """
    world, environment = call.world, call.environment
    call.check_environment()
    sums = _SUMS[world].setdefault(environment, _Sums(world))
    while sums.read(world, environment):
        await asyncio.sleep(0)
    names = _Names(world, environment)
    accounts = [
        {"currency": currency, "account": names.of(account), "amount": f"{amount:f}"}
        for (currency, account), amount in sums.amounts.items()
    ]
    numbers = newest(sums.entries, call.whole("entries"))
    entries = world.store[ENTRIES]
    shown = (entries[number] for number in numbers)
    opening = b'{"accounts":%b,"entries":[' % dumps(accounts)
    return Raw(await json_list(shown, lambda entry: dumps(names.shown(world, entry)), opening))


class _Sums:
    """What the accounts of one environment hold, summed up as entries are written.

    A report adds what was written since the last one, so it costs the same however long the ledger is. The first one
    reads everything, in slices.
    """

    def __init__(self, world: World) -> None:
        self._rows = AppendedRows(world.store[ENTRIES])
        self.amounts: dict[tuple[str, str], Decimal] = {}
        """By currency and account."""
        self.entries: list[str] = []
        """The keys of the entries of the environment, oldest first."""

    def read(self, world: World, environment: str) -> bool:
        """Add a slice of the new entries. Return True if there are more."""
        if self._rows.starts_over():
            self.amounts, self.entries = {}, []
        taken = self._rows.take(_SLICE)
        for key, entry in taken:
            if _is_of(world, environment, entry):
                self.entries.append(key)
                for posting in entry.postings:
                    place = posting.currency, posting.account
                    self.amounts[place] = add(self.amounts.get(place, ZERO), posting.amount)
        return len(taken) == _SLICE


_SLICE = 1_000
"""Entries that are read in one piece, in a few milliseconds."""

_SUMS: PerWorld[dict[str, _Sums]] = PerWorld(dict)
"""The sums of each environment."""


def _is_of(world: World, environment: str, entry: Entry) -> bool:
    """Whether an entry moves money of the account, or of a ramp of it: that goes past its balances."""
    own = _own(world, environment)
    if any(posting.account.startswith(own) for posting in entry.postings):
        return True
    record = find(world, entry.resource_id)
    return record is not None and record.environment == environment and not record.owner


def _own(world: World, environment: str) -> str:
    """How the names of the account's own accounts begin."""
    return f"{vocabulary_of(world).provider.account(environment)}/"


class _Names:
    """The accounts of the ledger as the account's books call them."""

    def __init__(self, world: World, environment: str) -> None:
        self._own = _own(world, environment)
        self._environment = f"{environment}:"

    def of(self, account: str) -> str:
        return account.removeprefix(self._own).removeprefix(self._environment)

    def shown(self, world: World, entry: Entry) -> BookEntry:
        shown = show_entry(entry)
        return {
            **shown,
            "resource_id": None if find(world, entry.resource_id) is None else entry.resource_id,
            "postings": [{**posting, "account": self.of(posting["account"])} for posting in shown["postings"]],
        }
