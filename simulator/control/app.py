"""The control interface as Starlette routes: safety, bodies and errors, once for every row."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from simulator.address import CONTROL_BASE
from simulator.control.journal import ControlJournal
from simulator.control.lookups import Lookups
from simulator.control.operation import ControlAnswer, ControlCall, ControlOperation, Raw
from simulator.kernel.world import World
from simulator.scenario.logbook import last_entry
from simulator.server.endpoint import DEFECT
from simulator.server.hosts import Hosts
from simulator.server.messages import CUT, OPENED_AT, ContentResponse, head_of, json_object, read_body
from simulator.server.runtime import Runtime
from simulator.server.slices import Content, in_pieces
from simulator.wire.errors import ApiError, ControlError
from simulator.wire.fields import parse
from simulator.wire.json import dumps

SIGNATURE_HEADER = "x-signature"
_HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
PAGE_POLICY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}
"""What a page of the control interface may load: nothing but what this server serves, and no inline code."""


class ControlInterface:
    """The control interface: who may call, and what every call has in common.

    Bound to loopback it is open to loopback `Host`s and the server's own `Origin`; bound elsewhere it needs `token`.
    """

    def __init__(
        self,
        runtime: Runtime,
        rows: Iterable[ControlOperation],
        *,
        hosts: Hosts | None = None,
        token: str | None = None,
    ) -> None:
        self._runtime = runtime
        self._hosts = hosts or Hosts()
        self._token = token
        self._journal = ControlJournal()
        self._lookups = Lookups()
        self._rows = {row.name: row for row in rows}

    def router(self) -> Router:
        """One route for each path below /_simulator; the literal ones come first."""
        paths: dict[str, dict[str, ControlOperation]] = {}
        for row in self._rows.values():
            if paths.setdefault(row.path, {}).setdefault(row.method, row) is not row:
                raise ValueError(f"two rows for {row.method} {row.path}")
        literal_first = sorted(paths, key=lambda path: path.count("{"))
        return Router(
            [Route(path, _ControlPath(self, paths[path])) for path in literal_first],
            redirect_slashes=False,
            default=_ControlPath(self, {}),
        )

    async def answer(self, request: Request, rows: Mapping[str, ControlOperation]) -> Response:
        """Answer one request; `rows` are the rows of its path by method, none for an unknown path."""
        headers: Mapping[str, str] = {}
        call: ControlCall | None = None
        try:
            row = self._admitted(request, rows)
            body, is_whole = await read_body(request.receive, row.max_bytes)
            call = self._call(request, row)
            if not row.open:
                call.check_environment()
            call.sent, call.is_whole = body, is_whole
            call.raw = _body(row, body, is_whole)
            answer = await self._answer(call, row, request.receive)
            if isinstance(answer, Response):
                return answer
            status, content, media_type = _written(row, answer)
        except (ControlError, ApiError) as error:
            status, content, media_type = error.status, dumps(error.envelope()), "application/json"
            headers = error.headers if isinstance(error, ApiError) else {}
        except ClientDisconnect:
            raise
        except Exception:
            self._runtime.log_defect()
            failure = ControlError(500, "internal_error", DEFECT)
            status, content, media_type = 500, dumps(failure.envelope()), "application/json"
        if call is None or not call.shows_keys:
            content = await in_pieces(content, self._runtime.masker.answer)
        policy = PAGE_POLICY if media_type.startswith("text/html") else {}
        return ContentResponse(content, status, {**_HEADERS, **headers, **policy}, media_type)

    def _admitted(self, request: Request, rows: Mapping[str, ControlOperation]) -> ControlOperation:
        """The row of a request that may be made; nothing of the body is read yet."""
        row = rows.get("GET" if request.method == "HEAD" else request.method)
        if row is None or not row.open:
            self._admit(request)
        if not rows:
            raise ApiError("not_found", f"There is no path {_own_path(request)}.")
        if row is None:
            allowed = ", ".join(rows)
            raise ApiError(
                "invalid_request",
                f"{request.method} is not possible here; use {allowed}.",
                status=405,
                headers={"Allow": allowed},
            )
        if SIGNATURE_HEADER in request.headers and not row.takes_webhooks:
            raise ApiError("forbidden", "A webhook cannot steer the simulator; point it at an inbox or a receiver.")
        return row

    def _call(self, request: Request, row: ControlOperation) -> ControlCall:
        query = dict(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))
        row.check_query(query)
        headers = head_of(request.scope).headers
        offered = request.scope.get("extensions", {})
        return ControlCall(
            self._runtime,
            request.path_params,
            query,
            headers,
            f"{_origin(request)}{_prefix(request)}",
            shows_keys=row.shows_keys,
            connection_opened_at=offered.get(OPENED_AT, inf),
            cut=offered.get(CUT, _no_cut),
        )

    async def _answer(self, call: ControlCall, row: ControlOperation, receive: Receive) -> ControlAnswer:
        if row.takes == "json":
            row.check_members(call.raw)
            call.body = parse(row.body, call.raw)
        watch = asyncio.create_task(_watch(call, receive))
        try:
            return await self._carry_out(row, call)
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch

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

    def _admit(self, request: Request) -> None:
        """401 without the control token where one is set; else 403 for a foreign Host or Origin."""
        if self._token is not None:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), self._token.encode()):
                raise ApiError("unauthorized", "The control interface needs Authorization: Bearer <control token>.")
            return
        refusal = self._hosts.refusal(request.scope)
        if refusal is not None:
            raise ApiError("forbidden", refusal)
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() != _origin(request).lower():
            raise ApiError("forbidden", f"The control interface answers its own pages only, not {origin[:100]!r}.")


class _ControlPath:
    """The endpoint of one path, for all its methods."""

    def __init__(self, interface: ControlInterface, rows: Mapping[str, ControlOperation]) -> None:
        self._interface = interface
        self._rows = rows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._interface.answer(Request(scope, receive), self._rows)
        await response(scope, receive, send)


def _origin(request: Request) -> str:
    return f"{request.scope.get('scheme', 'http')}://{request.headers.get('host', '127.0.0.1')}"


def _prefix(request: Request) -> str:
    """Where this server is mounted in another application, "" at the top: what comes before /_simulator."""
    root: str = request.scope.get("root_path", "")
    return root.removesuffix(CONTROL_BASE)


def _own_path(request: Request) -> str:
    path: str = request.scope["path"]
    return path.removeprefix(_prefix(request))


def _no_cut() -> None:
    """A host that cannot drop a connection: whoever should lose it reads the end of what is sent."""


def _written(row: ControlOperation, answer: Mapping[str, object] | Raw[Any] | None) -> tuple[int, Content, str]:
    """Status, content and media type."""
    if isinstance(answer, Raw):
        return answer.status, answer.body, row.media_type
    return (204, b"", "") if answer is None else (row.status, dumps(answer), "application/json")


async def _watch(call: ControlCall, receive: Receive) -> None:
    """Tell the call when its client leaves. A host that has no such news (it repeats the request) is let be."""
    for _ in range(3):
        if (await receive())["type"] == "http.disconnect":
            call.gone.set()
            return


def _body(row: ControlOperation, body: bytes, is_whole: bool) -> Any:
    if not is_whole and not row.cuts:
        raise ApiError("invalid_request", f"The body is larger than the {row.max_bytes} bytes that this call takes.")
    if row.takes == "bytes":
        return body
    if row.takes == "nothing" or not body or row.method in ("GET", "DELETE"):
        return {}
    return json_object(body)
