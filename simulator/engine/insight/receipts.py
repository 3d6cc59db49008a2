"""Advice detectors for webhook receivers, faults that never applied, and scenario steps that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.insight.traffic import SLICE, Signal, Signals, Traffic
from simulator.engine.records.records import find
from simulator.engine.records.requests import requests_of
from simulator.engine.scenario.play.logbook import LOG
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.engine.webhooks import Delivery, deliveries_of, every_endpoint_id
from simulator.kernel.clock import format_duration, parse_timestamp
from simulator.kernel.world import World

SLOW_MS = 5_000


def _all_deliveries(world: World) -> Iterator[Delivery | None]:
    """Yield every delivery, and None for a pause, in no particular order: sorting would block other requests."""
    for endpoint_id in every_endpoint_id(world):
        for number, delivery in enumerate(list(deliveries_of(world, endpoint_id).values()), 1):
            yield delivery
            if number % SLICE == 0:
                yield None


def webhook_answers(world: World, _: Traffic) -> Signals:
    """Yield signals for slow, missing and wrong acknowledgements. Refusing a forged or outdated webhook is correct."""
    found: list[tuple[Delivery, str, str]] = []
    for delivery in _all_deliveries(world):
        if delivery is None:
            yield None
            continue
        succeeded, forged = delivery.status == "succeeded", delivery.altered or delivery.corrupted
        if forged or delivery.stale:
            if succeeded:
                found.append((delivery, "forged_webhook_accepted" if forged else "stale_webhook_accepted", ""))
        elif not succeeded:
            if not delivery.was_dropped and not delivery.unheard:
                found.append((delivery, "webhook_not_acknowledged", delivery.error or ""))
        elif delivery.duration_ms > SLOW_MS:
            found.append((delivery, "webhook_slow", format_duration(delivery.duration_ms)))
    for delivery, kind, detail in sorted(found, key=lambda item: item[0].sequence):
        evidence = (delivery.id, delivery.event_id)
        yield Signal(kind, delivery.endpoint_id, delivery.updated_at_ms, (), evidence, detail)


def not_fetched(world: World, traffic: Traffic) -> Signals:
    """Yield signals for resources that were not read after their last acknowledged event."""
    journal = requests_of(world).entries
    known_since_ms = journal[0].at_ms if journal and len(journal) == journal.maxlen else 0
    last_types = {name for name, row in vocabulary_of(world).events.items() if row.is_last}
    acknowledged: dict[str, list[Delivery]] = {}
    for delivery in _all_deliveries(world):
        if delivery is None:
            yield None
        elif (
            delivery.event_type in last_types
            and delivery.status == "succeeded"
            and delivery.updated_at_ms >= known_since_ms
            and (event := world.journal.event(delivery.event_id)) is not None
            and find(world, event.object_id) is not None
        ):
            acknowledged.setdefault(event.object_id, []).append(delivery)
    if not acknowledged:
        return
    prefixes = "|".join({re.escape(kind.prefix) for kind in vocabulary_of(world).kinds.values() if kind.prefix})
    ids = re.compile(f'"((?:{prefixes})[0-9a-z]+)"'.encode())
    read_at_ms: dict[str, int] = {}
    for call in traffic.calls:
        if call.place % SLICE == 0:
            yield None
        if call.row.method == "GET" and call.succeeded:
            for name in ids.findall(call.row.response):
                read_at_ms[name.decode()] = call.row.at_ms
    unread: list[tuple[tuple[int, ...], str, Delivery]] = []
    for object_id, deliveries in acknowledged.items():
        last = max(deliveries, key=lambda one: one.sequence)
        if read_at_ms.get(object_id, -1) < last.updated_at_ms:
            unread.append((min(one.sequence for one in deliveries), object_id, last))
    for _, object_id, last in sorted(unread, key=lambda item: item[0]):
        evidence = (object_id, last.event_id)
        yield Signal("not_fetched_after_event", last.event_type, last.updated_at_ms, (), evidence)


def idle_faults(world: World, _: Traffic) -> Signals:
    for fault in world.store[FAULTS].values():
        if not fault["hits"]:
            yield Signal("fault_never_hit", fault["id"], None, (), (fault["id"],))


_OF_SCENARIOS = {"skipped": "step_skipped", "failed": "step_failed", "stopped": "scenario_stopped"}


def scenario_log(world: World, _: Traffic) -> Signals:
    """Yield signals for scenario steps that were skipped or that failed, and for scenarios that were stopped."""
    for row in world.store[LOG].values():
        kind = _OF_SCENARIOS.get(row["what"])
        if kind is not None:
            entry = row["entry"]
            subject = row["scenario"] if kind == "scenario_stopped" else f"{row['scenario']} {entry['part']}"
            evidence = (entry["object"],) if entry.get("object") else ()
            yield Signal(kind, subject, parse_timestamp(entry["at"]), (), evidence, entry.get("reason") or "not legal")


DETECTORS = (webhook_answers, not_fetched, idle_faults, scenario_log)
