"""One generic endpoint for all operations of the API. It runs the checks in the sequence of decision H2.

Its input is an HTTP request that has already been read. Its output is the status, headers and body of the response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import TypeAlias

from simulator.engine import webhooks
from simulator.engine.clients.tool_mark import marks
from simulator.engine.insight.tally import count_entry
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call, Operation
from simulator.engine.rows.provider import split_base
from simulator.engine.server import storage
from simulator.engine.server.checks import faults
from simulator.engine.server.checks.quotas import CallQuota
from simulator.engine.server.checks.ratelimit import count_call
from simulator.engine.server.http import answers
from simulator.engine.server.http.messages import Incoming, Outgoing, token_of
from simulator.engine.server.http.request import BOOKKEEPING, Request, draw_id, entry_of, identify
from simulator.engine.server.performer import Answering, Performer
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import dumps
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.ids import derive, text_of
from simulator.kernel.journal import Cause
from simulator.kernel.world import DEFAULT_WORLD, World

DEFECT = (
    "An unexpected error: this is a defect of the simulator. Please report it with the traceback in the server's log."
)
_Found: TypeAlias = tuple[Mapping[str, Operation], Mapping[str, str]] | None
"""The routes for a path, keyed by method, and the path variables. None for an unknown path."""


class Endpoint:
    """Handles API calls for all worlds of a simulator."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._masker = runtime.masker
        self._router = runtime.router
        self._meter = runtime.meter
        self._performer = Performer(runtime)
        self._refused = 0
        self.bases = tuple(f"{base}/" for base in runtime.simulator.provider.environments.values())
        """The prefixes of API paths."""
        environments = runtime.simulator.provider.environments
        self._bases = tuple((f"{base}/", len(base), name) for name, base in environments.items())
        self.quota = CallQuota()

    async def answer(self, incoming: Incoming) -> Outgoing:
        """Return the response to one call. This method never raises an exception."""
        answering = self.begin(incoming)
        return answering if isinstance(answering, Outgoing) else await answering

    def begin(self, incoming: Incoming) -> Answering:
        """Start to carry out a call. Return the response, or an awaitable for it if the call has to wait."""
        request = self._begin(incoming)
        found = self._router.find(request.path)
        if self._simulator.away:  # Otherwise, every world is in memory.
            return self._awakened(request, found)
        return self._entered(request, found)

    async def _awakened(self, request: Request, found: _Found) -> Outgoing:
        """Carry out a call on a server that does not have all worlds in memory."""
        absent = await unreadable_refusal(self._runtime, request, is_known=found is not None)
        if absent is not None:
            return absent
        answering = self._entered(request, found)
        return answering if isinstance(answering, Outgoing) else await answering

    def _entered(self, request: Request, found: _Found) -> Answering:
        """Find the world of a call, bring the world's clock up to date, and carry out the call."""
        try:
            request.world = world = world_of(self._simulator, request, is_known=found is not None)
            beyond = self.quota.refusal(world)
            if beyond is not None:
                self._meter.over_quota += 1
                return Outgoing(beyond.status, dumps(beyond.envelope()), beyond.headers)
            if not self._runtime.driver.catch_up(world):
                return self._caught_up(request, found)
            answering = self._perform(request, found)
        except Exception:
            answering = self._fail(request)
        if not isinstance(answering, Outgoing):
            return self._awaited(request, answering)
        is_finished = self._finish(request, answering)
        if request.may_wait or not is_finished:
            return self._followed_up(request, answering, is_finished)
        self._meter.measure(request, answering)
        return answering

    async def _caught_up(self, request: Request, found: _Found) -> Outgoing:
        """Carry out a call once the clock of its world is up to date."""
        try:
            await self._catch_up(request, is_known=found is not None)
            answering = self._perform(request, found)
        except Exception:
            answering = self._fail(request)
        return await self._awaited(request, answering)

    async def _awaited(self, request: Request, answering: Answering) -> Outgoing:
        """Return the response to a call that may have to wait."""
        try:
            outgoing = answering if isinstance(answering, Outgoing) else await self._or_refused(request, answering)
        except Exception:
            outgoing = self._fail(request)
        return await self._followed_up(request, outgoing, self._finish(request, outgoing))

    async def _followed_up(self, request: Request, outgoing: Outgoing, is_finished: bool) -> Outgoing:
        """Return a response after all due timers have fired, and after the delivery of the events if a fault requires
        it.
        """
        if not is_finished:
            try:
                await self._runtime.follow_up(request.world)
            except Exception:
                self._runtime.log_defect()
        if request.may_wait:
            await self._delivered_first(request)
        self._meter.measure(request, outgoing)
        return outgoing

    def refuse(self, error: ApiError) -> Outgoing:
        """Refuse a call before all other checks, without changing any world.

        A web page can send such calls without its user's knowledge. The request id is therefore derived from a counter.
        An id from a world's random stream would change the ids of all later calls.
        """
        self._refused += 1
        request_id = f"req_{text_of(derive('refused before a world', self._refused))}"
        self._meter.observe("", error.status, 0.0)
        return Outgoing(error.status, dumps(error.envelope(request_id)), {"X-Request-Id": request_id})

    def _begin(self, incoming: Incoming) -> Request:
        started, (environment, path) = perf_counter(), self._place_of(incoming.path)
        return Request(incoming, environment, path, self._simulator.default, started, token_of(incoming))

    def _place_of(self, path: str) -> tuple[str, str]:
        """Split a path into environment and API path like `split_base`, but in half the time."""
        for base, length, environment in self._bases:
            if path.startswith(base):
                return environment, path[length:]
        return split_base(self._simulator.provider.environments, path)

    def _finish(self, request: Request, outgoing: Outgoing) -> bool:
        """Fire the due timers. Return False if more are due than can fire in a few milliseconds. Errors are only
        logged.
        """
        try:
            if not request.is_entered:
                with request.world.change(BOOKKEEPING):
                    self._enter(request, outgoing)
            return self._runtime.follow_up_at_once(request.world)
        except Exception:
            self._runtime.log_defect()
        return True

    async def _delivered_first(self, request: Request) -> None:
        """If a fault requires it, wait until the events of a call are delivered. The response is sent afterwards."""
        try:
            done: set[str] = set()
            # Events to one endpoint are delivered one after another, so more attempts can start after a report.
            while attempts := [one for one in webhooks.awaited(request.world, request.request_id) if one not in done]:
                await self._runtime.courier.landed(request.world, attempts)
                done.update(attempts)
        except Exception:
            self._runtime.log_defect()

    def _fail(self, request: Request) -> Outgoing:
        """Return a 500 response for the exception that is being handled, and log the traceback."""
        self._runtime.log_defect()
        with suppress(Exception):
            identify(request)
        envelope = ApiError("internal_error", DEFECT).envelope(request.request_id or None)
        headers = {"X-Request-Id": request.request_id} if request.request_id else {}
        return Outgoing(500, dumps(envelope), headers)

    async def _or_refused(self, request: Request, answering: Awaitable[Outgoing]) -> Outgoing:
        try:
            with self._runtime.holding(request.world.id):
                return await answering
        except ApiError as error:
            return answers.refused(request, error)

    async def _catch_up(self, request: Request, *, is_known: bool) -> None:
        """Bring the clock of a call's world, or of a world that replaces it in the meantime, up to date."""
        while True:
            world = request.world
            with self._runtime.holding(world.id):
                await self._runtime.driver.bring_up_to_date(world)
            request.world = world_of(self._simulator, request, is_known=is_known)
            if request.world is world:
                return

    def _perform(self, request: Request, found: _Found) -> Answering:
        """Carry out a call in one transaction, up to the first point at which the call must wait. Most calls never
        wait.

        If the call is refused, most of its writes are undone (see `Performer`). The writes for the request id, rate
        limit, fault counters and call counters remain. These writes are in the same transaction as the call's journal
        entry.
        """
        world = request.world
        with world.change(BOOKKEEPING):
            try:
                operation, call = self._recognised(request, found)
                if request.public_key is not None:
                    # This check comes first, because a refusal would waste a generated id.
                    count_call(world, request.public_key, wall_clock_ms)
                interference = faults.choose(request, operation)
                request.request_id = draw_id(world)
                if interference is not None:
                    return self._interfered(request, operation, call, interference)
                answer = self._performer.perform(request, operation, call)
            except ApiError as error:
                answer = answers.refused(request, error)
            except Exception:
                answer = self._fail(request)
            if isinstance(answer, Outgoing):
                self._enter(request, answer)
            return answer

    def _recognised(self, request: Request, found: _Found) -> tuple[Operation, Call]:
        """Find the operation and the caller of a request. Return the operation and the call.

        Raise `ApiError` 404 for an unknown path, 405 for a wrong method, or 401 for a token that is not accepted.
        """
        if found is None or not request.environment:
            raise ApiError("not_found", f"There is no path {request.incoming.path}.")
        rows, variables = found
        method = request.incoming.method
        operation = rows.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = [*rows, *(["HEAD"] if "GET" in rows else [])]
            raise ApiError(
                "invalid_request",
                f"{method} is not allowed for this path. Use {' or '.join(allowed)}.",
                status=405,
                headers={"Allow": ", ".join(allowed)},
            )
        request.operation = operation
        wall_ms = wall_clock_ms() if request.world.clock.mode == "scaled" else 0
        call = Call(request.world, request.environment, variables, trace=method != "HEAD", wall_ms=wall_ms)
        if operation.token:
            if request.token is None:
                raise ApiError("unauthorized", "Send the header Authorization: Bearer <ACCESS_TOKEN>.")
            call.caller = identity_of(call.world).caller(call.world, call.environment, request.token, wall_ms)
            request.public_key = call.caller.public_key
        return operation, call

    async def _interfered(
        self, request: Request, operation: Operation, call: Call, interference: faults.Interference
    ) -> Outgoing:
        """Apply a fault: delay, replace or drop the response, before or after the call is carried out."""
        if interference.delay_seconds:
            await asyncio.sleep(interference.delay_seconds)
            self._performer.require_living(request.world)
        if interference.act is not None:
            act, world = interference.act, request.world
            cause = Cause("action", act.action, request.request_id)
            try:
                self._simulator.actions.carry_out(world, act.action, None, act.parameters, request.environment, cause)
            except ControlError:
                with world.change(BOOKKEEPING):
                    interference.came_to_nothing(world)
        if interference.works:
            performing = self._performer.changed(
                request.world, lambda: self._performer.perform(request, operation, call)
            )
            outgoing = await self._or_refused(request, performing)
        await interference.hold_answer()
        if interference.replaces:
            return interference.answer(request.world, request.request_id)
        with request.world.change(BOOKKEEPING):
            return interference.in_place_of(request.world, outgoing)

    def _enter(self, request: Request, outgoing: Outgoing) -> None:
        """Add an API call to the journal and count it. Call this inside a transaction. Errors are only logged, because
        the call has been carried out, and a client would repeat it after an error response.
        """
        request.is_entered = True
        try:
            row = entry_of(request, outgoing, self._masker)
            requests_of(request.world).enter(row)
            if request.operation is not None and not marks(request.incoming.headers):
                count_entry(request.world, request.operation, row)
        except Exception:
            self._runtime.log_defect()


async def unreadable_refusal(runtime: Runtime, request: Request, *, is_known: bool) -> Outgoing | None:
    """Return a 503 response for a call to a quarantined (unreadable) world. For a call to any other world, return None.

    `is_known` is True if the API has an operation at the path. If the world is suspended, read it into memory first.
    The refusal is not added to any journal, because the real service would not send it. Raise `Unavailable` if the
    world cannot be read from the store.
    """
    persistence = runtime.persistence
    if persistence is None:
        return None
    credential = request.credential if is_known else ""
    world_id = runtime.simulator.directory.get(credential, DEFAULT_WORLD)
    await runtime.wake(world_id)
    if world_id not in persistence.unreadable and world_id not in runtime.simulator.worlds:
        world_id = DEFAULT_WORLD  # The credential belongs to a world that has ended.
    why = persistence.unreadable.get(world_id)
    if why is None:
        return None
    error = storage.unreadable_error(request.path, world_id, why)
    return Outgoing(error.status, dumps(error.envelope()), storage.headers_of(error))


def world_of(simulator: Simulator, request: Request, *, is_known: bool) -> World:
    """Return the world to which the key or token of a call belongs, or the world `default`."""
    if is_known and (credential := request.credential) and (world := simulator.world_of(credential)) is not None:
        return world
    return simulator.default
