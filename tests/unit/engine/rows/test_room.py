"""Rooms are collected as they are; two rows of one name are an error, for one of them would never be heard of."""

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
from simulator.engine.rows.vocabulary import Vocabulary, wiring_of
from simulator.engine.scenario.files.library import Library
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.provider import PROVIDER, ROOMS
from tests.support import ramp_with
from tests.unit.engine.rows.toy import LAMPS

EVENTS = tuple(
    EventType(name, "a lamp changed", "lamp")
    for name in ("wallet.created", "deposit.detected", "deposit.confirmed", "deposit.failed", "beneficiary.deleted")
)
CIRCLE = (EventType("lamp.made", "", "lamp", after="lamp.done"), EventType("lamp.done", "", "lamp"))
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
        (Room("more", kinds=(ROOMS[0].kinds[0],)), "two kinds of the name 'network'"),
        (Room("more", timers=(TimerRow("quote.expiry", BLINK.handler, "again"),)), "two timers of the name"),
        (Room("more", timers=(TimerRow("scenario.step", BLINK.handler, "again"),)), "two timers of the name"),
        (Room("more", actions=(Action("refund", "again", _nothing, ("onramp",)),)), "two actions of the name 'refund'"),
        (Room("more", actions=(Action("emit", "again", _nothing),)), "two actions of the name 'emit'"),
        (
            Room("more", operations=(Operation("GET", "/again", "get_profile", "", "", lambda call: {}),)),
            "two operations of the name",
        ),
        (
            Room("more", events=(EventType("quote.expired", "again", "quote"),)),
            "two events of the name 'quote.expired'",
        ),
        (Room("more", events=CIRCLE), "these events follow each other in a circle"),
        (Room("more", errors=(ErrorCode("rate_limited", 429, "again"),)), "two errors of the name 'rate_limited'"),
        (Room("more", errors=(ErrorCode("quote_expired", 422, "again"),)), "two errors of the name 'quote_expired'"),
        (Room("more", kinds=(HUNG,)), "no room declares what a lamp emits: lamp.hung"),
        (Room("more", tables=(TableKey("wallets", str),)), "two tables of the name 'wallets'"),
    ],
)
def test_two_rows_of_one_name_are_refused_when_a_simulator_is_made(room: Room, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Simulator(ramp_with(room), Library())


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
    for provider, known in ((PROVIDER, False), (ramp_with(Room("more", tables=(forgotten,))), True)):
        world = Simulator(provider, Library()).create_world(Blueprint("default", 1))
        with nullcontext() if known else pytest.raises(ValueError, match="'forgotten' is of no room"):
            assert len(world.store[forgotten]) == 0
