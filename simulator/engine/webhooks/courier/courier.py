"""The courier signs and sends the attempts that the webhooks package queues, and reports their results.

The package decides which endpoint receives which event, and when an attempt is retried. A report is an input to the
world, like any request. Everything runs in one event loop, without threads. The courier itself waits only if a fault
delays an attempt, for milliseconds of real time. The clock driver handles simulated time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from math import inf
from weakref import ReferenceType, ref

from simulator.engine.rows.operation import Probe, ProbeOutcome
from simulator.engine.rows.service import signing_of
from simulator.engine.webhooks import Attempt, Outcome
from simulator.engine.webhooks.courier import port as ports
from simulator.engine.webhooks.courier import transport as transports
from simulator.engine.webhooks.delivery.attempts import in_flight, may_take, put_back, take
from simulator.engine.webhooks.delivery.queue import report
from simulator.engine.webhooks.keys import prepare, sending_time_ms, signed_headers, url_policy
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.world import PerWorld, World

_CAUSE = Cause("law", "webhook")
_log = logging.getLogger(__name__)
SIGNATURES_KEPT = 10_000
"""The number of recent webhook requests for which the world can be found by signature."""


def wall_clock_ms() -> int:
    """Return the time of the machine's clock, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Unanswered(Exception):
    """A receiver did not respond to an attempt within the time that the caller allows."""

    def __init__(self, url: str, waited_seconds: float | None = None) -> None:
        super().__init__(url)
        self.url = url
        """The URL of the receiver."""
        self.waited_seconds = waited_seconds
        """The seconds for which the world had attempts in flight, or None if the receiver may be the caller."""


@dataclass(frozen=True)
class Patience:
    """The time limits of a caller that waits until a world has no attempts in flight."""

    seconds: float
    """The limit for the attempts in `attempts`."""
    attempts: frozenset[str]
    """Ids of attempts whose receivers may be the caller itself, so that both would wait for each other."""
    rest_seconds: float = inf
    """The limit for other attempts, longer than a single attempt can take, to wait for receivers that respond."""
    most_seconds: float = inf
    """The limit even if all receivers respond immediately, because each response may start further attempts."""


@dataclass
class _Carrier:
    """A task that sends delivery attempts to one endpoint, one after another."""

    endpoint_id: str
    attempt: Attempt | None
    """The current attempt, or None between two attempts."""
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


@dataclass
class _Flight:
    """The attempts in flight in one world, and the callers that wait for them."""

    carriers: dict[str, _Carrier] = field(default_factory=dict)
    """The carriers, by the id of their current attempt."""
    landing: _Carrier | None = None
    """The carrier that is currently reporting a result."""
    waiters: list[asyncio.Future[None]] = field(default_factory=list)
    made: int = 0
    """The number of attempts that were reported to the world."""
    counted: int = 0
    """The number of attempts that `settle` has already returned."""
    sent: dict[str, float] = field(default_factory=dict)
    """The times at which attempts were passed to the transport, in seconds on the event loop's clock."""
    awaited: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    """Futures for the attempts that a request is waiting for."""
    broken: set[str] = field(default_factory=set)
    """Attempts whose report failed. The world still lists them as in flight, but they must not be sent repeatedly."""
    over: bool = False
    """True once the world has ended. No attempt starts after that."""


class Courier:
    """Delivers the webhooks of all worlds in a process. The courier calls `port` after each reported result."""

    barrier: ports.WriteBarrier | None = None
    """If set, no webhook is sent before its event is saved."""
    tracing: ports.Tracing | None = None

    def __init__(
        self,
        port: ports.Port,
        transport: transports.Transport | None = None,
        *,
        wall_clock_ms: Callable[[], int] = wall_clock_ms,
        timeout_seconds: float | None = None,
    ) -> None:
        self._port = port
        self._transport = transport
        self._wall_clock_ms = wall_clock_ms
        self._timeout_seconds = timeout_seconds
        self._flights = PerWorld(_Flight)
        self._closing = False
        self.outcomes = {"delivered": 0, "refused": 0, "unanswered": 0}
        """The number of attempts by result, for the metrics."""
        # This is not a plain dict, because finding the first key of a dict means skipping the slots of all deleted
        # keys.
        self._senders: OrderedDict[str, ReferenceType[World]] = OrderedDict()

    def pump(self, world: World) -> None:
        """Start the attempts that may start now. Call this outside a transaction, in a running event loop."""
        flight = self._flights[world]
        if flight.over:
            return
        flying = in_flight(world).rows
        if len(flying) != len(flight.carriers) + len(flight.broken):
            self._resume(world, flight)
        if not may_take(world) or self._closing:
            return
        with world.change(_CAUSE):
            attempts = take(world)
        for attempt in attempts:
            # The next attempt to an endpoint reuses the task of the previous one. A separate task for each attempt
            # took 5% of the time per delivery.
            carrier = flight.landing
            if carrier is not None and carrier.attempt is None and carrier.endpoint_id == attempt.endpoint_id:
                carrier.attempt = attempt
            else:
                carrier = _Carrier(attempt.endpoint_id, attempt)
                carrier.task = asyncio.get_running_loop().create_task(self._carry(world, flight, carrier))
                carrier.task.add_done_callback(partial(self._ended, world, flight, carrier))
            flight.carriers[attempt.id] = carrier

    def is_busy(self, world: World) -> bool:
        """Return True if any attempt in the world is in flight or may start."""
        return bool(self._flights[world].carriers) or may_take(world)

    async def settle(
        self, world: World, *, patience: Patience | None = None, called_off: Callable[[], bool] = lambda: False
    ) -> int:
        """Wait until no attempt in the world is in flight or may start, or until `called_off` returns True.

        `called_off` is checked after each call of `wake`. Return the number of attempts that were reported since
        `settle` last returned for this world. The number does not depend on how fast receivers respond. Raise
        `Unanswered` if a receiver does not respond within the limits in `patience`.
        """
        loop, flight = asyncio.get_running_loop(), self._flights[world]
        self.pump(world)
        began, alarms = loop.time(), list[asyncio.TimerHandle]()
        if patience is not None:
            waits = [patience.rest_seconds] if patience.rest_seconds < inf else []
            if patience.attempts & flight.sent.keys():
                waits.append(patience.seconds)
            alarms = [loop.call_later(seconds, self.wake, world) for seconds in waits]
        try:
            while flight.carriers and not called_off():
                waiter: asyncio.Future[None] = loop.create_future()
                flight.waiters.append(waiter)
                await waiter
                if patience is None or not flight.carriers:
                    continue
                waited = loop.time() - began + _SLACK_SECONDS
                if given_up := _given_up(flight, patience, waited, loop.time()):
                    url = in_flight(world)[given_up].url
                    raise Unanswered(url, None if given_up in patience.attempts else waited)
                if waited >= patience.rest_seconds:
                    alarms.append(loop.call_later(max(patience.seconds, _LOOK_AGAIN_SECONDS), self.wake, world))
        finally:
            for alarm in alarms:
                alarm.cancel()
        new, flight.counted = flight.made - flight.counted, flight.made
        return new

    async def landed(self, world: World, attempts: Iterable[str]) -> None:
        """Wait until none of the attempts with these ids is in flight."""
        flight, loop = self._flights[world], asyncio.get_running_loop()
        waiting = [attempt for attempt in attempts if attempt in flight.carriers]
        for ended in [flight.awaited.setdefault(attempt, loop.create_future()) for attempt in waiting]:
            await asyncio.shield(ended)  # Other callers wait for the same future.

    def unanswered(self, world: World, opened_at: float) -> frozenset[str]:
        """Return the ids of the attempts that were sent before a caller opened its connection and have no response yet.

        The caller may be the receiver of one of these attempts. It cannot be the receiver of a later attempt, because a
        receiver opens the connection after the attempt arrives.
        """
        return frozenset(attempt for attempt, sent_at in self._flights[world].sent.items() if sent_at <= opened_at)

    def wake(self, world: World) -> None:
        """Wake all callers that wait for deliveries of a world, so that they check again whether they must wait."""
        flight = self._flights[world]
        waiters, flight.waiters = flight.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def probe(self, world: World, probe: Probe) -> ProbeOutcome:
        """Send the signed test request for a registration (decision W4)."""
        stamp_ms = sending_time_ms(world, self._wall_clock_ms())
        headers = signed_headers(signing_of(world).signature, probe.key, stamp_ms, probe.raw)
        outcome = await self._post(world, probe.url, headers, probe.raw)
        return ProbeOutcome(outcome.status, outcome.error)

    def stop(self, world: World) -> None:
        """Stop deliveries for an ended world, and cancel its attempts in flight."""
        flight = self._flights[world]
        flight.over = True
        for carrier in flight.carriers.values():
            carrier.cancel()

    async def close(self) -> None:
        """Cancel the attempts in flight, which may start again later, and close all connections."""
        self._closing = True
        carriers = [carrier for flight in self._flights.values() for carrier in flight.carriers.values()]
        for carrier in carriers:
            carrier.cancel()
        await asyncio.gather(*(carrier.task for carrier in carriers if carrier.task), return_exceptions=True)
        if self._transport is not None:
            await self._transport.close()
        self._closing = False

    def _resume(self, world: World, flight: _Flight) -> None:
        """If a restored world lists attempts as in flight but no task sends them, make these attempts ready again."""
        known = flight.carriers.keys() | flight.broken
        lost = [attempt for attempt in in_flight(world).values() if attempt.id not in known]
        if lost:
            with world.change(_CAUSE):
                for attempt in lost:
                    put_back(world, attempt)

    async def _carry(self, world: World, flight: _Flight, carrier: _Carrier) -> None:
        """Send an attempt and report its result. Then send the next attempts to its endpoint, one after another."""
        while (attempt := carrier.attempt) is not None:
            outcome = await self._send(world, flight, attempt)
            if self.tracing is not None:
                self.tracing.delivered(world, attempt, outcome)
            try:
                await self._port.catch_up(world)
            except Exception:
                _log.exception("a listener of the courier failed")
            self._land(world, flight, carrier, attempt, outcome)

    def _land(self, world: World, flight: _Flight, carrier: _Carrier, attempt: Attempt, outcome: Outcome) -> None:
        """Record the result of an attempt. Callers that wait for the attempt continue even if recording fails."""
        try:
            with world.change(_CAUSE):
                report(world, attempt, outcome)
            flight.made += 1
            self.outcomes[_category(outcome)] += 1
        except Exception:
            flight.broken.add(attempt.id)
            _log.exception("the report of the webhook attempt %s failed", attempt.id)
        self._drop(flight, carrier, attempt)
        flight.landing = carrier
        try:
            self._port.reported(world)
        except Exception:
            _log.exception("a listener of the courier failed")
            self.pump(world)  # `reported` would have called `pump`, and the other deliveries must continue.
        finally:
            flight.landing = None
            if not flight.carriers:
                self.wake(world)

    def _ended(self, world: World, flight: _Flight, carrier: _Carrier, _task: asyncio.Task[None]) -> None:
        """If a sending task (carrier) was cancelled, make its attempt ready again."""
        if (attempt := carrier.attempt) is None:
            return
        try:
            with world.change(_CAUSE):
                put_back(world, attempt)
        except Exception:
            flight.broken.add(attempt.id)
            _log.exception("the webhook attempt %s cannot start again", attempt.id)
        self._drop(flight, carrier, attempt)
        if not flight.carriers:
            self.wake(world)

    @staticmethod
    def _drop(flight: _Flight, carrier: _Carrier, attempt: Attempt) -> None:
        carrier.attempt = None
        flight.carriers.pop(attempt.id, None)
        flight.sent.pop(attempt.id, None)
        if (ended := flight.awaited.pop(attempt.id, None)) is not None:
            ended.set_result(None)

    async def _send(self, world: World, flight: _Flight, attempt: Attempt) -> Outcome:
        headers: tuple[tuple[str, str], ...] = ()
        try:
            plan = attempt.pending.plan
            if plan is not None and plan.slow_ms:
                await asyncio.sleep(plan.slow_ms / 1000)
            if self.barrier is not None and (unsettled := self.barrier.unsettled()) is not None:
                # A receiver must not get an event that a crash would undo. Several callers share the future, so it is
                # shielded.
                await asyncio.shield(unsettled)
            message = prepare(world, attempt, self._wall_clock_ms())
            flight.sent[attempt.id] = asyncio.get_running_loop().time()
            headers = message.headers
            return await self._post(world, message.url, headers, message.body)
        except Exception as error:
            _log.exception("the webhook attempt %s could not be made", attempt.id)
            why = f"the request could not be made ({type(error).__name__})"
            return Outcome(None, why, request_headers=headers)

    async def _post(self, world: World, url: str, headers: tuple[tuple[str, str], ...], body: bytes) -> Outcome:
        signing = signing_of(world)
        signature = dict(headers).get(signing.signature.signature_header, "")
        self._senders[signature] = ref(world)
        self._senders.move_to_end(signature)
        if len(self._senders) > SIGNATURES_KEPT:
            self._senders.popitem(last=False)
        if self._transport is None:
            self._transport = transports.HttpTransport()
        limit_seconds = signing.timeout_seconds if self._timeout_seconds is None else self._timeout_seconds
        return await self._transport.post(url, headers, body, limit_seconds, url_policy(world))

    def sender_of(self, signature: str) -> tuple[bool, World | None]:
        """Return (was_sent, world): if a request had this signature recently, and its world unless that has ended."""
        sender = self._senders.get(signature)
        return sender is not None, None if sender is None else sender()


def _given_up(flight: _Flight, patience: Patience, waited: float, now: float) -> str:
    """Return the id of an attempt that the caller no longer waits for, or "" if the caller continues to wait."""
    sent = flight.sent
    if waited >= patience.seconds and (asking := sorted(patience.attempts & sent.keys())):
        return asking[0]
    if waited >= patience.most_seconds:
        return next(iter(sent), next(iter(flight.carriers)))
    if waited >= patience.rest_seconds:
        return next((attempt for attempt, sent_at in sent.items() if now - sent_at >= patience.seconds), "")
    return ""


_LOOK_AGAIN_SECONDS = 0.01
_SLACK_SECONDS = 0.005
"""The maximum time by which a timer of the event loop may fire early."""


def _category(outcome: Outcome) -> str:
    if outcome.succeeded:
        return "delivered"
    return "unanswered" if outcome.status is None or outcome.error is not None else "refused"
