"""A certification run: requests to the receiver, the responses, and a verdict on each response."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import field
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeAlias

from simulator.certification.service import Playbook, Step
from simulator.certification.signing import Case, Headers, Material
from simulator.certification.stage import NoStage, Order, Stage, Unplayed
from simulator.engine.rows.signature import Signature
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.webhooks import Outcome, signed_headers
from simulator.kernel.dataclass import dataclass

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Schedule:
    """A recurring order that has run twice."""

    stage: Stage
    id: str
    reference: str
    """The order's name in the application's records."""
    events: Sequence[JsonObject]
    """The events of the two runs."""
    orders: Sequence[JsonObject]
    """The orders that the two runs created."""

    @property
    def delivered(self) -> tuple[Decimal, str]:
        """The sum of the amounts that the two runs paid, and the currency."""
        amounts, currencies = zip(*(self.stage.service.delivered(one["type"], one) for one in self.orders), strict=True)
        return sum(amounts, Decimal(0)), currencies[0]

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names that records may use for the runs: the recurring order's id, both references, or both order ids."""
        return ((self.id,), *(tuple(str(one[name]) for one in self.orders) for name in ("reference", "id")))

    def reads(self) -> int:
        """Return the number of GET calls for the recurring order or for an order that it created."""
        ids = (self.id, *(str(one["id"]) for one in self.orders))
        rows = self.stage.control.get("/requests", method="GET", limit=1000)["data"]
        return sum(any(one in f"{row['path']}?{row['query']}" for one in ids) for row in rows)

    def await_read(self, since: int, seconds: float) -> bool:
        """Wait until `reads()` returns a number other than `since`. Return False after `seconds`."""
        deadline = time.monotonic() + seconds
        while self.reads() == since:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


Verdict: TypeAlias = Literal["pass", "fail", "skipped"]
Post: TypeAlias = Callable[[Headers, bytes], "Future[Outcome]"]

_UNREACHABLE = ("connection refused", "could not be resolved", "could not be reached", "could not be made")
"""Errors in the `courier` module that mean that there is no receiver."""
_SHOWN = 200
QUICK_SECONDS = 5.0
"""How long a response may take. The service waits ten seconds, which a slower receiver would exceed under load."""
SLACK_MS = 10_000
"""The distance between the tested timestamps and the five-minute limit. It allows for transport and clock skew."""


class NothingAnswers(Exception):
    """There is no receiver at the URL."""


@dataclass(frozen=True)
class Exchange:
    """A request and its response."""

    sent: str
    """A description of the request."""
    headers: Headers
    body: bytes
    status: int | None
    """The response, or None if there was none."""
    error: str | None
    milliseconds: int
    location: str
    answer: str

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def got(self) -> str:
        if self.status is None:
            return self.error or "no response"
        to = f" to {self.location}" if self.location else ""
        said = f": {self.answer}" if self.answer and not self.ok else ""
        return f"{self.status}{to} after {self.milliseconds} ms{said}"


class Broken(Exception):
    """The receiver violates a rule.

    `advice` is shown before the rule's own advice. `exchange` is the request that was handled wrongly, or None if the
    application's records are wrong.
    """

    def __init__(self, sent: str, got: str, *, advice: str | None = None, exchange: Exchange | None = None) -> None:
        super().__init__(got)
        self.sent, self.got, self.advice, self.exchange = sent, got, advice, exchange

    @classmethod
    def by(cls, exchange: Exchange, advice: str | None = None) -> Broken:
        return cls(exchange.sent, exchange.got, advice=advice, exchange=exchange)


@dataclass(frozen=True)
class Claim:
    """The amount that the application's records must contain for an order after a rule has been checked."""

    rule: str
    order: str
    amount: Decimal
    """The amount, or 0 if nothing was delivered."""
    currency: str
    history: str
    """A description of the order's events."""
    alternatives: tuple[tuple[str, ...], ...] = ()
    """Alternative sets of names. The records are correct if the amounts for one set add up to the amount."""
    is_optional: bool = False
    """Whether the application's records may omit the order."""


@dataclass
class Session:
    """A certification run for one receiver."""

    url: str
    stage: Stage
    post: Post
    patience_seconds: float
    """The timeout for a request."""
    quick_seconds: float
    """How long a response may take."""
    outage_seconds: float
    """How long an outage continues after a response, to include calls that the receiver makes in the background."""
    answered: bool = False
    exchanges: list[Exchange] = field(default_factory=list)
    """The requests and responses for the current rule."""
    claims: list[Claim] = field(default_factory=list)
    _rule: str = ""

    @cached_property
    def material(self) -> Material:
        """The keys, clock and events that are used to build requests."""
        key, signing, altered = self.stage.key, self.stage.service.provider.signing, self.playbook.altered
        is_own = key == self.stage.keys["webhook_key"]
        other = self.stage.other_key if is_own else _other_key(signing.signature, key)
        return Material(signing, key, other, self.stage.now_ms, self.event, self.forged, altered, slack_ms=SLACK_MS)

    @property
    def playbook(self) -> Playbook:
        return self.stage.service.playbook

    @cached_property
    def waiting(self) -> Order:
        """The unpaid order that genuine events report on. Its first event has already been sent to the receiver."""
        order, first = self.stage.order("waiting"), self.history[0]
        order.live(first)
        self.send(first.event, order.event(first.event))
        return order

    @cached_property
    def unpaid(self) -> Order:
        """An order that is never paid, created on first use. Only forged events say that it is completed."""
        return self.stage.order("forged")

    @property
    def history(self) -> tuple[Step, ...]:
        """The steps in the processing of an order, from its creation to its end. Each step causes an event."""
        return self.playbook.history

    def event(self) -> JsonObject:
        """Return a genuine event with a fresh id, about an order that is not paid yet."""
        silent = [step for step in self.history if not step.action] or self.history[:1]
        return {**self.waiting.event(silent[-1].event), "id": self.stage.event_id()}

    def forged(self) -> JsonObject:
        """Return a forged completion event, with a fresh id, for an order that was never paid."""
        shown = self.stage.call("GET", f"{self.playbook.path}{self.unpaid.id}")
        return self.stage.envelope(self.history[-1].event, {**shown, **self.playbook.forged})

    def begin(self, rule: str) -> None:
        self._rule, self.exchanges = rule, []

    def order(self, label: str = "") -> Order:
        """Create an order whose reference contains the name of the current rule."""
        return self.stage.order(f"{self._rule}{label}")

    def claim(self, order: Order, history: str, *, paid_out: bool = True) -> None:
        """Require that the application's records contain the order's amount, or 0 if the order was not paid out."""
        amount = order.amount if paid_out else Decimal(0)
        self.claims.append(Claim(self._rule, order.reference, amount, order.currency, history))

    def schedule(self) -> Schedule:
        """Create a recurring order and let it run twice. Its reference contains the name of the current rule. Raise
        `NoStage` if a run fails, and `Unplayed` if the service does not support recurring orders.
        """
        stage, reference, standing = self.stage, f"certify-{self.stage.run}-{self._rule}", self.playbook.standing
        if standing is None:
            raise Unplayed("the service does not offer standing orders")
        made = standing.run_twice(stage.call, stage.control, reference)
        events = stage.control.get("/events", type=standing.event, object_id=made)["data"]
        if len(events) != 2:
            words = f"only {len(events)} of two runs of a {standing.noun} succeeded"
            raise NoStage(f"{words}\n{stage.service.needed_world}")
        ids = [standing.order_of(one["data"]["object"]) for one in events]
        orders = [stage.call("GET", f"{self.playbook.path}{one}") for one in ids]
        return Schedule(stage, made, reference, events, orders)

    def claim_runs(self, schedule: Schedule, history: str) -> None:
        """Require that the application's records contain either both runs of a recurring order or neither of them."""
        due = *schedule.delivered, history, schedule.names
        self.claims.append(Claim(self._rule, schedule.reference, *due, is_optional=True))

    def send(self, sent: str, event: JsonObject) -> Exchange:
        """Send an event with a valid signature, as the service does, and return the request and its response."""
        return self.send_together([(sent, event)])[0]

    def send_together(self, events: Sequence[tuple[str, JsonObject]]) -> list[Exchange]:
        """Send events concurrently."""
        ready, signature = [(sent, dumps(event)) for sent, event in events], self.material.signing.signature
        return self._exchanged(
            (sent, signed_headers(signature, self.stage.key, self.stage.now_ms(), body), body) for sent, body in ready
        )

    def judge(self, cases: Iterator[Case]) -> None:
        """Send requests in order. Raise `Broken` if a genuine request is refused or any other request is accepted."""
        for case in cases:
            exchange = self.transmit(case)
            if case.genuine:
                self.accepted(exchange)
            elif exchange.status is None or not 400 <= exchange.status < 500:
                raise Broken.by(exchange, _why_not_refused(exchange))

    def transmit(self, case: Case) -> Exchange:
        return self._exchanged([(case.what, case.headers, case.body)])[0]

    def accepted(self, *exchanges: Exchange) -> None:
        """Raise `Broken` if the response is not 2xx."""
        for one in exchanges:
            if not one.ok:
                raise Broken.by(one, _why_not_accepted(one))

    def _exchanged(self, requests: Iterable[tuple[str, Headers, bytes]]) -> list[Exchange]:
        under_way = [(sent, headers, body, self.post(headers, body)) for sent, headers, body in requests]
        made = [_exchange(sent, headers, body, future.result()) for sent, headers, body, future in under_way]
        if not self.answered:
            refuse_unreachable(made[0].status, made[0].error)
            self.answered = True
        self.exchanges += made
        return made


def refuse_unreachable(status: int | None, error: str | None) -> None:
    """Raise `NothingAnswers` if the error shows that no receiver is running at the URL."""
    if status is None and any(words in str(error) for words in _UNREACHABLE):
        raise NothingAnswers(str(error))


def _other_key(signature: Signature, key: str) -> str:
    """Return the same key with the prefix of the other environment."""
    prefixes = signature.key_prefixes
    own = signature.environment_of(key) or next(iter(prefixes))
    other = next(prefix for environment, prefix in prefixes.items() if environment != own)
    return other + key.removeprefix(prefixes[own])


def _exchange(sent: str, headers: Headers, body: bytes, outcome: Outcome) -> Exchange:
    said = " ".join(outcome.response_body.decode(errors="replace").split())
    answer = said if len(said) <= _SHOWN else f"{said[:_SHOWN]} …"
    location = next((value for name, value in outcome.response_headers if name.lower() == "location"), "")
    return Exchange(sent, headers, body, outcome.status, outcome.error, outcome.duration_ms, location, answer)


def _why_not_accepted(exchange: Exchange) -> str | None:
    if exchange.status is None:
        return "The receiver did not respond. If it has exited or hangs, see its log."
    if exchange.status >= 500:
        return f"The receiver failed while it handled the event ({exchange.status}). See its log."
    return None


def _why_not_refused(exchange: Exchange) -> str | None:
    if exchange.status is None or exchange.status >= 500:
        return (
            "The receiver failed on the request instead of refusing it. Verify before you read: whatever the headers, "
            "the verifier must return false and the receiver 4xx, for example 401. Otherwise anyone can crash it."
        )
    return None
