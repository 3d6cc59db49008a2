"""Webhook faults: what happens to a delivery because somebody asked for it (control interface, chapter "Faults")."""

from __future__ import annotations

from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.copying import replace
from simulator.kernel.journal import Event
from simulator.kernel.world import World
from simulator.resources.webhooks.records import NO_FAULT, Delivery, SignedRequest, Webhook
from simulator.wire import faults
from simulator.wire.in_force import DeliveryPlan, first_hit

_STALE_MS = 10 * MINUTE_MS
_FLIPPED = str.maketrans("0123456789abcdef", "fedcba9876543210")


def deliver_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan:
    """What the first matching fault makes of the next attempt of this event here; the fault counts it as a hit.

    Inside a change. `NO_FAULT` when no fault matches.
    """

    def fits(fault: faults.WebhookFault) -> bool:
        match = fault.webhook
        return match.event in (None, event.type) and match.endpoint_id in (None, endpoint.id)

    hit = first_hit(world, "webhook", lambda: faults.WebhookFault, fits, "faults.webhooks")
    return NO_FAULT if hit is None else DeliveryPlan.of(hit[0], hit[1].deliver)


def staleness_ms(plan: DeliveryPlan) -> int:
    """How much older than its sending the timestamp of an attempt is."""
    return _STALE_MS if plan.stale_timestamp else 0


def falsified(plan: DeliveryPlan, request: SignedRequest) -> SignedRequest:
    """A signed request with what makes it a forgery, where that was asked for."""
    headers, body = request.headers, request.body
    if plan.corrupt_signature:
        headers = (*headers[:-1], (headers[-1][0], headers[-1][1].translate(_FLIPPED)))
    return SignedRequest(request.url, headers, altered(body) if plan.alter_body else body)


def altered(raw: bytes) -> bytes:
    """A body that the signature does not fit any more but that is still the same JSON: one blank more at its end."""
    return raw + b" "


def marked(delivery: Delivery, plan: DeliveryPlan) -> Delivery:
    """A delivery that says how it was falsified."""
    return replace(delivery, altered=plan.alter_body, corrupted=plan.corrupt_signature, stale=plan.stale_timestamp)
