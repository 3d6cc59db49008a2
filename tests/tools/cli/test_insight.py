"""`rampsim advice` and `rampsim coverage`: output, files and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from tests.tools.cli.conftest import Command, Interface


@pytest.fixture
def walked(rampsim: Command) -> Command:
    """A world in which an integrator asked for its profile with the alias `limit` where it means something."""
    asked(rampsim, "/transactions?limit=1")
    return rampsim


def asked(rampsim: Command, path: str) -> None:
    world = rampsim.client.get(f"/worlds/{rampsim.world}")
    keys: dict[str, Any] = world["credentials"]["sandbox"]
    pair = {name: keys[name] for name in ("public_key", "secret_key")}
    with httpx.Client(trust_env=False) as http:
        token = http.post(f"{keys['base_url']}/auth/token", json=pair).json()["access_token"]
        auth = {"Authorization": f"Bearer {token}"}
        assert http.get(f"{keys['base_url']}{path}", headers=auth).status_code == 200


def test_advice_has_evidence_and_a_fix(walked: Command) -> None:
    result = walked("advice")
    assert result.exit_code == 0
    assert "limit_alias" in result.stdout
    assert "Use `size`" in result.stdout
    assert "see req_" in result.stdout


def test_the_gravest_advice_comes_first(rampsim: Command) -> None:
    for path in ("/transactions?limit=1", "/profile?surprise=1", "/orders?limit=1"):
        asked(rampsim, path)
        rampsim.client.post("/clock/advance", {"by": "1m"})
    severities = [row["severity"] for row in rampsim.json("advice", "--json")]
    assert sorted(set(severities)) == ["info", "warning"]
    assert severities == sorted(severities, reverse=True)
    text = rampsim("advice").stdout
    assert text.startswith("warning")


def test_no_advice(rampsim: Command) -> None:
    result = rampsim("advice", "--fail-on", "info")
    assert (result.exit_code, result.stdout) == (0, "No findings.\n")
    assert rampsim.json("advice", "--json") == []


def test_advice_can_fail_a_pipeline(walked: Command) -> None:
    assert [row["kind"] for row in walked.json("advice", "--json")] == ["limit_alias"]
    assert walked("advice", "--fail-on", "info").exit_code == 1
    assert walked("advice", "--fail-on", "warning").exit_code == 0


def test_advice_teaches(walked: Command) -> None:
    text = walked("advice").stdout
    assert "Why it hurts: An alias for compatibility will be removed one day." in text
    assert '- client.get("/transactions", params={"limit": 100})' in text
    assert '+ client.get("/transactions", params={"size": 100})' in text
    (row,) = walked.json("advice", "--json")
    origin = walked.client.url
    assert f"rule     {origin}{row['clause_links'][0]}\n" in text
    assert row["request_links"] == [f"/_simulator/dashboard?world={walked.world}#/requests/{row['requests'][0]}"]
    assert f"request  {origin}{row['request_links'][0]}\n" in text
    with httpx.Client(trust_env=False) as http:
        for link in row["clause_links"]:
            page, _, anchor = link.partition("#")
            shown = http.get(origin + page)
            assert shown.status_code == 200
            assert f'id="{anchor}"' in shown.text


@pytest.mark.parametrize(("least", "code"), [("info", 1), ("warning", 0), ("error", 0)])
def test_a_gate_closes_from_a_severity_on(walked: Command, least: str, code: int) -> None:
    assert walked("advice", "--fail-on", least).exit_code == code


def test_baseline_findings_pass_fail_on(walked: Command, tmp_path: Path) -> None:
    baseline = tmp_path / "advice.json"
    told = walked("advice", "--baseline", str(baseline), "--write-baseline")
    assert told.stdout == f"Wrote {baseline}: 1 known finding.\n"
    result = walked("advice", "--baseline", str(baseline), "--fail-on", "info")
    assert (result.exit_code, result.stdout) == (0, "No findings (1 known finding not shown).\n")
    assert walked.json("advice", "--json", "--baseline", str(baseline)) == []
    missing = walked("advice", "--baseline", str(tmp_path / "none.json"))
    assert missing.exit_code == 2
    assert "write it with --write-baseline" in missing.stderr
    baseline.write_text("[]")
    assert "is not a list of known findings" in walked("advice", "--baseline", str(baseline)).stderr
    assert walked("advice", "--write-baseline").exit_code == 2


def test_advice_for_machines(walked: Command, rampsim: Command) -> None:
    (line,) = walked("advice", "--format", "github").stdout.splitlines()
    assert line.startswith("::notice title=rampsim limit_alias::GET /transactions was called with `limit`. An alias")
    suite = ElementTree.fromstring(walked("advice", "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite[0].get("classname") == "advice.limit_alias"


def test_no_advice_for_machines(rampsim: Command) -> None:
    assert rampsim("advice", "--format", "github").stdout == "No findings.\n"
    suite = ElementTree.fromstring(rampsim("advice", "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_coverage_prints_a_line_for_every_dimension(walked: Command) -> None:
    result = walked("coverage")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == 8
    assert lines[0].split()[:5] == ["Operations", "that", "succeeded", "2", "of"]
    assert lines[-1].startswith("Total ")


def test_coverage_lists_what_is_missing(walked: Command) -> None:
    lines = walked("coverage", "--missing").stdout.splitlines()
    report = walked.json("coverage", "--json")
    assert "  - create_quote" in lines
    assert "  - create_token" not in lines
    assert sum(line.startswith("  - ") for line in lines) == report["total"] - report["covered"]


@pytest.mark.parametrize(("below", "code"), [("0", 0), ("exact", 0), ("above", 1), ("100", 1), ("nan", 1)])
def test_coverage_fails_below_its_threshold(walked: Command, below: str, code: int) -> None:
    percent = walked.json("coverage", "--json")["percent"]
    threshold = {"exact": str(percent), "above": str(percent + 0.1)}.get(below, below)
    result = walked("coverage", "--fail-under", threshold)
    assert result.exit_code == code
    assert ("is below" in result.stderr) is bool(code)


def test_a_threshold_that_is_not_a_percentage_is_wrong_usage(rampsim: Command) -> None:
    assert rampsim("coverage", "--fail-under", "101").exit_code == 2
    assert rampsim("coverage", "--fail-under", "much").exit_code == 2


def test_coverage_of_all_worlds(walked: Command) -> None:
    report = walked.json("coverage", "--json", "--all-worlds")
    assert report["world"] == "*"
    assert report["covered"] >= walked.json("coverage", "--json")["covered"] > 0


def test_coverage_as_a_page(walked: Command, tmp_path: Path) -> None:
    page = tmp_path / "coverage.html"
    result = walked("coverage", "--json", "--html", str(page))
    assert f"Integration coverage: {json.loads(result.stdout)['percent']} %" in page.read_text("utf-8")


def test_an_unwritable_page_is_reported(walked: Command, tmp_path: Path) -> None:
    result = walked("coverage", "--html", str(tmp_path / "nowhere" / "coverage.html"))
    assert result.exit_code == 1
    assert "nowhere" in result.stderr


def test_advice_of_all_worlds_names_the_world(make_command: Callable[..., Command]) -> None:
    first, second = make_command(scenarios=[]), make_command(scenarios=[])
    keys = first.client.get(f"/worlds/{first.world}")["credentials"]["sandbox"]
    pair = {"public_key": keys["public_key"], "secret_key": keys["secret_key"], "surprise": 1}
    Interface(keys["base_url"]).post("/auth/token", pair)
    first.client.call("DELETE", f"/worlds/{first.world}")
    assert "surprise" not in second("advice").stdout
    result = second("advice", "--all-worlds")
    assert "surprise" in result.stdout
    assert f"in the world {first.world}" in result.stdout
    rows = second.json("advice", "--all-worlds", "--json")
    assert {"unknown_field"} <= {row["kind"] for row in rows if row["world"] == first.world}
