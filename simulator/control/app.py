"""The control interface as an ASGI application: safety, routing, bodies and errors, once for every row."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from math import inf
from typing import Any
from urllib.parse import parse_qsl

from simulator.control.journal import ControlJournal
from simulator.control.lookups import Lookups
from simulator.control.operation import ControlAnswer, ControlCall, ControlOperation, Raw, Streamed
from simulator.kernel.world import World
from simulator.scenario.logbook import last_entry
from simulator.server.app import CONTROL_BASE, Application, Mounted, hosts_of
from simulator.server.endpoint import DEFECT
from simulator.server.messages import OPENED_AT, Gone, Incoming, Receive, Scope, Send, head_of, read_body, write_raw
from simulator.server.router import Router
from simulator.server.slices import Content, in_pieces
from simulator.wire.assumptions import SIMULATOR_ONLY, assume
from simulator.wire.errors import ApiError, ControlError
from simulator.wire.fields import parse
from simulator.wire.json import dumps, loads

SIGNATURE_HEADER = "x-signature"
_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""What a page of the control interface may load: nothing but what this server serves, and no inline code."""

ASSUMPTIONS = assume(
    "every control call",
    SIMULATOR_ONLY,
    (
        "signed-control-calls",
        "A control call with the header `X-Signature` is a webhook that was pointed at the simulator: it is refused "
        "with 403 `forbidden`, except by inboxes and health.",
    ),
    (
        "control-bodies",
        "Bodies of control calls are bounded: scenarios 256 KB, state documents 64 MB, all others 1 MiB.",
    ),
)


class ControlApplication:
    """Answers /_simulator and what is mounted beside it.

    Bound to loopback it is open to loopback `Host`s and the server's own `Origin`; bound elsewhere it needs `token`.
    """

    def __init__(
        self,
        application: Application,
        rows: tuple[ControlOperation, ...],
        *,
        token: str | None = None,
        mounted: Mounted | None = None,
    ) -> None:
        self._application = application
        self._runtime = application.runtime
        self._router: Router[ControlOperation] = Router(rows)
        self._token = token
        self._mounted = mounted
        self._journal = ControlJournal()
        self._lookups = Lookups()
        self._rows = {row.name: row for row in rows}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._mounted is not None and not scope["path"].startswith(CONTROL_BASE + "/"):
            await self._mounted(scope, receive, send)
            return
        incoming = head_of(scope)
        headers: dict[str, str] = {}
        call: ControlCall | None = None
        try:
            row, variables = self._admitted(incoming, scope)
            body, is_whole = await read_body(receive, row.max_bytes)
            call = self._call(incoming, scope, row, variables)
            if not row.open:
                call.check_environment()
            call.sent, call.is_whole = body, is_whole
            call.raw = _body(row, incoming, body, is_whole)
            answered = await self._answer(call, row, receive)
            if isinstance(answered, Streamed):
                await answered.app(scope, receive, send)
                return
            status, content, media_type = answered
        except ControlError as error:
            headers = error.members.pop("headers", {}) if "headers" in error.members else {}
            status, content, media_type = error.status, dumps(error.envelope()), "application/json"
        except ApiError as error:
            status, content, media_type = error.status, dumps(error.envelope()), "application/json"
            headers = error.headers
        except Gone:
            raise
        except Exception:
            self._runtime.log_defect()
            failure = ControlError(500, "internal_error", DEFECT)
            status, content, media_type = 500, dumps(failure.envelope()), "application/json"
        if call is None or not call.shows_keys:
            content = await in_pieces(content, self._runtime.masker.answer)
        raw_headers = [*_HEADERS, *((name.lower().encode(), value.encode()) for name, value in headers.items())]
        if media_type.startswith("text/html"):
            raw_headers.append((b"content-security-policy", PAGE_POLICY))
        await write_raw(scope, send, status, content, media_type, raw_headers)

    def _admitted(self, incoming: Incoming, scope: Scope) -> tuple[ControlOperation, dict[str, str]]:
        """The row of a request that may be made, and the variables of its path; nothing of the body is read yet."""
        found = self._router.find(incoming.path.removeprefix(CONTROL_BASE))
        if found is None or not incoming.path.startswith(CONTROL_BASE):
            self._admit(incoming, scope)
            raise ApiError("not_found", f"There is no path {incoming.path}.")
        rows, variables = found
        row = rows.get("GET" if incoming.method == "HEAD" else incoming.method)
        if row is None or not row.open:
            self._admit(incoming, scope)
        if row is None:
            allowed = ", ".join(rows)
            raise ApiError(
                "invalid_request",
                f"{incoming.method} is not possible here; use {allowed}.",
                status=405,
                headers={"Allow": allowed},
            )
        if SIGNATURE_HEADER in incoming.headers and not row.takes_webhooks:
            raise ApiError("forbidden", "A webhook cannot steer the simulator; point it at an inbox or a receiver.")
        return row, variables

    def _call(self, incoming: Incoming, scope: Scope, row: ControlOperation, variables: dict[str, str]) -> ControlCall:
        query = dict(parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True))
        row.check_query(query)
        host = incoming.headers.get("host", "127.0.0.1")
        origin = f"{scope.get('scheme', 'http')}://{host}"
        opened_at = scope.get("extensions", {}).get(OPENED_AT, inf)
        return ControlCall(
            self._runtime,
            variables,
            query,
            incoming.headers,
            origin,
            shows_keys=row.shows_keys,
            connection_opened_at=opened_at,
        )

    async def _answer(
        self, call: ControlCall, row: ControlOperation, receive: Receive
    ) -> tuple[int, Content, str] | Streamed:
        if row.takes == "json":
            row.check_members(call.raw)
            call.body = parse(row.body, call.raw)
        watch = asyncio.create_task(_watch(call, receive))
        try:
            answer = await self._carry_out(row, call)
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
        if isinstance(answer, Streamed):
            return answer
        if isinstance(answer, Raw):
            return answer.status, answer.body, row.media_type
        return (204, b"", "") if answer is None else (row.status, dumps(answer), "application/json")

    async def _carry_out(self, row: ControlOperation, call: ControlCall) -> ControlAnswer:
        """The answer of a call; what it changed is entered in its world's journal of control calls."""
        call.lookups, call.rows = self._lookups, self._rows
        world = await self._up_to_date(call.world_id) if row.catches_up and not row.open else None
        world = world or self._runtime.simulator.worlds.get(call.world_id)
        if world is not None:
            call.unanswered = self._runtime.courier.unanswered(world, call.connection_opened_at)
            call.last_entry = last_entry(world)
        call.id = self._journal.begin(world, row)
        if world is None or not call.id:
            return await row.handler(call)
        try:
            call.began_ms = world.now_ms
            answer = await row.handler(call)
            if self._runtime.simulator.lives(world):
                self._journal.keep(world, call, row, answer)
            return answer
        finally:
            self._journal.end(world, call.id)

    async def _up_to_date(self, world_id: str) -> World | None:
        """The world of that id, at its present moment; one that took its place while timers fired, if one did."""
        worlds, world = self._runtime.simulator.worlds, None
        while (present := worlds.get(world_id)) is not world:
            world = present
            if world is not None:
                await self._runtime.driver.bring_up_to_date(world)
        return world

    def _admit(self, incoming: Incoming, scope: Scope) -> None:
        """401 without the control token where one is set; else 403 for a foreign Host or Origin."""
        if self._token is not None:
            scheme, _, given = incoming.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), self._token.encode()):
                raise ApiError("unauthorized", "The control interface needs Authorization: Bearer <control token>.")
            return
        refusal = self._application.hosts.refusal(hosts_of(scope), scope.get("http_version", "1.1"))
        if refusal is not None:
            raise ApiError("forbidden", refusal)
        own = f"{scope.get('scheme', 'http')}://{incoming.headers.get('host', '')}"
        origin = incoming.headers.get("origin")
        if origin is not None and origin.lower() != own.lower():
            raise ApiError("forbidden", f"The control interface answers its own pages only, not {origin[:100]!r}.")


async def _watch(call: ControlCall, receive: Receive) -> None:
    """Tell the call when its client leaves. A host that has no such news (it repeats the request) is let be."""
    for _ in range(3):
        if (await receive())["type"] == "http.disconnect":
            call.gone.set()
            return


def _body(row: ControlOperation, incoming: Incoming, body: bytes, is_whole: bool) -> Any:
    if not is_whole and not row.cuts:
        raise ApiError("invalid_request", f"The body is larger than the {row.max_bytes} bytes that this call takes.")
    if row.takes == "bytes":
        return body
    if row.takes == "nothing" or not body or row.method in ("GET", "DELETE"):
        return {}
    try:
        value: Any = loads(body)
    except ValueError as error:
        raise ApiError("invalid_request", f"The body is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ApiError("invalid_request", "The body must be a JSON object.")
    return value
