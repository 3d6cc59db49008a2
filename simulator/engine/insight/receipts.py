"""What receivers of webhooks, faults and scenarios show: bad acknowledgements, reads that are missing, idle faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.insight.signals import Signal
from simulator.engine.insight.traffic import JournaledCall
from simulator.engine.records.records import find
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.scenario.play.logbook import LOG
from simulator.engine.webhooks import Delivery, all_deliveries
from simulator.kernel.clock import format_duration, parse_timestamp
from simulator.kernel.world import World

SLOW_MS = 5_000


def webhook_answers(world: World, _: Sequence[JournaledCall]) -> Iterator[Signal]:
    """Slow, missing and wrong acknowledgements. To refuse what a fault forged or aged is right."""
    for delivery in all_deliveries(world):
        succeeded, forged = delivery.status == "succeeded", delivery.altered or delivery.corrupted
        if forged or delivery.stale:
            if succeeded:
                yield _of("forged_webhook_accepted" if forged else "stale_webhook_accepted", delivery, "")
        elif not succeeded:
            if not delivery.was_dropped and not delivery.unheard:
                yield _of("webhook_not_acknowledged", delivery, delivery.error or "")
        elif delivery.duration_ms > SLOW_MS:
            yield _of("webhook_slow", delivery, format_duration(delivery.duration_ms))


def _of(kind: str, delivery: Delivery, detail: str) -> Signal:
    return Signal(kind, delivery.endpoint_id, delivery.updated_at_ms, (), (delivery.id, delivery.event_id), detail)


def not_fetched(world: World, calls: Sequence[JournaledCall]) -> Iterator[Signal]:
    """Resources whose last acknowledged event was not followed by any read that shows them."""
    journal = requests_of(world).entries
    known_since_ms = journal[0].at_ms if journal and len(journal) == journal.maxlen else 0
    events = vocabulary_of(world).events
    last: dict[str, Delivery] = {}
    for delivery in all_deliveries(world, status="succeeded"):
        row = events.get(delivery.event_type)
        if row is not None and row.is_last and delivery.updated_at_ms >= known_since_ms:
            event = world.journal.event(delivery.event_id)
            if event is not None and find(world, event.object_id) is not None:
                last[event.object_id] = delivery
    if not last:
        return
    prefixes = "|".join({re.escape(kind.prefix) for kind in vocabulary_of(world).kinds.values() if kind.prefix})
    ids = re.compile(f'"((?:{prefixes})[0-9a-z]+)"'.encode())
    read_at_ms: dict[str, int] = {}
    for call in calls:
        if call.row.method == "GET" and call.succeeded:
            for name in ids.findall(call.row.response):
                read_at_ms[name.decode()] = call.row.at_ms
    for object_id, delivery in last.items():
        if read_at_ms.get(object_id, -1) < delivery.updated_at_ms:
            evidence = (object_id, delivery.event_id)
            yield Signal("not_fetched_after_event", delivery.event_type, delivery.updated_at_ms, (), evidence)


def idle_faults(world: World, _: Sequence[JournaledCall]) -> Iterator[Signal]:
    for fault in world.store[FAULTS].values():
        if not fault["hits"]:
            yield Signal("fault_never_hit", fault["id"], None, (), (fault["id"],))


_OF_SCENARIOS = {"skipped": "step_skipped", "failed": "step_failed", "stopped": "scenario_stopped"}


def scenario_log(world: World, _: Sequence[JournaledCall]) -> Iterator[Signal]:
    """What scenarios could not do."""
    for row in world.store[LOG].values():
        kind = _OF_SCENARIOS.get(row["what"])
        if kind is not None:
            entry = row["entry"]
            subject = row["scenario"] if kind == "scenario_stopped" else f"{row['scenario']} {entry['part']}"
            evidence = (entry["object"],) if entry.get("object") else ()
            yield Signal(kind, subject, parse_timestamp(entry["at"]), (), evidence, entry.get("reason") or "not legal")


DETECTORS = (webhook_answers, not_fetched, idle_faults, scenario_log)
