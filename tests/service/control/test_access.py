"""Control tokens for some worlds: a team reads and changes its own worlds only, and other worlds return 404."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from simulator.contract.serving import CONTRACT_ROWS
from simulator.dashboard import DASHBOARD_ROWS
from simulator.engine.control.insight import PAGE_ROWS
from simulator.engine.control.operation import ControlOperation
from simulator.host import control_rows
from tests.remote import EMPTY, Answer, Remote, running
from tests.support import QUOTE

TOKENS = {"admin": "all-of-it-0123456789", "team-a": "a-secret-0123456789", "team-b": "b-secret-0123456789"}
ROWS = control_rows((*CONTRACT_ROWS, *DASHBOARD_ROWS, *PAGE_ROWS))


@dataclass
class Bearer(Remote):
    """A client that sends a control token."""

    bearer: str = ""

    def control(
        self, method: str, path: str, json: Any = None, headers: dict[str, str] | None = None, **more: Any
    ) -> Answer:
        token = {"Authorization": f"Bearer {self.bearer}"}
        return super().control(method, path, json, {**token, **(headers or {})}, **more)

    def another(self, **body: Any) -> Bearer:
        answer = self.control("POST", "/worlds", body)
        assert answer.status == 201, answer.body
        return Bearer(self.origin, self.http, answer.body, bearer=self.bearer)


def file_of(directory: Path) -> Path:
    rows = [
        {"name": "admin", "token": TOKENS["admin"], "worlds": "*"},
        {"name": "team-a", "sha256": hashlib.sha256(TOKENS["team-a"].encode()).hexdigest(), "worlds": "team-a-"},
        {"name": "team-b", "token": TOKENS["team-b"], "worlds": "team-b-"},
    ]
    path = directory / "tokens.json"
    path.write_text(json.dumps({"tokens": rows}))
    return path


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(replace(EMPTY, control_tokens=file_of(tmp_path_factory.mktemp("tokens")))) as (origin, _):
        yield origin


@pytest.fixture(scope="module")
def teams(origin: str, http: httpx.Client) -> dict[str, Bearer]:
    return {name: Bearer(origin, http, bearer=token) for name, token in TOKENS.items()}


@pytest.fixture(scope="module")
def b(teams: dict[str, Bearer]) -> Bearer:
    """A world of team B with data of every kind."""
    made = teams["team-b"].another(id="team-b-1", seed=7, scenarios=["autopilot"])
    assert made.api("POST", "/quotes", QUOTE).status == 201
    url = f"{made.origin}/_simulator/inbox/hooks"
    assert made.api("POST", "/webhooks", {"url": url, "events": ["*"]}).status == 201
    assert made.api("POST", "/wallets", {"network": "celo"}).status == 201
    assert made.control("POST", "/actions/set_kyc", {"status": "action_required"}).status == 200
    assert made.control("POST", "/settle").status == 200
    assert made.control("POST", "/scenarios", {"name": "secret-plan", "rules": []}).status == 201
    assert made.control("POST", "/faults", {"match": {"path": "/rates"}, "delay": "1s"}).status == 201
    assert made.control("POST", "/snapshots", {"name": "kept"}).status == 201
    assert made.control("PUT", "/inbox/hooks", {"respond": [500, 200]}).status == 200
    return made


@pytest.fixture(scope="module")
def ids(b: Bearer) -> dict[str, str]:
    """Ids in the world of team B, by path variable."""
    first = {
        path: b.control("GET", path).body["data"][0]["id"]
        for path in ("/resources", "/events", "/faults", "/snapshots")
    }
    return {
        "/worlds/{id}": "team-b-1",
        "/resources/{id}": first["/resources"],
        "/events/{id}": first["/events"],
        "/events/{id}/resend": first["/events"],
        "/faults/{id}": first["/faults"],
        "/snapshots/{id}": first["/snapshots"],
        "/snapshots/{id}/restore": first["/snapshots"],
        "/scenarios/{name}": "secret-plan",
        "/actions/{action}": "set_kyc",
        "/inbox/{name}": "hooks",
        "/inbox/{name}/wait": "hooks",
        "/inbox/{name}/subscribe": "hooks",
    }


BODIES: dict[str, Any] = {
    "act": {"status": "approved"},
    "advance": {"by": "1d"},
    "set_clock": {"mode": "real"},
    "patch_settings": {"strict": True},
    "take_snapshot": {"name": "stolen"},
    "activate": {"names": []},
    "upload_scenario": {"name": "planted", "rules": []},
    "add_fault": {"match": {"path": "/quotes"}, "drop": True},
    "trigger": {"event": "kyc.approved"},
    "inbox_answer": {"respond": [418]},
    "inbox_receive": {"planted": True},
    "create_world": {"id": "team-b-1", "replace": True},
}
QUERIES = {"events_wait": {"timeout": "0"}, "inbox_wait": {"timeout": "0"}, "wait_resource": {"timeout": "0"}}


def state_of(b: Bearer) -> Any:
    """Everything that describes the world of team B."""
    inbox = b.control("GET", "/inbox/hooks").body
    return b.control("GET", "/worlds/team-b-1").body, b.control("GET", "/state").raw, inbox


def asked(row: ControlOperation, team: Bearer, ids: dict[str, str], world: str, way: str) -> Answer:
    """Make the call of a row about a world named in the header, the base path or the query."""
    name = next(iter(row.path.partition("{")[2].partition("}")[:1]), "")
    path = row.path.replace(f"{{{name}}}", world if row.path == "/worlds/{id}" else ids.get(row.path, "x"))
    body: Any = BODIES.get(row.name, {}) if row.method in ("POST", "PUT", "PATCH") else None
    if row.name == "create_world":
        body = {**body, "id": world}
    query = dict(QUERIES.get(row.name, {})) | ({"world": world} if way == "query" else {})
    base = f"{team.origin}/_worlds/{world}/_simulator" if way == "base" else f"{team.origin}/_simulator"
    headers = {"Authorization": f"Bearer {team.bearer}"} | ({"X-Simulator-World": world} if way == "header" else {})
    return team.call(row.method, base + path, json=body, headers=headers, params=query)


@pytest.mark.parametrize("way", ["header", "base", "query"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_token_of_one_team_cannot_read_or_change_another_team(
    row: ControlOperation, way: str, teams: dict[str, Bearer], b: Bearer, ids: dict[str, str]
) -> None:
    """Every call about a world of team B gets the same response as one about an unknown world."""
    before = state_of(b)
    there, nowhere = (asked(row, teams["team-a"], ids, world, way) for world in ("team-b-1", "team-b-0"))
    assert (there.status, there.raw.replace(b"team-b-1", b"team-b-0")) == (nowhere.status, nowhere.raw)
    assert state_of(b) == before
    for secret in b.world["credentials"]["sandbox"].values():
        assert secret.encode() not in there.raw or secret == b.base()
    if not row.open and (row.scope == "world" and way != "query" and "call.world" in row.handler.__code__.co_names):
        assert there.status in (403, 404), there.raw[:200]


def test_team_a_sees_its_own_worlds_alone(teams: dict[str, Bearer], b: Bearer) -> None:
    mine = teams["team-a"].another()
    assert mine.world["id"].startswith("team-a-")
    assert {row["id"][:7] for row in teams["team-a"].control("GET", "/worlds").body["data"]} == {"team-a-"}
    assert {"default", "team-b-1", mine.world["id"]} <= {
        row["id"] for row in teams["admin"].control("GET", "/worlds").body["data"]
    }
    assert mine.control("POST", "/reset").status == 200
    assert mine.control("DELETE", f"/worlds/{mine.world['id']}").status == 204


def test_without_a_header_the_default_world_is_not_there(teams: dict[str, Bearer]) -> None:
    answer = teams["team-a"].control("GET", "/clock")
    assert answer.refusal == (404, "not_found", None)
    assert answer.body["error"]["message"] == (
        "There is no world 'default'. List the worlds with GET /_simulator/worlds. The token 'team-a' can "
        "access only worlds whose ids begin with 'team-a-'."
    )
    assert teams["admin"].control("GET", "/clock").status == 200


@pytest.mark.parametrize("wanted", ["team-b-1", "team-b-9", "default", "team-a", "Team-a-1"])
def test_a_world_outside_of_the_prefix_is_not_made(teams: dict[str, Bearer], b: Bearer, wanted: str) -> None:
    answer = teams["team-a"].control("POST", "/worlds", {"id": wanted, "replace": True})
    assert answer.refusal == (403, "forbidden", "id")
    assert answer.body["error"]["message"] == (
        f"This token cannot create a world {wanted!r}. "
        "The token 'team-a' can access only worlds whose ids begin with 'team-a-'."
    )


def test_no_world_is_forked_from_anothers_snapshot(teams: dict[str, Bearer], ids: dict[str, str]) -> None:
    there, nowhere = (
        teams["team-a"].control("POST", "/worlds", {"from_snapshot": name})
        for name in (ids["/snapshots/{id}"], "snap_nowhere")
    )
    assert (
        (there.status, there.body["error"]["code"])
        == (nowhere.status, nowhere.body["error"]["code"])
        == (404, "not_found")
    )


def test_calls_about_all_worlds_need_a_token_for_all(teams: dict[str, Bearer]) -> None:
    for path in ("/advice", "/coverage", "/coverage.html"):
        answer = teams["team-a"].control("GET", path, params={"world": "*"})
        assert answer.refusal == (403, "forbidden", None)
        assert teams["admin"].control("GET", path, params={"world": "*"}).status == 200


def test_keys_cannot_be_worked_out_from_id_and_seed(origin: str, teams: dict[str, Bearer]) -> None:
    """Otherwise, anyone who guesses id and seed could call the API as another team."""
    worlds = [teams["team-a"].another(id="team-a-keys", seed=3, replace=True) for _ in range(2)]
    first, second = (world.world["credentials"]["sandbox"] for world in worlds)
    assert all(first[name] != second[name] for name in ("public_key", "secret_key", "webhook_key"))
    assert worlds[1].control("POST", "/reset").body["credentials"]["sandbox"] == second
    snapshot = worlds[1].control("POST", "/snapshots", {}).body["id"]
    fork = teams["team-a"].another(id="team-a-fork", from_snapshot=snapshot)
    assert fork.world["credentials"]["sandbox"]["secret_key"] not in (first["secret_key"], second["secret_key"])
    admins = [teams["admin"].another(id="plain", seed=3, replace=True) for _ in range(2)]
    assert admins[0].world["credentials"] == admins[1].world["credentials"]


def test_a_document_cannot_take_existing_keys(teams: dict[str, Bearer], b: Bearer) -> None:
    """Keys of existing and of future worlds are safe."""
    document = b.control("GET", "/state").body
    mine = teams["team-a"].another(id="team-a-import", replace=True)
    put = mine.control("PUT", "/state", document)
    assert put.status == 200
    own = put.body["credentials"]["sandbox"]
    assert own["public_key"] != b.world["credentials"]["sandbox"]["public_key"]
    assert own["webhook_key"] != b.world["credentials"]["sandbox"]["webhook_key"]
    assert b.api("GET", "/profile").status == 200
    assert [row["id"] for row in b.control("GET", "/requests").body["data"]][-1] not in (
        row["id"] for row in mine.control("GET", "/events").body["data"]
    )


def test_every_world_has_its_own_inboxes(teams: dict[str, Bearer], b: Bearer) -> None:
    mine = teams["team-a"].another(id="team-a-inbox", replace=True)
    url = f"{mine.origin}/_simulator/inbox/hooks"
    before = b.control("GET", "/inbox/hooks").body
    assert mine.api("POST", "/webhooks", {"url": url, "events": ["*"]}).status == 201
    assert [row["status"] for row in mine.control("GET", "/inbox/hooks").body["data"]] == [200]
    assert mine.control("PUT", "/inbox/hooks", {"respond": [503]}).status == 200
    assert mine.control("DELETE", "/inbox/hooks").status == 204
    assert b.control("GET", "/inbox/hooks").body == before
    planted = mine.call("POST", url, json={"planted": True}, headers={"X-Simulator-World": "team-b-1"})
    assert planted.refusal == (401, "unauthorized", None)
    assert b.control("GET", "/inbox/hooks").body == before


def test_inbox_below_a_world_base_belongs_to_that_world(teams: dict[str, Bearer]) -> None:
    mine = teams["team-a"].another(id="team-a-base", replace=True)
    url = f"{mine.origin}/_worlds/team-a-base/_simulator/inbox/hooks"
    assert mine.api("POST", "/webhooks", {"url": url, "events": ["*"]}).status == 201
    assert len(mine.control("GET", "/inbox/hooks").body["data"]) == 1


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer nothing-of-the-sort", "Basic YTpi", "bearer a-secret-012345678"]
)
def test_any_other_token_is_401(origin: str, http: httpx.Client, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    for path in ("/worlds", "/clock", "/nowhere"):
        answer = http.get(f"{origin}/_simulator{path}", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
    assert http.get(f"{origin}/_simulator/health", headers=headers).status_code == 200


def test_tokens_are_masked_in_what_is_kept(teams: dict[str, Bearer], b: Bearer) -> None:
    b.api("POST", "/quotes", {**QUOTE, "note": TOKENS["team-b"]})
    assert TOKENS["team-b"].encode() not in b.control("GET", "/requests").raw


def test_a_team_prunes_its_own_worlds_alone(teams: dict[str, Bearer], b: Bearer) -> None:
    teams["team-a"].another(id="team-a-idle", replace=True)
    ended = teams["team-a"].control("POST", "/prune", {"idle": 0}).body["ended"]
    assert "team-a-idle" in ended
    assert {name[:7] for name in ended} == {"team-a-"}
    assert b.control("GET", "/clock").status == 200
    assert {row["id"][:7] for row in teams["team-b"].control("GET", "/usage").body["data"]} == {"team-b-"}


def test_metrics_take_a_token_for_all_worlds(teams: dict[str, Bearer]) -> None:
    refused = teams["team-a"].control("GET", "/metrics")
    assert refused.refusal == (403, "forbidden", None)
    assert refused.body["error"]["message"].startswith("Metrics cover all worlds of the server. The token 'team-a'")
    assert teams["admin"].control("GET", "/metrics").status == 200


def test_call_does_not_advance_the_clock_of_another_team(tmp_path: Path, http: httpx.Client) -> None:
    """A call that does not reach a world does not fire its timers."""
    with running(replace(EMPTY, control_tokens=file_of(tmp_path))) as (origin, application):
        attacker, owner = (Bearer(origin, http, bearer=TOKENS[name]) for name in ("team-a", "team-b"))
        running_world = owner.another(id="team-b-clock")
        running_world.control("PUT", "/clock", {"mode": "real"})
        world, driver = application.runtime.simulator.worlds["team-b-clock"], application.runtime.driver
        began_ms, real = world.now_ms, driver._seconds
        driver._seconds = lambda: real() + 60
        foreign = Bearer(origin, http, running_world.world, bearer=attacker.bearer)
        for method, path in (("GET", "/clock"), ("GET", "/requests"), ("POST", "/advance"), ("GET", "/usage")):
            assert foreign.control(method, path, {"by": "1d"} if method == "POST" else None).status in (200, 404)
            assert world.now_ms == began_ms
        assert running_world.control("GET", "/clock").status == 200
        assert world.now_ms >= began_ms + 60_000


def test_a_token_has_no_more_worlds_than_it_may(tmp_path: Path, http: httpx.Client) -> None:
    path = tmp_path / "tokens.yaml"
    row = {"name": "team-a", "token": TOKENS["team-a"], "worlds": "team-a-", "most_worlds": 2}
    path.write_text(json.dumps({"tokens": [row, {"name": "admin", "token": TOKENS["admin"], "worlds": "*"}]}))
    with running(replace(EMPTY, control_tokens=path)) as (origin, _):
        admin, team = (Bearer(origin, http, bearer=TOKENS[name]) for name in ("admin", "team-a"))
        admin.another(id="other-1")
        team.another(id="team-a-1")
        snapshot = team.another(id="team-a-2").control("POST", "/snapshots", {}).body["id"]
        for body in ({"id": "team-a-3"}, {}, {"from_snapshot": snapshot}):
            refused = team.control("POST", "/worlds", body)
            assert refused.refusal == (507, "simulator_quota_exceeded", None)
        assert "The token 'team-a' has 2 worlds" in refused.body["error"]["message"]
        assert team.control("POST", "/worlds", {"id": "team-a-2", "replace": True}).status == 201
        assert team.control("DELETE", "/worlds/team-a-1").status == 204
        team.another(id="team-a-3")
        assert len(team.control("GET", "/worlds").body["data"]) == 2
        admin.another(id="team-a-4")
