"""The control API as an ASGI application. It checks access, parses bodies and renders errors for all control calls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from math import inf
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Scope

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.access import EVERYBODY, NOBODY, Access, Tokens
from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.journal import ControlJournal
from simulator.engine.control.operation import ControlAnswer, ControlOperation, Raw
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.scenario.play.logbook import last_entry
from simulator.engine.server.endpoint import DEFECT
from simulator.engine.server.http.fast_path import InlineCall
from simulator.engine.server.http.hosts import Hosts, is_embedded_elsewhere, own_origin
from simulator.engine.server.http.messages import BELOW, CUT, OPENED_AT, Outgoing, head_of, json_object, route_path
from simulator.engine.server.http.router import Router
from simulator.engine.server.running.chunks import Content, in_pieces
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import Unavailable
from simulator.engine.text.fields import parse
from simulator.engine.text.json import dumps
from simulator.engine.text.strict import refuse_names, refuse_unknown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

_OWN_PAGES = "The control API accepts calls from its own pages only"
_HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
PAGE_POLICY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}
"""The content security policy for HTML pages. They can load files only from this server and cannot run inline code."""


@dataclass(frozen=True)
class Admission:
    """A control call whose path, method and headers were checked and accepted."""

    row: ControlOperation
    variables: Mapping[str, str]
    """The path variables."""
    access: Access
    """The worlds that the caller's token can access."""
    is_known: bool
    """False if the server has tokens but the caller sent no valid one. This is possible if the operation is open."""


class ControlInterface:
    """The control API. It checks callers and handles control calls. If `tokens` is set, every call needs a valid token,
    except calls of operations that are open to everyone. Without tokens, `Host` must be a loopback name, and `Origin`
    must be the server's own origin.
    """

    def __init__(
        self,
        runtime: Runtime,
        rows: Iterable[ControlOperation],
        *,
        hosts: Hosts | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self._runtime, self._tokens, self._hosts = runtime, tokens, hosts or Hosts()
        signature = runtime.simulator.provider.signing.signature
        self._signature_header = signature.signature_header.lower().encode()
        self._journal = ControlJournal()
        self._rows = {row.name: row for row in rows}
        self._router = Router(self._rows.values(), turns_back=True)

    def admit(self, scope: Scope) -> InlineCall:
        admission = self._admitted(scope)
        gone = asyncio.get_running_loop().create_future()
        return InlineCall(partial(self.answer, scope, admission, gone), admission.row.max_bytes, gone)

    async def refuse(self, error: ApiError) -> Outgoing[Content]:
        return await self._masked(_refusal(error))

    def admission(self, scope: Scope) -> Admission | None:
        """Check a request before its body is read. Return None if it must be refused."""
        try:
            return self._admitted(scope)
        except ApiError:
            return None

    async def answer(
        self, scope: Scope, admission: Admission, gone: asyncio.Future[None], body: bytes, is_whole: bool
    ) -> Outgoing[Content] | Response:
        """Respond to an admitted call. `is_whole` is False if its body was truncated."""
        call: ControlCall | None = None
        row = admission.row
        try:
            call = self._call(scope, admission, gone, body, is_whole)
            known = call.simulator.wiring.environments
            if not row.open and call.environment not in known:  # even if the call ignores the environment
                raise invalid_parameter("X-Simulator-Environment", f"it must be {' or '.join(known)}")
            call.raw = _body(row, body, is_whole)
            answer = await self._answer(call, row)
            if isinstance(answer, Response):
                return answer
            outgoing = _written(row, answer)
        except (ControlError, ApiError) as error:
            outgoing = _refusal(error, row, f"{scope.get('root_path', '')}{scope.get(BELOW, '')}")
        except (ClientDisconnect, Unavailable):
            raise
        except Exception:
            self._runtime.log_defect()
            outgoing = _refusal(ControlError(500, "internal_error", DEFECT))
        return outgoing if call is not None and call.shows_keys else await self._masked(outgoing)

    async def _masked(self, outgoing: Outgoing[Content]) -> Outgoing[Content]:
        outgoing.body = await in_pieces(outgoing.body, self._runtime.masker.answer)
        return outgoing

    def _admitted(self, scope: Scope) -> Admission:
        path, method = route_path(scope), scope["method"]
        rows, variables = self._router.find(path.removeprefix(CONTROL_BASE)) or ({}, {})
        row = rows.get("GET" if method == "HEAD" else method)
        access = self._admit(scope) if row is None or not row.open else self._known(scope)
        if not rows:
            why = f"There is no path {path}. List all paths with GET {CONTROL_BASE}/control.json."
            raise ApiError("not_found", why)
        if row is None:
            allowed = ", ".join(rows)
            why = f"{method} is not allowed here. Use {allowed}."
            raise ApiError("invalid_request", why, status=405, headers={"Allow": allowed})
        if not row.takes_webhooks and _header(scope, self._signature_header) is not None:
            why = "The control API does not accept webhooks. Send them to an inbox or a receiver."
            raise ApiError("forbidden", why)
        is_known = not row.open or self._tokens is None or self._tokens.access_of(_token(scope)) is not None
        return Admission(row, variables, access, is_known)

    def _call(
        self, scope: Scope, admission: Admission, gone: asyncio.Future[None], body: bytes, is_whole: bool
    ) -> ControlCall:
        incoming = head_of(scope)
        query = dict(parse_qsl(incoming.query.decode("latin-1"), keep_blank_values=True)) if incoming.query else {}
        if admission.row.query is not None:
            refuse_names(query, admission.row.query, "query parameter")
        offered = scope.get("extensions", {})
        return ControlCall(
            self._runtime,
            admission.variables,
            query,
            incoming.headers,
            f"{own_origin(scope)}{scope.get('root_path', '')}",
            rows=self._rows,
            gone=gone,
            access=admission.access,
            has_scoped_tokens=self._tokens is not None and self._tokens.are_scoped,
            shows_keys=admission.row.shows_keys,
            connection_opened_at=offered.get(OPENED_AT, inf),
            cut=offered.get(CUT, lambda: None),  # Otherwise, the client sees a normal end of the response.
            below=scope.get(BELOW, ""),
            sent=body,
            is_whole=is_whole,
        )

    async def _answer(self, call: ControlCall, row: ControlOperation) -> ControlAnswer:
        """Validate the body, find the world, run the handler and add the call to the journal."""
        if row.takes == "json":
            refuse_unknown(row.body, call.raw)
            call.body = parse(row.body, call.raw)
        reached = call.access.reaches(call.world_id)
        if reached and row.scope == "world":
            await self._runtime.wake(call.world_id)
        world = await self._up_to_date(call.world_id) if reached and row.catches_up and not row.open else None
        world = world or call.find_world(call.world_id)
        if world is not None:
            if row.scope == "world" and not row.open:
                self._runtime.meter.uses.touch(world)
            call.unanswered = self._runtime.courier.unanswered(world, call.connection_opened_at)
            call.last_entry = last_entry(world)
        call.id = self._journal.begin(world, row)
        if world is None:
            return await row.handler(call)
        with self._runtime.holding(world.id):
            return await self._journalled(call, row, world)

    async def _journalled(self, call: ControlCall, row: ControlOperation, world: World) -> ControlAnswer:
        if not call.id:
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
        """Fire the due timers of a world, and return it, the world that replaced it meanwhile, or None."""
        worlds, world = self._runtime.simulator.worlds, None
        while (present := worlds.get(world_id)) is not world:
            world = present
            if world is not None:
                await self._runtime.driver.bring_up_to_date(world)
        return world

    def _admit(self, scope: Scope) -> Access:
        """Return the access of a caller, or raise `ApiError` 401 (with tokens) or 403 (foreign `Host` or `Origin`)."""
        if self._tokens is not None:
            access = self._tokens.access_of(_token(scope))
            if access is None:
                raise ApiError("unauthorized", "The control API needs Authorization: Bearer <control token>.")
            return access
        refusal = self._hosts.refusal(scope)
        if refusal is not None:
            raise ApiError("forbidden", refusal)
        origin = _header(scope, b"origin")
        if origin is not None and origin.lower() != own_origin(scope).lower():
            raise ApiError("forbidden", f"{_OWN_PAGES}, not from {origin[:100]!r}.")
        if origin is None and is_embedded_elsewhere(scope):
            raise ApiError("forbidden", f"{_OWN_PAGES}.")
        return EVERYBODY

    def _known(self, scope: Scope) -> Access:
        """Return the access of a caller to an open operation. It is limited only if tokens of the server are."""
        if self._tokens is None or not self._tokens.are_scoped:
            return EVERYBODY
        return self._tokens.access_of(_token(scope)) or NOBODY


def _header(scope: Scope, wanted: bytes) -> str | None:
    for name, value in scope["headers"]:
        if name == wanted:
            found: str = value.decode("latin-1")
            return found
    return None


def _token(scope: Scope) -> str:
    scheme, _, given = (_header(scope, b"authorization") or "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _refusal(error: ControlError | ApiError, row: ControlOperation | None = None, base: str = "") -> Outgoing[Content]:
    """Return an error response. `base` is the URL prefix of the link to the documentation of `row`."""
    envelope = error.envelope()
    if row is not None:
        envelope["error"]["doc_url"] = f"{base}{CONTROL_BASE}/docs/reference/control#{row.name}"
    headers = error.headers if isinstance(error, ApiError) else {}
    return Outgoing(error.status, dumps(envelope), {**_HEADERS, **headers})


def _written(row: ControlOperation, answer: Mapping[str, object] | Raw[Any] | None) -> Outgoing[Content]:
    if isinstance(answer, Raw):
        policy = PAGE_POLICY if row.media_type.startswith("text/html") else {}
        return Outgoing(answer.status, answer.body, {**_HEADERS, **policy}, media_type=row.media_type)
    return Outgoing(204, b"", _HEADERS) if answer is None else Outgoing(row.status, dumps(answer), _HEADERS)


def _body(row: ControlOperation, body: bytes, is_whole: bool) -> Any:
    if not is_whole and not row.cuts:
        why = f"The body is larger than {row.max_bytes} bytes, which is the limit for this call."
        raise ApiError("invalid_request", why)
    if row.takes == "bytes":
        return body
    if not body or row.method in ("GET", "DELETE"):
        return {}
    return json_object(body)
