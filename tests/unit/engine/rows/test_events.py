"""Creating events (chapter "Events", decisions W7 and W8)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.rows.event import emit, make, publish
from tests.unit.engine.rows import lamps


@pytest.mark.parametrize("environment", ["practice", "open"])
def test_an_envelope_is_made_once_as_bytes_by_the_provider(environment: str) -> None:
    world = lamps.make()
    with world.change(lamps.CAUSE):
        event = make(world, environment, "loan.returned", {"id": "loan-1", "amount": Decimal("1.10")}, "loan-1")
    assert (
        event.raw
        == (
            f'{{"id":"{event.id}","type":"loan.returned","created_at":"{lamps.START}",'
            f'"open":"{environment}","data":{{"object":{{"id":"loan-1","amount":1.10}}}}}}'
        ).encode()
    )
    assert (event.environment, event.type, event.object_id, event.at_ms, event.cause) == (
        environment,
        "loan.returned",
        "loan-1",
        world.now_ms,
        lamps.CAUSE,
    )
    assert re.fullmatch(r"notice-[0-9a-z]{20}", event.id)


def test_making_an_event_emits_nothing() -> None:
    heard = lamps.Heard()
    world = lamps.make(heard)
    with world.change(lamps.CAUSE):
        make(world, "practice", "loan.returned", {}, "loan-1")
    assert world.journal.event_count == 0
    assert heard.events == []


def test_emitting_keeps_the_event_and_tells_every_listener_its_object() -> None:
    heard = [lamps.Heard(), lamps.Heard()]
    world = lamps.make()
    world.wiring = replace(world.wiring, on_event=tuple(one.on_event for one in heard))
    subject = {"id": "loan-1"}
    with world.change(lamps.CAUSE):
        event = emit(world, "practice", "loan.returned", subject, "loan-1")
    assert list(world.journal.events()) == [event]
    assert [one.events for one in heard] == [[("loan.returned", subject)]] * 2


def test_an_event_that_was_made_is_published_as_it_is() -> None:
    heard = lamps.Heard()
    world = lamps.make(heard)
    with world.change(lamps.CAUSE):
        event = make(world, "practice", "webhook.test", {"id": "wh_1"}, "wh_1")
        publish(world, event, {"id": "wh_1"})
    assert world.journal.event(event.id) is event
    assert heard.events == [("webhook.test", {"id": "wh_1"})]


def test_a_listener_sees_the_event_in_the_journal_already() -> None:
    seen: list[bool] = []
    world = lamps.make()
    world.wiring = replace(
        world.wiring, on_event=(lambda world, event, subject: seen.append(world.journal.event(event.id) is event),)
    )
    with world.change(lamps.CAUSE):
        emit(world, "practice", "loan.returned", {}, "loan-1")
    assert seen == [True]


def test_events_are_numbered_in_the_order_in_which_they_are_made() -> None:
    world = lamps.make()
    with world.change(lamps.CAUSE):
        made = [emit(world, "practice", "loan.returned", {}, "loan-1") for _ in range(3)]
    assert [event.sequence for event in made] == [1, 2, 3]
    assert len({event.id for event in made}) == 3


def test_two_worlds_with_the_same_seed_emit_the_same_bytes() -> None:
    def raws() -> list[Any]:
        world = lamps.make()
        for _ in range(3):
            lamps.mount(world)
        return [event.raw for event in world.journal.events()]

    assert raws() == raws()
    assert len({json.loads(raw)["id"] for raw in raws()}) == 3
