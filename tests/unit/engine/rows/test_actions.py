"""Actions: chosen, checked and performed, or refused without any change (chapter "Actions")."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from simulator.engine.records.records import move, save
from simulator.engine.rows.action import Action, ActionCall, ActionTable, Performed, events_since
from simulator.engine.rows.error import ApiError, ControlError, ErrorCode, invalid
from simulator.engine.rows.kind import Record
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.unit.engine.rows import lamps
from tests.unit.engine.rows.lamps import LAMP_ROWS

BY_ACTION = Cause("action", "any")


class Paint(Body):
    colour: Text
    coats: Annotated[int, Field(ge=1)] = 1


def switch(call: ActionCall) -> Record:
    lit: Record = move(call.world, call.target, "switch")
    return lit


def paint(call: ActionCall) -> Record:
    painted: Record = save(call.world, replace(call.target, colour=call.parameters.colour))
    if call.parameters.colour == "invisible":
        raise invalid("colour", "nobody would see it")
    if call.parameters.colour == "gold":
        raise ErrorCode("too_dear", 422, "a colour costs too much").error("Too dear.", "colour")
    if call.parameters.colour == "fog":
        raise ApiError("not_found", "No such colour.", "colour")
    return painted


def mount(call: ActionCall) -> Record:
    return lamps.mount(call.world, environment=call.environment)


def storm(call: ActionCall) -> JsonObject | None:
    lamps.mount(call.world)
    return {"wind": call.environment}


def silence(call: ActionCall) -> None:
    return None


def is_dark(world: World, lamp: Any) -> str | None:
    return None if lamp.status == "off" else "it shines"


TABLE = ActionTable(
    (
        Action("switch", "turns it", switch, ("lamp",)),
        Action("burn_out", "breaks it", lambda call: move(call.world, call.target, "burn_out"), ("lamp", "sun")),
        Action("paint", "paints it", paint, ("lamp",), lambda: Paint, guard=is_dark, makes="lamp"),
        Action("mount", "hangs one", mount),
        Action("storm", "blows everywhere", storm),
        Action(
            "storm",
            "blows one out",
            lambda call: move(call.world, call.target, "burn_out"),
            ("lamp",),
            guard=lambda world, lamp: None if lamp.status == "on" else "it is dark",
            makes="lamp",
        ),
        Action("silence", "does nothing", silence),
        Action("polish", "acts on suns", silence, ("sun",)),
        Action("polish", "acts on moons", silence, ("moon",)),
    )
)


def perform(
    world: World, name: str, target: str | None = None, environment: str = "practice", **parameters: Any
) -> Performed:
    return TABLE.perform(world, name, target, parameters, environment, BY_ACTION)


def refusal(world: World, name: str, target: str | None = None, **parameters: Any) -> ControlError:
    """The refusal of an action, which changed nothing."""
    before = world.store.tables()
    with pytest.raises(ControlError) as caught:
        perform(world, name, target, **parameters)
    assert world.store.tables() == before
    assert not world.store.in_change
    return caught.value


def test_an_action_needs_the_networks_that_its_row_names_for_a_target() -> None:
    lamp = lamps.mount(lamps.make())
    table = ActionTable(
        (
            Action("switch", "turns it", switch, ("lamp",), networks=lambda lamp: (lamp.colour, None)),
            Action("switch", "turns it", switch, ("sun",), networks=lambda sun: ("north",)),
            Action("paint", "paints it", paint, ("lamp",)),
        )
    )
    assert table.networks_needed("switch", lamp) == {lamp.colour}
    assert table.networks_needed("paint", lamp) == frozenset()
    assert table.networks_needed("never", lamp) == frozenset()


def test_an_action_on_a_resource_answers_what_it_did() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    world.clock.move_to(world.now_ms + 9)
    done = perform(world, "switch", lamp.id)
    lit = lamps.show(world, world.store[LAMP_ROWS.of("practice")][lamp.id])
    assert lit["status"] == "on"
    assert (done.action, done.target, done.at_ms, done.resource) == ("switch", lamp.id, world.now_ms, lit)
    assert [event.type for event in done.events] == ["lamp.lit", "lamp.glowing"]
    assert {event.cause for event in done.events} == {BY_ACTION}


def test_action_without_target_names_the_created_record() -> None:
    world = lamps.make()
    done = perform(world, "mount", environment="open")
    assert done.resource is not None
    assert done.target == done.resource["id"]
    assert list(world.store.tables()["open:lamps"]) == [done.target]


def test_an_action_may_answer_a_plain_object_or_nothing() -> None:
    world = lamps.make()
    done = perform(world, "storm", environment="open")
    assert (done.target, done.resource) == (None, {"wind": "open"})
    assert [event.type for event in done.events] == ["lamp.mounted"]
    quiet = perform(world, "silence")
    assert (quiet.target, quiet.resource, list(quiet.events)) == (None, None, [])


def test_action_uses_the_environment_of_its_target() -> None:
    world = lamps.make()
    lamp = lamps.mount(world, environment="open")
    seen: list[str] = []
    table = ActionTable((Action("look", "looks", lambda call: seen.append(call.environment), ("lamp",), makes="lamp"),))
    table.perform(world, "look", lamp.id, {}, "practice", BY_ACTION)
    assert seen == ["open"]


def test_the_row_is_chosen_by_the_kind_of_target() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    perform(world, "switch", lamp.id)
    done = perform(world, "storm", lamp.id)
    assert done.resource is not None
    assert done.resource["status"] == "broken"


def test_an_unknown_action_is_not_found() -> None:
    error = refusal(lamps.make(), "explode", "lamp_1")
    assert (error.status, error.code) == (404, "not_found")
    assert "explode" in error.message


def test_an_unknown_target_is_not_found() -> None:
    error = refusal(lamps.make(), "switch", "lamp_1")
    assert (error.status, error.code) == (404, "not_found")
    assert "lamp_1" in error.message


def test_an_action_that_needs_a_target_says_of_which_kinds() -> None:
    error = refusal(lamps.make(), "polish")
    assert (error.status, error.code, error.param) == (400, "missing_parameter", "target")
    assert error.message.endswith("the id of: sun, moon.")
    assert TABLE.kinds("polish") == ["sun", "moon"]


def test_target_of_wrong_kind_is_refused_with_allowed_actions() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    for name in ("polish", "mount"):
        error = refusal(world, name, lamp.id)
        assert (error.status, error.code) == (409, "invalid_transition")
        assert error.message.startswith(f"The action {name} cannot be performed on a lamp.")
        assert error.envelope()["error"]["allowed"] == ["switch", "paint"]


def test_illegal_action_is_refused_with_the_allowed_ones() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    error = refusal(world, "burn_out", lamp.id)
    assert (error.status, error.code, error.members) == (409, "invalid_transition", {"allowed": ["switch", "paint"]})
    assert error.message == "The action burn_out is not legal in the state 'off'."
    perform(world, "switch", lamp.id)
    assert refusal(world, "paint", lamp.id, colour="red").members == {"allowed": ["switch", "burn_out", "storm"]}


def test_a_row_may_decide_which_values_are_legal() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    assert "paint" in TABLE.allowed(world, lamp)
    assert perform(world, "paint", lamp.id, colour="red").resource == lamps.show(
        world, world.store[LAMP_ROWS.of("practice")][lamp.id]
    )


@pytest.mark.parametrize(
    ("parameters", "code", "param"),
    [
        ({}, "missing_parameter", "colour"),
        ({"colour": None}, "missing_parameter", "colour"),
        ({"colour": ""}, "invalid_parameter", "colour"),
        ({"colour": 5}, "invalid_parameter", "colour"),
        ({"colour": "red", "coats": 0}, "invalid_parameter", "coats"),
        ({"coats": 0}, "missing_parameter", "colour"),
    ],
)
def test_missing_and_malformed_parameters_are_named(parameters: dict[str, Any], code: str, param: str) -> None:
    world = lamps.make()
    error = refusal(world, "paint", lamps.mount(world).id, **parameters)
    assert (error.status, error.code, error.param) == (400, code, param)


def test_an_unknown_parameter_is_refused_and_the_known_ones_are_named() -> None:
    world = lamps.make()
    error = refusal(world, "paint", lamps.mount(world).id, colour="red", color="blue")
    assert (error.status, error.code, error.param) == (400, "invalid_parameter", "color")
    assert error.message == "There is no parameter `color`; did you mean `colour`? Possible parameters: colour, coats."
    assert refusal(world, "silence", colour="red").message.endswith("No parameter is possible.")


def test_refusals_come_in_their_order() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    perform(world, "switch", lamp.id)
    assert refusal(world, "explode", "nothing", color=1).message.startswith("There is no action 'explode'. List")
    assert refusal(world, "paint", "nothing", color=1).code == "not_found"
    assert refusal(world, "mount", lamp.id, color=1).code == "invalid_transition"
    assert refusal(world, "paint", lamp.id, color=1).param == "color"
    assert refusal(world, "paint", lamp.id).code == "missing_parameter"
    assert refusal(world, "paint", lamp.id, colour="red", color=1).code == "invalid_parameter"
    assert refusal(world, "paint", lamp.id, colour="red").code == "invalid_transition"


@pytest.mark.parametrize(
    ("colour", "status", "code"),
    [("invisible", 400, "invalid_parameter"), ("gold", 400, "too_dear"), ("fog", 404, "not_found")],
)
def test_refusal_during_an_action_is_undone(colour: str, status: int, code: str) -> None:
    world = lamps.make()
    error = refusal(world, "paint", lamps.mount(world).id, colour=colour)
    assert (error.status, error.code, error.param) == (status, code, "colour")


def test_allowed_names_actions_in_the_order_of_the_table() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    assert TABLE.allowed(world, lamp) == ["switch", "paint"]
    perform(world, "switch", lamp.id)
    lit = world.store[LAMP_ROWS.of("practice")][lamp.id]
    assert TABLE.allowed(world, lit) == ["switch", "burn_out", "storm"]
    perform(world, "burn_out", lamp.id)
    assert TABLE.allowed(world, world.store[LAMP_ROWS.of("practice")][lamp.id]) == []


def test_the_events_since_a_count_are_the_newest_oldest_first() -> None:
    world = lamps.make()
    for _ in range(4):
        lamps.mount(world)
    every = list(world.journal.events())
    assert events_since(world, 4) == []
    assert events_since(world, 2) == every[2:]
    assert events_since(world, 0) == every


def test_a_guard_that_refuses_says_why_and_nothing_changes() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    perform(world, "switch", lamp.id)
    error = refusal(world, "paint", lamp.id, colour="red")
    assert error.message == "The action paint is not legal in the state 'on': it shines."
    assert world.store[LAMP_ROWS.of("practice")][lamp.id].colour == lamp.colour


def test_a_guard_is_not_asked_where_the_state_table_has_no_cell() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)
    asked: list[str] = []
    table = ActionTable(
        (Action("burn_out", "breaks it", silence, ("lamp",), guard=lambda world, lamp: asked.append(lamp.id)),)
    )
    with pytest.raises(ControlError, match="not legal in the state 'off'"):
        table.perform(world, "burn_out", lamp.id, {}, "practice", BY_ACTION)
    assert asked == []


def test_action_legal_under_another_condition_only_is_undone() -> None:
    world = lamps.make()
    lamp = lamps.mount(world)

    def switch_twice(call: ActionCall[Any, Body]) -> Record:
        lamp: Record = save(call.world, replace(call.target, colour="red"))
        return move(call.world, lamp, "switch", "no such condition")

    table = ActionTable((Action("switch", "turns it", switch_twice, ("lamp",)),))
    with pytest.raises(ControlError) as caught:
        table.perform(world, "switch", lamp.id, {}, "practice", BY_ACTION)
    assert (caught.value.status, caught.value.code) == (409, "invalid_transition")
    assert world.store[LAMP_ROWS.of("practice")][lamp.id].colour == lamp.colour
