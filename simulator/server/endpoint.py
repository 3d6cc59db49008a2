"""One generic endpoint for every operation of the interface, in the order of checks of decision H2.

It knows no resource. What it is given is an HTTP request already read; what it answers is status, headers and bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import parse_qsl

from simulator.insight import count_entry
from simulator.kernel.journal import Cause, JournalEntry
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import Origin, World
from simulator.resources.auth import permits, require_access, token_holder
from simulator.resources.profile import require_active, require_kyc
from simulator.server import faults, idempotency
from simulator.server.driver import wall_now_ms
from simulator.server.messages import Incoming, Outgoing
from simulator.server.ratelimit import count_call
from simulator.server.reading import body_of, public_key_of, token_of
from simulator.server.router import Router
from simulator.server.runtime import Runtime
from simulator.wire import dispatch
from simulator.wire.assumptions import SIMULATOR_ONLY, assume
from simulator.wire.errors import ApiError
from simulator.wire.json import dumps
from simulator.wire.operation import Call, Operation, Probe
from simulator.wire.settings import settings_of

BASES = {"/v1": "sandbox", "/production/v1": "production"}
SCENARIO_HEADER = "x-simulator-scenario"
UNIVERSAL_ERRORS = ("unauthorized", "forbidden", "invalid_request", "rate_limited", "internal_error")

DEFECT = (
    "An unexpected error: this is a defect of the simulator. Please report it with the traceback in the server's log."
)
_REFUSED_KEPT_BYTES = 64 * 1024

ASSUMPTIONS = assume(
    "every call of the interface",
    SIMULATOR_ONLY,
    (
        "dead-worlds",
        "A call that was waiting (for a fault's delay, a webhook's registration, the first call of its idempotency "
        "key) while its world was reset, restored, replaced or deleted answers 503 `service_unavailable`.",
    ),
    (
        "scenario-header",
        "An unknown name in `X-Simulator-Scenario` is 400 on every call, whether it creates anything or not; a known "
        "one also says whose rules `on: request` look at the call.",
    ),
    (
        "huge-numbers",
        "JSON numbers have any size: one beyond a float is read as the largest float, which no known field takes. "
        "Idempotency keys compare the numbers of two bodies exactly.",
    ),
    (
        "refused-bodies",
        "Of a call without a valid token the journal keeps at most 64 KB of the body, with a mark where it was cut.",
    ),
)


@dataclass
class _Exchange:
    """A call while it is being answered."""

    incoming: Incoming
    environment: str
    path: str
    world: World
    request_id: str = ""
    operation: Operation | None = None
    public_key: str | None = None
    unknown_fields: tuple[str, ...] = ()
    started: float = 0.0


class Endpoint:
    """Answers interface calls for all worlds of a simulator."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._masker = runtime.masker
        self._router: Router[Operation] = Router(runtime.simulator.operations)
        self._pending: dict[tuple[World, str, str], asyncio.Future[None]] = {}

    async def answer(self, incoming: Incoming) -> Outgoing:
        """Answer one call; never raises."""
        exchange = self._begin(incoming)
        try:
            try:
                outgoing = await self._answer(exchange)
            except ApiError as error:
                outgoing = self._refuse(exchange, error)
            except IllegalMove as error:
                message = f"Not possible in the present status: {error}"
                outgoing = self._refuse(exchange, ApiError("invalid_state", message))
        except Exception:
            outgoing = self._fail(exchange)
        return await self._finish(exchange, outgoing)

    async def refuse(self, incoming: Incoming, error: ApiError) -> Outgoing:
        """Refuse a call before it is looked at; never raises."""
        exchange = self._begin(incoming)
        try:
            outgoing = self._refuse(exchange, error)
        except Exception:
            outgoing = self._fail(exchange)
        return await self._finish(exchange, outgoing)

    def _begin(self, incoming: Incoming) -> _Exchange:
        environment, path = _split(incoming.path)
        return _Exchange(incoming, environment, path, self._simulator.default, started=perf_counter())

    async def _finish(self, exchange: _Exchange, outgoing: Outgoing) -> Outgoing:
        """Enter the call in the journal, and let happen what is due now.

        The answer stands: what the call has done is done, and a caller told otherwise would do it twice.
        """
        try:
            self._journal(exchange, outgoing)
            await self._runtime.follow_up(exchange.world)
        except Exception:
            self._runtime.log_defect()
        return outgoing

    def _fail(self, exchange: _Exchange) -> Outgoing:
        """500 for the exception being handled; its traceback goes to the log only."""
        self._runtime.log_defect()
        with suppress(Exception):
            self._identify(exchange)
        envelope = ApiError("internal_error", DEFECT).envelope(exchange.request_id or None)
        headers = {"X-Request-Id": exchange.request_id} if exchange.request_id else {}
        return Outgoing(500, dumps(envelope), headers)

    def _require_living(self, world: World) -> None:
        """503 when the world of a call that had to wait lives no more: what it would do now would be lost."""
        if not self._simulator.lives(world):
            raise ApiError(
                "service_unavailable",
                "The world of this call was reset, restored, replaced or deleted while the call waited; "
                "nothing was done.",
            )

    async def _answer(self, exchange: _Exchange) -> Outgoing:
        found = self._router.find(exchange.path)
        if found is not None:
            exchange.world = self._world_of(exchange)
        world = await self._up_to_date(exchange, found is not None)
        self._identify(exchange)
        if found is None or not exchange.environment:
            raise ApiError("not_found", f"There is no path {exchange.incoming.path}.")
        rows, variables = found
        method = exchange.incoming.method
        operation = rows.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = [*rows, *(["HEAD"] if "GET" in rows else [])]
            raise ApiError(
                "invalid_request",
                f"{method} is not possible here; use {' or '.join(allowed)}.",
                status=405,
                headers={"Allow": ", ".join(allowed)},
            )
        exchange.operation = operation
        wall_ms = wall_now_ms() if world.clock.mode == "scaled" else 0
        call = Call(world, exchange.environment, variables, trace=method != "HEAD", wall_ms=wall_ms)
        if operation.token:
            self._authenticate(exchange, call)
        interference = faults.choose(world, method, exchange.path, exchange.public_key)
        if interference is not None:
            return await self._interfered(exchange, operation, call, interference)
        return await self._perform(exchange, operation, call)

    async def _up_to_date(self, exchange: _Exchange, ties: bool) -> World:
        """The world of a call, at its present moment; one that took its place while timers fired, if one did."""
        while True:
            world = exchange.world
            await self._runtime.driver.bring_up_to_date(world)
            if ties:
                exchange.world = self._world_of(exchange)
            if exchange.world is world:
                return world

    async def _interfered(
        self, exchange: _Exchange, operation: Operation, call: Call, interference: faults.Interference
    ) -> Outgoing:
        """A fault: the answer is delayed, replaced or lost, before the work or after it."""
        if interference.delay_seconds:
            await asyncio.sleep(interference.delay_seconds)
            self._require_living(exchange.world)
        if interference.after_commit or not interference.replaces:
            outgoing = await self._perform_or_refuse(exchange, operation, call)
        if not interference.replaces:
            return interference.disturb(outgoing)
        return interference.answer(exchange.request_id)

    async def _perform_or_refuse(self, exchange: _Exchange, operation: Operation, call: Call) -> Outgoing:
        try:
            return await self._perform(exchange, operation, call)
        except ApiError as error:
            return self._refuse(exchange, error)

    def _world_of(self, exchange: _Exchange) -> World:
        exchanges = exchange.path == "/auth/token"
        credential = public_key_of(exchange.incoming) if exchanges else token_of(exchange.incoming)
        return (credential and self._simulator.world_of(credential)) or self._simulator.default

    def _authenticate(self, exchange: _Exchange, call: Call) -> None:
        token = token_of(exchange.incoming)
        if token is None:
            raise ApiError("unauthorized", "Send the header Authorization: Bearer <ACCESS_TOKEN>.")
        call.caller = token_holder(call.world, call.environment, token, call.wall_ms)
        exchange.public_key = call.caller.public_key
        count_call(call.world, call.caller.public_key, wall_now_ms)

    async def _perform(self, exchange: _Exchange, operation: Operation, call: Call) -> Outgoing:
        world, incoming = exchange.world, exchange.incoming
        self._gates(operation, call)
        dispatch.load(operation, call)
        query = dict(parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True))
        raw = body_of(incoming) if operation.takes_body else {}
        strict = settings_of(world)["strict"]
        try:
            unknown = dispatch.validate(operation, call, raw, query, strict=strict)
        except ApiError as error:
            if operation.takes_body and not incoming.body and error.code in ("missing_parameter", "invalid_request"):
                raise ApiError("invalid_request", "The body is empty; send a JSON object.", error.param) from None
            raise
        exchange.unknown_fields = tuple(unknown)
        origin = Origin(raw, self._scenario_of(exchange, call))
        key = incoming.headers.get("idempotency-key")
        if key is None or operation.method != "POST" or not operation.idempotent:
            return await self._act(exchange, operation, call, origin)
        return await self._act_once(exchange, operation, call, origin, key)

    def _gates(self, operation: Operation, call: Call) -> None:
        if operation.token:
            require_access(call.world, call.environment)
            if not permits(call.caller, operation.group, operation.reads):
                raise ApiError("forbidden", "This key pair lacks the permission for this operation.")
            if operation.profile_gate:
                require_active(call.world)
            if operation.money:
                require_kyc(call.world)

    def _scenario_of(self, exchange: _Exchange, call: Call) -> str:
        name = exchange.incoming.headers.get(SCENARIO_HEADER, "")
        if name and not self._simulator.engine.knows(call.world, name):
            raise ApiError(
                "invalid_parameter", f"X-Simulator-Scenario names no scenario: {name!r}.", "X-Simulator-Scenario"
            )
        return name

    async def _act_once(
        self, exchange: _Exchange, operation: Operation, call: Call, origin: Origin, key: str
    ) -> Outgoing:
        """Under an idempotency key: a retry waits for the first call and gets its answer (decision H14)."""
        idempotency.check_key(key)
        world, environment = exchange.world, exchange.environment
        body = (exchange.incoming.body or b"") if operation.takes_body else b""
        wanted = idempotency.fingerprint(operation.method, exchange.path, body)
        place = (world, environment, key)
        while (pending := self._pending.get(place)) is not None:
            await asyncio.shield(pending)
            self._require_living(world)
        stored = idempotency.recall(world, environment, key, wanted)
        if stored is not None:
            exchange.request_id = stored.request_id
            return self._outgoing(exchange, stored.status, stored.body, {"Idempotent-Replayed": "true"})
        done = self._pending[place] = asyncio.get_running_loop().create_future()
        try:
            try:
                outgoing = await self._act(exchange, operation, call, origin)
            except ApiError as error:
                outgoing = self._refuse(exchange, error)
            if outgoing.status in idempotency.BINDING_STATUSES:
                answer = idempotency.Stored(wanted, outgoing.status, outgoing.body, exchange.request_id, world.now_ms)
                with world.store.change():
                    idempotency.remember(world, environment, key, answer)
            return outgoing
        finally:
            del self._pending[place]
            done.set_result(None)

    async def _act(self, exchange: _Exchange, operation: Operation, call: Call, origin: Origin) -> Outgoing:
        """The state of the quote that is used, answers of scenarios, then the room's action, in one change."""
        world = exchange.world
        dispatch.claim(operation, call)
        cause = Cause("request", operation.name, exchange.request_id)
        with world.change(cause, origin):
            ruled = self._simulator.engine.answer_for(
                world, exchange.environment, exchange.incoming.method, exchange.path, call.raw
            )
        if ruled is not None:
            raise ApiError(ruled.code, ruled.message, ruled.param, ruled.status)
        with world.change(cause, origin):
            answer = operation.action(call)
            body = b"" if answer is None or isinstance(answer, Probe) else dumps(answer)
        if isinstance(answer, Probe):
            outcome = await self._runtime.courier.probe(world, answer)
            self._require_living(world)
            await self._runtime.driver.bring_up_to_date(world)
            self._require_living(world)
            with world.change(cause, origin):
                body = dumps(answer.then(outcome))
        return self._outgoing(exchange, operation.status, body)

    def _refuse(self, exchange: _Exchange, error: ApiError) -> Outgoing:
        self._identify(exchange)
        return self._outgoing(exchange, error.status, dumps(error.envelope(exchange.request_id)), error.headers)

    @staticmethod
    def _identify(exchange: _Exchange) -> None:
        """Give a call its request id, once."""
        if not exchange.request_id:
            with exchange.world.store.change():
                exchange.request_id = exchange.world.streams.identifier("req_", "ids.request")

    def _outgoing(
        self, exchange: _Exchange, status: int, body: bytes, headers: Mapping[str, str] | None = None
    ) -> Outgoing:
        all_headers = {"X-Request-Id": exchange.request_id, **(headers or {})}
        return Outgoing(status, body, all_headers)

    def _journal(self, exchange: _Exchange, outgoing: Outgoing) -> None:
        incoming, world, masker = exchange.incoming, exchange.world, self._masker
        query = f"?{incoming.query.decode('latin-1')}" if incoming.query else ""
        body = incoming.body or b""
        if exchange.public_key is None and outgoing.status >= 400 and len(body) > _REFUSED_KEPT_BYTES:
            body = body[:_REFUSED_KEPT_BYTES] + b"... (cut; %d bytes in all)" % len(body)
        row = JournalEntry(
            id=exchange.request_id,
            at_ms=world.now_ms,
            environment=exchange.environment or "sandbox",
            public_key=exchange.public_key,
            method=incoming.method,
            path=masker.text(incoming.path + query),
            headers=tuple(masker.headers(incoming.headers).items()),
            body=masker.raw(body),
            status=outgoing.status,
            response=masker.raw(outgoing.body),
            duration_ms=round((perf_counter() - exchange.started) * 1000, 3),
            unknown_fields=tuple(map(masker.text, exchange.unknown_fields)),
            operation=exchange.operation.name if exchange.operation else "",
            answer_headers=tuple(outgoing.headers.items()),
            wall_ms=round(exchange.started * 1000, 3),
        )
        world.journal.enter(row)
        if exchange.operation is not None:
            with world.store.change():
                count_entry(world, exchange.operation, row)


def _split(path: str) -> tuple[str, str]:
    """The environment of a full path ("" when it lies under no base) and the path below the base."""
    for base, environment in BASES.items():
        if path.startswith(base) and (len(path) == len(base) or path[len(base)] == "/"):
            return environment, path[len(base) :]
    return "", path
