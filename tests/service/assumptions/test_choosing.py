"""Ways to set a world's assumptions: its settings and the flags of a server. The chosen assumptions are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from simulator.cli import main
from simulator.engine.worlds.alternatives import chosen
from simulator.engine.worlds.settings import DEFAULTS
from simulator.providers.ramp.alternatives import ALTERNATIVES as SWITCHES
from simulator.testing import Server, SimulatorError, World
from simulator.testing.links.in_process import InProcessLink
from tests.support import QUOTE

HOUR = {"H14": "lapses_after_1h"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(InProcessLink()) as server:
        yield server


@pytest.fixture
def world(server: Server) -> Iterator[World]:
    with server.new_world() as world:
        yield world


def test_no_assumption_is_switched_by_default(world: World) -> None:
    assert world.info["settings"] == {**DEFAULTS, "assumptions": {}}
    document = world.control("GET", "/state")
    assert "assumptions" not in document["blueprint"]["settings"]
    assert "assumptions" not in document["tables"]


def test_the_settings_show_what_is_in_force_and_a_change_replaces_it(server: Server) -> None:
    with server.new_world(settings={"assumptions": HOUR}) as world:
        assert world.control("GET", "/settings")["assumptions"] == HOUR
        changed = world.control("PATCH", "/settings", {"assumptions": {"H1": "creating_answers_200", "H14": None}})
        assert changed["assumptions"] == {"H1": "creating_answers_200"}
        assert world.control("PATCH", "/settings", {"strict": True})["assumptions"] == changed["assumptions"]
        assert world.control("PATCH", "/settings", {"assumptions": {}})["assumptions"] == {}


def test_forks_and_documents_carry_it(server: Server) -> None:
    with server.new_world(settings={"assumptions": HOUR}) as world:
        assert world.fork().control("GET", "/settings")["assumptions"] == HOUR
        document = world.control("GET", "/state")
        world.control("PATCH", "/settings", {"assumptions": {}})
        world.control("PUT", "/state", document)
        assert world.control("GET", "/settings")["assumptions"] == HOUR
        world.reset()
        assert world.control("GET", "/settings")["assumptions"] == HOUR


@pytest.mark.parametrize(
    ("given", "param", "says"),
    [
        ({"H99": "x"}, "assumptions.H99", "did you mean"),
        ({"h14": "lapses_after_1h"}, "assumptions.h14", "did you mean `H14`"),
        ({"H14": "lapses_after_1hour"}, "assumptions.H14", "did you mean `lapses_after_1h`"),
        ({"H1": "x"}, "assumptions.H1", "there is creating_answers_200"),
        ({"H14": 1}, "assumptions.H14", "it must be a string"),
        (["H14"], "assumptions", "it must be an object"),
    ],
)
def test_an_unknown_assumption_is_refused_by_name(world: World, given: object, param: str, says: str) -> None:
    with pytest.raises(SimulatorError, match=says) as refused:
        world.control("PATCH", "/settings", {"assumptions": given})
    assert (refused.value.code, refused.value.param) == ("invalid_parameter", param)
    with pytest.raises(SimulatorError) as refused:
        world.control("POST", "/worlds", {"settings": {"assumptions": given}})
    assert refused.value.param == f"settings.{param}"


def test_a_document_with_an_unknown_assumption_is_refused(world: World) -> None:
    document = world.control("GET", "/state")
    document["blueprint"]["settings"]["assumptions"] = {"H14": "lapses_sometimes"}
    with pytest.raises(SimulatorError, match="lapses_sometimes"):
        world.control("PUT", "/state", document)
    del document["blueprint"]["settings"]["assumptions"]
    document["tables"]["assumptions"] = [["H99", "lapses_after_1h"]]
    with pytest.raises(SimulatorError, match="H99"):
        world.control("PUT", "/state", document)


def test_the_list_shows_the_choices_of_the_world(server: Server) -> None:
    with server.new_world(settings={"assumptions": HOUR}) as world:
        rows = world.control("GET", "/assumptions")["data"]
    assert [row["id"] for row in rows] == list(SWITCHES)
    assert {row["id"]: row["in_force"] for row in rows if row["in_force"]} == HOUR
    hours = next(row for row in rows if row["id"] == "H14")
    assert hours["alternatives"][0]["name"] == "lapses_after_1h"
    assert hours["assumed"]
    assert hours["question"].endswith("?")
    assert "POST /v1/" in hours["call"]


def test_a_recording_repeats_the_assumptions(server: Server) -> None:
    with server.new_world(settings={"assumptions": {"H1": "creating_answers_200"}}) as world:
        assert world.client.post("/quotes", json=QUOTE).status_code == 200
        recorded = world.control("GET", "/recording")
    assert "creating_answers_200" in recorded


def test_flags_choose_by_id_and_name() -> None:
    assert chosen(SWITCHES, ["H14=lapses_after_1h", "H1=creating_answers_200"]) == (
        {"H14": "lapses_after_1h", "H1": "creating_answers_200"},
        [],
    )


def test_a_flag_that_selects_nothing_is_an_error() -> None:
    given = ("H14", "H140=lapses_after_1h", "H14=lapses_after_1hour", "H1=creating_answers_200")
    ended = CliRunner().invoke(main, ["serve", *(f"--assume={one}" for one in given)])
    assert ended.exit_code == 2
    lines = ended.output.splitlines()
    assert [line.partition("--assume: ")[2] for line in lines] == [
        "'H14' is not written ID=ALTERNATIVE, for example H14=lapses_after_1h",
        "'H140=lapses_after_1h': no assumption 'H140' can be switched; did you mean `H14`? "
        "`rampsim assumptions` lists them",
        lines[2].partition("--assume: ")[2],
    ]
    assert "there is no alternative `lapses_after_1hour` of H14; did you mean `lapses_after_1h`?" in lines[2]


def test_the_command_lists_all_or_some() -> None:
    runner = CliRunner()
    whole = runner.invoke(main, ["assumptions"]).output
    assert all(f"{switch.id}  {switch.assumed}" in whole for switch in SWITCHES.values())
    some = json.loads(runner.invoke(main, ["assumptions", "H14", "--json"]).output)
    assert [row["id"] for row in some] == ["H14"]
    unknown = runner.invoke(main, ["assumptions", "H140"])
    assert unknown.exit_code == 2
    assert "did you mean `H14`" in unknown.output
