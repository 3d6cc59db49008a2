"""An account's ledger, parsed for use in tests. Amounts are Decimal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypedDict

from simulator.kernel.dataclass import dataclass
from simulator.testing.errors import SimulatorError, hides_traceback

if TYPE_CHECKING:
    from simulator.engine.control.objects.ledger import LedgerBooks

__tracebackhide__ = hides_traceback


class Sum(TypedDict):
    """The sum of one ledger account in one currency. See `Ledger.accounts`."""

    currency: str
    account: str
    amount: Decimal


class Posting(Sum):
    """One debit or credit in an entry. A negative `amount` is a debit."""


class Entry(TypedDict):
    """One movement of money. Its postings sum to zero in each currency. `resource_id` is the id of the transaction or
    deposit that caused the entry. It is None for opening balances and for balances that an action sets.
    """

    number: int
    at: datetime
    purpose: str
    resource_id: str | None
    postings: list[Posting]


@dataclass(frozen=True)
class Ledger:
    """The ledger of an account in one environment. For each currency, the sum over all ledger accounts is zero.

    `accounts`: the sum of each ledger account by currency (`KES`, `USDC.celo`). `available` and `held` belong to the
    account holder. `clearing` contains money that a payer or depositor has sent for an onramp or offramp. `fees`
    contains the service's fees, and `world` is the account for money outside the service. Ledger accounts of other
    platform users contain the amounts that they exchanged with this account. `entries`: every movement, oldest first.
    """

    accounts: list[Sum]
    entries: list[Entry]

    def amount(self, account: str, currency: str) -> Decimal:
        """Return the sum of a ledger account in a currency, or 0 if there are no entries."""
        found = (row["amount"] for row in self.accounts if (row["account"], row["currency"]) == (account, currency))
        return next(found, Decimal(0))

    def of(self, resource_id: str) -> list[Entry]:
        """Return the entries for a transaction or deposit."""
        return [entry for entry in self.entries if entry["resource_id"] == resource_id]


def ledger_of(shown: LedgerBooks) -> Ledger:
    """Parse the ledger that the control API returns."""
    return Ledger(
        accounts=[{**row, "amount": Decimal(row["amount"])} for row in shown["accounts"]],
        entries=[
            {
                **entry,
                "at": datetime.fromisoformat(entry["at"]),
                "postings": [{**row, "amount": Decimal(row["amount"])} for row in entry["postings"]],
            }
            for entry in shown["entries"]
        ],
    )


def available(ledger: Ledger, symbol: str, network: str | None) -> Decimal:
    """Return the available balance of an asset on a network, or of a fiat currency if `network` is None. Raises
    SimulatorError for an unknown asset, because a typo would otherwise look like an empty account.
    """
    currency = symbol.upper() if network is None else f"{symbol.upper()}.{network.lower()}"
    amount = ledger.amount("available", currency)
    if not amount and not any(row["currency"] == currency for row in ledger.accounts):
        from simulator.service import TOOLING

        if why := TOOLING.why_no_account(currency):
            raise SimulatorError(why)
    return amount


def totals(ledger: Ledger) -> Mapping[str, Decimal]:
    """Return the sum over all ledger accounts for each currency. Each sum is zero."""
    sums: dict[str, Decimal] = {}
    for row in ledger.accounts:
        sums[row["currency"]] = sums.get(row["currency"], Decimal(0)) + row["amount"]
    return sums
