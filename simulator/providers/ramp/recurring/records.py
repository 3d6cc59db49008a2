"""Recurring payments: scheduled withdrawals or sends from the account's balance."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from simulator.engine.rows.kind import Record
from simulator.engine.text.shapes import Assumed
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.money import Currency
from simulator.kernel.store import TableKey
from simulator.providers.ramp.recurring.schedule import Schedule
from simulator.providers.ramp.reference import currency_of

PaymentType = Literal["withdraw", "send"]
TYPE_MEANINGS = {
    "withdraw": "Each run pays fiat to a beneficiary, as POST /wallet/withdraw does.",
    "send": "Each run sends the asset to a destination, as POST /wallet/send does.",
}


class DestinationAddress(TypedDict):
    """An address on the chain, as it was given."""

    type: Literal["address"]
    address: str
    """The address that is paid."""
    memo: NotRequired[str]
    """The memo of a stellar payment; there when one was given."""


class DestinationUser(TypedDict):
    """Another user of the service, as they were named: one of the three members is there."""

    type: Literal["platform_user"]
    email: NotRequired[str]
    """The user's e-mail address."""
    phone_number: NotRequired[str]
    """The user's phone number."""
    user_id: NotRequired[str]
    """The user's id."""


class DestinationLightning(TypedDict):
    """An invoice or a Lightning address, as it was given."""

    type: Annotated[Literal["lightning"], Assumed("S14")]
    invoice: NotRequired[str]
    """The invoice (BOLT11) that is paid; it goes before a `lightning_address`."""
    lightning_address: NotRequired[str]
    """The Lightning address (name@domain) that is paid."""


DestinationShape: TypeAlias = DestinationAddress | DestinationUser | DestinationLightning
"""A destination as it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringPayment(Record):
    """A payment that repeats. `network` is the canonical name; `destination` is kept as it was sent.

    `runs_executed` counts every run that took place and so gives the run numbers, `runs_completed` those that
    succeeded. `last_run_ms` is when the last one was scheduled for. `reviewed`: the review of the present schedule
    was fetched (decision S20).
    """

    kind = "recurring_payment"
    name: str
    type: PaymentType
    symbol: str
    network: str
    amount: Decimal
    amount_currency: str
    beneficiary_id: Id | None = None
    destination: DestinationShape | None = None
    description: str | None = None
    reference: str | None = None
    schedule: Schedule | None = None
    reviewed: bool = False
    next_run_at_ms: Milliseconds | None = None
    runs_executed: int = 0
    runs_completed: int = 0
    failures_in_a_row: int = 0
    total_runs: int | None = None
    last_run_ms: Milliseconds | None = None
    activated_at_ms: Milliseconds | None = None
    paused_at_ms: Milliseconds | None = None
    pause_reason: str | None = None

    @property
    def source(self) -> Currency:
        return currency_of(self.symbol, self.network)

    @property
    def stated(self) -> Currency:
        """The currency that `amount` is in: the source's, or the beneficiary's fiat."""
        return self.source if self.amount_currency == self.symbol else currency_of(self.amount_currency, None)

    def moments(self, now_ms: int, count: int) -> tuple[int, ...]:
        """Up to `count` moments at which it runs (or would run, were it active) from `now_ms` on.

        A date that already ran is not repeated, and what the number of occurrences leaves is not exceeded.
        """
        if self.schedule is None:
            return ()
        if self.schedule.occurrences is not None:
            count = min(count, max(self.schedule.occurrences - self.runs_executed, 0))
        return self.schedule.moments(self._after_last_run(now_ms), count)

    def all_runs(self, now_ms: int) -> int | None:
        """Return how many runs there are in all if it goes on from `now_ms`, or None without an end (decision S19).

        Up to a date these are the runs executed so far and the dates still to come.
        """
        if self.schedule is None:
            return None
        if self.schedule.end != "on_date":
            return self.schedule.occurrences
        return self.runs_executed + self.schedule.count_from(self._after_last_run(now_ms))

    def _after_last_run(self, now_ms: int) -> int:
        return now_ms if self.last_run_ms is None else max(now_ms, self.last_run_ms + 1)

    def next_moment(self, now_ms: int) -> int | None:
        return next(iter(self.moments(now_ms, 1)), None)


PAYMENTS = TableKey("recurring_payments", RecurringPayment, per_environment=True)
