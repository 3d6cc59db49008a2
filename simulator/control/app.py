"""The control interface as an ASGI application: safety, routing, bodies and errors, once for every row."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import traceback
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from simulator.control.journal import ControlJournal
from simulator.control.lookups import Lookups
from simulator.control.operation import ControlAnswer, ControlCall, ControlOperation, Raw, Streamed
from simulator.kernel.world import World
from simulator.server.app import CONTROL_BASE, CONTROL_MAX_BYTES, Application, Mounted, Receive, Scope, Send, read
from simulator.server.messages import Incoming
from simulator.server.router import Router
from simulator.server.slices import send_in_pieces
from simulator.wire.errors import ApiError, ControlError
from simulator.wire.fields import parse
from simulator.wire.json import dumps, loads


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


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
        self._router: Router[ControlOperation] = Router(rows)
        self._token = token
        self._mounted = mounted
        self._journal = ControlJournal()
        self._lookups = Lookups()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._mounted is not None and not scope["path"].startswith(CONTROL_BASE + "/"):
            await self._mounted(scope, receive, send)
            return
        incoming = await read(scope, receive, CONTROL_MAX_BYTES)
        headers: dict[str, str] = {}
        gone = asyncio.Event()
        watch = asyncio.create_task(_watch(receive, gone))
        try:
            answered = await self._answer(incoming, scope, gone)
            watch.cancel()
            if isinstance(answered, Streamed):
                await answered.app(scope, receive, send)
                return
            status, body, media_type = answered
        except ControlError as error:
            status, body, media_type = error.status, dumps(error.envelope()), "application/json"
            headers = error.members.pop("headers", {}) if "headers" in error.members else {}
        except ApiError as error:
            status, body, media_type = error.status, dumps(error.envelope()), "application/json"
            headers = error.headers
        except Exception:
            traceback.print_exc()
            failure = ControlError(500, "internal_error", "An unexpected error; see the log of the server.")
            status, body, media_type = 500, dumps(failure.envelope()), "application/json"
        finally:
            watch.cancel()
        raw_headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        if status != 204:
            raw_headers += [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": raw_headers})
        await send_in_pieces(send, b"" if incoming.method == "HEAD" else body)

    async def _answer(self, incoming: Incoming, scope: Scope, gone: asyncio.Event) -> tuple[int, bytes, str] | Streamed:
        found = self._router.find(incoming.path.removeprefix(CONTROL_BASE))
        if found is None or not incoming.path.startswith(CONTROL_BASE):
            self._admit(incoming)
            raise ApiError("not_found", f"There is no path {incoming.path}.")
        rows, variables = found
        row = rows.get("GET" if incoming.method == "HEAD" else incoming.method)
        if row is None or not row.open:
            self._admit(incoming)
        if row is None:
            allowed = ", ".join(rows)
            raise ApiError(
                "invalid_request",
                f"{incoming.method} is not possible here; use {allowed}.",
                status=405,
                headers={"Allow": allowed},
            )
        query = dict(parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True))
        row.check_query(query)
        host = incoming.headers.get("host", "127.0.0.1")
        call = ControlCall(
            self._application, variables, query, incoming.headers, f"{scope.get('scheme', 'http')}://{host}", gone=gone
        )
        call.raw = _body(row, incoming)
        if row.takes == "json":
            row.check_members(call.raw)
            call.body = parse(row.body, call.raw)
        answer = await self._carry_out(row, call)
        if isinstance(answer, Streamed):
            return answer
        if isinstance(answer, Raw):
            return answer.status, answer.body, answer.media_type
        return (204, b"", "") if answer is None else (row.status, dumps(answer), "application/json")

    async def _carry_out(self, row: ControlOperation, call: ControlCall) -> ControlAnswer:
        """The answer of a call; what it changed is entered in its world's journal of control calls."""
        call.lookups = self._lookups
        world = await self._up_to_date(call.world_id) if row.catches_up and not row.open else None
        world = world or self._application.simulator.worlds.get(call.world_id)
        if world is not None:
            call.unanswered = self._application.courier.unanswered(world)
        call.id = self._journal.begin(world, row)
        if world is None or not call.id:
            return await row.handler(call)
        try:
            call.began_ms = world.now_ms
            answer = await row.handler(call)
            if self._application.simulator.worlds.get(world.id) is world:
                self._journal.keep(world, call, row, answer)
            return answer
        finally:
            self._journal.end(world, call.id)

    async def _up_to_date(self, world_id: str) -> World | None:
        """The world of that id, at its present moment; one that took its place while timers fired, if one did."""
        worlds, world = self._application.simulator.worlds, None
        while (present := worlds.get(world_id)) is not world:
            world = present
            if world is not None:
                await self._application.driver.bring_up_to_date(world)
        return world

    def _admit(self, incoming: Incoming) -> None:
        """401 without the control token where one is set; else 403 for a foreign Host or Origin."""
        if self._token is not None:
            scheme, _, given = incoming.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), self._token.encode()):
                raise ApiError("unauthorized", "The control interface needs Authorization: Bearer <control token>.")
            return
        host = incoming.headers.get("host", "")
        if not is_loopback(urlsplit(f"//{host}").hostname or ""):
            raise ApiError("forbidden", f"The control interface answers loopback hosts only, not {host!r}.")
        origin = incoming.headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise ApiError("forbidden", f"The control interface answers its own pages only, not {origin!r}.")


async def _watch(receive: Receive, gone: asyncio.Event) -> None:
    """Set `gone` when the caller leaves; after a whole request nothing else can come."""
    if (await receive())["type"] == "http.disconnect":
        gone.set()


def _body(row: ControlOperation, incoming: Incoming) -> Any:
    if incoming.body is None:
        raise ApiError("invalid_request", "The body is too large.")
    if row.takes == "bytes":
        return incoming.body
    if row.takes == "nothing" or not incoming.body or row.method in ("GET", "DELETE"):
        return {}
    try:
        body: Any = loads(incoming.body)
    except ValueError as error:
        raise ApiError("invalid_request", f"The body is not valid JSON: {error}.") from None
    if not isinstance(body, dict):
        raise ApiError("invalid_request", "The body must be a JSON object.")
    return body
