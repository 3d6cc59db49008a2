"""The event catalogue and the making of an event (chapter "Events", decisions W7 and W8)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.rows.event import emit, make, publish
from simulator.host import vocabulary
from tests.unit.engine.rows import toy

# The table of the specification, in its order.
SPECIFIED = [
    "transaction.created",
    "transaction.awaiting_payment",
    "transaction.awaiting_deposit",
    "transaction.processing",
    "transaction.completed",
    "transaction.failed",
    "transaction.expired",
    "transaction.refunded",
    "wallet.created",
    "deposit.detected",
    "deposit.confirmed",
    "deposit.failed",
    "lightning.invoice_paid",
    "lightning.invoice_expired",
    "quote.expired",
    "beneficiary.created",
    "beneficiary.deleted",
    "kyc.approved",
    "kyc.action_required",
    "kyc.rejected",
    "network.status_changed",
    "webhook.test",
    "recurring_payment.activated",
    "recurring_payment.run_upcoming",
    "recurring_payment.run_succeeded",
    "recurring_payment.run_failed",
    "recurring_payment.paused",
    "recurring_payment.completed",
    "recurring_payment.restarted",
    "recurring_payment.deleted",
]


def test_the_catalogue_is_that_of_the_specification() -> None:
    assert list(vocabulary().events) == SPECIFIED
    assert [row.name for row in vocabulary().events.values()] == SPECIFIED
    assert all(row.sent_when and row.tells for row in vocabulary().events.values())


@pytest.mark.parametrize("name", SPECIFIED)
def test_what_an_event_carries_goes_by_the_family_of_its_type(name: str) -> None:
    family = name.split(".")[0]
    assert vocabulary().events[name].object == {"lightning": "lightning_entry"}.get(family, family)


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_an_envelope_is_made_once_as_bytes_by_the_provider(environment: str) -> None:
    world = toy.make()
    with world.change(toy.CAUSE):
        event = make(world, environment, "quote.expired", {"id": "qt_1", "amount": Decimal("1.10")}, "qt_1")
    assert (
        event.raw
        == (
            f'{{"id":"{event.id}","type":"quote.expired","created_at":"{toy.START}",'
            f'"open":"{environment}","data":{{"object":{{"id":"qt_1","amount":1.10}}}}}}'
        ).encode()
    )
    assert (event.environment, event.type, event.object_id, event.at_ms, event.cause) == (
        environment,
        "quote.expired",
        "qt_1",
        world.now_ms,
        toy.CAUSE,
    )
    assert re.fullmatch(r"notice-[0-9a-z]{20}", event.id)


def test_making_an_event_emits_nothing() -> None:
    heard = toy.Heard()
    world = toy.make(heard)
    with world.change(toy.CAUSE):
        make(world, "sandbox", "quote.expired", {}, "qt_1")
    assert world.journal.event_count == 0
    assert heard.events == []


def test_emitting_keeps_the_event_and_tells_every_listener_its_object() -> None:
    heard = [toy.Heard(), toy.Heard()]
    world = toy.make()
    world.wiring = replace(world.wiring, on_event=tuple(one.on_event for one in heard))
    subject = {"id": "qt_1"}
    with world.change(toy.CAUSE):
        event = emit(world, "sandbox", "quote.expired", subject, "qt_1")
    assert list(world.journal.events()) == [event]
    assert [one.events for one in heard] == [[("quote.expired", subject)]] * 2


def test_an_event_that_was_made_is_published_as_it_is() -> None:
    heard = toy.Heard()
    world = toy.make(heard)
    with world.change(toy.CAUSE):
        event = make(world, "sandbox", "webhook.test", {"id": "wh_1"}, "wh_1")
        publish(world, event, {"id": "wh_1"})
    assert world.journal.event(event.id) is event
    assert heard.events == [("webhook.test", {"id": "wh_1"})]


def test_a_listener_sees_the_event_in_the_journal_already() -> None:
    seen: list[bool] = []
    world = toy.make()
    world.wiring = replace(
        world.wiring, on_event=(lambda world, event, subject: seen.append(world.journal.event(event.id) is event),)
    )
    with world.change(toy.CAUSE):
        emit(world, "sandbox", "quote.expired", {}, "qt_1")
    assert seen == [True]


def test_events_are_numbered_in_the_order_in_which_they_are_made() -> None:
    world = toy.make()
    with world.change(toy.CAUSE):
        made = [emit(world, "sandbox", "quote.expired", {}, "qt_1") for _ in range(3)]
    assert [event.sequence for event in made] == [1, 2, 3]
    assert len({event.id for event in made}) == 3


def test_two_worlds_with_the_same_seed_emit_the_same_bytes() -> None:
    def raws() -> list[Any]:
        world = toy.make()
        for _ in range(3):
            toy.mount(world)
        return [event.raw for event in world.journal.events()]

    assert raws() == raws()
    assert len({json.loads(raw)["id"] for raw in raws()}) == 3
