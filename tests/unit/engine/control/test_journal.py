"""The journal of control calls: unique ids, and which calls are journalled."""

from __future__ import annotations

from simulator.engine.control.history.journal import ControlJournal
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.world import World
from tests.library import Simulator, control_rows

ROWS = {row.name: row for row in control_rows()}


def world() -> World:
    return Simulator().create_world(Blueprint("default", 1))


def test_concurrent_calls_get_distinct_ids() -> None:
    journal, here = ControlJournal(), world()
    first, second = (journal.begin(here, ROWS["perform"]) for _ in range(2))
    assert (first, second) == ("ctl_000001", "ctl_000002")


def test_unused_id_is_given_again() -> None:
    journal, here = ControlJournal(), world()
    journal.end(here, journal.begin(here, ROWS["perform"]))
    assert journal.begin(here, ROWS["perform"]) == "ctl_000001"


def test_calls_without_changes_have_no_journal_id() -> None:
    journal, here = ControlJournal(), world()
    assert [journal.begin(here, ROWS[name]) for name in ("get_clock", "reset", "settle", "create_world")] == [""] * 4
    assert journal.begin(None, ROWS["perform"]) == ""
