"""An examination under way: requests to the receiver, what it answers, and what each rule makes of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import field
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeAlias

from simulator.certification.schedules import Schedule, run_twice
from simulator.certification.service import Step
from simulator.certification.signing import Case, Headers, Material
from simulator.certification.stage import Order, Stage
from simulator.engine.rows.signature import Signature
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.webhooks import Outcome, signed_headers
from simulator.kernel.dataclass import dataclass

Verdict: TypeAlias = Literal["pass", "fail", "skipped"]
Post: TypeAlias = Callable[[Headers, bytes], "Future[Outcome]"]

_UNREACHABLE = ("connection refused", "could not be resolved", "could not be reached", "could not be made")
_SHOWN = 200
QUICK_SECONDS = 5.0
"""How long an answer may take, of the ten seconds of the service: who needs more while nothing else goes on will need
all of them under load."""
SLACK_MS = 10_000
"""How far from the edge of the five minutes its sides are tried: for the way there, and for two clocks that differ."""


class NothingAnswers(Exception):
    """Nothing answers at the receiver's address; the text says how it failed."""


@dataclass(frozen=True)
class Exchange:
    """A request and what came back: `sent` says what it was, `status` is None without an answer."""

    sent: str
    headers: Headers
    body: bytes
    status: int | None
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
            return self.error or "no answer"
        to = f" to {self.location}" if self.location else ""
        said = f": {self.answer}" if self.answer and not self.ok else ""
        return f"{self.status}{to} after {self.milliseconds} ms{said}"


class Broken(Exception):
    """A rule does not hold: what was sent, what came back, and a word of advice where the rule's own is not enough.

    `exchange` is the one that broke it, None where the books did.
    """

    def __init__(self, sent: str, got: str, *, advice: str | None = None, exchange: Exchange | None = None) -> None:
        super().__init__(got)
        self.sent, self.got, self.advice, self.exchange = sent, got, advice, exchange

    @classmethod
    def by(cls, exchange: Exchange, advice: str | None = None) -> Broken:
        return cls(exchange.sent, exchange.got, advice=advice, exchange=exchange)


@dataclass(frozen=True)
class Claim:
    """What the books must say of an order after a rule: `amount` is 0 where nothing was delivered.

    `alternatives`: other sets of names, each of which may list the order as a whole. `is_optional`: books that do not
    list it are right too.
    """

    rule: str
    order: str
    amount: Decimal
    currency: str
    story: str
    alternatives: tuple[tuple[str, ...], ...] = ()
    is_optional: bool = False


@dataclass
class Exam:
    """One receiver under examination, at `url`.

    `patience_seconds`: how long an answer is waited for; `quick_seconds`: how long it may take; `outage_seconds`: how
    long an outage waits for what the receiver does after its answer.
    """

    url: str
    stage: Stage
    post: Post
    patience_seconds: float
    quick_seconds: float
    outage_seconds: float
    answered: bool = False
    exchanges: list[Exchange] = field(default_factory=list)
    """Those of the rule that is examined just now."""
    claims: list[Claim] = field(default_factory=list)
    _rule: str = ""

    @cached_property
    def material(self) -> Material:
        """What requests are made of."""
        key = self.stage.key
        signing, altered = self.stage.service.provider.signing, self.stage.service.examined.altered
        own = self.stage.keys["webhook_key"]
        other = self.stage.other_key if key == own else _other_key(signing.signature, key)
        return Material(signing, key, other, self.stage.now_ms, self.event, self.forged, altered, slack_ms=SLACK_MS)

    @cached_property
    def waiting(self) -> Order:
        """An order that true events tell of, and whose first event the receiver has had."""
        order, first = self.stage.order("waiting"), self.story[0]
        order.live(first)
        self.send(first.event, order.event(first.event))
        return order

    @cached_property
    def unpaid(self) -> Order:
        """An order that forged events say came to its good end."""
        return self.stage.order("forged")

    @property
    def story(self) -> tuple[Step, ...]:
        """The life of an order."""
        return self.stage.service.examined.story

    def event(self) -> JsonObject:
        """A true event with an id of its own: the latest of an order that nothing has happened to yet."""
        silent = [step for step in self.story if not step.action] or self.story[:1]
        return {**self.waiting.event(silent[-1].event), "id": self.stage.event_id()}

    def forged(self) -> JsonObject:
        """An event that says of an order which nothing has happened to that it came to its good end."""
        examined = self.stage.service.examined
        shown = self.stage.call("GET", f"{examined.path}{self.unpaid.id}")
        return self.stage.envelope(self.story[-1].event, {**shown, **examined.forged})

    def begin(self, rule: str) -> None:
        self._rule, self.exchanges = rule, []

    def order(self, label: str = "") -> Order:
        """An order of its own, named after the rule."""
        return self.stage.order(f"{self._rule}{label}")

    def claim(self, order: Order, story: str, *, paid_out: bool = True) -> None:
        """From now on the books have to say this of an order."""
        amount = order.amount if paid_out else Decimal(0)
        self.claims.append(Claim(self._rule, order.reference, amount, order.currency, story))

    def claim_unpaid(self, story: str) -> None:
        """From now on the books must not say that anything was delivered for what only forgeries tell of."""
        self.claim(self.unpaid, story, paid_out=False)

    def schedule(self) -> Schedule:
        """A standing order of its own, named after the rule, that has run twice. Unplayed."""
        return run_twice(self.stage, f"certify-{self.stage.run}-{self._rule}")

    def claim_runs(self, schedule: Schedule, story: str) -> None:
        """From now on books that list anything of the standing order have to list both runs."""
        told = schedule.amount, schedule.currency, story, schedule.names
        self.claims.append(Claim(self._rule, schedule.reference, *told, is_optional=True))

    def send(self, sent: str, event: JsonObject) -> Exchange:
        """Send an event as the service does."""
        return self.send_together([(sent, event)])[0]

    def send_together(self, events: Sequence[tuple[str, JsonObject]]) -> list[Exchange]:
        """Send events so that none waits for the answer to another."""
        ready = [(sent, dumps(event)) for sent, event in events]
        return self._exchanged(
            (sent, signed_headers(self.material.signing.signature, self.material.key, self.stage.now_ms(), body), body)
            for sent, body in ready
        )

    def judge(self, cases: Iterator[Case]) -> None:
        """Send requests one after another, each to be accepted or refused as it is genuine or not."""
        for case in cases:
            exchange = self.transmit(case)
            (self.accepted if case.genuine else self.refused)(exchange)

    def transmit(self, case: Case) -> Exchange:
        """Send a request as it is."""
        return self._exchanged([(case.what, case.headers, case.body)])[0]

    def accepted(self, *exchanges: Exchange) -> None:
        """Hold answers to 2xx. Broken."""
        for one in exchanges:
            if not one.ok:
                raise Broken.by(one, _why_not_accepted(one))

    def refused(self, exchange: Exchange) -> None:
        """Hold an answer to 4xx. Broken."""
        status = exchange.status
        if status is not None and 400 <= status < 500:
            return
        raise Broken.by(exchange, _why_not_refused(exchange))

    def _exchanged(self, requests: Iterable[tuple[str, Headers, bytes]]) -> list[Exchange]:
        under_way = [(sent, headers, body, self.post(headers, body)) for sent, headers, body in requests]
        made = [_exchange(sent, headers, body, future.result()) for sent, headers, body, future in under_way]
        if not self.answered:
            first = made[0]
            if first.status is None and any(words in str(first.error) for words in _UNREACHABLE):
                raise NothingAnswers(str(first.error))
            self.answered = True
        self.exchanges += made
        return made


def _other_key(signature: Signature, key: str) -> str:
    """A key of the other environment, as far as prefixes tell."""
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
        return "The receiver gave no answer. If it has ended or hangs, its own log says why."
    if exchange.status >= 500:
        return f"It broke while it handled the event ({exchange.status}): its own log says where."
    return None


def _why_not_refused(exchange: Exchange) -> str | None:
    if exchange.status is None or exchange.status >= 500:
        return (
            "It broke over the request instead of refusing it. Check before you read: whatever the headers hold, the "
            "verifier has to say no and the receiver 4xx, for example 401. A broken receiver is an open door to "
            "whoever wants it down."
        )
    return None
