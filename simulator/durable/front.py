"""What stands in front of a replica: finds the world of a call, and has it answered where that world is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simulator.address import CONTROL_BASE
from simulator.durable.backend import StoreError
from simulator.durable.hop import FORWARDED, REFUSED, Hops
from simulator.durable.ownership import Forward, Reason, Refuse, Serve
from simulator.durable.sharing import Sharing
from simulator.kernel.copying import replace
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD
from simulator.server.bases import BASES, split_base
from simulator.server.keeping import RETRY_SECONDS, headers_of, is_of_the_server
from simulator.server.messages import (
    Incoming,
    enter_world,
    head_of,
    public_key_of,
    read_body,
    route_path,
    token_of,
    write_raw,
)
from simulator.wire.errors import ApiError, ControlError
from simulator.wire.json import MAX_BYTES, dumps, loads

_MOST_BYTES = 64 * 1024 * 1024
"""No control call takes a larger body."""
_KNOWN_CREDENTIALS = 10_000
_BASES = tuple(f"{base}/" for base in BASES)
_CONTROL = f"{CONTROL_BASE}/"
_FORK_ELSEWHERE = "another server has it, so `replace` does not end it; delete it first, or choose another id."
_WHY: dict[Reason, str] = {
    "elsewhere": "the world moves between replicas right now; nothing was done, send it again.",
    "busy": "no replica has taken the world in time; nothing was done, send it again.",
    "stopping": "this replica stops; nothing was done, send it again.",
    "unavailable": "there is no connection to PostgreSQL; nothing was done, send it again later.",
    "unknown": "the replica that has the world was lost while it answered, so the call was carried out or it was not. "
    "Look, or send it again with the Idempotency-Key that it had.",
}


@dataclass(frozen=True)
class _Wanted:
    """What a call wants: a world, and perhaps to make it. `also`: another world that it makes out of a snapshot.
    `keys`: those that the world is to have."""

    world: str
    creates: bool = False
    also: str | None = None
    keys: Sequence[str] = ()


class Front:
    """ASGI middleware before everything else of the server."""

    def __init__(self, app: ASGIApp, sharing: Sharing) -> None:
        self._app = app
        self._sharing = sharing
        self._hops = Hops()
        self._known: OrderedDict[str, str] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            if scope["type"] == "lifespan":
                await self._hops.close()
            return
        if is_of_the_server(scope["path"]) or scope["path"] == "/":
            await self._app(scope, receive, send)
            return
        # One byte more than is taken: what is larger is refused by who would take it.
        body, _ = await read_body(receive, (_MOST_BYTES if CONTROL_BASE in scope["path"] else MAX_BYTES) + 1)
        again = _Again(body, receive)
        seen: Scope = {**scope}
        enter_world(seen)
        try:
            wanted = await self._wanted(seen, body)
            if wanted is None:
                await self._app(scope, again, send)
            elif wanted == "worlds":
                await self._list(scope, again, send)
            elif isinstance(wanted, str):
                await self._prune(scope, again, send)
            elif wanted.keys and FORWARDED not in dict(scope["headers"]):
                await self._with_keys(wanted, scope, again, send)
            else:
                await self._routed(wanted, scope, again, send)
        except ControlError as error:
            await _say(scope, send, error, None)
        except StoreError as error:
            await _say(scope, send, _unavailable(scope["path"], f"{error}."), None)

    # Which world a call wants

    async def _wanted(self, scope: Scope, body: bytes) -> _Wanted | str | None:
        """What it wants; "worlds" for the list of all, "prune" for the end of many, None for what any answers."""
        path = route_path(scope)
        incoming = head_of(scope)
        incoming.body = body
        found_elsewhere = incoming.headers.get(FORWARDED.decode())
        if path.startswith(_CONTROL):
            wanted = await self._wanted_of_control(path.removeprefix(CONTROL_BASE), incoming)
            if found_elsewhere is None or not isinstance(wanted, _Wanted):
                return wanted
            return replace(wanted, world=found_elsewhere)
        if found_elsewhere is not None:
            return _Wanted(found_elsewhere, creates=found_elsewhere == DEFAULT_WORLD)
        environment, below = split_base(path)
        found = environment and self._sharing.finds(below)
        credential = public_key_of(incoming) if below == "/auth/token" else token_of(incoming)
        world = await self._world_of(credential) if found and credential else None
        return _Wanted(world or DEFAULT_WORLD, creates=world is None)

    async def _wanted_of_control(self, path: str, incoming: Incoming) -> _Wanted | str | None:
        named = incoming.headers.get("x-simulator-world")
        parts = path.strip("/").split("/")
        if parts[0] == "usage":
            return None
        if parts == ["prune"]:
            named = _said(incoming.body).get("world")
            return _Wanted(named) if isinstance(named, str) else "prune"
        if parts[0] == "worlds" and len(parts) > 1:
            return _Wanted(parts[1], creates=parts[1] == DEFAULT_WORLD)
        if parts[0] == "worlds":
            return "worlds" if incoming.method in ("GET", "HEAD") else await self._made(incoming)
        if parts[0] == "snapshots" and len(parts) > 1 and named is None:
            named = await self._sharing.store.snapshot_world(parts[1])
        if parts == ["state"] and incoming.method == "PUT":
            keys = _keys_in(incoming.body or b"")
            return _Wanted(named or DEFAULT_WORLD, creates=named in (None, DEFAULT_WORLD), keys=keys)
        if parts[0] == "stream":
            named = dict(parse_qsl(incoming.query.decode("latin-1"))).get("world") or named
        return _Wanted(named or DEFAULT_WORLD, creates=named in (None, DEFAULT_WORLD))

    async def _made(self, incoming: Incoming) -> _Wanted | None:
        """What `POST /worlds` wants; None for one that is refused or whose id is made up: any replica makes it."""
        said = _said(incoming.body)
        world, snapshot = said.get("id"), said.get("from_snapshot")
        world = world if isinstance(world, str) else None
        of = await self._sharing.store.snapshot_world(snapshot) if isinstance(snapshot, str) else None
        if of is not None:
            return _Wanted(of, also=world)
        return None if world is None else _Wanted(world, creates=True)

    async def _world_of(self, credential: str) -> str | None:
        here = self._sharing.world_here(credential)
        if here is not None:
            return here
        world = self._known.get(credential)
        if world is None:
            world = await self._sharing.store.world_of(credential)
            if world is not None:
                self._known[credential] = world
                if len(self._known) > _KNOWN_CREDENTIALS:
                    self._known.popitem(last=False)
        return world

    # Where it is answered

    async def _with_keys(self, wanted: _Wanted, scope: Scope, receive: _Again, send: Send) -> None:
        """Answer a call that gives keys to a world, of whichever replica; 409 where another world has one of them."""
        store, world = self._sharing.store, wanted.world
        reserved = await store.reserve(wanted.keys, world)
        if reserved.holder is not None:
            why = f"The world {reserved.holder} holds one of these keys; delete it first."
            raise ControlError(409, "already_exists", why)
        status = 0

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._routed(wanted, scope, receive, sending)
        if 400 <= status < 500:
            await store.give_back(reserved.new, world)

    async def _routed(self, wanted: _Wanted, scope: Scope, receive: _Again, send: Send) -> None:
        sharing, world = self._sharing, wanted.world
        headers = dict(scope["headers"])
        is_forwarded = FORWARDED in headers
        may_repeat = scope["method"] in ("GET", "HEAD", "OPTIONS") or (
            b"idempotency-key" in headers and CONTROL_BASE not in scope["path"]
        )
        ticket, decision = await sharing.ask(
            world, is_forwarded=is_forwarded, may_repeat=may_repeat, creates=wanted.creates
        )
        while isinstance(decision, Forward):
            address = decision.address
            is_owner = partial(sharing.store.owns, address, world)
            outcome = await self._hops.send(address, world, scope, receive.gone, send, receive.body, is_owner)
            following = await sharing.forwarded(ticket, outcome)
            if following is None:
                return
            decision = following
        if isinstance(decision, Refuse):
            if decision.reason != "stopping" or is_forwarded or not await self._passed(world, scope, receive, send):
                await self._refuse(scope, send, decision.reason, is_forwarded)
            return
        try:
            if wanted.also is not None and wanted.also != world:
                await self._routed_also(wanted.also, scope, receive, send, is_forwarded)
            else:
                await self._serve(decision, scope, receive, send)
        finally:
            sharing.finished(ticket, world)

    async def _passed(self, world: str, scope: Scope, receive: _Again, send: Send) -> bool:
        """Have a call answered by another replica because this one stops; False where nothing was done."""
        store = self._sharing.store
        address = await store.other_owner(world)
        if address is None:
            return False
        outcome = await self._hops.send(
            address, world, scope, receive.gone, send, receive.body, partial(store.owns_any, address)
        )
        if outcome == "broken":
            await self._refuse(scope, send, "unknown", False)
        return outcome != "refused"

    async def _routed_also(self, world: str, scope: Scope, receive: _Again, send: Send, is_forwarded: bool) -> None:
        """Answer a call that makes a second world, here, where the one that it is made of is."""
        ticket, decision = await self._sharing.ask(world, is_forwarded=True, may_repeat=False, creates=True)
        if isinstance(decision, Serve):
            try:
                await self._serve(decision, scope, receive, send)
            finally:
                self._sharing.finished(ticket, world)
        elif isinstance(decision, Refuse) and decision.reason == "elsewhere":
            raise ControlError(409, "already_exists", f"There is a world {world} already: {_FORK_ELSEWHERE}", "id")
        elif isinstance(decision, Refuse):
            await self._refuse(scope, send, decision.reason, is_forwarded)

    async def _serve(self, decision: Serve, scope: Scope, receive: Receive, send: Send) -> None:
        unreadable = self._sharing.unreadable.get(decision.world)
        if unreadable is not None:
            await _say(scope, send, _unavailable(scope["path"], f"{unreadable}."), None)
            return

        async def sending(message: MutableMapping[str, Any]) -> None:
            if (b"content-type", b"text/event-stream; charset=utf-8") in message.get("headers", ()):
                self._sharing.finished(decision.ticket, decision.world)  # it ends with the world, and holds up nothing
            await send(message)

        await self._app(scope, receive, sending)

    async def _refuse(self, scope: Scope, send: Send, reason: Reason, is_forwarded: bool) -> None:
        await _say(scope, send, _unavailable(scope["path"], _WHY[reason]), reason if is_forwarded else None)

    # What is of all worlds

    async def _list(self, scope: Scope, receive: _Again, send: Send) -> None:
        """`GET /worlds`: the worlds of all replicas, each as its own replica shows it, or as it is kept."""
        limit = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("limit", "")
        if set(dict(parse_qsl(scope["query_string"].decode("latin-1")))) - {"limit"} or (
            limit and not limit.isdecimal()
        ):
            await self._app(scope, receive, send)  # it says what is wrong
            return
        rows = await self._sharing.store.all_worlds()
        newest = rows[max(len(rows) - int(limit), 0) :] if limit else rows
        shown: list[Any] = []
        for world, is_owned in newest:
            answer = _Answer()
            below = f"{CONTROL_BASE}/worlds/{world}"
            one = {**scope, "path": below, "raw_path": below.encode(), "root_path": "", "query_string": b""}
            if not is_owned:
                await self._app(one, _Again(b"", receive.gone), answer)
            if is_owned or answer.status == 404:  # it may have been taken, or have ended, or it cannot be read
                answer = _Answer()
                await self(one, _Again(b"", receive.gone), answer)
            if answer.status == 200:
                shown.append(loads(bytes(answer.body)))
            elif answer.status != 404:
                await write_raw(scope, send, answer.status, bytes(answer.body), "application/json", [])
                return
        await write_raw(scope, send, 200, dumps({"data": shown}), "application/json", [])

    async def _prune(self, scope: Scope, receive: _Again, send: Send) -> None:
        """`POST /prune`: any replica tells which worlds it would be, and who has one ends it, if it still is to be."""
        looking = _Answer()
        said = {"dry_run": False, **_said(receive.body)}
        body = dumps({**said, "dry_run": True}) if said.get("dry_run") is False else receive.body
        await self._app(scope, _Again(body, receive.gone), looking)
        if looking.status != 200 or said.get("dry_run"):
            await write_raw(scope, send, looking.status, bytes(looking.body), "application/json", [])
            return
        ended: list[str] = []
        for world in loads(bytes(looking.body))["ended"]:
            answer = _Answer()
            await self(scope, _Again(dumps({**said, "world": world}), receive.gone), answer)
            if answer.status == 200:
                ended += loads(bytes(answer.body))["ended"]
            else:
                await write_raw(scope, send, answer.status, bytes(answer.body), "application/json", [])
                return
        await write_raw(scope, send, 200, dumps({"ended": ended, "dry_run": False}), "application/json", [])


class _Again:
    """The body of a request that was read already; then what its connection has to tell."""

    def __init__(self, body: bytes, gone: Receive) -> None:
        self.body, self.gone = body, gone
        self._is_given = False

    async def __call__(self) -> Message:
        if self._is_given:
            return await self.gone()
        self._is_given = True
        return {"type": "http.request", "body": self.body, "more_body": False}


class _Answer:
    """Takes an answer in."""

    def __init__(self) -> None:
        self.status, self.body = 0, bytearray()

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")


def _said(body: bytes | None) -> dict[str, Any]:
    """The object that a call sends; an empty one where it sends something else, which is refused by who takes it."""
    try:
        said: Any = loads(body or b"{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _keys_in(document: bytes) -> Sequence[str]:
    """The keys in the document of a world; none in what is not one: who reads it says what is wrong."""
    try:
        tables: Any = loads(document)["tables"]
        keys = [key for name, rows in tables.items() if "api_keys" in name for key, _ in rows]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return [key for key in keys if isinstance(key, str)]


def _unavailable(path: str, why: str) -> ApiError | ControlError:
    """A code that the specification has, or one of ours."""
    message = f"This call was not answered: {why}"
    if CONTROL_BASE in path:
        return ControlError(503, "storage_unavailable", message)
    return ApiError("service_unavailable", message, headers={"Retry-After": str(RETRY_SECONDS)})


async def _say(scope: Scope, send: Send, error: ApiError | ControlError, reason: Reason | None) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in headers_of(error).items()]
    if reason is not None:
        headers.append((REFUSED.encode(), reason.encode()))
    await write_raw(scope, send, error.status, dumps(error.envelope()), "application/json", headers)
