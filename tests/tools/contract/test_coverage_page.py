"""A scenario or a test covers every part of the API, and the coverage pages match the runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from click.testing import CliRunner

from contracts.generator import coverage_page, scenarios_page
from contracts.generator.__main__ import main
from contracts.generator.coverage_page import EVERY_WORLD, NEVER_MET, Coverage
from contracts.generator.diagrams import moves_of, state_tables
from contracts.generator.evidence import Answered, Edge, Evidence, collect
from simulator.contract.files import contracts_directory
from simulator.engine.rows.operation import Operation
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.engine.text.fields import Body
from simulator.kernel.machine import Machine
from simulator.providers import ramp as resources
from simulator.providers.ramp.fees.operations import calculate_fee
from simulator.providers.ramp.provider import ROOMS
from tests.shipped import shown

OPERATIONS = {row.name: row for room in ROOMS for row in room.operations}
MACHINES = {machine.name: machine for machine, _ in state_tables(ROOMS)}
AGAIN = "run: python -m contracts.generator coverage"


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage(shown().values())


def test_committed_pages_are_up_to_date() -> None:
    found = shown().values()
    assert (contracts_directory() / "coverage.md").read_text("utf-8") == coverage_page.page(found), AGAIN
    assert (shipped_directory() / "README.md").read_text("utf-8") == scenarios_page.page(found), AGAIN


def test_every_part_of_the_api_is_covered(coverage: Coverage) -> None:
    assert coverage.gaps() == []


@pytest.mark.parametrize("name", MACHINES)
def test_every_transition_is_covered(name: str) -> None:
    """By a scenario, seen in the histories of its run, but how networks and fee products stand, which have none."""
    standing = {
        Edge("network", "", "start", "operational"),  # test_every_network_is_operational_in_a_fresh_world
        Edge("fee product", "", "publish", "active"),  # test_there_are_products_of_every_type_and_both_statuses
        Edge("fee product", "", "publish", "inactive"),
    }
    made = {edge for evidence in shown().values() for edge in evidence.edges} | standing
    moves = [Edge(name, before, move.on, move.target) for before, move in moves_of(MACHINES[name])]
    assert [edge for edge in moves if edge not in made] == []


def test_scenarios_make_only_declared_transitions() -> None:
    for evidence in shown().values():
        for edge in evidence.edges:
            moves = [(before, move.on, move.target) for before, move in moves_of(MACHINES[edge.machine])]
            assert (edge.before, edge.on, edge.after) in moves, evidence.name


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_returns_success_and_each_declared_error(name: str, coverage: Coverage) -> None:
    row = OPERATIONS[name]
    assert coverage.operation(row)
    assert [code for code in row.errors if not coverage.refusal(row, code)] == []


def test_no_operation_returns_an_undeclared_error() -> None:
    """But those that every operation may answer, those of its gates, of lists and bodies, and those of faults."""
    universal = {
        "unauthorized",
        "forbidden",
        "invalid_request",
        "rate_limited",
        "internal_error",
        "service_unavailable",
        "kyc_required",
        "production_access_required",
        "idempotency_conflict",
        "missing_parameter",
        "invalid_parameter",
        "invalid_date_range",
    }
    for evidence in shown().values():
        for answer in evidence.answers:
            assert answer.code in {"", *universal, *OPERATIONS[answer.operation].errors}, (evidence.name, answer)


def test_page_lists_every_state_table() -> None:
    found = set()
    rooms = [f"simulator.providers.ramp.{room.name}" for room in iter_modules(resources.__path__)]
    for room in (*rooms, "simulator.engine.webhooks"):
        for name in ("states", "quotes"):
            try:
                module = import_module(f"{room}.{name}")
            except ModuleNotFoundError:
                continue
            found |= {value.name for value in vars(module).values() if isinstance(value, Machine)}
    assert found == set(MACHINES)


def test_impossible_items_are_covered_by_no_scenario(coverage: Coverage) -> None:
    met = {(answer.operation, answer.code) for evidence in shown().values() for answer in evidence.answers}
    assert met.isdisjoint(NEVER_MET)
    assert coverage.refusal(OPERATIONS["calculate_fee"], "not_found") == [
        "nothing: listed for the whole chapter; the calculator has no id that could be unknown"
    ]


def test_initial_states_are_covered_by_every_world(coverage: Coverage) -> None:
    assert coverage.edge(Edge("network", "", "start", "operational")) == [EVERY_WORLD]
    assert EVERY_WORLD not in coverage.edge(Edge("quote", "", "create", "active"))


def test_fee_calculation_takes_no_product_id() -> None:
    """The specification lists not_found for the whole chapter; the calculator names no id that could be unknown."""
    assert isinstance(calculate_fee, Operation)
    assert "{" not in calculate_fee.path
    body = calculate_fee.body()
    assert issubclass(body, Body)
    assert not [field for field in body.model_fields if field.endswith("id")]


class TestWhatIsMissing:
    """A page made of too little evidence says so."""

    @pytest.fixture
    def found(self) -> Mapping[str, Evidence]:
        return {name: replace(one) for name, one in shown().items()}

    def test_without_scenarios_little_is_covered(self) -> None:
        gaps = Coverage([]).gaps()
        assert "the operation get_rate" in gaps
        assert "the event quote.expired" in gaps
        assert "the refusal slippage_exceeded of swap" in gaps
        assert "the state disabled of webhook" in gaps
        assert "the move pending → failed of send transaction by fail" in gaps
        assert "the refusal not_found of calculate_fee" not in gaps
        assert "**nothing**" in coverage_page.page([])

    def test_uncovered_transition_is_reported(self, found: Mapping[str, Evidence]) -> None:
        gone = Edge("send transaction", "pending", "fail", "failed")
        less = [replace(one, edges=one.edges - {gone}) for one in found.values()]
        assert Coverage(less).gaps() == ["the move pending → failed of send transaction by fail"]

    def test_uncovered_error_is_reported(self, found: Mapping[str, Evidence]) -> None:
        gone = Answered("swap", 422, "slippage_exceeded")
        less = [replace(one, answers=one.answers - {gone}) for one in found.values()]
        assert "the refusal slippage_exceeded of swap" in Coverage(less).gaps()

    def test_failure_code_covers_an_error_code(self, found: Mapping[str, Evidence]) -> None:
        assert Coverage(found.values()).code("payout_failed")
        less = [replace(one, failures=frozenset()) for one in found.values()]
        assert Coverage(less).gaps() == ["the error code payout_failed", "the error code insufficient_deposit"]


def test_selected_scenarios_can_be_run() -> None:
    found = collect(["swap-completes", "phone-verified"])
    assert list(found) == ["swap-completes", "phone-verified"]
    assert found["swap-completes"].endings == ("swap completed",)
    assert found["swap-completes"].result.passed
    assert scenarios_page.ends_in(found["swap-completes"]) == "swap completed, 1 refusal"
    assert scenarios_page.ends_in(found["phone-verified"]) == "no state has changed"


def test_the_command_writes_both_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contracts.generator.__main__.collect", shown)
    monkeypatch.setattr("contracts.generator.__main__.contracts_directory", lambda: tmp_path)
    monkeypatch.setattr("contracts.generator.__main__.shipped_directory", lambda: tmp_path)
    done = CliRunner().invoke(main, ["coverage"])
    assert (done.exit_code, done.output) == (0, f"{len(shown())} scenarios show everything\n")
    assert (tmp_path / "coverage.md").read_text("utf-8") == coverage_page.page(shown().values())
    assert (tmp_path / "README.md").read_text("utf-8") == scenarios_page.page(shown().values())


def test_command_fails_if_something_is_uncovered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contracts.generator.__main__.collect", dict)
    monkeypatch.setattr("contracts.generator.__main__.contracts_directory", lambda: tmp_path)
    monkeypatch.setattr("contracts.generator.__main__.shipped_directory", lambda: tmp_path)
    done = CliRunner().invoke(main, ["coverage"])
    assert done.exit_code == 1
    assert "nothing shows the operation get_rate" in done.output
