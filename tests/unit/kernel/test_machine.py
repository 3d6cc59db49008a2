"""State tables and their interpreter."""

from __future__ import annotations

import pytest

from simulator.kernel.machine import IllegalMove, Machine, Move

LAMP = Machine(
    "lamp",
    (Move("mount", "off", ("lamp.mounted",)), Move("mount", "broken", when="shaken")),
    {
        "off": (Move("switch", "on", ("lamp.lit", "lamp.warm")), Move("drop", "broken", basis="assumed here")),
        "on": (Move("switch", "off"), Move("dim", "on"), Move("drop", "on", when="caught"), Move("drop", "broken")),
        "broken": (),
    },
)


@pytest.mark.parametrize(
    ("state", "trigger", "when", "target"),
    [
        ("off", "switch", "", "on"),
        ("off", "drop", "", "broken"),
        ("on", "switch", "", "off"),
        ("on", "dim", "", "on"),
        ("on", "drop", "caught", "on"),
        ("on", "drop", "", "broken"),
    ],
)
def test_every_cell_leads_to_its_target(state: str, trigger: str, when: str, target: str) -> None:
    assert LAMP.next(state, trigger, when).target == target


def test_a_cell_carries_its_events_and_what_it_rests_on() -> None:
    assert LAMP.next("off", "switch").events == ("lamp.lit", "lamp.warm")
    assert LAMP.next("on", "switch").events == ()
    assert LAMP.next("off", "drop").basis == "assumed here"
    assert LAMP.next("off", "switch").basis == "specified"


@pytest.mark.parametrize(("when", "target"), [("", "off"), ("shaken", "broken")])
def test_a_resource_begins_by_an_initial_move(when: str, target: str) -> None:
    assert LAMP.begin("mount", when).target == target


@pytest.mark.parametrize(
    ("state", "trigger", "when", "allowed"),
    [
        ("off", "dim", "", ("switch", "drop")),
        ("off", "drop", "caught", ("switch", "drop")),
        ("on", "mount", "", ("switch", "dim", "drop")),
        ("broken", "switch", "", ()),
        ("unheard of", "switch", "", ()),
        ("", "mount", "", ()),
    ],
)
def test_an_illegal_transition_raises_and_lists_legal_ones(
    state: str, trigger: str, when: str, allowed: tuple[str, ...]
) -> None:
    with pytest.raises(IllegalMove, match=f"lamp: {trigger} is not legal in state '{state}'") as caught:
        LAMP.next(state, trigger, when)
    error = caught.value
    assert (error.machine, error.state, error.on, error.allowed) == ("lamp", state, trigger, allowed)


@pytest.mark.parametrize(("trigger", "when"), [("switch", ""), ("mount", "polished")])
def test_nothing_begins_by_a_move_that_is_not_initial(trigger: str, when: str) -> None:
    with pytest.raises(IllegalMove) as caught:
        LAMP.begin(trigger, when)
    assert caught.value.state == ""


def test_allowed_names_each_trigger_once_in_the_order_of_the_table() -> None:
    assert LAMP.allowed("on") == ("switch", "dim", "drop")
    assert LAMP.allowed("broken") == LAMP.allowed("unheard of") == ()


def test_trigger_with_a_cell_under_any_condition_is_permitted() -> None:
    assert LAMP.permits("on", "drop")
    assert not LAMP.permits("off", "dim")
    assert not LAMP.permits("broken", "drop")
    assert not LAMP.permits("unheard of", "drop")


@pytest.mark.parametrize(
    ("initial", "rows"),
    [
        ((Move("mount", "nowhere"),), {"off": ()}),
        ((Move("mount", "off"),), {"off": (Move("switch", "nowhere"),)}),
    ],
)
def test_a_table_that_leads_to_an_unknown_state_cannot_be_made(
    initial: tuple[Move, ...], rows: dict[str, tuple[Move, ...]]
) -> None:
    with pytest.raises(ValueError, match=r"lamp: \w+ leads to the unknown state 'nowhere'"):
        Machine("lamp", initial, rows)
