"""The denominators of coverage come from the tables: nothing is missing, and nothing is counted twice."""

from __future__ import annotations

from collections import Counter

import pytest

from simulator.engine.insight.counting import NOTHING, Cell, Count, Counts, count_world, merged, moves_of
from simulator.engine.insight.coverage import OF_THE_START, catalogue, cells, coverage_of
from simulator.engine.insight.page import render_page
from simulator.engine.records.listing import Listing
from simulator.engine.worlds.simulator import Blueprint
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from simulator.kernel.journal import HISTORIES, Cause
from simulator.kernel.world import World
from tests.calls import find_operation, invoke
from tests.library import Simulator


@pytest.fixture
def simulator() -> Simulator:
    made = Simulator()
    made.create_world(Blueprint("default", 1))
    return made


def moves(world: World) -> list[Cell]:
    """Every move of a world's resources that traffic can cause."""
    return [cell for row in world.store[HISTORIES].rows for _, cell in moves_of(world, row)]


def codes_from_anywhere(simulator: AnySimulator) -> set[str]:
    return {code for code, row in simulator.vocabulary.errors.items() if row.anywhere}


def codes_of_nobody(simulator: AnySimulator) -> set[str]:
    """The codes of the catalogue that no operation declares and that are not possible anywhere."""
    declared = {code for row in simulator.operations for code in row.errors}
    return set(simulator.vocabulary.errors) - declared - codes_from_anywhere(simulator)


def check_dimensions(simulator: AnySimulator) -> None:
    """Every dimension has every row of its table once."""
    table_cells = list(cells(simulator.default))
    items = catalogue(simulator.operations, table_cells, simulator.vocabulary)
    for dimension, rows in items.items():
        assert [name for name, times in Counter(row.name for row in rows).items() if times > 1] == [], dimension
    assert [row.name for row in items["operations"]] == [row.name for row in simulator.operations]
    assert [row.name for row in items["events"]] == list(simulator.vocabulary.events)
    assert len(items["lists"]) == sum(isinstance(row.query, Listing) for row in simulator.operations) > 0
    declared = {f"{row.name} {code}" for row in simulator.operations for code in row.errors}
    assert {row.name for row in items["errors"]} == declared | {f"* {code}" for code in codes_from_anywhere(simulator)}


def check_states(simulator: AnySimulator) -> None:
    """Every state that anything leads to can be covered."""
    table_cells = set(cells(simulator.default))
    for kind, machine in ((name, row.machine) for name, row in simulator.wiring.kinds.items()):
        for state, row in machine.rows.items():
            for move in row:
                assert (kind, state, move.on, move.target) in table_cells
        begun = {cell.on for cell in table_cells if cell.kind == kind and cell.source == NOTHING}
        assert begun == {move.on for move in machine.initial} - set(OF_THE_START), kind


def test_every_dimension_has_every_row_of_its_table_once(simulator: Simulator) -> None:
    check_dimensions(simulator)


def test_every_code_of_the_catalogue_can_be_covered(simulator: Simulator) -> None:
    assert codes_of_nobody(simulator) == set()


def test_every_state_that_anything_leads_to_can_be_covered(simulator: Simulator) -> None:
    check_states(simulator)


def test_setting_up_a_world_is_not_traffic(simulator: Simulator) -> None:
    assert moves(simulator.default) == []
    assert count_world(simulator.default) == {}


def test_every_move_of_a_history_is_a_cell_of_its_table(simulator: Simulator) -> None:
    world, known = simulator.default, set(cells(simulator.default))
    book = invoke(world, find_operation(simulator.rooms, "POST", "/books"), {"title": "Emma"})
    loan = invoke(world, find_operation(simulator.rooms, "POST", "/loans"), {"book_id": book["id"]})
    simulator.actions.perform(world, "bring_back", loan["id"], {}, "practice", Cause("action", "bring_back"))
    made = moves(world)
    assert [(cell.kind, cell.on) for cell in made] == [("book", "add"), ("loan", "borrow"), ("loan", "bring_back")]
    assert set(made) <= known


def test_a_percentage_is_rounded_down(simulator: Simulator) -> None:
    report = coverage_of({}, simulator.operations, simulator.default, "default")
    assert (report["percent"], report["covered"]) == (0.0, 0)
    counts = count_world(simulator.default)
    for dimension, part in report["dimensions"].items():
        for row in part["items"][1:]:
            number = next(reversed([name for name in row if isinstance(row[name], int) and name != "covered"]))
            counts |= {(dimension, tuple(row["item"].split())): _counted(number)}
    report = coverage_of(counts, simulator.operations, simulator.default, "default")
    assert report["covered"] == report["total"] - len(report["dimensions"])
    for part in report["dimensions"].values():
        assert part["percent"] == pytest.approx(100 * part["covered"] / part["total"], abs=0.1)
        assert part["percent"] <= 100 * part["covered"] / part["total"] < 100


def _counted(number: str) -> Count:
    return Count(Counter({number: 1}), ("default", "x_1"))


def test_counts_add_up_and_the_first_evidence_stays(simulator: Simulator) -> None:
    one: Counts = {("errors", ("a", "b")): _counted("hits")}
    two: Counts = {("errors", ("a", "b")): _counted("hits"), ("events", ("c",)): _counted("emitted")}
    total = merged((one, two))
    assert total["errors", ("a", "b")].numbers == {"hits": 2}
    assert total["events", ("c",)].first == ("default", "x_1")
    assert one["errors", ("a", "b")].numbers == {"hits": 1}


def test_the_page_escapes_what_it_shows(simulator: Simulator) -> None:
    report = coverage_of({}, simulator.operations, simulator.default, "<script>alert(1)</script>")
    report["undeclared"] = [{"item": "x <b>y</b>", "hits": 3}]
    page = render_page(report)
    assert "<script>" not in page
    assert "<b>y" not in page
    assert "&lt;b&gt;y" in page
