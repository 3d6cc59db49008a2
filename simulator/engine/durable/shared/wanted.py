"""Determines which world a request needs, using the request's path, headers and body."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from simulator.engine.control.app import Admission
from simulator.engine.durable.shared.sharing import Sharing
from simulator.engine.rows.provider import split_base
from simulator.engine.server.http.messages import Incoming, public_key_of, token_of
from simulator.engine.text.json import loads
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD

_KNOWN_CREDENTIALS = 10_000
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Wanted:
    """The world that a request needs."""

    world: str
    creates: bool = False
    """True if the request may create this world."""
    also: str | None = None
    """Another world, which the request creates from a snapshot of `world`."""
    keys: Sequence[str] = ()
    """The keys that the request assigns to the world."""


class Finder:
    """Determines which world a request needs. The worlds of keys and tokens from the database are cached."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._known: OrderedDict[str, str] = OrderedDict()

    async def of_interface(self, incoming: Incoming) -> Wanted:
        """Return the world of the key or token in an API request, or `default` if there is no known key or token."""
        environment, below = split_base(self._sharing.environments, incoming.path)
        found = environment and self._sharing.finds(below)
        exchange = self._sharing.exchange
        is_exchange = exchange is not None and below == exchange.path
        credential = public_key_of(incoming) if is_exchange else token_of(incoming)
        world = await self._world_of(credential) if found and credential else None
        return Wanted(world or DEFAULT_WORLD, creates=world is None)

    async def of_control(self, path: str, incoming: Incoming, admission: Admission) -> Wanted | str | None:
        """Return the world that a control request needs, "worlds" for a list of all worlds, or "prune" for the deletion
        of several worlds.

        Return None for a request that any replica can serve: the request does not concern a world, has an invalid world
        id, or has a token that cannot access the world.
        """
        wanted = await self._of_control(path, incoming)
        if isinstance(wanted, Wanted):
            worlds = (wanted.world,) if wanted.also is None else (wanted.world, wanted.also)
            return wanted if all(_may_be(world, admission) for world in worlds) else None
        return wanted

    async def _of_control(self, path: str, incoming: Incoming) -> Wanted | str | None:
        named = incoming.headers.get("x-simulator-world")
        parts = path.strip("/").split("/")
        if parts[0] == "usage":
            return None
        if parts == ["prune"]:
            named = object_of(incoming.body).get("world")
            return Wanted(named) if isinstance(named, str) else "prune"
        if parts[0] == "worlds" and len(parts) > 1:
            return Wanted(parts[1], creates=parts[1] == DEFAULT_WORLD)
        if parts[0] == "worlds":
            return "worlds" if incoming.method in ("GET", "HEAD") else await self._new_world(incoming)
        if parts[0] == "snapshots" and len(parts) > 1 and named is None:
            named = await self._sharing.store.snapshot_world(parts[1])
        if parts == ["state"] and incoming.method == "PUT":
            keys = _keys_in(incoming.body or b"")
            return Wanted(named or DEFAULT_WORLD, creates=named in (None, DEFAULT_WORLD), keys=keys)
        if parts[0] == "stream":
            named = dict(parse_qsl(incoming.query.decode("latin-1"))).get("world") or named
        return Wanted(named or DEFAULT_WORLD, creates=named in (None, DEFAULT_WORLD))

    async def _new_world(self, incoming: Incoming) -> Wanted | None:
        """Return the world that a `POST /worlds` request needs, or None if the request will be refused or the world
        gets a generated id.
        """
        said = object_of(incoming.body)
        world, snapshot = said.get("id"), said.get("from_snapshot")
        world = world if isinstance(world, str) else None
        of = await self._sharing.store.snapshot_world(snapshot) if isinstance(snapshot, str) else None
        if of is not None:
            return Wanted(of, also=world)
        return None if world is None else Wanted(world, creates=True)

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


def _may_be(world: str, admission: Admission) -> bool:
    """Return True if the world id is valid and the caller may use the world, or if the request is a webhook delivery,
    which any inbox accepts.
    """
    return (not admission.is_known or admission.access.reaches(world)) and _NAME.fullmatch(world) is not None


def object_of(body: bytes | None) -> dict[str, Any]:
    """Return the JSON object in a body, or an empty dict. The control API later refuses any other body."""
    try:
        said: Any = loads(body or b"{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _keys_in(document: bytes) -> Sequence[str]:
    """Return the API keys in an exported world. The control API later refuses any other body."""
    try:
        tables: Any = loads(document)["tables"]
        keys = [key for name, rows in tables.items() if "api_keys" in name for key, _ in rows]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return [key for key in keys if isinstance(key, str) and "\0" not in key]
