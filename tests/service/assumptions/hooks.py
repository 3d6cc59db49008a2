"""Webhooks: endpoints, attempts, and the content of events."""

from __future__ import annotations

from typing import Any

from simulator.testing import World, receiver
from tests.service.assumptions.cases import case, get, onramp, send


@case("W4", usual=422, changes_are_not_tested=200)
def new_url_that_answers_500(world: World) -> Any:
    with receiver(world) as webhooks:
        endpoint = get(world, "/webhooks")["data"][0] if webhooks.url else None
        assert endpoint is not None
        webhooks.respond(500)
        answer = world.client.patch(f"/webhooks/{endpoint['id']}", json={"url": f"{webhooks.url}/new"})
        return answer.status_code


@case("W5", usual=(11, "disabled"), gives_up_after_a_day=(7, "disabled"), endpoints_stay_enabled=(11, "enabled"))
def attempts_and_status_in_four_days(world: World) -> Any:
    with receiver(world) as webhooks:
        assert webhooks.url
        endpoint = get(world, "/webhooks")["data"][0]
        webhooks.respond(500)
        world.client.patch(f"/webhooks/{endpoint['id']}", json={"events": ["transaction.created"]}).raise_for_status()
        onramp(world)
        world.advance("4d")
        status = get(world, f"/webhooks/{endpoint['id']}")["status"]
        return len(world.deliveries(endpoint_id=endpoint["id"])), status


@case(
    "W8",
    usual=(True, True, True),
    only_the_listed_fields=(False, True, False),
    only_id_and_status=(False, False, False),
)
def order_id_reference_and_times_in_an_event(world: World) -> Any:
    ramp = onramp(world, reference="order 7")
    told = world.event("transaction.created")["data"]["object"]
    assert {name: told[name] for name in ("id", "type", "status")} == {
        "id": ramp["id"], "type": "onramp", "status": "awaiting_payment"
    }  # fmt: skip
    world.act("broadcast", send(world))
    assert "symbol" not in world.event("transaction.processing")["data"]["object"] or "order_id" in told
    return "order_id" in told, "reference" in told, "created_at" in told
