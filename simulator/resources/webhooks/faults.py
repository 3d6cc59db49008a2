"""Webhook faults: what happens to a delivery because somebody asked for it (control interface, chapter "Faults").

The rows lie in the table FAULTS beside the faults of interface calls: `{id, webhook: {event?, endpoint_id?},
deliver: {…}, times_left, hits, probability?}`.
"""

from __future__ import annotations

from typing import Any

from simulator.kernel.clock import parse_duration
from simulator.kernel.journal import Event
from simulator.kernel.world import World
from simulator.resources.webhooks.records import NO_FAULT, DeliveryPlan, Webhook
from simulator.wire.faults import FAULTS, LONGEST_SLOWNESS_MS


def deliver_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan:
    """What the first matching fault makes of the next attempt of this event here; the fault counts it as a hit.

    Inside a change. `NO_FAULT` when no fault matches.
    """
    table = world.store[FAULTS]
    if not table.rows:
        return NO_FAULT
    for fault in list(table.values()):
        if not _fits(fault, event, endpoint):
            continue
        probability = fault.get("probability")
        if probability is not None and world.streams.fraction("faults.webhooks") >= probability:
            continue
        left = fault.get("times_left")
        hits = {"hits": fault.get("hits", 0) + 1, "times_left": None if left is None else left - 1}
        table.put(fault["id"], fault | hits)
        return _plan(fault["id"], fault.get("deliver") or {})
    return NO_FAULT


def _fits(fault: dict[str, Any], event: Event, endpoint: Webhook) -> bool:
    match = fault.get("webhook")
    if match is None or fault.get("times_left") == 0:
        return False
    wanted_event, wanted_endpoint = match.get("event"), match.get("endpoint_id")
    return wanted_event in (None, event.type) and wanted_endpoint in (None, endpoint.id)


def _plan(fault_id: str, deliver: dict[str, Any]) -> DeliveryPlan:
    delay, slow = deliver.get("delay"), deliver.get("slow")
    return DeliveryPlan(
        fault_id=fault_id,
        copies=deliver.get("copies") or 1,
        delay_ms=0 if delay is None else parse_duration(delay),
        reorder=bool(deliver.get("reorder")),
        drop=bool(deliver.get("drop")),
        corrupt_signature=bool(deliver.get("corrupt_signature")),
        stale_timestamp=bool(deliver.get("stale_timestamp")),
        alter_body=bool(deliver.get("alter_body")),
        slow_ms=0 if slow is None else min(parse_duration(slow), LONGEST_SLOWNESS_MS),
    )
