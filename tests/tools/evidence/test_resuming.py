"""Observed files that `rampsim probe` continues: the same service, the same date, and all earlier verdicts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from simulator.cli.tools.probing import probe
from simulator.evidence import observed
from simulator.evidence.observed import host_hash
from simulator.evidence.planning import Options, read_probes
from simulator.evidence.probing import Decisions, Verdict
from simulator.service import TOOLING
from tests.tools.evidence.hidden import hidden_service
from tests.tools.evidence.liar import Answer, liar

KEYS = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")
PROBING = TOOLING.probing()
FAILED = {"error": {"code": "internal_error", "message": "no"}}

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with hidden_service({"H4": "answers_422"}) as found:
        yield found


def run(origin: str, out: Path, *more: str) -> Result:
    given = ["--target", f"{origin}/v1", *KEYS, "--control", "none", "--out", str(out), *more]
    return CliRunner().invoke(probe, given)


def content(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def changed(path: Path, **members: object) -> None:
    """Replace members of an observed file."""
    path.write_text(yaml.safe_dump({**content(path), **members}))


@pytest.fixture
def out(origin: str, tmp_path: Path) -> Path:
    """An observed file with one verdict."""
    path = tmp_path / "observed.yaml"
    assert run(origin, path, "--only", "H3", "--name", "acme").exit_code == 0
    assert content(path)["assumptions"].keys() == {"H3"}
    return path


def test_file_of_another_service_is_refused_before_any_call(out: Path) -> None:
    before = out.read_bytes()
    with liar(lambda *_: Answer(200, {})) as (other, sent):
        done = run(other, out, "--only", "H4", "--control", "auto")
    assert done.exit_code == 2
    assert f"--out: {out}: the file describes another service, acme, not {other}/v1" in done.output
    assert sent == []
    assert out.read_bytes() == before


def test_file_of_another_environment_is_refused_before_any_call(origin: str, out: Path) -> None:
    changed(out, target={**content(out)["target"], "environment": "production"})
    done = run(origin, out, "--only", "H4")
    assert done.exit_code == 2
    assert "the file describes the environment production of acme, not sandbox" in done.output


def test_inferred_file_is_not_continued(origin: str, out: Path) -> None:
    observed.write(out, None, None, [], [], name="recording")
    done = run(origin, out, "--only", "H4")
    assert done.exit_code == 2
    assert "`rampsim infer` wrote this file about recording" in done.output


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a.test:8001/v1", "http://a.test:8002/v1", False),
        ("https://a.test:8443/v1", "https://a.test/v1", False),
        ("https://a.test:443/v1", "https://a.test/v1", True),
        ("https://a.test/v1", "https://A.test/v1/", True),
    ],
)
def test_host_hash_includes_the_port(one: str, other: str, same: bool) -> None:
    assert (host_hash(one) == host_hash(other)) is same


def test_continued_file_keeps_date_name_and_other_verdicts(origin: str, out: Path) -> None:
    changed(out, observed_at="2026-03-01")
    kept = content(out)["assumptions"]["H3"]
    done = run(origin, out, "--only", "H4", "--skip", "H3")
    assert f"{out}: continuing the file of 2026-03-01\n" in done.output
    after = content(out)
    assert after["observed_at"] == "2026-03-01"
    assert after["target"]["name"] == "acme"
    assert after["assumptions"]["H3"] == kept
    assert after["assumptions"]["H4"]["alternative"] == "answers_422"
    assert len(after["exchanges"]) > max(kept["exchanges"])


def test_facts_are_completed_by_later_runs(origin: str, tmp_path: Path) -> None:
    path = tmp_path / "observed.yaml"
    seen = []
    for _ in range(8):
        run(origin, path, "--calls", "60", "--spend", "none")
        seen.append(content(path)["facts"])
        if "currencies" in seen[-1] and len(seen[-1]["currencies"]) == 5:
            break
    assert len(seen) > 2, "one run has too few calls for all facts"
    assert {"fee_products", "limits", "rates", "spread", "currencies", "id_prefixes"} <= seen[-1].keys()
    assert all(earlier.keys() <= later.keys() for earlier, later in itertools.pairwise(seen))
    assert "unfit" not in seen[-1]
    whole = tmp_path / "whole.yaml"
    run(origin, whole)
    assert content(whole)["facts"] == seen[-1]


def test_target_that_fails_after_sign_in_leaves_no_file(origin: str, tmp_path: Path) -> None:
    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return None if path == "/v1/auth/token" else Answer(503, FAILED)

    out = tmp_path / "observed.yaml"
    with liar(lie, origin) as (target, _):
        for more in ((), ("--only", "H3")):
            done = run(target, out, *more)
            assert done.exit_code == 3, done.output
            assert "sign-in succeeds, but every other call failed" in done.output
            assert len(done.output.splitlines()) == 1
            assert not out.exists()


def test_target_that_fails_after_sign_in_leaves_the_earlier_file(origin: str, tmp_path: Path) -> None:
    fails = False

    def lie(number: int, method: str, path: str, truth: Any) -> Answer | None:
        return Answer(503, FAILED) if fails and path != "/v1/auth/token" else None

    out = tmp_path / "observed.yaml"
    with liar(lie, origin) as (target, _):
        run(target, out, "--only", "H3")
        before, fails = out.read_bytes(), True
        assert run(target, out, "--only", "H4").exit_code == 3
    assert out.read_bytes() == before


@pytest.mark.parametrize("place", ["/proc/o.yaml", "/dev/full", "MISSING/o.yaml"])
@pytest.mark.parametrize("option", ["--out", "--json"])
def test_unwritable_file_is_refused_before_any_call(tmp_path: Path, option: str, place: str) -> None:
    path = place.replace("MISSING", str(tmp_path / "missing"))
    with liar(lambda *_: Answer(200, {})) as (origin, sent):
        done = CliRunner().invoke(probe, ["--target", f"{origin}/v1", *KEYS, option, path])
    assert done.exit_code == 2
    assert len(done.output.splitlines()) == 1
    assert path in done.output
    assert sent == []


def test_check_of_writable_files_leaves_nothing_behind(tmp_path: Path) -> None:
    given = ("--out", str(tmp_path / "o.yaml"), "--json", str(tmp_path / "r.json"))
    assert CliRunner().invoke(probe, ["--target", "http://127.0.0.1:9/v1", *KEYS, *given]).exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_write_that_fails_later_is_one_line(origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(observed, "write", full)
    out = tmp_path / "o.yaml"
    done = run(origin, out, "--only", "H3", "--json", str(tmp_path / "r.json"))
    assert done.exit_code == 2
    assert done.output.endswith(f"rampsim: cannot write {out}: No space left on device\n")
    assert [row["verdict"] for row in json.loads((tmp_path / "r.json").read_text())["assumptions"]] == ["holds"]


def test_calls_are_counted_in_the_singular(origin: str, out: Path) -> None:
    assert "1 holds; 1 call\n" in run(origin, out, "--only", "H3").output


def test_nothing_to_decide_is_a_usage_error() -> None:
    done = CliRunner().invoke(probe, ["--only", "H1", "--skip", "H1", "--plan"])
    assert done.exit_code == 2
    assert "--only and --skip leave no assumption to decide" in done.output


@pytest.mark.parametrize(("alternative", "is_useful"), [(None, True), ("usable_at_expires_at", False)])
def test_verdict_of_an_earlier_run_allows_or_excludes_probes_that_rest_on_it(
    alternative: str | None, is_useful: bool
) -> None:
    """W8-1 decides nothing if S1 has the alternative."""
    document, switches = read_probes(PROBING), TOOLING.alternatives()
    decisions = Decisions(document, switches, Options(PROBING.spends))
    (dependent,) = [one for one in document["probes"] if one["id"] == "W8-1"]
    assert not decisions.useful(dependent)
    decisions.take(Verdict("S1", "", "differs" if alternative else "holds", alternative))
    assert decisions.useful(dependent) == is_useful
