"""The courier: sends the attempts that the webhooks room provides, and reports their outcomes.

The room decides which endpoint gets what and when it is retried. The courier timestamps, signs, posts and reports. A
report is an input of the world like any request. There is one event loop and no thread. The only wait is that of a
fault, in real milliseconds, before an attempt is sent. The driver handles simulated time.
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

from simulator.engine import webhooks
from simulator.engine.rows.operation import Probe, ProbeOutcome
from simulator.engine.rows.service import signing_of
from simulator.engine.webhooks import Attempt, Outcome
from simulator.engine.webhooks.courier import port as ports
from simulator.engine.webhooks.courier import transport as transports
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World

_CAUSE = Cause("law", "webhook")
_log = logging.getLogger(__name__)
SIGNATURES_KEPT = 10_000
"""The number of recent requests whose world is known by their signature."""


def wall_clock_ms() -> int:
    """Return the machine's clock in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Unanswered(Exception):
    """A receiver did not respond to an attempt for longer than a caller's patience."""

    def __init__(self, url: str, waited_seconds: float | None = None) -> None:
        super().__init__(url)
        self.url = url
        """The URL of the receiver."""
        self.waited_seconds = waited_seconds
        """The time for which the world was not at rest, or None if the receiver itself may be the caller."""


@dataclass(frozen=True)
class Patience:
    """The time limits of a caller that waits for a world to be at rest."""

    seconds: float
    """Limit for `attempts`."""
    attempts: frozenset[str]
    """Ids of attempts whose receivers may be the caller, and so would wait for each other."""
    rest_seconds: float = inf
    """Limit for the other attempts. It is longer than one attempt may take, because receivers that respond are waited
    for.
    """
    most_seconds: float = inf
    """Limit even if all receivers respond at once, because each response may start further attempts."""


@dataclass
class _Carrier:
    """A task that sends the attempts of one endpoint, one after another."""

    endpoint_id: str
    attempt: Attempt | None
    """The present attempt, or None between two of them."""
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


@dataclass
class _Flight:
    """The attempts in flight of one world, and the callers that wait for them."""

    carriers: dict[str, _Carrier] = field(default_factory=dict)
    """Carriers by the id of their present attempt."""
    landing: _Carrier | None = None
    """The carrier that is reporting just now."""
    waiters: list[asyncio.Future[None]] = field(default_factory=list)
    made: int = 0
    """The number of attempts that were reported to the world."""
    counted: int = 0
    """The part of `made` that `settle` has returned before."""
    sent: dict[str, float] = field(default_factory=dict)
    """The times, in seconds of the event loop, at which attempts were given to the transport."""
    awaited: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    """Attempts that a request waits for."""
    broken: set[str] = field(default_factory=set)
    """Attempts whose report failed. They stay in flight in the world, and must not be sent again and again."""
    over: bool = False
    """True once the world has ended: nothing starts."""


class Courier:
    """Delivers the webhooks of all worlds of a process. `port` is called for every report."""

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
        """Numbers of attempts for the metrics."""
        # Not a plain dict: to find its first key, that one walks over the remains of all keys deleted before.
        self._senders: OrderedDict[str, ReferenceType[World]] = OrderedDict()

    def pump(self, world: World) -> None:
        """Start the attempts that may start now. Call it outside a transaction, in a running loop."""
        flight = self._flights[world]
        if flight.over:
            return
        flying = webhooks.in_flight(world)
        if len(flying) != len(flight.carriers) + len(flight.broken):
            self._resume(world, flight)
        if not webhooks.may_take(world) or self._closing:
            return
        with world.change(_CAUSE):
            attempts = webhooks.take(world)
        for attempt in attempts:
            # The next attempt of an endpoint reuses the task of the one before. A task for each attempt took a
            # twentieth of a delivery.
            carrier = flight.landing
            if carrier is not None and carrier.attempt is None and carrier.endpoint_id == attempt.endpoint_id:
                carrier.attempt = attempt
            else:
                carrier = _Carrier(attempt.endpoint_id, attempt)
                carrier.task = asyncio.get_running_loop().create_task(self._carry(world, flight, carrier))
                carrier.task.add_done_callback(partial(self._ended, world, flight, carrier))
            flight.carriers[attempt.id] = carrier

    def is_busy(self, world: World) -> bool:
        """Return True if an attempt of the world is in flight or may start."""
        return bool(self._flights[world].carriers) or webhooks.may_take(world)

    async def settle(
        self,
        world: World,
        *,
        patience: Patience | None = None,
        called_off: Callable[[], bool] = lambda: False,
    ) -> int:
        """Wait until no attempt of the world is in flight or may start, or `called_off` returns True (see `wake`).

        Return the number of attempts since the last call. It does not depend on how fast receivers respond. Raise
        Unanswered if `patience` with a receiver ends.
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
                    url = webhooks.in_flight(world)[given_up].url
                    raise Unanswered(url, None if given_up in patience.attempts else waited)
                if waited >= patience.rest_seconds:
                    alarms.append(loop.call_later(max(patience.seconds, _LOOK_AGAIN_SECONDS), self.wake, world))
        finally:
            for alarm in alarms:
                alarm.cancel()
        new, flight.counted = flight.made - flight.counted, flight.made
        return new

    async def landed(self, world: World, attempts: Iterable[str]) -> None:
        """Wait until none of these attempts, by id, is in flight."""
        flight, loop = self._flights[world], asyncio.get_running_loop()
        waiting = [attempt for attempt in attempts if attempt in flight.carriers]
        for ended in [flight.awaited.setdefault(attempt, loop.create_future()) for attempt in waiting]:
            await asyncio.shield(ended)  # others wait for the same future

    def unanswered(self, world: World, opened_at: float) -> frozenset[str]:
        """Return the ids of the attempts whose receiver may be the caller of a connection opened at that time.

        These were sent before and are unanswered. A receiver cannot have opened its connection before it got the
        attempt.
        """
        return frozenset(attempt for attempt, sent_at in self._flights[world].sent.items() if sent_at <= opened_at)

    def wake(self, world: World) -> None:
        """Let all waiters of a world check again whether to go on waiting."""
        flight = self._flights[world]
        waiters, flight.waiters = flight.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def probe(self, world: World, probe: Probe) -> ProbeOutcome:
        """Send the signed test request of a registration (decision W4)."""
        stamp_ms = webhooks.sending_time_ms(world, self._wall_clock_ms())
        headers = webhooks.signed_headers(signing_of(world).signature, probe.key, stamp_ms, probe.raw)
        outcome = await self._post(world, probe.url, headers, probe.raw)
        return ProbeOutcome(outcome.status, outcome.error)

    def stop(self, world: World) -> None:
        """Stop delivering for a world that has ended, and cut off its attempts in flight."""
        flight = self._flights[world]
        flight.over = True
        for carrier in flight.carriers.values():
            carrier.cancel()

    async def close(self) -> None:
        """Cut off attempts in flight, which may start again later, and close all connections."""
        self._closing = True
        carriers = [carrier for flight in self._flights.values() for carrier in flight.carriers.values()]
        for carrier in carriers:
            carrier.cancel()
        await asyncio.gather(*(carrier.task for carrier in carriers if carrier.task), return_exceptions=True)
        if self._transport is not None:
            await self._transport.close()
        self._closing = False

    def _resume(self, world: World, flight: _Flight) -> None:
        """Make attempts ready again that are in flight in the world but have no carrier, because it was restored."""
        known = flight.carriers.keys() | flight.broken
        lost = [attempt for attempt in webhooks.in_flight(world).values() if attempt.id not in known]
        if lost:
            with world.change(_CAUSE):
                for attempt in lost:
                    webhooks.put_back(world, attempt)

    async def _carry(self, world: World, flight: _Flight, carrier: _Carrier) -> None:
        """Send and report an attempt, then the next one of its endpoint while there is one."""
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
        """Report an attempt. Its waiters are released even if the report fails."""
        try:
            with world.change(_CAUSE):
                webhooks.report(world, attempt, outcome)
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
            self.pump(world)  # `reported` would have done it, and the other deliveries must go on
        finally:
            flight.landing = None
            if not flight.carriers:
                self.wake(world)

    def _ended(self, world: World, flight: _Flight, carrier: _Carrier, _task: asyncio.Task[None]) -> None:
        """Make the attempt of a carrier ready again if the carrier was cut off."""
        if (attempt := carrier.attempt) is None:
            return
        try:
            with world.change(_CAUSE):
                webhooks.put_back(world, attempt)
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
                # A receiver must not see an event that a crash would undo. The future is shared, hence the shield.
                await asyncio.shield(unsettled)
            message = webhooks.prepare(world, attempt, self._wall_clock_ms())
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
        return await self._transport.post(url, headers, body, limit_seconds, webhooks.url_policy(world))

    def sender_of(self, signature: str) -> tuple[bool, World | None]:
        """Return whether a request with this signature was sent lately, and its world, or None if it has ended."""
        sender = self._senders.get(signature)
        return sender is not None, None if sender is None else sender()


def _given_up(flight: _Flight, patience: Patience, waited: float, now: float) -> str:
    """Return the id of an attempt for which a caller waits no longer, or "" while patience lasts."""
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
"""A timer of the event loop may fire this much early."""


def _category(outcome: Outcome) -> str:
    if outcome.succeeded:
        return "delivered"
    return "unanswered" if outcome.status is None or outcome.error is not None else "refused"
