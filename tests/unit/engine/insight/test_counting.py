"""Coverage is counted in small steps, with the same result as counting everything at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from simulator.engine.insight import counting
from simulator.engine.insight.counting import Cell, Counts, count_world, moves_of
from simulator.engine.server.runtime import Runtime
from simulator.engine.webhooks import all_deliveries
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.journal import HISTORIES
from simulator.kernel.world import World
from tests.fake_transport import FakeTransport
from tests.library import Simulator, application_of
from tests.seeds import walk_seed
from tests.unit.engine.server.test_faults_at_random import STEPS, Integrator, failing_receiver, fault

Seen = dict[tuple[str, tuple[str, ...], str], tuple[int, str]]
"""Hits and the first evidence, by dimension, item and number."""


def counted_plainly(world: World) -> Seen:
    """The same by a plain loop over everything in its order; without calls, which have a tally of their own."""
    found: Seen = {}

    def hit(dimension: str, key: tuple[str, ...], number: str, evidence: str) -> None:
        hits, first = found.get((dimension, key, number), (0, evidence))
        found[dimension, key, number] = hits + 1, first

    for row in world.store[HISTORIES].rows:
        for evidence, cell in moves_of(world, row):
            hit("states", (cell.kind, cell.target), "hits", evidence)
            hit("transitions", cell, "hits", evidence)
    for event in world.journal.events():
        hit("events", (event.type,), "emitted", event.id)
    deliveries = [one for one in all_deliveries(world) if not one.was_dropped]
    for one in deliveries:
        hit("events", (one.event_type,), "delivered", one.event_id)
        if one.status == "succeeded":
            hit("events", (one.event_type,), "acknowledged", one.event_id)
    for practice, evidence in practices(deliveries):
        hit("practices", (practice,), "hits", evidence)
    return found


def practices(deliveries: list[Any]) -> Iterator[tuple[str, str]]:
    failed: set[tuple[str, str]] = set()
    acknowledged: set[tuple[str, str]] = set()
    for one in deliveries:
        place, succeeded = (one.endpoint_id, one.event_id), one.status == "succeeded"
        refused = one.response_status is not None and not succeeded and not one.unheard
        if refused and (one.altered or one.corrupted):
            yield "forged_webhook_refused", one.id
        if refused and one.stale:
            yield "stale_webhook_refused", one.id
        if succeeded and place in acknowledged:
            yield "duplicate_event_acknowledged", one.id
        elif succeeded and place in failed:
            yield "event_retry_survived", one.id
        (acknowledged if succeeded else failed).add(place)


def without_calls(counts: Counts) -> Seen:
    """Counts as `counted_plainly` has them. An item has one first evidence for all of its numbers."""
    return {
        (dimension, key, number): (hits, count.first[1] if count.first else "")
        for (dimension, key), count in counts.items()
        if dimension in ("states", "transitions", "events") or (dimension == "practices" and key[0] in SHOWN)
        for number, hits in count.numbers.items()
    }


SHOWN = {"forged_webhook_refused", "stale_webhook_refused", "duplicate_event_acknowledged", "event_retry_survived"}


def expected(world: World) -> Seen:
    plain = counted_plainly(world)
    firsts: dict[tuple[str, tuple[str, ...]], str] = {}
    for (dimension, key, _), (_, first) in plain.items():
        firsts.setdefault((dimension, key), first)
    return {place: (hits, firsts[place[:2]]) for place, (hits, _) in plain.items()}


async def walk_and_count(
    integrator: Integrator, rng: Random, faults: Sequence[dict[str, Any]], steps: Sequence[str]
) -> None:
    """Walk under faults; whenever coverage is counted, it equals a plain count."""
    world = integrator.world
    await integrator.sign_in()
    await integrator.register()
    for one in faults:
        await integrator.disturb(one)
    for what in rng.choices(steps, k=12):
        await integrator.step(what)
        if rng.random() < 0.5:
            counting.count_some(world)
        else:
            assert without_calls(count_world(world)) == expected(world)
    assert without_calls(count_world(world)) == expected(world) != {}


@pytest.mark.parametrize("seed", range(8))
def test_incremental_counts_equal_a_plain_count(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "SLICE", 7)
    rng = Random(walk_seed(seed))

    async def play() -> None:
        simulator = Simulator()
        simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, failing_receiver(rng)))
        await walk_and_count(Integrator(application), rng, [fault(rng) for _ in range(4)], STEPS)
        await application.runtime.close()

    asyncio.run(play())


def test_a_second_report_reads_only_new_data(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = counting.moves_of

    def noted(world: World, row: str, counted: int = 0) -> Iterator[tuple[str, Cell]]:
        read.append(row)
        return real(world, row, counted)

    monkeypatch.setattr(counting, "moves_of", noted)

    async def play() -> None:
        simulator = Simulator()
        world = simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, FakeTransport()))
        integrator = Integrator(application)
        await integrator.sign_in()
        for _ in range(20):
            await integrator.step("lend")
        count_world(world)
        whole = len(read)
        read.clear()
        count_world(world)
        assert read == []
        await integrator.step("lend")
        count_world(world)
        assert 0 < len(read) <= 4 < whole
        await application.runtime.close()

    asyncio.run(play())
