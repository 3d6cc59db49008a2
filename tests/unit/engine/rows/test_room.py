"""Collecting rooms. Two rows with the same name are an error, because one of them would be ignored."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.error import ENGINE_ERRORS, ErrorCode
from simulator.engine.rows.event import EventType
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.vocabulary import Vocabulary, wiring_of
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import TimerRow
from tests.library import Simulator, library_with
from tests.toy import PROVIDER
from tests.toy.lending import BOOKS
from tests.unit.engine.rows.lamps import EVENTS, LAMPS

CIRCLE = (EventType("lamp.made", "", after="lamp.done"), EventType("lamp.done", ""))
HUNG = replace(LAMPS, machine=Machine("lamp", (Move("hang", "off", ("lamp.hung",)),), {"off": ()}))
MORE = ("lamp_burnt", "lamp_dark")
BURNT, DARK = (ErrorCode(code, 409, "a lamp gives no light") for code in MORE)
BLINK = TimerRow("lamp.blink", lambda world, timer: None, "a lamp blinks")


def _nothing(call: ActionCall[Any, Any]) -> None:
    return None


def test_the_rows_of_all_rooms_are_found_by_their_names() -> None:
    rooms = Room("lamps", kinds=(LAMPS,), events=EVENTS), Room("blinking", timers=(BLINK,))
    wiring = wiring_of(Vocabulary(replace(PROVIDER, rooms=rooms)))
    assert (wiring.kinds, wiring.timers) == ({"lamp": LAMPS}, {"lamp.blink": BLINK})


@pytest.mark.parametrize(
    ("room", "message"),
    [
        (Room("more", kinds=BOOKS.kinds), "two kinds have the name 'book'"),
        (Room("more", timers=(TimerRow("webhook.retry", BLINK.handler, "again"),)), "two timers have the name"),
        (Room("more", timers=(TimerRow("scenario.step", BLINK.handler, "again"),)), "two timers have the name"),
        (
            Room("more", actions=(Action("bring_back", "again", _nothing, ("loan",)),)),
            "two actions for the same kind of target have the name 'bring_back'",
        ),
        (
            Room("more", actions=(Action("emit", "again", _nothing),)),
            "two actions for the same kind of target have the name 'emit'",
        ),
        (
            Room("more", operations=(Operation("GET", "/again", "get_book", "", "", lambda call: {}),)),
            "two operations have the name",
        ),
        (
            Room("more", events=(EventType("loan.returned", "again"),)),
            "two events have the name 'loan.returned'",
        ),
        (Room("more", events=CIRCLE), "these events depend on each other in a cycle"),
        (Room("more", errors=(ErrorCode("rate_limited", 429, "again"),)), "two errors have the name 'rate_limited'"),
        (Room("more", errors=(ErrorCode("book_taken", 409, "again"),)), "two errors have the name 'book_taken'"),
        (Room("more", kinds=(HUNG,)), "no package declares these events that a lamp emits: lamp.hung"),
        (Room("more", tables=(TableKey("books", str),)), "two tables have the name 'books'"),
    ],
)
def test_two_rows_of_one_name_are_refused_when_a_simulator_is_made(room: Room, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Simulator(library_with(room))


def test_a_service_has_the_errors_of_its_rooms_and_those_of_the_engine() -> None:
    rooms = (
        Room("more", errors=(BURNT, DARK)),
        Room("few", errors=(ErrorCode("lamp_gone", 410, "", after="not_found"),)),
    )
    found = list(Vocabulary(replace(PROVIDER, rooms=rooms)).errors)
    own = list(ENGINE_ERRORS)
    assert found == [*own[: own.index("not_found") + 1], "lamp_gone", *own[own.index("not_found") + 1 :], *MORE]


def test_a_table_that_no_room_lists_is_refused_when_it_is_reached_for() -> None:
    forgotten = TableKey("forgotten", str)
    for provider, known in ((PROVIDER, False), (library_with(Room("more", tables=(forgotten,))), True)):
        world = Simulator(provider).create_world(Blueprint("default", 1))
        with nullcontext() if known else pytest.raises(ValueError, match="declares the table 'forgotten'"):
            assert len(world.store[forgotten]) == 0
