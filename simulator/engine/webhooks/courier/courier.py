"""The courier: sends what the webhooks room hands out and reports what came back.

It decides nothing: who gets what, and when it is tried again, is the room's. It stamps the moment of sending, signs,
posts, and reports; a report is an input of the world like any other. One event loop, no threads. The one wait here is a
fault's, in real milliseconds, between the sending of an attempt and its start; simulated time is the driver's.
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
"""Of so many requests sent lately it is known which world signed them."""


def wall_clock_ms() -> int:
    """The machine's clock in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Unanswered(Exception):
    """A receiver left an attempt unanswered for longer than somebody would wait for it; `url` is the receiver's.

    `waited_seconds` is how long the world was not at rest, or None if the receiver itself may be waiting.
    """

    def __init__(self, url: str, waited_seconds: float | None = None) -> None:
        super().__init__(url)
        self.url = url
        self.waited_seconds = waited_seconds


@dataclass(frozen=True)
class Patience:
    """How long somebody waits for the answers to these attempts, because their receivers may be waiting for him.

    `rest_seconds` is how long he waits for a world to be at rest, whoever its receivers are: longer than one attempt
    may take, because receivers that answer are waited for. `most_seconds` holds even if all of them answer at once.
    """

    seconds: float
    attempts: frozenset[str]
    rest_seconds: float = inf
    most_seconds: float = inf


@dataclass
class _Carrier:
    """Who carries the attempts of an endpoint, one after another; `attempt` is None between two of them."""

    endpoint_id: str
    attempt: Attempt | None
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


@dataclass
class _Flight:
    """What is on its way for one world, and who waits for it to end.

    `carriers` by the ids of the attempts on their way, `landing` the one that is just reporting. `sent` are the
    attempts that were handed to the transport and when (seconds of the event loop), `awaited` those that a call waits
    for, `broken` those whose report
    failed: they are not sent again and again. `over`: the world has ended, nothing starts.
    """

    carriers: dict[str, _Carrier] = field(default_factory=dict)
    landing: _Carrier | None = None
    waiters: list[asyncio.Future[None]] = field(default_factory=list)
    made: int = 0
    reported: int = 0
    sent: dict[str, float] = field(default_factory=dict)
    awaited: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    over: bool = False


class Courier:
    """Delivers the webhooks of all worlds of a process; `port` is called for every report.

    With a `barrier` nothing leaves before what has led to it is kept. `outcomes` counts the attempts that it has made.
    """

    barrier: ports.WriteBarrier | None = None
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
        # An ordered dict, because the first key of a plain one is looked for past all those that were there before.
        self._senders: OrderedDict[str, ReferenceType[World]] = OrderedDict()

    def pump(self, world: World) -> None:
        """Start whatever may start now, without waiting for it; outside of a change of the world, in a running loop."""
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
            # The next attempt of an endpoint goes with the carrier of the one before: a task for each took a
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
        """Whether anything of the world is on its way or may start."""
        return bool(self._flights[world].carriers) or webhooks.may_take(world)

    async def settle(
        self,
        world: World,
        *,
        patience: Patience | None = None,
        called_off: Callable[[], bool] = lambda: False,
    ) -> int:
        """Wait until nothing of the world is on its way or may start, or until `called_off` holds (see `wake`).

        Returns how many attempts were made that no earlier call of this counted: a count that does not depend on how
        fast receivers answer. Unanswered when `patience` with a receiver is lost.
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
        unreported, flight.reported = flight.made - flight.reported, flight.made
        return unreported

    async def landed(self, world: World, attempts: Iterable[str]) -> None:
        """Wait until these attempts, by their ids, are on their way no more."""
        flight, loop = self._flights[world], asyncio.get_running_loop()
        waiting = [attempt for attempt in attempts if attempt in flight.carriers]
        for ended in [flight.awaited.setdefault(attempt, loop.create_future()) for attempt in waiting]:
            await asyncio.shield(ended)

    def unanswered(self, world: World, opened_at: float) -> frozenset[str]:
        """The attempts, by their ids, whose receiver may be calling over a connection opened at that moment.

        They were sent by then and have not been answered yet. Who had the connection open before is somebody else.
        """
        return frozenset(attempt for attempt, sent_at in self._flights[world].sent.items() if sent_at <= opened_at)

    def wake(self, world: World) -> None:
        """Let everybody who waits for a world look again whether to go on waiting."""
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
        """Stop delivering for a world that is gone; what is on its way is cut off."""
        flight = self._flights[world]
        flight.over = True
        for carrier in flight.carriers.values():
            carrier.cancel()

    async def close(self) -> None:
        """Cut off what is on its way (it may start again later) and let go of all connections."""
        self._closing = True
        carriers = [carrier for flight in self._flights.values() for carrier in flight.carriers.values()]
        for carrier in carriers:
            carrier.cancel()
        await asyncio.gather(*(carrier.task for carrier in carriers if carrier.task), return_exceptions=True)
        if self._transport is not None:
            await self._transport.close()
        self._closing = False

    def _resume(self, world: World, flight: _Flight) -> None:
        """Attempts that the world believes on their way but nobody carries (it was restored) may start again."""
        known = flight.carriers.keys() | flight.broken
        lost = [attempt for attempt in webhooks.in_flight(world).values() if attempt.id not in known]
        if lost:
            with world.change(_CAUSE):
                for attempt in lost:
                    webhooks.put_back(world, attempt)

    async def _carry(self, world: World, flight: _Flight, carrier: _Carrier) -> None:
        """Send an attempt and report it, and go on with the next of its endpoint as long as there is one."""
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
        """An attempt was answered. Whatever goes wrong with its report, whoever waits goes on."""
        try:
            self._report(world, attempt, outcome)
            flight.made += 1
            self.outcomes[_sort_of(outcome)] += 1
        except Exception:
            flight.broken.add(attempt.id)
            _log.exception("the report of the webhook attempt %s failed", attempt.id)
        self._drop(flight, carrier, attempt)
        flight.landing = carrier
        try:
            self._port.reported(world)
        except Exception:
            _log.exception("a listener of the courier failed")
            self.pump(world)  # whoever listens fails for himself: the next deliveries go out all the same
        finally:
            flight.landing = None
            if not flight.carriers:
                self.wake(world)

    def _ended(self, world: World, flight: _Flight, carrier: _Carrier, _task: asyncio.Task[None]) -> None:
        """A carrier has ended; where it was cut off, the attempt that it had may start again."""
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
        """Whether a request with this signature was sent from here lately, and its world, None when it is gone."""
        sender = self._senders.get(signature)
        return sender is not None, None if sender is None else sender()

    def _report(self, world: World, attempt: Attempt, outcome: Outcome) -> None:
        with world.change(_CAUSE):
            webhooks.report(world, attempt, outcome)


def _given_up(flight: _Flight, patience: Patience, waited: float, now: float) -> str:
    """Return the id of an attempt that is not waited for any longer, or "" while patience lasts."""
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
"""A timer of the loop may fire this much before its time."""


def _sort_of(outcome: Outcome) -> str:
    if outcome.succeeded:
        return "delivered"
    return "unanswered" if outcome.status is None or outcome.error is not None else "refused"
