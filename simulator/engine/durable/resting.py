"""Suspended worlds: unused worlds in a SQLite store. Only a summary ("card") of each world is in memory.

A world is read when a request needs it, or when a timer on its running clock is due. At startup, a server reads the
cards and the world `default`. It also reads worlds with stale cards. These worlds were in use when the server crashed.
"""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import orjson

from simulator.engine import webhooks
from simulator.engine.control.worlds.world_object import world_object
from simulator.engine.durable.backend import StoreError
from simulator.engine.durable.cards import NewCard
from simulator.engine.durable.persistence import PersistenceLayer
from simulator.engine.durable.sqlite import SqliteStore
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import Unavailable
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.quotas import QUOTAS
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.clock import LAST_MS, format_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.version import __version__

_AT_ONCE = 50
"""The number of cards in one transaction. Batches are committed between these transactions."""


@dataclass(frozen=True)
class Card:
    """A summary of a suspended world, with which the server can list the world, find it by its keys and wake it."""

    shown: JsonObject
    """The world as the control API returns it, but with URLs that do not include an origin."""
    credentials: Sequence[str]
    """The public keys and tokens of the world."""
    snapshots: Sequence[str]
    """The ids of the world's snapshots."""
    rate: Decimal
    """The clock rate, or 0 if the clock is manual."""
    now_ms: int
    """The simulated time at `wall_ms`."""
    wall_ms: int
    wakes_at_ms: int | None
    """The wall-clock time at which the next timer is due, or None if only a request can change the world."""

    def show(self, origin: str) -> JsonObject:
        """Return the world as the control API returns it, with the time that its clock shows now."""
        now_ms = self.now_ms + int(max(wall_clock_ms() - self.wall_ms, 0) * self.rate)
        keys: Mapping[str, Mapping[str, str]] = self.shown["credentials"]
        credentials = {name: {**pair, "base_url": origin + pair["base_url"]} for name, pair in keys.items()}
        clock = {**self.shown["clock"], "now": format_timestamp(min(now_ms, LAST_MS))}
        return {**self.shown, "clock": clock, "credentials": credentials}

    def written(self, made_for: str) -> bytes:
        return dumps({"for": made_for, **vars(self), "rate": str(self.rate)})

    @classmethod
    def read(cls, content: bytes, made_for: str) -> Card | None:
        """Return the card in `content`, or None if another version or a server with other quotas has written it."""
        members = orjson.loads(content)
        if members.pop("for", None) != made_for:
            return None
        return cls(**{**members, "rate": Decimal(members["rate"])})


class FilePersistence(PersistenceLayer):
    """Saves a server's worlds in a file. A world that is unused for `idle_seconds` is removed from memory."""

    def __init__(
        self,
        runtime: Runtime,
        store: SqliteStore,
        make_default: Callable[[], None],
        otherwise: Callable[[Blueprint], str],
        idle_seconds: float,
    ) -> None:
        super().__init__(runtime, store, make_default, otherwise)
        self.idle_seconds = idle_seconds
        self.at_rest: dict[str, Card] = {}
        self._order: dict[str, None] = {}
        self._store = store
        self._waking: dict[str, asyncio.Task[None]] = {}
        self._simulator.away = ChainMap[str, Any](self.unreadable, self.at_rest)
        most = self._simulator.inherited.settings
        self._made_for = f"{__version__} {[most.get(name) for name in QUOTAS]}"

    # Called by the server

    def world_ids(self) -> Sequence[str]:
        return [one for one in self._order if one in self.at_rest or one in self._simulator.worlds]

    def show_at_rest(self, world_id: str, origin: str) -> JsonObject | None:
        card = self.at_rest.get(world_id)
        return None if card is None else card.show(origin)

    async def wake(self, world_id: str) -> None:
        while world_id in self.at_rest:
            task = self._waking.get(world_id)
            if task is None:
                task = self._waking[world_id] = asyncio.get_running_loop().create_task(self._wake(world_id))
                task.add_done_callback(lambda _: self._waking.pop(world_id, None))
            await asyncio.shield(task)

    async def wake_snapshot(self, snapshot_id: str) -> None:
        for world_id in [one for one, card in self.at_rest.items() if snapshot_id in card.snapshots]:
            await self.wake(world_id)

    async def _wake(self, world_id: str) -> None:
        generation = self.generation
        try:
            read = await self._loader.read(world_id)
        except StoreError as error:
            raise Unavailable(f"{error}.") from error
        if generation != self.generation or self.refusal is not None:
            raise Unavailable(self.refusal or "the store has failed.")
        self.at_rest.pop(world_id, None)
        if read is not None:
            await self._loader.start(*read)

    async def close(self) -> None:
        """Save all changes, write the cards of the worlds for the next start, and close the store."""
        await self._settle_all()
        if self.refusal is None:
            with suppress(StoreError):
                await self._write_cards([world for world in self._simulator.worlds.values() if self._is_quiet(world)])
        await super().close()

    # Called by the simulator

    def attach(self, world: World) -> None:
        self._order.setdefault(world.id)
        super().attach(world)

    def detach(self, world: World) -> None:
        if world.id not in self._simulator.worlds:  # Otherwise, another world replaces this one.
            self._order.pop(world.id, None)
        super().detach(world)

    # Reading

    async def _to_read(self) -> Sequence[str]:
        self._order = dict.fromkeys(await self._store.heads())
        for world_id, content in (await self._store.cards()).items():
            card = Card.read(content, self._made_for)
            if card is not None and world_id != DEFAULT_WORLD:
                self._put_to_rest(world_id, card)
        return [world_id for world_id in self._order if world_id not in self.at_rest]

    def _put_to_rest(self, world_id: str, card: Card) -> None:
        self.at_rest[world_id] = card
        self._simulator.directory.update(dict.fromkeys(card.credentials, world_id))

    def _release_all(self) -> None:
        super()._release_all()
        for world_id, card in self.at_rest.items():
            for credential in card.credentials:
                if self._simulator.directory.get(credential) == world_id:
                    del self._simulator.directory[credential]
        self.at_rest.clear()

    # Suspending

    async def look(self) -> None:
        """Resume the worlds whose timers are due, and suspend idle worlds."""
        now_ms = wall_clock_ms()
        due = [one for one, card in self.at_rest.items() if card.wakes_at_ms is not None and card.wakes_at_ms <= now_ms]
        for world_id in due:
            await self.wake(world_id)
        idle = [world for world in self._simulator.worlds.values() if self._may_rest(world)]
        for start in range(0, len(idle), _AT_ONCE):
            for world_id, card in (await self._write_cards(idle[start : start + _AT_ONCE])).items():
                world = self._simulator.worlds.get(world_id)
                # Check again, because the world may have been used while its card was written.
                if world is not None and self._may_rest(world):
                    self._simulator.release_world(world_id)
                    self._put_to_rest(world_id, card)

    def _may_rest(self, world: World) -> bool:
        if self._runtime.meter.uses.idle_seconds(world) < self.idle_seconds or not self._is_quiet(world):
            return False
        wakes_at_ms = self._wakes_at_ms(world)
        return wakes_at_ms is None or wakes_at_ms > wall_clock_ms() + self.idle_seconds * 1000

    def _is_quiet(self, world: World) -> bool:
        """Return True if a world is completely saved and nothing is in progress in it."""
        tracked, runtime = self._tracked.get(world.id), self._runtime
        return (
            tracked is not None
            and not tracked.begins
            and world.id != DEFAULT_WORLD
            and self.is_saved(world.id)
            and not runtime.is_held(world.id)
            and not runtime.driver.is_busy(world)
            and not runtime.courier.is_busy(world)
            and not len(webhooks.in_flight(world))
        )

    async def _write_cards(self, worlds: Sequence[World]) -> dict[str, Card]:
        """Write the cards of worlds. Return the cards of the worlds that did not change meanwhile."""
        cards, new = {}, dict[str, NewCard]()
        for world in worlds:
            tracked = self._tracked[world.id]
            use, card = self._batches.use_of(tracked), self._card_of(world)
            cards[world.id], new[world.id] = card, (tracked.number, card.written(self._made_for), use)
        written = await self._store.put_cards(new) if new else set()
        return {
            world_id: cards[world_id]
            for world_id in new
            if world_id in written
            and (one := self._tracked.get(world_id)) is not None
            and one.number == new[world_id][0]
        }

    def _card_of(self, world: World) -> Card:
        simulator = self._simulator
        rate = {"manual": Decimal(0), "real": Decimal(1)}.get(world.clock.mode, world.clock.rate)
        return Card(
            shown=orjson.loads(dumps(world_object(simulator, "", world))),
            credentials=list(simulator.provider.identity.directory_entries(world)),
            snapshots=[snapshot.id for snapshot in simulator.snapshots_of(world.id)],
            rate=rate,
            now_ms=self._runtime.driver.present_ms(world),
            wall_ms=wall_clock_ms(),
            wakes_at_ms=self._wakes_at_ms(world),
        )
