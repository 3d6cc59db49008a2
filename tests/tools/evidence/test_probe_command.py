"""`rampsim probe` against hidden services, and against servers that are not the service."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.cli.tools.probing import probe
from simulator.engine.worlds.observations import alternatives_in
from simulator.evidence import observed
from simulator.evidence.corpus import Exchange, read_line
from simulator.evidence.flow import read_steps
from simulator.evidence.local import LocalWorld, Simulators
from simulator.service import TOOLING
from tests.tools.evidence.hidden import control, hidden_service, judged, probed
from tests.tools.evidence.liar import Answer, liar
from tests.tools.evidence.test_facts import facts_of

ASSUMED = {"H1": "creating_answers_200", "H14": "lapses_after_1h", "S16": "send_hash_at_completion"}
KEYS = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with hidden_service(ASSUMED) as found:
        yield found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(probe, list(arguments))


def test_probe_with_control_decides_without_a_wrong_verdict(origin: str) -> None:
    before = control(origin, "GET", "/clock")
    code, report = probed(origin, origin, "--spend", "sandbox")
    counts, wrong = judged(report, ASSUMED)
    assert wrong == []
    assert counts["decided"] >= 40
    assert control(origin, "GET", "/clock") == before  # every timer of the run is gone, so the next run is as fast
    assert code == 1
    assert {row["id"] for row in report["assumptions"] if row["verdict"] == "differs"} == set(ASSUMED)


def test_probe_without_control_says_what_it_needs(origin: str) -> None:
    _code, report = probed(origin, "none")
    counts, wrong = judged(report, ASSUMED)
    assert wrong == []
    assert counts["needs-spend"] > 0
    assert all(row["reason"] for row in report["assumptions"] if row["verdict"] == "undecided")
    assert report["calls"] <= planned_calls() <= report["calls"] + 25


def planned_calls(*options: str) -> int:
    """Return the number of calls that a plan announces."""
    found = re.search(r"^(\d+) calls at most: ", run("--plan", *options).output, re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_plan_counts_facts_only_where_they_are_read(tmp_path: Path) -> None:
    out = tmp_path / "observed.yaml"
    everything = planned_calls("--out", str(out))
    simulators = Simulators()
    facts = facts_of(LocalWorld(simulators, {}))
    simulators.close()
    del facts["limits"]
    observed.write(out, "http://127.0.0.1:9/v1", "sandbox", [], [], facts)
    assert planned_calls("--out", str(out)) < everything - 50
    assert "about 1 for facts" in run("--plan", "--out", str(out)).output
    assert planned_calls("--only", "H3") < 10
    assert "--calls allows 20" in run("--plan", "--calls", "20").output


def test_probe_out_is_written_and_continued(origin: str, tmp_path: Path) -> None:
    out = tmp_path / "observed.yaml"
    probed(origin, origin, "--only", "H1", "--only", "H4", "--out", str(out))
    first = alternatives_in([observed.read(out, TOOLING.alternatives())])
    assert first == {"H1": "creating_answers_200"}
    code, report = probed(origin, origin, "--only", "H1", "--only", "H4", "--out", str(out))
    assert code == 1
    assert report["calls"] == 1, "the sign-in: everything was decided before"


def test_probe_stops_at_its_budget(origin: str) -> None:
    code, report = probed(origin, "none", "--calls", "2", "--only", "H3", "--only", "H1", "--only", "M7")
    assert report["calls"] <= 2
    assert {row["reason"] for row in report["assumptions"] if row["verdict"] == "undecided"} == {"budget"}
    assert code in (0, 1)


def test_plan_makes_no_call() -> None:
    done = run("--plan")
    assert done.exit_code == 0
    assert "needs-spend" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nowhere", *KEYS], "--target: 'nowhere' is not a URL"),
        ([*KEYS], "--target is missing. Give a base URL"),
        (["--only", "H99"], "H99"),
        (["--wait", "soon"], "--wait"),
        (["--target", "http://127.0.0.1:9/v1", "--public-key", "pk_live_real", "--secret-key", "sk_live_real"], "live"),
    ],
)
def test_probe_refuses_wrong_usage(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_probe_of_live_keys_spends_nothing() -> None:
    keys = ("--public-key", "pk_live_real", "--secret-key", "sk_live_real")
    done = run("--target", "http://127.0.0.1:9/v1", *keys, "--allow-live", "--spend", "sandbox")
    assert done.exit_code == 2
    assert "--spend none" in done.output


_IDS = re.compile(rb'"(?:id|[a-z_]+_id|reference|name|phone_number|access_token|request_id|url)": ?"([^"]{6,})"')


def test_report_and_file_have_sanitised_exchanges(origin: str, tmp_path: Path) -> None:
    """No id, token or personal value of an answer is in them, and each one is a line of a corpus."""
    secrets: set[str] = {KEYS[1], KEYS[3], "probe-Asha", "+254712345678", "254712345678"}

    def note(number: int, method: str, path: str, truth: Callable[[], Answer]) -> Answer:
        answer = truth()
        secrets.update(found.decode() for found in _IDS.findall(answer.body))
        return answer

    out, report_file = tmp_path / "out.yaml", tmp_path / "out.json"
    only = [
        part for one in ("H1", "H3", "H15", "H17", "L3", "M7", "M13", "gone-beneficiary") for part in ("--only", one)
    ]
    with liar(note, origin) as (relay, _):
        given = ["--target", f"{relay}/v1", *KEYS, "--control", "none", "--spend", "sandbox", *only]
        done = run(*given, "--out", str(out), "--json", str(report_file))
    report, written = json.loads(report_file.read_text()), yaml.safe_load(out.read_text())
    assert len(secrets) > 12, done.output
    for text in (json.dumps(report["exchanges"]), json.dumps(written["exchanges"])):
        assert sorted(one for one in secrets if one in text) == []
    for document in (report["exchanges"], written["exchanges"]):
        assert all(isinstance(read_line(json.dumps(one).encode()), Exchange) for one in document)
    assert len(written["exchanges"]) < len(report["exchanges"])
    assert {row["id"] for row in report["assumptions"] if row["verdict"] == "undecided"} <= {"H15", "M13"}
    for one, row in written["assumptions"].items():
        shown = [written["exchanges"][index] for index in row["exchanges"]]
        assert shown == [report["exchanges"][index] for index in _row(report, one)["exchanges"]]
    (wrong_method,) = written["assumptions"]["H3"]["exchanges"]
    exchange = written["exchanges"][wrong_method]
    assert (exchange["method"], exchange["path"], exchange["status"]) == ("DELETE", "/quotes", 405)


def _row(report: Any, identifier: str) -> Any:
    return next(row for row in report["assumptions"] if row["id"] == identifier)


LIVE = {"public": "pk_live_3f9c1d7e5b2a", "secret": "sk_live_8e1b6c0d4f7a"}


def test_probe_with_allow_live_uses_live_keys_and_hides_them(origin: str, tmp_path: Path) -> None:
    """The whole command line refuses live keys, except this option. The target accepts the keys of its own sandbox."""

    def sandbox(number: int, method: str, path: str, truth: Callable[[], Answer]) -> Answer | None:
        return Answer(200, {"access_token": token}) if path == "/v1/auth/token" else None

    token = sandbox_token(origin)
    given = ["--only", "H3", "--control", "none", "--allow-live"]
    files = ["--out", str(tmp_path / "out.yaml"), "--json", str(tmp_path / "out.json")]
    with liar(sandbox, origin) as (relay, _):
        base = ["probe", "--target", f"{relay}/v1"]
        keys = ["--public-key", LIVE["public"], f"--secret-key={LIVE['secret']}"]
        by_option = CliRunner().invoke(main, [*base, *given, *keys, *files])
        variables = {"RAMPSIM_PUBLIC_KEY": LIVE["public"], "RAMPSIM_SECRET_KEY": LIVE["secret"]}
        by_variable = CliRunner().invoke(main, [*base, *given], env=variables)
        elsewhere = CliRunner().invoke(main, [*base, *given, *keys, "--name", LIVE["secret"]])
        without = CliRunner().invoke(main, [*base, *given[:-1], *keys])
    assert (by_option.exit_code, by_variable.exit_code) == (0, 0), by_option.output + by_variable.output
    assert (elsewhere.exit_code, without.exit_code) == (2, 2)
    written = (tmp_path / "out.yaml").read_text()
    assert "environment: production" in written
    for text in (by_option.output, by_variable.output, written, (tmp_path / "out.json").read_text()):
        assert not any(key.rpartition("_")[2] in text for key in LIVE.values())


def test_observed_file_names_the_environment_of_the_keys(origin: str, tmp_path: Path) -> None:
    """The simulator issues keys of its own for production, which need no --allow-live."""
    out, token = tmp_path / "out.yaml", sandbox_token(origin)
    keys = ("--public-key", "pk_live_simulator", "--secret-key", "sk_live_simulator")
    answer = Answer(200, {"access_token": token})
    with liar(lambda number, method, path, _: answer if path == "/v1/auth/token" else None, origin) as (relay, _):
        run("--target", f"{relay}/v1", *keys, "--control", "none", "--only", "H3", "--out", str(out))
    assert "environment: production" in out.read_text()


def sandbox_token(origin: str) -> str:
    keys = json.dumps({"public_key": KEYS[1], "secret_key": KEYS[3]}).encode()
    request = Request(f"{origin}/v1/auth/token", keys, {"Content-Type": "application/json"})
    with urlopen(request, timeout=20) as response:
        return str(json.loads(response.read())["access_token"])


def test_plan_prints_calls_and_not_the_names_of_steps() -> None:
    lines = run("--plan", "--control", "none", "--spend", "sandbox").output.splitlines()
    at = lines.index("H14-1: 2 calls, creates: quote")
    assert lines[at + 1 : at + 3] == [
        "    POST /quotes (with an idempotency key)",
        "    POST /quotes (again with the same key)",
    ]
    names = [name for name in read_steps(TOOLING.probing().steps) if "_" in name]
    calls = [line for line in lines if line.startswith("    ") and "(needs-" not in line]
    assert [line for line in calls if any(re.search(rf"\b{name}\b", line) for name in names)] == []
    assert "H15-1: up to 40 calls, creates: nothing" in lines
    assert "    GET /profile (up to 40 times, until 429)" in lines
    assert "    DELETE /recurring-payments/{id} (clean-up)" in lines


def open_with(tmp_path: Path, *options: str) -> dict[str, dict[str, str]]:
    file = tmp_path / "plan.json"
    done = run("--plan", "--json", str(file), *options)
    assert done.exit_code == 0, done.output
    found: dict[str, dict[str, str]] = json.loads(file.read_text())["open"]
    return found


def test_plan_as_json_has_the_alternatives_that_stay_open(origin: str, tmp_path: Path) -> None:
    """A probe whose event cannot be caused is tried, but it decides nothing except by chance."""
    alone = open_with(tmp_path, "--control", "none")
    assert alone["H15"] == {"retry_after_is_a_date": "needs-event, tried"}
    assert alone["S22"] == {"degraded_refuses": "needs-event, tried"}
    assert alone["asset-list"] == {"only_what_is_held": "needs-event, tried"}
    assert alone["H14"]["refusals_bind_no_key"] == "needs-spend"
    assert set(open_with(tmp_path, "--control", "none", "--only", "H15", "--only", "H3")) == {"H15"}
    steered = open_with(tmp_path, "--control", origin, "--spend", "sandbox")
    assert {"H15", "S22", "asset-list"} & set(steered) == set()


def test_plan_and_run_agree_on_what_stays_open(origin: str, tmp_path: Path) -> None:
    planned = set(open_with(tmp_path, "--control", "none"))
    _, report = probed(origin, "none")
    assert {row["id"] for row in report["assumptions"] if row["verdict"] == "undecided"} <= planned


def test_plan_takes_the_suite_s_assumptions_first(tmp_path: Path) -> None:
    file = tmp_path / "assumptions.json"
    file.write_text(json.dumps({"assumptions": [{"id": "H17"}]}))
    first = run("--plan", "--for", str(file)).output.splitlines()[0]
    assert first.startswith("H17-")
