"""The life cycle of a resource: created, changed, saved, removed and found."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from simulator.engine.records import records
from simulator.engine.records.origins import NOTHING_CARRIED, RequestOrigin, origin_of
from simulator.engine.records.records import (
    create,
    find,
    ids_newest_first,
    is_deleted,
    kind_of,
    move,
    new_fields,
    remove,
    render,
    save,
)
from simulator.engine.rows.kind import Record
from simulator.engine.text.json import json_text
from simulator.kernel.journal import Cause, HistoryEntry
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from tests.unit.engine.rows.lamps import (
    CAUSE,
    LAMP_ROWS,
    LAMPS,
    Heard,
    Lamp,
    make,
    mount,
    show,
)


def events(world: World) -> list[tuple[str, Any]]:
    """Type and object of every event emitted."""
    return [(event.type, json.loads(event.raw)["data"]["object"]) for event in world.journal.events()]


def test_new_record_has_id_sequence_and_present_time() -> None:
    world = make()
    with world.change(CAUSE):
        first, second = (
            new_fields(world, "open", "lamp_", "ids.lamp"),
            new_fields(world, "practice", "lamp_", "ids.lamp"),
        )
    assert first["id"].startswith("lamp_")
    assert first["id"] != second["id"]
    assert (first["environment"], first["sequence"], second["sequence"]) == ("open", 1, 2)
    assert first["created_at_ms"] == first["updated_at_ms"] == world.now_ms


def test_create_writes_row_history_index_and_events() -> None:
    world = make()
    lamp = mount(world, colour="red")
    assert lamp.status == "off"
    assert list(world.store[LAMP_ROWS.of("practice")].values()) == [lamp]
    assert find(world, lamp.id) == lamp
    assert world.journal.history(lamp.id) == (HistoryEntry("off", world.now_ms, "mount", CAUSE),)
    assert events(world) == [("lamp.mounted", show(world, lamp))]
    assert next(world.journal.events()).object_id == lamp.id


def test_silent_creation_calls_the_creation_listeners() -> None:
    heard = Heard()
    world = make(heard)
    lamp = mount(world, "quietly", "open")
    assert events(world) == []
    assert heard.created == [("open", show(world, lamp), lamp.id)]
    mount(world)
    assert len(heard.created) == 1
    assert [kind for kind, _ in heard.events] == ["lamp.mounted"]


@pytest.mark.parametrize("when", ["", "quietly"])
def test_records_of_another_user_are_separate_and_silent(when: str) -> None:
    heard = Heard()
    world = make(heard)
    lamp = mount(world, when, owner="user_1")
    assert (heard.created, heard.events) == ([], [])
    assert len(world.store[LAMP_ROWS.of("practice")]) == 0
    assert list(world.store[LAMP_ROWS.of("practice", "user_1")].values()) == [lamp]
    assert len(world.store[LAMP_ROWS.of("practice", "user_2")]) == 0
    assert find(world, lamp.id) == lamp
    with world.change(CAUSE):
        move(world, lamp, "switch")
    assert heard.events == []
    assert len(world.journal.history(lamp.id)) == 2


def test_the_environments_never_mix() -> None:
    world = make()
    there = mount(world, environment="open")
    assert len(world.store[LAMP_ROWS.of("practice")]) == 0
    assert list(world.store[LAMP_ROWS.of("open")].values()) == [there]
    assert next(world.journal.events()).environment == "open"


def test_a_record_is_not_created_by_a_move_that_is_not_initial() -> None:
    world = make()
    lamp = Lamp(id="lamp_1", environment="practice", sequence=1, created_at_ms=0, updated_at_ms=0)
    with world.change(CAUSE), pytest.raises(IllegalMove):
        create(world, lamp, "switch")
    assert world.store.tables() == {}


def test_a_move_writes_row_history_and_events_in_one_go() -> None:
    world = make()
    lamp = mount(world)
    world.clock.move_to(world.now_ms + 5)
    by_action = Cause("action", "switch")
    with world.change(by_action):
        lit = move(world, replace(lamp, colour="blue"), "switch", extra={"run": 7})
    assert (lit.status, lit.colour, lit.updated_at_ms, lit.created_at_ms) == (
        "on",
        "blue",
        world.now_ms,
        lamp.created_at_ms,
    )
    assert find(world, lamp.id) == lit
    assert world.journal.history(lamp.id)[1:] == (HistoryEntry("on", world.now_ms, "switch", by_action),)
    shown = show(world, lit) | {"run": 7}
    assert events(world)[1:] == [("lamp.lit", shown), ("lamp.glowing", shown)]


def test_a_transition_without_events_is_still_in_the_history() -> None:
    world = make()
    lamp = mount(world)
    with world.change(CAUSE):
        dark = move(world, move(world, lamp, "switch"), "switch")
    assert dark.status == "off"
    assert len(events(world)) == 3
    assert [step.state for step in world.journal.history(lamp.id)] == ["off", "on", "off"]


@pytest.mark.parametrize(("trigger", "when"), [("burn_out", ""), ("switch", "gently"), ("mount", "")])
def test_an_illegal_move_raises_and_changes_nothing(trigger: str, when: str) -> None:
    world = make()
    lamp = mount(world)
    before = world.store.tables()
    with world.change(CAUSE), pytest.raises(IllegalMove):
        move(world, replace(lamp, colour="blue"), trigger, when)
    assert world.store.tables() == before


def test_save_changes_fields_without_history_or_event() -> None:
    world = make()
    lamp = mount(world)
    world.clock.move_to(world.now_ms + 5)
    with world.change(CAUSE):
        painted = save(world, replace(lamp, colour="green"))
    assert (painted.colour, painted.status, painted.updated_at_ms) == ("green", "off", world.now_ms)
    assert find(world, lamp.id) == painted
    assert len(world.journal.history(lamp.id)) == len(events(world)) == 1


def test_saving_never_changes_a_status() -> None:
    world = make()
    lamp = mount(world)
    with world.change(CAUSE), pytest.raises(ValueError, match="only a transition"):
        save(world, replace(lamp, status="on"))
    assert find(world, lamp.id) == lamp


def test_removed_record_is_not_listed_but_found() -> None:
    world = make()
    lamp, other = mount(world), mount(world)
    with world.change(CAUSE):
        gone = remove(world, lamp, "take_down")
    assert gone.status == "gone"
    assert list(world.store[LAMP_ROWS.of("practice")].values()) == [other]
    assert find(world, lamp.id) == gone
    assert (is_deleted(world, lamp.id), is_deleted(world, other.id), is_deleted(world, "x")) == (True, False, False)
    assert events(world)[-1] == ("lamp.taken_down", show(world, gone))
    assert [step.state for step in world.journal.history(lamp.id)] == ["off", "gone"]


def test_another_user_s_record_is_removed_from_that_user_s_list() -> None:
    world = make()
    lamp = mount(world, owner="user_1")
    with world.change(CAUSE):
        remove(world, lamp, "take_down")
    assert len(world.store[LAMP_ROWS.of("practice", "user_1")]) == 0
    assert is_deleted(world, lamp.id)


def test_an_illegal_removal_changes_nothing() -> None:
    world = make()
    lamp = mount(world)
    with world.change(CAUSE):
        lit = move(world, lamp, "switch")
    before = world.store.tables()
    with world.change(CAUSE), pytest.raises(IllegalMove):
        remove(world, lit, "take_down")
    assert world.store.tables() == before


def test_a_change_that_fails_takes_the_record_with_it() -> None:
    world = make()
    lamp = mount(world)
    before = world.store.tables()

    def remove_and_fail() -> None:
        with world.change(CAUSE):
            mount(world)
            remove(world, lamp, "take_down")
            raise LookupError

    with pytest.raises(LookupError):
        remove_and_fail()
    assert world.store.tables() == before
    assert not is_deleted(world, lamp.id)


def test_common_rows_of_all_worlds_are_found_but_not_stored() -> None:
    world = make()
    sun = find(world, "lamp_sun")
    assert sun is not None
    assert sun.id == "lamp_sun"
    assert find(world, "lamp_moon") is None
    assert world.store.tables() == {}


def test_a_record_is_shown_as_its_kind_says() -> None:
    world = make()
    lamp = mount(world)
    assert kind_of(world, lamp) is LAMPS
    assert render(world, lamp) == show(world, lamp)


def test_a_bare_record_has_no_kind() -> None:
    with pytest.raises(NotImplementedError):
        _ = Record(id="x", environment="practice", sequence=1, created_at_ms=0, updated_at_ms=0).kind


@pytest.mark.parametrize(
    "origin",
    [
        RequestOrigin(json_text({"colour": "red"})),
        RequestOrigin(scenario="slow"),
        RequestOrigin(json_text({"colour": "red"}), "slow"),
    ],
)
def test_a_record_saves_the_trace_of_its_request(origin: RequestOrigin) -> None:
    world = make()
    with world.change(CAUSE, origin):
        lamp = create(world, Lamp(**new_fields(world, "practice", "lamp_", "ids.lamp")), "mount")
    assert origin_of(world, lamp.id) == origin


def test_a_record_created_without_a_request_has_no_trace() -> None:
    world = make()
    lamp = mount(world)
    assert origin_of(world, lamp.id) == origin_of(world, "x") == NOTHING_CARRIED
    assert "origins" not in world.store.tables()


@pytest.mark.parametrize("few", [0, 256])
def test_ids_are_found_by_their_tables_the_newest_first(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are; a resource that is deleted keeps its place."""
    monkeypatch.setattr(records, "FEW", few)
    world, lamps = make(), frozenset({LAMP_ROWS.name})
    ids = [mount(world, environment=environment).id for environment in ("practice", "open", "practice")]
    assert list(ids_newest_first(world, lamps)) == ids[::-1]
    with world.change(CAUSE):
        remove(world, world.store[LAMP_ROWS.of("practice")][ids[0]], "take_down")
    ids.append(mount(world).id)
    assert list(ids_newest_first(world, lamps)) == ids[::-1]
    assert list(ids_newest_first(world, frozenset({"others"}))) == []
