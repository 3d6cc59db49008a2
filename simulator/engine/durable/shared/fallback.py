"""The middleware of a replica: admits a request, finds the request's world, and serves or forwards the request.

A request is admitted before its body is read and before its world is looked up. Otherwise, an unauthenticated caller
could make a replica take a world, reserve a key or wait for the database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.access import Access
from simulator.engine.control.app import Admission
from simulator.engine.durable.backend import StoreError
from simulator.engine.durable.shared.ownership import Forward, Outcome, Reason, Refuse, Serve
from simulator.engine.durable.shared.proxy import REFUSED, forward, proved_world, take_out
from simulator.engine.durable.shared.sharing import Sharing
from simulator.engine.durable.shared.wanted import Finder, Wanted, object_of
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.server.http.messages import enter_world, head_of, read_body, route_path, write_raw
from simulator.engine.server.storage import RETRY_SECONDS, UNREADABLE, headers_of, is_of_the_server
from simulator.engine.text.json import MAX_BYTES, dumps, loads
from simulator.engine.text.strict import is_whole
from simulator.kernel.dataclass import dataclass, replace
from simulator.kernel.world import DEFAULT_WORLD

_CONTROL = f"{CONTROL_BASE}/"
_FORK_ELSEWHERE = "another server owns it, so `replace` does not delete it. Delete it first, or choose another id."
_AT_REST = (
    "No server has this world in memory, so this request is not one of its deliveries. For other requests, send a "
    "control token."
)
_WHY: dict[Reason, str] = {
    "elsewhere": "the world is moving between replicas. Nothing was done. Send the request again.",
    "busy": "no replica loaded the world in time. Nothing was done. Send the request again.",
    "stopping": "this replica is stopping. Nothing was done. Send the request again.",
    "unavailable": "there is no connection to PostgreSQL. Nothing was done. Send the request again later.",
    "unknown": "the connection to the replica with this world was lost during the request. The request may or may not "
    "have been carried out. Check the result, or send it again with the same Idempotency-Key.",
}

Refusal: TypeAlias = Callable[[Scope], str | None]
Admits: TypeAlias = Callable[[Scope], Admission | None]


@dataclass(frozen=True)
class _Call:
    """An accepted request, after its body was read."""

    scope: Scope
    receive: _ReplayedBody
    send: Send
    admission: Admission | None
    """The route and access data (`Admission`) of a control request, or None for an API request."""
    is_forwarded: bool = False
    """True if another replica has forwarded the request."""

    @property
    def reach(self) -> Access | None:
        """The access of the caller's control token, if the request creates a world and the token has a world limit."""
        if self.admission is None or self.admission.row.name != "create_world":
            return None
        return self.admission.access if self.admission.access.most_worlds is not None else None


class FallbackApp:
    """ASGI middleware around the whole server except its error boundary.

    `refusal` returns the reason to refuse an API request, or None. `admission` checks a control request. The wrapped
    application writes the error responses. `pages` are the paths at the server root that need no world.
    """

    def __init__(
        self, app: ASGIApp, sharing: Sharing, refusal: Refusal, admission: Admits, pages: Collection[str]
    ) -> None:
        self._app = app
        self._sharing = sharing
        self._bases = tuple(f"{base}/" for base in sharing.environments.values())
        self._refusal = refusal
        self._admission = admission
        self._pages = frozenset(pages)
        self._finder = Finder(sharing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope, forwarding = take_out(scope)
        seen: Scope = {**scope}
        enter_world(seen, self._bases)
        path = route_path(seen)
        is_control = path.startswith(_CONTROL) or path == CONTROL_BASE
        admission = self._admission(seen) if is_control else None
        if path in self._pages or is_of_the_server(path) or not self._needs_world(seen, is_control, admission):
            await self._app(scope, receive, send)
            return
        # Read one byte more than the limit, so that the wrapped application refuses a larger body.
        body, _ = await read_body(receive, (MAX_BYTES if admission is None else admission.row.max_bytes) + 1)
        call = _Call(scope, _ReplayedBody(body, receive), send, admission)
        try:
            store = self._sharing.store
            found_elsewhere = proved_world(store.secret, store.address, forwarding, scope, body)
            await self._answer(call, seen, path, found_elsewhere)
        except (ControlError, ApiError) as error:
            await _refuse(scope, send, error, None)
        except StoreError as error:
            await _refuse(scope, send, _unavailable(scope["path"], f"{error}."), None)

    def _needs_world(self, scope: Scope, is_control: bool, admission: Admission | None) -> bool:
        """Return True if a request is accepted and its response can differ between replicas."""
        if not is_control:
            return self._refusal(scope) is None
        return admission is not None and (not admission.row.open or admission.row.takes_webhooks)

    async def _answer(self, call: _Call, seen: Scope, path: str, found_elsewhere: str | None) -> None:
        incoming = head_of(seen)
        incoming.body = call.receive.body
        wanted: Wanted | str | None
        if call.admission is not None:
            wanted = await self._finder.of_control(path.removeprefix(CONTROL_BASE), incoming, call.admission)
            if found_elsewhere is not None and isinstance(wanted, Wanted):
                wanted = replace(wanted, world=found_elsewhere)
        elif found_elsewhere is not None:
            wanted = Wanted(found_elsewhere, creates=found_elsewhere == DEFAULT_WORLD)
        else:
            wanted = await self._finder.of_interface(incoming)
        if wanted is None:
            await self._let_answer(call, call.send)
        elif wanted == "worlds":
            await self._list(call)
        elif isinstance(wanted, str):
            await self._prune(call)
        elif found_elsewhere is not None:
            await self._routed(wanted, replace(call, is_forwarded=True))
        elif call.admission is not None and not call.admission.is_known and not await self._is_awake(wanted.world):
            raise ControlError(401, "unauthorized", _AT_REST)
        elif wanted.keys and call.admission is not None and call.admission.access.reaches_all:
            await self._with_keys(wanted, call)
        else:
            await self._routed(wanted, call)

    async def _is_awake(self, world: str) -> bool:
        """Return True if any replica has the world in memory. Always return True for the world `default`."""
        if world == DEFAULT_WORLD or self._sharing.machine.epoch_of(world) is not None:
            return True
        return await self._sharing.store.is_owned(world)

    # Serving and forwarding

    async def _with_keys(self, wanted: Wanted, call: _Call) -> None:
        """Serve or forward a request that assigns keys to a world. Raise `ControlError` 409 if another world has one of
        them.
        """
        store, world = self._sharing.store, wanted.world
        reserved = await store.reserve(wanted.keys, world)
        if reserved.holder is not None:
            why = f"The world {reserved.holder} already has one of these keys. Delete it first."
            raise ControlError(409, "already_exists", why)
        status, send = 0, call.send

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._routed(wanted, replace(call, send=sending))
        if 400 <= status < 500:
            await store.give_back(reserved.new, world)

    async def _routed(self, wanted: Wanted, call: _Call) -> None:
        sharing, world = self._sharing, wanted.world
        scope, is_forwarded = call.scope, call.is_forwarded
        may_repeat = scope["method"] in ("GET", "HEAD", "OPTIONS") or (
            call.admission is None and any(name == b"idempotency-key" for name, _ in scope["headers"])
        )
        ticket, decision = await sharing.ask(
            world, is_forwarded=is_forwarded, may_repeat=may_repeat, creates=wanted.creates
        )
        while isinstance(decision, Forward):
            address = decision.address
            outcome = await self._forward(address, world, call, partial(sharing.store.owns, address, world))
            following = await sharing.forwarded(ticket, outcome)
            if following is None:
                return
            decision = following
        if isinstance(decision, Refuse):
            if decision.reason != "stopping" or is_forwarded or not await self._passed(world, call):
                await self._refuse(call, decision.reason)
            return
        try:
            if wanted.also is not None and wanted.also != world:
                await self._routed_also(wanted.also, call)
            else:
                await self._serve(decision, call)
        finally:
            sharing.finished(ticket, world)

    async def _passed(self, world: str, call: _Call) -> bool:
        """Forward a request to another replica because this replica is stopping. Return False if the request could not
        be forwarded.
        """
        store = self._sharing.store
        address = await store.other_owner(world)
        if address is None:
            return False
        outcome = await self._forward(address, world, call, partial(store.owns_any, address))
        if outcome == "broken":
            await self._refuse(call, "unknown")
        return outcome != "refused"

    async def _forward(self, address: str, world: str, call: _Call, is_owner: Callable[[], Awaitable[bool]]) -> Outcome:
        secret, body = self._sharing.store.secret, call.receive.body
        return await forward(
            address, world, call.scope, call.receive.gone, call.send, body, secret=secret, is_owner=is_owner
        )

    async def _routed_also(self, world: str, call: _Call) -> None:
        """Serve a request that creates `world` from a snapshot of another world. This replica then owns both worlds."""
        ticket, decision = await self._sharing.ask(world, is_forwarded=True, may_repeat=False, creates=True)
        if isinstance(decision, Serve):
            try:
                await self._serve(decision, call)
            finally:
                self._sharing.finished(ticket, world)
        elif isinstance(decision, Refuse) and decision.reason == "elsewhere":
            raise ControlError(409, "already_exists", f"The world {world} already exists: {_FORK_ELSEWHERE}", "id")
        elif isinstance(decision, Refuse):
            await self._refuse(call, decision.reason)

    async def _serve(self, decision: Serve, call: _Call) -> None:
        unreadable = self._sharing.unreadable.get(decision.world)
        # Control requests may delete an unreadable world, so they are served.
        if unreadable is not None and call.admission is None:
            raise _unavailable(call.scope["path"], f"{unreadable}.")
        send = call.send

        async def sending(message: MutableMapping[str, Any]) -> None:
            headers = message.get("headers", ())
            if (b"content-type", b"text/event-stream; charset=utf-8") in headers:
                # A stream ends when its world is released. If a stream counted as a request in progress, the world
                # could never be released.
                self._sharing.finished(decision.ticket, decision.world)
            if call.is_forwarded and "headers" in message:  # A fault may set any header, even a proxy header.
                message = {**message, "headers": [pair for pair in headers if pair[0].lower() != REFUSED.encode()]}
            await send(message)

        await self._let_answer(call, sending)

    async def _let_answer(self, call: _Call, send: Send) -> None:
        async with self._sharing.creating(call.reach):
            await self._app(call.scope, call.receive, send)

    async def _refuse(self, call: _Call, reason: Reason) -> None:
        path = call.scope["path"]
        await _refuse(call.scope, call.send, _unavailable(path, _WHY[reason]), reason if call.is_forwarded else None)

    # All worlds

    async def _list(self, call: _Call) -> None:
        """Serve `GET /worlds`. Worlds that a replica owns are fetched from it. Others are read from the database."""
        scope, send, gone = call.scope, call.send, call.receive.gone
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        limit = query.get("limit", "")
        if set(query) - {"limit"} or (limit and not is_whole(limit)):
            await self._app(scope, call.receive, send)  # The wrapped application writes the refusal.
            return
        assert call.admission is not None
        reaches = call.admission.access.reaches
        rows = [row for row in await self._sharing.store.all_worlds() if reaches(row[0])]
        newest = rows[max(len(rows) - int(limit), 0) :] if limit else rows
        shown: list[Any] = []
        unreadable: list[Any] = []
        for world, is_owned in newest:
            answer = _Collected()
            below = f"{CONTROL_BASE}/worlds/{world}"
            one = {**scope, "path": below, "raw_path": below.encode(), "root_path": "", "query_string": b""}
            if not is_owned:
                await self._app(one, _ReplayedBody(b"", gone), answer)
            # In the meantime, the world may have been taken or deleted, or it may be unreadable.
            if is_owned or answer.status == 404:
                answer = _Collected()
                await self(one, _ReplayedBody(b"", gone), answer)
            if answer.status == 200:
                shown.append(loads(answer.body))
            elif answer.status == 503 and (error := loads(answer.body)["error"])["code"] == UNREADABLE:
                unreadable.append({"id": world, "why": error["unreadable"]})
            elif answer.status != 404:
                await write_raw(scope, send, answer.status, answer.body, "application/json", [])
                return
        await write_raw(scope, send, 200, dumps({"data": shown, "unreadable": unreadable}), "application/json", [])

    async def _prune(self, call: _Call) -> None:
        """Serve `POST /prune`: list the worlds to delete. Then their owners check them again and delete them."""
        scope, send, gone = call.scope, call.send, call.receive.gone
        looking = _Collected()
        said = {"dry_run": False, **object_of(call.receive.body)}
        body = dumps({**said, "dry_run": True}) if said.get("dry_run") is False else call.receive.body
        await self._app(scope, _ReplayedBody(body, gone), looking)
        if looking.status != 200 or said.get("dry_run"):
            await write_raw(scope, send, looking.status, looking.body, "application/json", [])
            return
        ended: list[str] = []
        for world in loads(looking.body)["ended"]:
            answer = _Collected()
            await self(scope, _ReplayedBody(dumps({**said, "world": world}), gone), answer)
            if answer.status == 200:
                ended += loads(answer.body)["ended"]
            else:
                await write_raw(scope, send, answer.status, answer.body, "application/json", [])
                return
        await write_raw(scope, send, 200, dumps({"ended": ended, "dry_run": False}), "application/json", [])


class _ReplayedBody:
    """The `receive` callable of a request after its body was read. It returns the body, then later messages."""

    def __init__(self, body: bytes, gone: Receive) -> None:
        self.body, self.gone = body, gone
        self._is_given = False

    async def __call__(self) -> Message:
        if self._is_given:
            return await self.gone()
        self._is_given = True
        return {"type": "http.request", "body": self.body, "more_body": False}


class _Collected:
    """A `send` callable that collects a response."""

    def __init__(self) -> None:
        self.status, self.body = 0, b""

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")


def _unavailable(path: str, why: str) -> ApiError | ControlError:
    """Return the error 503 for a request that could not be served, with a code of the API that was called."""
    message = f"The request was not served: {why}"
    if CONTROL_BASE in path:
        return ControlError(503, "storage_unavailable", message)
    return ApiError("service_unavailable", message, headers={"Retry-After": str(RETRY_SECONDS)})


async def _refuse(scope: Scope, send: Send, error: ApiError | ControlError, reason: Reason | None) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in headers_of(error).items()]
    if reason is not None:
        headers.append((REFUSED.encode(), reason.encode()))
    await write_raw(scope, send, error.status, dumps(error.envelope()), "application/json", headers)
