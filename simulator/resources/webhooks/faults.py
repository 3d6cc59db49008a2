"""Webhook faults: what happens to a delivery because somebody asked for it (control interface, chapter "Faults")."""

from __future__ import annotations

from simulator.kernel.journal import Event
from simulator.kernel.world import World
from simulator.resources.webhooks.records import NO_FAULT, Webhook
from simulator.wire.faults import DeliveryPlan, WebhookFault, first_hit


def deliver_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan:
    """What the first matching fault makes of the next attempt of this event here; the fault counts it as a hit.

    Inside a change. `NO_FAULT` when no fault matches.
    """

    def fits(fault: WebhookFault) -> bool:
        match = fault.webhook
        return match.event in (None, event.type) and match.endpoint_id in (None, endpoint.id)

    hit = first_hit(world, WebhookFault, fits, "faults.webhooks")
    return NO_FAULT if hit is None else DeliveryPlan.of(hit[0], hit[1].deliver)
