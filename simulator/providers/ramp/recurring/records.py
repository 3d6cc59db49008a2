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
    "withdraw": "Each run pays fiat to a beneficiary, like POST /wallet/withdraw.",
    "send": "Each run sends the asset to a destination, like POST /wallet/send.",
}


class DestinationAddress(TypedDict):
    """An on-chain address, as given in the request."""

    type: Literal["address"]
    address: str
    """The recipient's address."""
    memo: NotRequired[str]
    """The memo for a payment on stellar. Present if it was given."""


class DestinationUser(TypedDict):
    """Another user of the service, as given in the request. One of the three fields is present."""

    type: Literal["platform_user"]
    email: NotRequired[str]
    """The user's e-mail address."""
    phone_number: NotRequired[str]
    """The user's phone number."""
    user_id: NotRequired[str]
    """The user's id."""


class DestinationLightning(TypedDict):
    """An invoice or a Lightning address, as given in the request."""

    type: Annotated[Literal["lightning"], Assumed("S14")]
    invoice: NotRequired[str]
    """The invoice (BOLT11). It takes precedence over `lightning_address`."""
    lightning_address: NotRequired[str]
    """The Lightning address (name@domain)."""


DestinationShape: TypeAlias = DestinationAddress | DestinationUser | DestinationLightning
"""A destination, as given in the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringPayment(Record):
    """A payment that is repeated on a schedule."""

    kind = "recurring_payment"
    name: str
    type: PaymentType
    symbol: str
    network: str
    """The canonical name of the network."""
    amount: Decimal
    amount_currency: str
    beneficiary_id: Id | None = None
    destination: DestinationShape | None = None
    """The destination, as given in the request."""
    description: str | None = None
    reference: str | None = None
    schedule: Schedule | None = None
    reviewed: bool = False
    """True if the current schedule has been reviewed (decision S20)."""
    next_run_at_ms: Milliseconds | None = None
    runs_executed: int = 0
    """The number of runs so far, whether they succeeded or failed. The number of the next run is one higher."""
    runs_completed: int = 0
    """The number of runs that succeeded."""
    failures_in_a_row: int = 0
    total_runs: int | None = None
    last_run_ms: Milliseconds | None = None
    """The scheduled time of the last run."""
    activated_at_ms: Milliseconds | None = None
    paused_at_ms: Milliseconds | None = None
    pause_reason: str | None = None

    @property
    def source(self) -> Currency:
        return currency_of(self.symbol, self.network)

    @property
    def stated(self) -> Currency:
        """The currency of `amount`: either the source asset or the beneficiary's fiat currency."""
        return self.source if self.amount_currency == self.symbol else currency_of(self.amount_currency, None)

    def moments(self, now_ms: int, count: int) -> tuple[int, ...]:
        """Return the times of up to `count` runs at or after `now_ms`, as if the payment were active. Dates of past
        runs are left out, and past runs count towards the schedule's number of occurrences.
        """
        if self.schedule is None:
            return ()
        if self.schedule.occurrences is not None:
            count = min(count, max(self.schedule.occurrences - self.runs_executed, 0))
        return self.schedule.moments(self._after_last_run(now_ms), count)

    def all_runs(self, now_ms: int) -> int | None:
        """Return the number of past and future runs if resumed at `now_ms`, or None without an end (decision S19)."""
        if self.schedule is None:
            return None
        if self.schedule.end != "on_date":
            return self.schedule.occurrences
        return self.runs_executed + self.schedule.count_from(self._after_last_run(now_ms))

    def _after_last_run(self, now_ms: int) -> int:
        # The date of the last run is not repeated, even if a new schedule contains it.
        return now_ms if self.last_run_ms is None else max(now_ms, self.last_run_ms + 1)

    def next_moment(self, now_ms: int) -> int | None:
        return next(iter(self.moments(now_ms, 1)), None)


PAYMENTS = TableKey("recurring_payments", RecurringPayment, per_environment=True)
