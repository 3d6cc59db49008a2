"""`rampsim infer` and `rampsim compare` with recordings of hidden services."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.engine.server.config import Config
from simulator.engine.worlds.settings import DEFAULTS
from simulator.evidence import observed
from simulator.evidence.corpus import Corpus, Recording, read_corpus
from simulator.evidence.local import Simulators, combination
from simulator.evidence.probing import Verdict
from simulator.evidence.replay.inferring import Inference, features_in
from simulator.service import TOOLING
from tests.remote import running
from tests.tools.evidence.recorded import FLOWS, record, write

SWITCHES = TOOLING.alternatives()
ASSUMED = {"H1": "creating_answers_200", "H11": "only_in_the_header"}
SOME = ("f1", "f4", "f5", "f8", "f11", "f31", "f35")

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def simulators() -> Iterator[Simulators]:
    made = Simulators()
    yield made
    made.close()


@pytest.fixture
def corpus(simulators: Simulators, tmp_path: Path) -> Path:
    """A recording of a service with two alternatives."""
    return write(tmp_path / "corpus", [record(simulators, ASSUMED, flow) for flow in SOME])


def inferred(recordings: list[Recording]) -> dict[str, Verdict]:
    inference = Inference(Corpus(recordings, []), TOOLING.probing(), SWITCHES)
    try:
        return {one.id: one for one in inference.verdicts()}
    finally:
        inference.close()


def wrong(verdicts: Mapping[str, Verdict], assumed: Mapping[str, str]) -> list[str]:
    return [
        f"{one.id}: {one.verdict} {one.alternative or one.seen}, is {assumed.get(one.id)}"
        for one in verdicts.values()
        if one.verdict != "undecided"
        and (one.verdict, one.alternative) != ("differs" if one.id in assumed else "holds", assumed.get(one.id))
    ]


def run(*arguments: str | Path, **variables: str) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], env=variables)


def test_infer_decides_without_a_wrong_verdict(simulators: Simulators) -> None:
    verdicts = inferred([record(simulators, ASSUMED, flow) for flow in SOME])
    assert wrong(verdicts, ASSUMED) == []
    assert {one.id for one in verdicts.values() if one.verdict == "differs"} == set(ASSUMED)
    assert sum(one.verdict == "holds" for one in verdicts.values()) >= 5


def test_features_of_a_recording_in_memory_and_in_a_file_are_the_same(simulators: Simulators, tmp_path: Path) -> None:
    """HAR files are sanitised in memory, where numbers with decimals are `Decimal`."""
    made = record(simulators, {"S18": "figures_stay_after_failure"}, "f49")
    (read,) = read_corpus(write(tmp_path, [made])).recordings
    features = features_in(made.exchanges)
    assert features == features_in(read.exchanges)
    assert features["#6 body.receive_amount"] == "number"


@pytest.mark.long
@pytest.mark.skipif(not os.environ.get("LONG"), reason="it takes minutes: `make long` runs it")
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_infer_of_a_hidden_service_is_never_wrong(simulators: Simulators, seed: int) -> None:
    assumed = combination(SWITCHES, f"hidden {seed}")
    verdicts = inferred([record(simulators, assumed, flow) for flow in FLOWS])
    assert wrong(verdicts, assumed) == []
    assert sum(one.verdict != "undecided" for one in verdicts.values()) >= 12


def test_infer_of_contradicting_recordings_is_neither(simulators: Simulators) -> None:
    one = record(simulators, {}, "f1")
    other = Recording("other", record(simulators, {"H1": "creating_answers_200"}, "f1").exchanges)
    verdict = inferred([one, other])["H1"]
    assert verdict.verdict == "neither"
    assert "status" in str(verdict.seen)


def test_infer_writes_a_file_with_which_a_comparison_finds_nothing(corpus: Path, tmp_path: Path) -> None:
    with (corpus / "f1.jsonl").open("ab") as file:
        file.write(b'{"n": 9, "direction"')
    out = tmp_path / "observed.yaml"
    done = run("infer", corpus, "--out", out, "--json", tmp_path / "report.json")
    assert done.exit_code == 1, done.output
    assert "f1.jsonl:2: is not JSON" in done.output
    report = json.loads((tmp_path / "report.json").read_text())
    differs = {row["id"]: row["alternative"] for row in report["assumptions"] if row["verdict"] == "differs"}
    assert differs == ASSUMED
    for row in report["assumptions"]:
        assert all(index < len(report["exchanges"]) for index in row["exchanges"])
    target = yaml.safe_load(out.read_text())["target"]
    assert target == {"name": "corpus", "environment": "sandbox"}  # recordings do not contain the host
    usual = run("compare", corpus)
    assert usual.exit_code == 1
    assert "recorded '200', simulated '201'" in usual.output
    same = run("compare", corpus, "--observed", out)
    assert same.exit_code == 0, same.output
    assert "0 differences" in same.output
    assert "f1.jsonl:2" in same.output


def test_infer_refuses_to_overwrite_other_files(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inference, "verdicts", lambda _: pytest.fail("the recording was replayed"))
    out = tmp_path / "observed.yaml"
    observed.write(out, "https://api.example.test/v1", "sandbox", [], [])
    for problem in ("`rampsim probe` wrote this file", "is not an observed file"):
        before = out.read_bytes()
        done = run("infer", corpus, "--out", out)
        assert done.exit_code == 2
        assert problem in done.output
        assert "Use another --out" in done.output
        assert out.read_bytes() == before
        out.write_text("my notes")


def test_infer_overwrites_its_own_file(corpus: Path, tmp_path: Path) -> None:
    for path in corpus.glob("f[2-9]*"):
        path.unlink()
    out = tmp_path / "observed.yaml"
    observed.write(out, None, None, [], [], name="earlier")
    run("infer", corpus, "--out", out, "--name", "later")
    assert observed.read(out, SWITCHES).target["name"] == "later"


@pytest.mark.parametrize("place", ["/proc/o.yaml", "/dev/full", "missing/o.yaml"])
@pytest.mark.parametrize("option", ["--out", "--json"])
def test_infer_refuses_unwritable_files(corpus: Path, option: str, place: str) -> None:
    done = run("infer", corpus, option, place)
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert place in done.output


def test_a_payout_fails_with_the_recorded_code_in_a_replay(simulators: Simulators, tmp_path: Path) -> None:
    made = record(simulators, {}, "f25")
    codes = {row.response.get("failure_code") for row in made.exchanges if isinstance(row.response, dict)}
    assert "payout_failed" in codes
    done = run("compare", write(tmp_path / "corpus", [made]))
    assert done.exit_code == 0, done.output
    assert "25 calls replayed, 0 differences" in done.output


def test_accepted_differences_need_a_reason_and_a_use(corpus: Path, tmp_path: Path) -> None:
    accept = tmp_path / "accepted.yaml"
    entries = ['{kind: status, recorded: "200*", reason: the service returns 200}']
    accept.write_text("".join(f"- {one}\n" for one in entries))
    done = run("compare", corpus, "--accept", accept)
    assert done.exit_code == 0, done.output
    accept.write_text("".join(f"- {one}\n" for one in [*entries, "{kind: span, reason: once it was so}"]))
    unused = run("compare", corpus, "--accept", accept)
    assert unused.exit_code == 1
    assert "[1]: no difference matches this entry (once it was so)" in unused.output
    accept.write_text("- {kind: status}\n")
    assert "has no `reason`" in run("compare", corpus, "--accept", accept).output


def test_comparison_of_nothing_is_not_green(corpus: Path, tmp_path: Path) -> None:
    for path in corpus.iterdir():
        path.unlink()
    row = {"n": 1, "direction": "call", "after_ms": 0, "method": "GET", "path": "/profile", "status": None}
    (corpus / "a.jsonl").write_text(json.dumps(row))
    out = corpus / "observed.yaml"
    for command in (("compare", corpus), ("infer", corpus, "--out", out)):
        done = run(*command)
        assert done.exit_code == 1
        assert "no response" in done.output
    assert not out.exists()
    (corpus / "a.jsonl").unlink()
    assert run("compare", corpus).exit_code == 2
    assert run("infer", corpus).exit_code == 2


def test_comparison_with_a_service_finds_its_changes(corpus: Path) -> None:
    keys = ("--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator")
    results = {}
    for name, assumed in (("same", ASSUMED), ("changed", {"H11": "only_in_the_header"})):
        settings = {**DEFAULTS, "assumptions": assumed}
        with running(Config(clock="real", settings=settings, scenarios=())) as (origin, _):
            results[name] = run("compare", corpus, "--target", f"{origin}/v1", *keys)
    assert results["same"].exit_code == 0, results["same"].output
    assert results["changed"].exit_code == 1
    assert "recorded '200', now '201' (not specified)" in results["changed"].output
    assert "4 in behaviour that is not specified" in results["changed"].output
    assert "The service has changed since the recording." in results["changed"].output
    assert "has changed" not in results["same"].output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nowhere"], "/v1"),
        (["--target", "http://127.0.0.1:9/v1"], "key pair"),
        (["--target", "http://127.0.0.1:9/v1", "--public-key", "pk_test_a", "--secret-key", "sk_live_" + "a1B2" * 8],
         "live key"),
    ],
)  # fmt: skip
def test_comparison_refuses_wrong_usage(corpus: Path, arguments: list[str], message: str) -> None:
    done = run("compare", corpus, *arguments, RAMPSIM_PUBLIC_KEY="", RAMPSIM_SECRET_KEY="")
    assert done.exit_code == 2
    assert message in done.output


def test_comparison_with_a_silent_service_exits_with_3(corpus: Path) -> None:
    done = run("compare", corpus, "--target", "http://127.0.0.1:9/v1", "--public-key", "pk_test_a",
               "--secret-key", "sk_test_a")  # fmt: skip
    assert done.exit_code == 3
