"""Creating worlds: defaults from the server, scenario documents, and replacing a world."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from simulator.cli import main
from simulator.engine.server.config import Config, ConfigError
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import shown
from simulator.host import create_app
from tests.remote import Remote, running

ASSUMED = {"H14": "lapses_after_1h"}
FLAGS = {"strict": True, "rate_limit": "5/10", "webhook_urls": "any", "webhook_timestamp": "simulated"}
DEGRADED = {
    "name": "celo-limps",
    "description": "The network is slow for a while.",
    "timeline": [{"at": "1m", "action": "set_network", "network": "celo", "status": "degraded"}],
}


@pytest.fixture(scope="module")
def flagged(http: httpx.Client) -> Iterator[Remote]:
    """A server started with every kind of flag."""
    config = Config(
        now_ms=1_780_272_000_000,
        rate=Decimal(60),
        scenarios=("autopilot", "payout-fails-and-refunds"),
        settings={**shown(Settings.model_validate(FLAGS)), "assumptions": ASSUMED},
    )
    with running(config) as (origin, _):
        yield Remote(origin, http)


def test_a_world_inherits_the_settings_of_its_server(flagged: Remote) -> None:
    made = flagged.another().world
    assert made["settings"] == {**shown(Settings.model_validate(FLAGS)), "assumptions": ASSUMED}
    assert made["scenarios"] == ["autopilot", "payout-fails-and-refunds"]
    assert made["created_at"] == "2026-06-01T00:00:00.000Z"
    assert (made["clock"]["mode"], made["clock"]["now"]) == ("manual", "2026-06-01T00:00:00.000Z")


def test_the_body_overrides_single_flags(flagged: Remote) -> None:
    settings = {"strict": False, "rate_limit": None}
    made = flagged.another(
        settings=settings, scenarios=[], clock={"mode": "scaled", "now": "2027-01-01T00:00:00Z"}
    ).world
    assert made["settings"] == {**shown(Settings.model_validate(FLAGS | settings)), "assumptions": ASSUMED}
    assert made["scenarios"] == []
    assert (made["clock"]["mode"], made["clock"]["rate"], made["created_at"]) == (
        "scaled", 60.0, "2027-01-01T00:00:00.000Z",
    )  # fmt: skip


def test_a_strict_server_has_strict_worlds(flagged: Remote) -> None:
    assert flagged.another().api("GET", "/profile?surprise=1").refusal == (400, "invalid_parameter", "surprise")


def test_a_reset_keeps_what_was_inherited(flagged: Remote) -> None:
    made = flagged.another(seed=4)
    made.control("PATCH", "/settings", {"strict": False})
    assert made.control("POST", "/reset").body == made.world


def test_world_without_flags_is_manual_and_starts_in_january(world: Remote) -> None:
    made = world.another().world
    assert made["settings"] == {**shown(Settings()), "assumptions": {}}
    assert made["scenarios"] == ["autopilot", "test-values"]
    assert (made["clock"]["mode"], made["clock"]["now"]) == ("manual", "2026-01-05T08:00:00.000Z")


def test_scenarios_can_mix_names_and_documents(server: Remote) -> None:
    made = server.another(scenarios=["autopilot", DEGRADED])
    assert made.world["scenarios"] == ["autopilot", "celo-limps"]
    assert made.control("GET", "/scenarios/celo-limps").body["active"] is True
    made.advance(by="1m")
    assert "network.status_changed" in made.event_types()
    assert made.control("POST", "/reset").body["scenarios"] == ["autopilot", "celo-limps"]
    assert server.control("GET", "/scenarios/celo-limps").status == 404


def test_scenario_documents_may_name_each_other(server: Remote) -> None:
    first = {"name": "first", "rules": [{"on": "created", "do": [{"scenario": "second"}]}]}
    made = server.another(scenarios=[first, {"name": "second", "rules": []}])
    assert made.world["scenarios"] == ["first", "second"]


def test_every_problem_in_every_document_is_reported(server: Remote) -> None:
    broken = {"name": "broken", "timeline": [{"at": "1m", "action": "fly"}, {"at": "x", "action": "set_network"}]}
    answer = server.control("POST", "/worlds", {"id": "never", "scenarios": [DEGRADED, broken, {"nam": "x"}]})
    assert answer.refusal == (400, "invalid_scenario", "scenarios")
    errors = answer.body["error"]["errors"]
    assert {row["path"].split(".")[0] for row in errors} == {"scenarios[1]", "scenarios[2]"}
    assert all(row["line"] >= 1 and row["column"] >= 1 and row["message"] for row in errors)
    assert server.control("GET", "/worlds/never").status == 404


@pytest.mark.parametrize(
    ("scenarios", "refusal"),
    [
        (["autopilott"], (404, "not_found", "scenarios")),
        ([""], (400, "invalid_parameter", "scenarios")),
        ([7], (400, "invalid_parameter", "scenarios")),
        ("autopilot", (400, "invalid_parameter", "scenarios")),
        ([DEGRADED, DEGRADED], (400, "invalid_parameter", "scenarios")),
    ],
)
def test_scenarios_that_cannot_be_taken_make_no_world(
    server: Remote, scenarios: Any, refusal: tuple[int, str, str]
) -> None:
    answer = server.control("POST", "/worlds", {"id": "never", "scenarios": scenarios})
    assert answer.refusal == refusal
    assert server.control("GET", "/worlds/never").status == 404


def test_misspelt_scenario_gets_a_suggestion(server: Remote) -> None:
    answer = server.control("POST", "/worlds", {"scenarios": ["autopilott"]})
    assert "did you mean `autopilot`?" in answer.body["error"]["message"]


def test_a_taken_id_is_refused_without_replace(world: Remote) -> None:
    answer = world.control("POST", "/worlds", {"id": world.world["id"]})
    assert answer.refusal == (409, "already_exists", "id")
    assert "replace" in answer.body["error"]["message"]


def test_a_world_takes_the_place_of_the_one_with_its_id(world: Remote) -> None:
    world.api("GET", "/profile")
    snapshot = world.control("POST", "/snapshots", {}).body["id"]
    fresh = world.another(id=world.world["id"], seed=2, scenarios=[], replace=True)
    assert fresh.world["seed"] == 2
    assert fresh.control("GET", "/requests").body["data"] == []
    assert world.api("GET", "/profile").status == 401
    assert fresh.control("GET", f"/snapshots/{snapshot}").status == 404
    assert fresh.api("GET", "/profile").status == 200


def test_replace_needs_nothing_to_replace(server: Remote) -> None:
    assert server.another(id="first-of-its-name", replace=True).world["id"] == "first-of-its-name"


@pytest.mark.parametrize(
    "body",
    [
        {"scenarios": ["nowhere"]},
        {"scenarios": [{"name": "x", "surprise": 1}]},
        {"scenarios": [{"name": "x", "world": {"balances": [{"symbol": "XXX", "network": "CELO", "amount": "1"}]}}]},
        {"clock": {"now": "yesterday"}},
        {"settings": {"strict": "yes"}},
        {"surprise": 1},
        {"from_snapshot": "snap_nowhere"},
    ],
)
def test_a_body_that_is_refused_leaves_the_old_world(world: Remote, body: dict[str, Any]) -> None:
    world.api("GET", "/profile")
    before = world.control("GET", "/state").raw
    answer = world.control("POST", "/worlds", {"id": world.world["id"], "replace": True, **body})
    assert answer.status in (400, 404), answer.body
    assert world.control("GET", "/state").raw == before
    assert world.api("GET", "/profile").status == 200


def test_a_fork_may_replace_the_world_of_its_snapshot(world: Remote) -> None:
    wanted = {"url": f"{world.origin}/_simulator/inbox/fork-replaces", "events": ["*"]}
    assert world.api("POST", "/webhooks", wanted).status == 201
    snapshot = world.control("POST", "/snapshots", {}).body["id"]
    fork = world.another(id=world.world["id"], from_snapshot=snapshot, scenarios=[DEGRADED], replace=True)
    assert fork.world["scenarios"] == ["celo-limps"]
    assert len(fork.api("GET", "/webhooks").body["data"]) == 1
    assert world.control("GET", "/snapshots").body["data"] == []


def test_a_fork_that_is_refused_makes_no_world(world: Remote) -> None:
    snapshot = world.control("POST", "/snapshots", {}).body["id"]
    poor = {"name": "x", "world": {"balances": [{"symbol": "XXX", "network": "CELO", "amount": "1"}]}}
    answer = world.control("POST", "/worlds", {"id": "stillborn", "from_snapshot": snapshot, "scenarios": [poor]})
    assert answer.status == 400
    assert world.control("GET", "/worlds/stillborn").status == 404


def test_default_world_can_be_replaced_and_keeps_its_keys(http: httpx.Client) -> None:
    with running(Config()) as (origin, _):
        server = Remote(origin, http)
        fresh = server.another(id="default", seed=3, scenarios=[], replace=True)
        assert fresh.world["credentials"]["sandbox"]["public_key"] == "pk_test_simulator"
        assert fresh.world["clock"]["mode"] == "manual"
        assert fresh.api("GET", "/profile").status == 200
        assert server.control("GET", "/health").body["worlds"] == 1


def test_scenario_result_does_not_depend_on_server_flags(flagged: Remote) -> None:
    words = ["scenario", "run", "payout-fails-and-refunds"]
    alone = CliRunner().invoke(main, words)
    there = CliRunner().invoke(main, [*words, "--url", flagged.origin])
    assert (there.exit_code, there.stdout) == (0, alone.stdout)


POOR = {"name": "poor", "world": {"balances": [{"symbol": "XXX", "network": "CELO", "amount": "1"}]}}


def test_scenario_with_an_impossible_world_is_invalid_scenario(world: Remote) -> None:
    answer = world.control("POST", "/worlds", {"scenarios": ["autopilot", POOR]})
    assert answer.refusal == (400, "invalid_scenario", "scenarios")
    assert answer.body["error"]["errors"] == [
        {
            "path": "scenarios[1].world.balances[0].symbol",
            "line": 1,
            "column": 73,
            "message": "`symbol`: it is not available on CELO",
        }
    ]


def test_problems_of_an_embedded_scenario_have_body_positions(world: Remote) -> None:
    text = b"""{
\t"seed": 5,
\t"scenarios": ["autopilot", {
\t\t"name": "broken",
\t\t"rules": [{"on": "transaction.completd",
\t\t\t"do": []}],
\t\t"drive": [{"post": "/quotes", "body": {"n": 123456789012345678901234567890}}]
\t}, {"name": "large", "description": "%s"}]
}""" % (b"x" * 256 * 1024)
    answer = world.control("POST", "/worlds", content=text, headers={"Content-Type": "application/json"})
    assert answer.refusal == (400, "invalid_scenario", "scenarios")
    found = [(row["path"], row["line"], row["column"]) for row in answer.body["error"]["errors"]]
    assert found == [
        ("scenarios[1].rules[0].on", 5, 20),
        ("scenarios[1].drive[0].body.n", 7, 47),
        ("scenarios[2]", 8, 5),
    ]


def test_cause_in_an_embedded_scenario_has_no_line(world: Remote) -> None:
    other = world.another(
        scenarios=[{"name": "laid", "world": {"networks": [{"network": "celo", "status": "degraded"}]}}]
    )
    cause = other.control("GET", "/resources/network_sandbox_celo").body["events"][0]["cause"]
    assert (cause["name"], cause["file"], cause["line"]) == ("laid", "uploaded", None)


def test_imported_scenario_with_an_impossible_world_names_the_path(world: Remote) -> None:
    text = b"name: rich\nworld:\n  balances:\n    - {symbol: USDC, network: CELO, amount: '5'}\n"
    assert world.control("POST", "/scenarios", content=text).status == 201
    state = world.control("GET", "/state").body
    (row,) = [row for name, row in state["tables"]["uploaded_scenarios"] if name == "rich"]
    row["document"]["world"]["balances"][0]["network"] = "celo"
    assert world.control("PUT", "/state", state).status == 200
    answer = world.control("PUT", "/scenarios/active", {"names": ["rich"]})
    assert answer.refusal == (400, "invalid_scenario", "names")
    message = answer.body["error"]["message"]
    assert message.startswith("The scenario rich cannot be activated: uploaded:4: world.balances[0].network: ")
    snapshot = world.control("POST", "/snapshots").body["id"]
    fork = world.control("POST", "/worlds", {"from_snapshot": snapshot, "scenarios": ["autopilot", "rich"]})
    assert fork.refusal == (400, "invalid_scenario", "scenarios")
    assert fork.body["error"]["errors"][0]["path"] == "scenarios[1].world.balances[0].network"


def test_world_with_the_same_keys_is_named(world: Remote) -> None:
    other = world.another(scenarios=[])
    document = world.control("GET", "/state").body
    world.control("DELETE", f"/worlds/{world.world['id']}")
    assert other.control("PUT", "/state", document).status == 200
    wanted = {"id": world.world["id"], "seed": 1, "replace": True}
    answer = world.call("POST", f"{world.origin}/_simulator/worlds", json=wanted)
    assert answer.refusal == (409, "already_exists", "id")
    assert f"The world {other.world['id']} already has the keys" in answer.body["error"]["message"]


def test_server_with_an_impossible_scenario_world_names_the_path(tmp_path: Path) -> None:
    file = tmp_path / "poor.json"
    file.write_text(json.dumps(POOR))
    with pytest.raises(ConfigError, match=r"poor\.json:1:52: world\.balances\[0\]\.symbol"):
        create_app(Config(scenarios=(str(file),)))
