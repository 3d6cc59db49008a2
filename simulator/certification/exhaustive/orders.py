"""The orders of an exhaustive run. The events of each order are delivered to the receiver in one sequence (path)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from decimal import Decimal
from itertools import count, takewhile

from simulator.certification.exhaustive.bounds import BEFORE_ANSWER, BEYOND_AGE, DELIVER, Bounds, Move, Path
from simulator.certification.exhaustive.judging import APART_SECONDS, Books
from simulator.certification.service import Flow
from simulator.certification.session import SLACK_MS, Post, refuse_unreachable
from simulator.certification.signing import Headers
from simulator.certification.stage import NoStage, Order, Stage
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.webhooks import Outcome, signed_headers
from simulator.kernel.dataclass import dataclass

_ANSWER_SECONDS = (0.4, 2.0, 10.0)
"""How long the response to a call is delayed so that an event can arrive first. Longer for slow receivers."""
_POLL_SECONDS = 0.01
_EARLY_SECONDS = 10.0


def bounds_of(flow: Flow, unknown: str, events: int, copies: int) -> Bounds:
    """Return the events that a search delivers: at most `events` events of a flow, each at most `copies` times. If the
    flow has more events, use its first event and its last `events - 1` events. If the flow has fewer, add one event of
    the type `unknown`, which receivers do not know.
    """
    own = [step.event for step in flow.steps]
    chosen = own if events >= len(own) else [*own[: events > 1], *own[len(own) - max(events - 1, 1) :]]
    # The call that creates the order performs the first steps.
    silent = {step.event for step in takewhile(lambda step: not step.action, flow.steps)}
    by_call = tuple(number for number, name in enumerate(chosen) if name in silent)
    more = (unknown,) if events > len(own) else ()
    return Bounds((*chosen, *more), copies, len(chosen) - 1, by_call)


@dataclass
class Case:
    """One flow to test, with the maximum number of copies of each event and the receiver of the deliveries."""

    stage: Stage
    flow: Flow
    bounds: Bounds
    url: str
    post: Post
    numbers: Iterator[int] = field(default_factory=count)
    """Numbers the orders."""
    answered: bool = False

    def step(self, event: int) -> int:
        """Return the index of the step that causes an event, or 0 if the flow does not cause it."""
        name = self.bounds.events[event]
        return next((place for place, step in enumerate(self.flow.steps) if step.event == name), 0)

    def order(self) -> Order:
        return self.stage.order(f"{self.flow.name}-{next(self.numbers)}", self.flow)

    def early(self, path: Path) -> tuple[Tracked, Path]:
        """Create an order. Deliver the first events of a path before the call that creates the order gets its response,
        if the path requires it. Return the order and the rest of the path.
        """
        early = [move for move in path if move.name == BEFORE_ANSWER]
        if not early:
            return Tracked(self, self.order()), path
        for seconds in _ANSWER_SECONDS:
            tracked = self._early(early, seconds)
            if tracked is not None:
                return tracked, path[len(early) :]
        raise NoStage(f"the receiver did not respond within {_ANSWER_SECONDS[-1]:g} s before {self.flow.path}")

    def _early(self, early: Sequence[Move], seconds: float) -> Tracked | None:
        """Create an order, and deliver events before the call that creates it gets a response. A fault delays the
        response by `seconds`. Return None if the delay was too short.
        """
        first = self.bounds.events[self.bounds.by_call[0]]
        known = {row["id"] for row in self.stage.control.get("/events", type=first, limit=1000)["data"]}
        held = {"match": {"method": "POST", "path": self.flow.path}, "answer_delay": seconds, "times": 1}
        with self.stage.fault(held), ThreadPoolExecutor(1) as pool:
            made = pool.submit(self.order)
            about = self._new(first, known, made)
            tracked = Tracked(self, Order(self.stage, "", about, Decimal(0), ""))  # its reference is not known yet
            for move in early:
                tracked.deliver(move)
            is_late = made.done()
            tracked.order = made.result()
        return None if is_late else tracked

    def _new(self, first: str, known: set[str], made: Future[Order]) -> str:
        """Wait for an event of the type `first` whose id is not in `known`. Return the id of its order."""
        deadline = time.monotonic() + _EARLY_SECONDS
        while time.monotonic() < deadline:
            for row in self.stage.control.get("/events", type=first, limit=1000)["data"]:
                if row["id"] not in known:
                    return str(row["data"]["object"]["id"])
            if made.done():
                made.result()  # raises the error if the call has failed
            time.sleep(_POLL_SECONDS)
        raise NoStage(f"the call {self.flow.path} caused no {first} within {_EARLY_SECONDS:g} s")

    def send(self, headers: Headers, body: bytes) -> Outcome:
        outcome = self.post(headers, body).result()
        if not self.answered:
            refuse_unreachable(outcome.status, outcome.error)
            self.answered = True
        return outcome


def is_prompt(order: Tracked, books: Books) -> bool:
    """Deliver each event of an order. Return True if the records never change after the receiver's response."""
    for event in range(len(order.case.bounds.events)):
        order.deliver(Move(DELIVER, event))
        at_once = books.read()
        time.sleep(APART_SECONDS)
        if books.read() != at_once:
            return False
    return True


@dataclass
class Tracked:
    """One order, its progress in the simulator, and the deliveries of its events."""

    case: Case
    order: Order
    phase: int = -1
    """The index of the last step that has happened. A step happens when a delivery needs it."""
    at_last_delivery: str = ""
    """The order's progress at the end of its path."""
    refused: dict[int, str] = field(default_factory=dict)
    """The events whose last delivery was not acknowledged, with the response."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    events: dict[int, JsonObject] = field(default_factory=dict)

    def deliver(self, move: Move) -> None:
        """Deliver the event of a move. For `late-beyond-age`, first send a copy with an expired signature."""
        stage, event = self.case.stage, move.event or 0
        body = dumps(self.event(event))
        signature = stage.service.provider.signing.signature
        if move.name == BEYOND_AGE:
            stamp = stage.now_ms() - signature.tolerance_ms - SLACK_MS
            outcome = self.case.send(signed_headers(signature, stage.key, stamp, body), body)
            if outcome.succeeded:
                note = f"a copy of {self.name(event)} with an expired signature got the response {outcome.status}"
                self.problems.append(("forged-accepted", note))
        # Each attempt has its own signature time, so a late copy is as genuine as the first one.
        outcome = self.case.send(signed_headers(signature, stage.key, stage.now_ms(), body), body)
        self.refused.pop(event, None)
        if not outcome.succeeded:
            self.refused[event] = str(outcome.status or outcome.error)

    def name(self, event: int) -> str:
        return self.case.bounds.events[event]

    def event(self, number: int) -> JsonObject:
        """Return an event, after performing the steps of the flow that lead to it."""
        name = self.name(number)
        self.live(self.case.step(number))
        if number not in self.events:
            if any(step.event == name for step in self.case.flow.steps):
                self.events[number] = self.order.event(name)
            else:
                self.events[number] = self.case.stage.envelope(name, self._shown())
        return self.events[number]

    def live(self, phase: int) -> None:
        """Perform the flow's remaining steps up to the one with the index `phase`."""
        if phase > self.phase:
            self.order.live(*self.case.flow.steps[self.phase + 1 : phase + 1])
            self.phase = phase

    def end(self) -> None:
        """Complete the flow, and resend the events that were not acknowledged, as the service does."""
        self.at_last_delivery = str(self.phase)
        self.live(len(self.case.flow.steps) - 1)
        for event in sorted(self.refused):
            said = self.refused[event]
            self.deliver(Move("again", event))
            if event in self.refused:
                note = f"the receiver's response to {self.name(event)} is {said} each time"
                verdict = "stuck" if said.isdigit() else "hung"
                self.problems.append((verdict, f"{note}, so the service disables the endpoint"))

    def _shown(self) -> JsonObject:
        return self.case.stage.call("GET", f"{self.case.stage.service.playbook.path}{self.order.id}")

    def row(self) -> JsonObject:
        """Return the order's current status, amount and references, as `judging.wrong_with` needs them."""
        made = self._shown()
        name, (amount, currency) = made["id"], self.case.stage.service.delivered(self.case.flow.kind, made)
        return {
            "id": name, "status": made["status"], "reference": made.get("reference") or name, "destination": name,
            "amount": f"{amount:f}", "currency": currency, "holds": False,
        }  # fmt: skip
