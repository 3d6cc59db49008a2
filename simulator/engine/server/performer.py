"""Carries out the second half of an API call: access checks, body, idempotency key, and the function of the operation.

Decision H2 specifies the sequence of the steps. The module `endpoint` contains the earlier steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from simulator.engine.records import indexes
from simulator.engine.records.listing import ListRequest
from simulator.engine.records.origins import NOTHING_CARRIED, RequestOrigin, parent_of
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Answer, Call, Operation, Probe
from simulator.engine.server import pipeline
from simulator.engine.server.checks import idempotency
from simulator.engine.server.http import answers
from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import BOOKKEEPING, Request
from simulator.engine.server.running.chunks import let_others_through
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import JsonObject, json_text
from simulator.engine.worlds import quotas
from simulator.engine.worlds.settings import assumes, assumes_anything, settings_of
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.texts import Text
from simulator.kernel.world import World

SCENARIO_HEADER = "x-simulator-scenario"

Answering: TypeAlias = "Outgoing | Coroutine[Any, Any, Outgoing]"
"""A response, or an awaitable, for use outside transactions, for the rest of a call that has to wait."""


class Performer:
    """Carries out API calls for all worlds of a simulator."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._check_gates = runtime.simulator.provider.identity.check_gates
        self._pending: dict[tuple[World, str, str], asyncio.Future[None]] = {}
        """The calls that are waiting, by world, environment and idempotency key. Retries wait for these futures."""

    def perform(self, request: Request, operation: Operation, call: Call) -> Answering:
        """Carry out a call, and return the response or an awaitable for it. Raise `ApiError` if the call is refused."""
        world, incoming = request.world, request.incoming
        gates_last = assumes(world, "H2", "body_before_permission")
        pipeline.admit(operation, call, pipeline.no_gates if gates_last else self._check_gates)
        raw: JsonObject = {}
        if incoming.query or not operation.takes_nothing or assumes_anything(world):
            raw = self._validated(request, operation, call)
        if gates_last:
            self._check_gates(operation, call)
        scenario, trace = self._scenario_of(request, call), parent_of(incoming.headers)
        origin = RequestOrigin(json_text(raw), scenario, trace) if raw or scenario or trace else NOTHING_CARRIED
        key = idempotency.key_of(operation, incoming)
        if key is None:
            return self._act(request, call, operation, origin)
        return self._act_once(request, call, operation, origin, key)

    def _validated(self, request: Request, operation: Operation, call: Call) -> JsonObject:
        """Validate the body and the query of a call, or raise `ApiError` 400. Return the JSON object in its body."""
        world, incoming = request.world, request.incoming
        query = dict(parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True)) if incoming.query else {}
        raw = answers.body_sent(request) if operation.takes_body else {}
        strict = settings_of(world)["strict"] or assumes(world, "H6", "unknown_is_refused")
        try:
            unknown = pipeline.validate(operation, call, raw, query, strict=strict)
        except ApiError as error:
            if operation.takes_body and not incoming.body and error.code in ("missing_parameter", "invalid_request"):
                raise ApiError("invalid_request", "The body is empty. Send a JSON object.", error.param) from None
            raise
        if isinstance(call.query, ListRequest):
            call.query = replace(call.query, defers=True)
        request.unknown_fields = tuple(unknown)
        return raw

    def _scenario_of(self, request: Request, call: Call) -> str:
        name = request.incoming.headers.get(SCENARIO_HEADER, "")
        if name and not self._simulator.engine.catalogue.knows(call.world, name):
            raise ApiError(
                "invalid_parameter",
                f"X-Simulator-Scenario: there is no scenario {name!r}. List them with GET /_simulator/scenarios.",
                "X-Simulator-Scenario",
            )
        return name

    def _act_once(
        self, request: Request, call: Call, operation: Operation, origin: RequestOrigin, key: str
    ) -> Answering:
        """Carry out a call with an idempotency key. Wait for an earlier call with this key (decision H14)."""
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
            # The first call has already delivered its events.
            request.request_id, request.may_wait = stored.request_id, False
            return answers.outgoing(request, stored.status, stored.body.read(), idempotency.replay_mark(world))

        def bind(outgoing: Outgoing) -> None:
            if idempotency.binds(world, outgoing.status):
                answer = idempotency.Stored(
                    wanted, outgoing.status, Text(outgoing.body), request.request_id, world.now_ms
                )
                idempotency.remember(world, environment, key, answer)

        answer = self._act(request, call, operation, origin, bind)
        return answer if isinstance(answer, Outgoing) else self._awaited(place, answer)

    async def _retried(self, world: World, pending: asyncio.Future[None], act: Callable[[], Answering]) -> Outgoing:
        # The future is shielded, because several retries may be waiting. Cancelling one of them would cancel the
        # future that all of them share.
        await asyncio.shield(pending)
        self.require_living(world)
        return await self.changed(world, act)

    def _awaited(self, place: tuple[World, str, str], answering: Coroutine[Any, Any, Outgoing]) -> Answering:
        """Return an awaitable that finishes a call with an idempotency key. `answering` is the coroutine that computes
        the response. Until it ends, later calls with the same key wait.
        """
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
        origin: RequestOrigin,
        bind: Callable[[Outgoing], None] = lambda outgoing: None,
    ) -> Answering:
        """Carry out a call inside its transaction: return the response of a scenario, or run the operation.

        `bind` stores the response under the idempotency key. A transaction never waits. A call has to wait if it sends
        a test request, or if it returns a list that needs a new index. Such a call ends in a second transaction.
        """
        cause = Cause("request", operation.name, request.request_id)
        request.world.cause, request.world.origin = cause, origin
        try:
            answer = self._decide(request, call, operation)
        except (ApiError, IllegalMove) as error:
            answer = answers.refused(request, error)
        if isinstance(answer, Outgoing):
            bind(answer)
            return answer
        return self._concluded(request, call, operation, answer, bind, cause, origin)

    async def _concluded(
        self,
        request: Request,
        call: Call,
        operation: Operation,
        pending: Probe | indexes.Unindexed,
        bind: Callable[[Outgoing], None],
        cause: Cause,
        origin: RequestOrigin,
    ) -> Outgoing:
        """Send the test request or build the index that a call waits for, and finish it in a second transaction."""
        world = request.world
        while True:
            act: Callable[[], Answer]
            if isinstance(pending, Probe):
                # The probe runs in its own task, because the HTTP client asks for the current task, and a call may
                # start without one.
                act = partial(pending.then, await asyncio.create_task(self._runtime.courier.probe(world, pending)))
            else:
                await let_others_through(pending.build)
                act = partial(operation.action, call)
            self.require_living(world)
            await self._runtime.driver.bring_up_to_date(world)
            self.require_living(world)
            try:
                with world.change(cause, origin):
                    try:
                        with quotas.attempt(world):
                            answer = act()
                            assert not isinstance(answer, Probe)
                            outgoing = answers.answered(request, operation, answer)
                    except (ApiError, IllegalMove) as error:
                        outgoing = answers.refused(request, error)
                    bind(outgoing)
                    return outgoing
            except indexes.Unindexed as missing:  # The list needs another part of the index.
                pending = missing

    def _decide(self, request: Request, call: Call, operation: Operation) -> Outgoing | Probe | indexes.Unindexed:
        """Return the operation's response. Raise `ApiError` and undo only the operation's changes if the call is
        refused.
        """
        world, incoming = request.world, request.incoming
        pipeline.claim(operation, call)
        answered = self._simulator.engine.answer_for(
            world, request.environment, incoming.method, request.path, call.raw
        )
        if answered is not None:
            raise ApiError(answered.code, answered.message, answered.param, answered.status)
        try:
            with quotas.attempt(world):
                answer = operation.action(call)
                if isinstance(answer, Probe):
                    return answer
                return answers.answered(request, operation, answer)
        except indexes.Unindexed as missing:
            return missing

    def require_living(self, world: World) -> None:
        """Raise `ApiError` 503 if the world of a waiting call has ended, because the call's changes would be lost."""
        if not self._simulator.lives(world):
            raise ApiError(
                "service_unavailable",
                "The world of this call was reset, restored, replaced or deleted while the call waited, "
                "so the call had no effect.",
            )

    @staticmethod
    async def changed(world: World, act: Callable[[], Answering]) -> Outgoing:
        """Continue a waiting call with `act`, in one transaction. Return its response when it is complete."""
        with world.change(BOOKKEEPING):
            answer = act()
        return answer if isinstance(answer, Outgoing) else await answer
