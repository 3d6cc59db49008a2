"""One generic endpoint for every operation of the interface, in the order of checks of decision H2.

It knows no resource. What it is given is an HTTP request already read; what it answers is status, headers and bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from simulator.engine import webhooks
from simulator.engine.faults import models as written
from simulator.engine.insight.tally import count_entry
from simulator.engine.records import traces
from simulator.engine.rows import pipeline
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call, Operation, Probe
from simulator.engine.server.checks import faults, idempotency, presence
from simulator.engine.server.checks.gates import check_gates
from simulator.engine.server.checks.quotas import CallQuota
from simulator.engine.server.checks.ratelimit import count_call
from simulator.engine.server.http import answers
from simulator.engine.server.http.bases import split_base
from simulator.engine.server.http.messages import Incoming, Outgoing, token_of
from simulator.engine.server.http.request import Request, entry_of
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import dumps
from simulator.engine.text.texts import json_text
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds import quotas
from simulator.engine.worlds.settings import assumes, settings_of
from simulator.kernel.ids import derive, text_of
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.texts import Text
from simulator.kernel.world import Origin, World
from simulator.providers.ramp.auth import token_holder

SCENARIO_HEADER = "x-simulator-scenario"

DEFECT = (
    "An unexpected error: this is a defect of the simulator. Please report it with the traceback in the server's log."
)
_BOOKKEEPING = Cause("request", "bookkeeping")
"""Request ids, rate limits, hits of faults and counts of coverage: what stays of a call when it is refused."""
_Found: TypeAlias = tuple[Mapping[str, Operation], Mapping[str, str]] | None
"""The operations of a path by method, and its variables; None for an unknown path."""
_Answering: TypeAlias = "Outgoing | Coroutine[Any, Any, Outgoing]"
"""An answer, or the rest of a call that has to wait for something, which is awaited outside of any change."""


class Endpoint:
    """Answers interface calls for all worlds of a simulator."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._masker = runtime.masker
        self._router = runtime.router
        self._meter = runtime.meter
        self._pending: dict[tuple[World, str, str], asyncio.Future[None]] = {}
        self._refused = 0
        self.quota = CallQuota()

    async def answer(self, incoming: Incoming) -> Outgoing:
        """Answer one call; never raises."""
        request = self._begin(incoming)
        found = self._router.find(request.path)
        if self._simulator.away:  # else every world is in memory
            absent = await presence.refusal(self._runtime, request, is_known=found is not None)
            if absent is not None:
                return absent
        try:
            request.world = presence.world_of(self._simulator, request, is_known=found is not None)
            beyond = self.quota.refusal(request.world)
            if beyond is not None:
                self._meter.over_quota += 1
                return Outgoing(beyond.status, dumps(beyond.envelope()), beyond.headers)
            if not self._runtime.driver.catch_up(request.world):
                await self._catch_up(request, is_known=found is not None)
            answer = self._at_once(request, found)
            outgoing = answer if isinstance(answer, Outgoing) else await self._or_refused(request, answer)
        except Exception:
            outgoing = self._fail(request)
        if not self._finish(request, outgoing):
            await self._follow_up(request.world)
        if request.may_wait:
            await self._delivered_first(request)
        self._meter.measure(request, outgoing)
        return outgoing

    def refuse(self, error: ApiError) -> Outgoing:
        """Refuse a call before it is looked at, without a trace in a world: web pages make such calls unasked.

        Its request id is not drawn from a world either: that would shift the ids of all calls after it.
        """
        self._refused += 1
        request_id = f"req_{text_of(derive('refused before a world', self._refused))}"
        self._meter.observe("", error.status, 0.0)
        return Outgoing(error.status, dumps(error.envelope(request_id)), {"X-Request-Id": request_id})

    def _begin(self, incoming: Incoming) -> Request:
        environment, path = split_base(incoming.path)
        return Request(incoming, environment, path, self._simulator.default, perf_counter(), token_of(incoming))

    def _finish(self, request: Request, outgoing: Outgoing) -> bool:
        """Let happen what is due now; False where that takes time. Whatever fails here, the answer stands."""
        try:
            if not request.is_entered:
                with request.world.change(_BOOKKEEPING):
                    self._enter(request, outgoing)
            return self._runtime.follow_up_at_once(request.world)
        except Exception:
            self._runtime.log_defect()
        return True

    async def _follow_up(self, world: World) -> None:
        try:
            await self._runtime.follow_up(world)
        except Exception:
            self._runtime.log_defect()

    async def _delivered_first(self, request: Request) -> None:
        """Wait for the events of a call that a fault has delivered before its answer."""
        try:
            attempts = webhooks.awaited(request.world, request.request_id)
            await self._runtime.courier.landed(request.world, attempts)
        except Exception:
            self._runtime.log_defect()

    def _fail(self, request: Request) -> Outgoing:
        """500 for the exception being handled; its traceback goes to the log only."""
        self._runtime.log_defect()
        with suppress(Exception):
            self._identify(request)
        envelope = ApiError("internal_error", DEFECT).envelope(request.request_id or None)
        headers = {"X-Request-Id": request.request_id} if request.request_id else {}
        return Outgoing(500, dumps(envelope), headers)

    def _require_living(self, world: World) -> None:
        """503 when the world of a call that had to wait has ended: what it would do now would be lost."""
        if not self._simulator.lives(world):
            raise ApiError(
                "service_unavailable",
                "The world of this call was reset, restored, replaced or deleted while the call waited; "
                "nothing was done.",
            )

    async def _or_refused(self, request: Request, answering: Awaitable[Outgoing]) -> Outgoing:
        try:
            with self._runtime.holding(request.world.id):
                return await answering
        except ApiError as error:
            return self._refuse(request, error)

    async def _catch_up(self, request: Request, *, is_known: bool) -> None:
        """Wait for the present moment of the world of a call; of another, if one took its place meanwhile."""
        while True:
            world = request.world
            with self._runtime.holding(world.id):
                await self._runtime.driver.bring_up_to_date(world)
            request.world = presence.world_of(self._simulator, request, is_known=is_known)
            if request.world is world:
                return

    def _at_once(self, request: Request, found: _Found) -> _Answering:
        """All that a call does before it has to wait for something, in one change: nearly always everything.

        What stays when it is refused (its id, the rate limit, hits of faults, the count of coverage) is written beside
        what is undone then.
        """
        world = request.world
        with world.change(_BOOKKEEPING):
            try:
                operation, call = self._recognised(request, found)
                if request.public_key is not None:
                    count_call(world, request.public_key, wall_clock_ms)  # first: it refuses, and an id would be lost
                interference = faults.choose(request, operation)
                request.request_id = _draw_id(world)
                if interference is not None:
                    return self._interfered(request, operation, call, interference)
                answer = self._performed(request, operation, call)
            except ApiError as error:
                answer = self._refuse(request, error)
            except Exception:
                answer = self._fail(request)
            if isinstance(answer, Outgoing):
                self._enter(request, answer)
            return answer

    def _recognised(self, request: Request, found: _Found) -> tuple[Operation, Call]:
        """The operation that is called, and who calls; ApiError 404, 405 and 401."""
        if found is None or not request.environment:
            raise ApiError("not_found", f"There is no path {request.incoming.path}.")
        rows, variables = found
        method = request.incoming.method
        operation = rows.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = [*rows, *(["HEAD"] if "GET" in rows else [])]
            raise ApiError(
                "invalid_request",
                f"{method} is not possible here; use {' or '.join(allowed)}.",
                status=405,
                headers={"Allow": ", ".join(allowed)},
            )
        request.operation = operation
        wall_ms = wall_clock_ms() if request.world.clock.mode == "scaled" else 0
        call = Call(request.world, request.environment, variables, trace=method != "HEAD", wall_ms=wall_ms)
        if operation.token:
            if request.token is None:
                raise ApiError("unauthorized", "Send the header Authorization: Bearer <ACCESS_TOKEN>.")
            call.caller = token_holder(call.world, call.environment, request.token, wall_ms)
            request.public_key = call.caller.public_key
        return operation, call

    async def _interfered(
        self, request: Request, operation: Operation, call: Call, interference: faults.Interference
    ) -> Outgoing:
        """A fault: the answer is delayed, replaced or lost, before the work or after it."""
        if interference.delay_seconds:
            await asyncio.sleep(interference.delay_seconds)
            self._require_living(request.world)
        if interference.act is not None:
            self._let_happen(request, interference, interference.act)
        if interference.works:
            performing = self._changed(request.world, lambda: self._performed(request, operation, call))
            outgoing = await self._or_refused(request, performing)
        await interference.hold_answer()
        if interference.replaces:
            return interference.answer(request.world, request.request_id)
        with request.world.change(_BOOKKEEPING):
            return interference.in_place_of(request.world, outgoing)

    def _let_happen(self, request: Request, interference: faults.Interference, act: written.Happening) -> None:
        """What happens in the outside world just before a call is dealt with."""
        world, cause = request.world, Cause("action", act.action, request.request_id)
        try:
            self._simulator.actions.carry_out(world, act.action, None, act.parameters, request.environment, cause)
        except ControlError:
            with world.change(_BOOKKEEPING):
                interference.came_to_nothing(world)

    @staticmethod
    async def _changed(world: World, act: Callable[[], _Answering]) -> Outgoing:
        """What a call does after it had to wait: in one change again, as far as it goes."""
        with world.change(_BOOKKEEPING):
            answer = act()
        return answer if isinstance(answer, Outgoing) else await answer

    def _performed(self, request: Request, operation: Operation, call: Call) -> _Answering:
        world, incoming = request.world, request.incoming
        gates_last = assumes(world, "H2", "body_before_permission")
        pipeline.admit(operation, call, pipeline.no_gates if gates_last else check_gates)
        query = dict(parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True)) if incoming.query else {}
        raw = answers.body_sent(request) if operation.takes_body else {}
        strict = settings_of(world)["strict"] or assumes(world, "H6", "unknown_is_refused")
        try:
            unknown = pipeline.validate(operation, call, raw, query, strict=strict)
        except ApiError as error:
            if operation.takes_body and not incoming.body and error.code in ("missing_parameter", "invalid_request"):
                raise ApiError("invalid_request", "The body is empty; send a JSON object.", error.param) from None
            raise
        if gates_last:
            check_gates(operation, call)
        request.unknown_fields = tuple(unknown)
        origin = Origin(json_text(raw), self._scenario_of(request, call), traces.parent_of(incoming.headers))
        key = idempotency.key_of(operation, incoming)
        if key is None:
            return self._act(request, call, operation, origin)
        return self._act_once(request, call, operation, origin, key)

    def _scenario_of(self, request: Request, call: Call) -> str:
        name = request.incoming.headers.get(SCENARIO_HEADER, "")
        if name and not self._simulator.engine.knows(call.world, name):
            raise ApiError(
                "invalid_parameter", f"X-Simulator-Scenario names no scenario: {name!r}.", "X-Simulator-Scenario"
            )
        return name

    def _act_once(self, request: Request, call: Call, operation: Operation, origin: Origin, key: str) -> _Answering:
        """Under an idempotency key: a retry waits for the first call and gets its answer (decision H14)."""
        idempotency.check_key(key)
        world, environment = request.world, request.environment
        body = (request.incoming.body or b"") if operation.takes_body else b""
        wanted = idempotency.fingerprint(operation.method, request.path, body)
        place = (world, environment, key)
        pending = self._pending.get(place)
        if pending is not None:
            return self._retried(world, pending, lambda: self._act_once(request, call, operation, origin, key))
        stored = idempotency.recall(world, environment, key, wanted)
        if stored is not None:
            request.request_id, request.may_wait = stored.request_id, False  # its events went with the first call
            return answers.outgoing(request, stored.status, stored.body.read(), idempotency.replay_mark(world))

        def bind(outgoing: Outgoing) -> None:
            if idempotency.binds(world, outgoing.status):
                answer = idempotency.Stored(
                    wanted, outgoing.status, Text(outgoing.body), request.request_id, world.now_ms
                )
                idempotency.remember(world, environment, key, answer)

        answer = self._act(request, call, operation, origin, bind)
        return answer if isinstance(answer, Outgoing) else self._awaited(place, answer)

    async def _retried(self, world: World, pending: asyncio.Future[None], act: Callable[[], _Answering]) -> Outgoing:
        await asyncio.shield(pending)
        self._require_living(world)
        return await self._changed(world, act)

    def _awaited(self, place: tuple[World, str, str], answering: Coroutine[Any, Any, Outgoing]) -> _Answering:
        """The rest of a call under a key, for which retries wait from now on."""
        done = self._pending[place] = asyncio.get_running_loop().create_future()

        async def answered() -> Outgoing:
            try:
                return await answering
            finally:
                del self._pending[place]
                done.set_result(None)

        return answered()

    def _act(
        self,
        request: Request,
        call: Call,
        operation: Operation,
        origin: Origin,
        bind: Callable[[Outgoing], None] = lambda outgoing: None,
    ) -> _Answering:
        """What a call does, inside its change: a scenario's answer or the room's action, and the binding of its key.

        A call that sends a test request ends in a second change, after what came back: nobody waits inside of one.
        """
        cause = Cause("request", operation.name, request.request_id)
        request.world.take_cause(cause, origin)
        try:
            answer = self._decide(request, call, operation)
        except (ApiError, IllegalMove) as error:
            answer = self._refuse(request, error)
        if isinstance(answer, Outgoing):
            bind(answer)
            return answer
        return self._concluded(request, operation, answer, bind, cause, origin)

    async def _concluded(
        self,
        request: Request,
        operation: Operation,
        probe: Probe,
        bind: Callable[[Outgoing], None],
        cause: Cause,
        origin: Origin,
    ) -> Outgoing:
        """The end of a call that sends a test request."""
        world = request.world
        # A task of its own: the client that sends it asks for the task it runs in, and a call may begin without one.
        outcome = await asyncio.create_task(self._runtime.courier.probe(world, probe))
        self._require_living(world)
        await self._runtime.driver.bring_up_to_date(world)
        self._require_living(world)
        with world.change(cause, origin):
            try:
                with quotas.attempt(world):
                    outgoing = answers.answered(request, operation, probe.then(outcome))
            except (ApiError, IllegalMove) as error:
                outgoing = self._refuse(request, error)
            bind(outgoing)
            return outgoing

    def _decide(self, request: Request, call: Call, operation: Operation) -> Outgoing | Probe:
        """What a scenario or the room answers. Of a refusal the room's part is undone, what scenarios counted stays."""
        world, incoming = request.world, request.incoming
        pipeline.claim(operation, call)
        answered = self._simulator.engine.answer_for(
            world, request.environment, incoming.method, request.path, call.raw
        )
        if answered is not None:
            raise ApiError(answered.code, answered.message, answered.param, answered.status)
        with quotas.attempt(world):
            answer = operation.action(call)
            if isinstance(answer, Probe):
                return answer
            return answers.answered(request, operation, answer)

    def _refuse(self, request: Request, error: ApiError | IllegalMove) -> Outgoing:
        self._identify(request)
        if isinstance(error, IllegalMove):
            error = ApiError("invalid_state", f"Not possible in the present status: {error}")
        return answers.refused(request, error)

    @staticmethod
    def _identify(request: Request) -> None:
        """Give a call its request id, once."""
        if not request.request_id:
            with request.world.change(_BOOKKEEPING):
                request.request_id = _draw_id(request.world)

    def _enter(self, request: Request, outgoing: Outgoing) -> None:
        """Enter the call in the journal and count it; inside a change.

        Whatever fails here, the answer stands: what the call has done is done, and a caller who is answered otherwise
        would do it twice.
        """
        request.is_entered = True
        try:
            row = entry_of(request, outgoing, self._masker)
            request.world.journal.enter(row)
            if request.operation is not None:
                count_entry(request.world, request.operation, row)
        except Exception:
            self._runtime.log_defect()


def _draw_id(world: World) -> str:
    return world.streams.identifier("req_", "ids.request")
