"""The account's books as a test reads them: amounts are Decimals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypedDict

from simulator.kernel.dataclass import dataclass
from simulator.testing.errors import SimulatorError, is_told

if TYPE_CHECKING:
    from simulator.engine.control.objects.ledger import LedgerBooks

__tracebackhide__ = is_told


class Sum(TypedDict):
    """What an account holds of a currency; see `Ledger.accounts`."""

    currency: str
    account: str
    amount: Decimal


class Posting(TypedDict):
    """One side of an entry: `amount` is added to the account, or taken from it where it is negative."""

    account: str
    currency: str
    amount: Decimal


class Entry(TypedDict):
    """One movement of money: its postings sum up to zero in each currency.

    `resource_id` is what it belongs to, a transaction or a deposit; None for opening balances and those that were set.
    """

    number: int
    at: datetime
    purpose: str
    resource_id: str | None
    postings: list[Posting]


@dataclass(frozen=True)
class Ledger:
    """The books of an account in one environment. The sums of all accounts are zero in each currency.

    `accounts`: what each account holds, by currency (`KES`, `USDC.celo`). `available` and `held` are the account's own,
    `clearing` holds what a payer or depositor has sent of a ramp, `fees` are the service's, `world` is everybody
    outside; accounts of other platform users show what came from here and went there. `entries`: every movement,
    oldest first.
    """

    accounts: list[Sum]
    entries: list[Entry]

    def amount(self, account: str, currency: str) -> Decimal:
        """What an account holds of a currency, 0 where there never was any."""
        found = (row["amount"] for row in self.accounts if (row["account"], row["currency"]) == (account, currency))
        return next(found, Decimal(0))

    def of(self, resource_id: str) -> list[Entry]:
        """The movements that belong to a transaction or deposit."""
        return [entry for entry in self.entries if entry["resource_id"] == resource_id]


def ledger_of(shown: LedgerBooks) -> Ledger:
    """The books as the control interface shows them, read."""
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
    """The available balance of an asset on a network, or of a fiat currency (network None).

    SimulatorError for what no account can hold: a slip of the pen would otherwise pass for an empty account.
    """
    currency = symbol.upper() if network is None else f"{symbol.upper()}.{network.lower()}"
    amount = ledger.amount("available", currency)
    if not amount and not any(row["currency"] == currency for row in ledger.accounts):
        from simulator.service import TOOLING

        if why := TOOLING.why_no_account(currency):
            raise SimulatorError(why)
    return amount


def totals(ledger: Ledger) -> Mapping[str, Decimal]:
    """The sums over all accounts by currency: zero in each."""
    sums: dict[str, Decimal] = {}
    for row in ledger.accounts:
        sums[row["currency"]] = sums.get(row["currency"], Decimal(0)) + row["amount"]
    return sums
