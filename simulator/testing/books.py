"""The ledger of an account as a test reads it, with amounts as Decimal."""

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
    """The sum of one account in one currency; see `Ledger.accounts`."""

    currency: str
    account: str
    amount: Decimal


class Posting(TypedDict):
    """One side of an entry. A negative `amount` is taken from the account."""

    account: str
    currency: str
    amount: Decimal


class Entry(TypedDict):
    """One movement of money. Its postings sum to zero in each currency.

    `resource_id` is the transaction or deposit that caused it, or None for opening balances and balances set by an
    action.
    """

    number: int
    at: datetime
    purpose: str
    resource_id: str | None
    postings: list[Posting]


@dataclass(frozen=True)
class Ledger:
    """The ledger of an account in one environment. All accounts of a currency sum to zero.

    `accounts`: the sum of each account by currency (`KES`, `USDC.celo`). `available` and `held` are the account's own.
    `clearing` holds the money that a payer or depositor has sent for a ramp, `fees` are the service's, and `world` is
    the external side. Accounts of other platform users show what they received from this account and sent to it.
    `entries`: every movement, oldest first.
    """

    accounts: list[Sum]
    entries: list[Entry]

    def amount(self, account: str, currency: str) -> Decimal:
        """Return the sum of an account in a currency, or 0 if it has no entries."""
        found = (row["amount"] for row in self.accounts if (row["account"], row["currency"]) == (account, currency))
        return next(found, Decimal(0))

    def of(self, resource_id: str) -> list[Entry]:
        """Return the movements of a transaction or deposit."""
        return [entry for entry in self.entries if entry["resource_id"] == resource_id]


def ledger_of(shown: LedgerBooks) -> Ledger:
    """Parse the ledger that the control interface returns."""
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
    """Return the available balance of an asset on a network, or of a fiat currency (network None).

    Raises SimulatorError for an asset that cannot exist: a typo would otherwise look like an empty account.
    """
    currency = symbol.upper() if network is None else f"{symbol.upper()}.{network.lower()}"
    amount = ledger.amount("available", currency)
    if not amount and not any(row["currency"] == currency for row in ledger.accounts):
        from simulator.service import TOOLING

        if why := TOOLING.why_no_account(currency):
            raise SimulatorError(why)
    return amount


def totals(ledger: Ledger) -> Mapping[str, Decimal]:
    """Return the sum over all accounts of each currency: zero."""
    sums: dict[str, Decimal] = {}
    for row in ledger.accounts:
        sums[row["currency"]] = sums.get(row["currency"], Decimal(0)) + row["amount"]
    return sums
