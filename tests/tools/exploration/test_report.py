"""The output of explore: the page, JUnit, the receipt, findings as scenario files, and the replay command."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader
from simulator.exploration.baselines import Baseline
from simulator.exploration.catalogue import CLASSES, ORDERS
from simulator.exploration.exploring import Explored, Settings
from simulator.exploration.judgement.causes import ADVICE, FAMILIES, Judged, causes_of
from simulator.exploration.judgement.causes import VERDICTS as MEANINGS
from simulator.exploration.judgement.judging import VERDICTS, Problem, Verdict
from simulator.exploration.plans import NONE, Run, runs_of, without_fault
from simulator.exploration.reports import report
from simulator.exploration.reports.page import beside, first_difference
from simulator.exploration.reports.receipt import with_commit
from simulator.exploration.runs.aftermath import Hooks
from simulator.exploration.runs.tasks import Document
from simulator.host import Simulator
from tests.places import ROOT
from tests.run_evidence import EVERYTHING

EVIL = "<script>alert(1)</script>\x1b[31m\ud800\x00 \"'&`x`"
FIRST = ["2026-01-05T08:00:00.000Z", "request", "POST /v1/quotes → 201"]
CUT = ["2026-01-05T08:00:00.000Z", "request", "POST /v1/quotes → the connection was cut by a fault"]
LAST = ["2026-01-05T08:00:30.000Z", "transition", "processing → completed"]


NO_HOOKS = Hooks()


def judged(run: Run, verdict: str = "lost", note: str = "why", **more: Any) -> Judged:
    return Judged(run, Verdict(verdict, Decimal("4.99"), Decimal(0), "USDC", note), "passed", **more)


def run(fault: str = "refused-503", test: str = "test_it.py::test_it") -> Run:
    return Run(f"{fault}-1", test, fault, "POST /quotes #1", {})


def explored(*found: Judged, command: tuple[str, ...] = ("pytest", "tests"), hooks: Hooks = NO_HOOKS) -> Explored:
    evidence: Document = {"calls": [], "deliveries": [], "transactions": [], "timeline": [FIRST, LAST]}
    tests = dict.fromkeys([one.run.test for one in found])
    baseline = Baseline(evidence, "", 0.1, limit=15.0)
    return Explored(Settings(command, hooks=hooks), dict.fromkeys(tests, baseline), found, 0)


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def written(directory: Path, what: Explored) -> Path:
    report.write(what, directory)
    return directory


def test_what_was_stored_is_text_on_the_page_and_in_junit(tmp_path: Path) -> None:
    evil = Problem("lost", EVIL, Decimal(1), Decimal(0), EVIL, EVIL)
    one = judged(run(test=EVIL), note=EVIL, timeline=[["2026-01-05T08:00:00.000Z", "request", EVIL]], books=[evil])
    written(tmp_path, explored(one, command=("pytest", EVIL)))
    page = Page((tmp_path / "report.html").read_text("utf-8"))
    assert "script" not in page.tags
    assert page.text.count("<script>alert(1)</script>") >= 6
    case = ElementTree.parse(tmp_path / "junit.xml").find("testcase")
    assert case is not None
    assert "<script>alert(1)</script>\N{REPLACEMENT CHARACTER}[31m" in case.attrib["classname"]
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["findings"] == [one.run.id]
    told = report.summary(explored(one), tmp_path)
    assert "\x1b" not in told
    told.encode()


def test_junit_is_what_readers_of_junit_expect(tmp_path: Path) -> None:
    runs = [judged(run(name), verdict) for name, verdict in zip(CLASSES, VERDICTS, strict=False)]
    suite = ElementTree.fromstring(report.junit_report(explored(*runs), tmp_path, [one.run.id for one in runs[:6]]))
    assert suite.tag == "testsuite"
    cases = suite.findall("testcase")
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": len(VERDICTS), "failures": 6, "errors": 0, "skipped": 3}
    assert len(cases) == len(VERDICTS)
    for case in cases:
        assert set(case.attrib) == {"classname", "name"}
        assert [child.tag for child in case] in ([], ["failure"], ["skipped"])
    failures = suite.findall("testcase/failure")
    assert [one.attrib["type"] for one in failures] == list(VERDICTS[:6])
    for one in failures:
        assert one.attrib["message"] == "why"
        assert "rampsim explore --replay" in (one.text or "")


def test_a_page_has_the_story_in_two_columns_and_what_to_do(tmp_path: Path) -> None:
    book = Problem("lost", "A-1", Decimal("37.89"), Decimal(0), "USDC", "A-1: the books say 0")
    one = judged(run(), timeline=[FIRST, CUT, LAST], books=[book])
    page = Page((written(tmp_path, explored(one)) / "report.html").read_text("utf-8"))
    shown = " ".join(page.text.split())
    for text in (
        "losttest_it.py::test_it",
        ADVICE["refused-503"].mend,
        "rampsim explore --replay",
        "A-1: the books say 0",
        "37.89 USDC",
        "Without the faultWith it",
        "the connection was cut by a fault",
        "Digest of the reportsha256:",
    ):
        assert text in shown, text


def test_equal_rows_are_side_by_side() -> None:
    rows = beside([FIRST, LAST], [["", "control", "create fault flt_1 match (path /quotes)"], FIRST, CUT, LAST])
    texts = [tuple(cell and cell["text"] for cell in row) for row in rows]
    assert texts == [(FIRST[2], FIRST[2]), (None, CUT[2]), (LAST[2], LAST[2])]
    assert first_difference(rows) == 1
    assert first_difference(beside([FIRST, LAST], [FIRST, LAST])) is None
    later = beside([FIRST, LAST], [FIRST, ["2026-01-05T09:00:00.000Z", *LAST[1:]]])
    assert first_difference(later) == 1


def test_the_history_omits_steps_of_explore_itself() -> None:
    own = [["", "control", "upload scenario"], ["", "control", "activate names autopilot, what-goes-wrong"]]
    before = [FIRST, ["", "control", "activate names payout-fails"], ["", "control", "activate names none"], LAST]
    after = [
        *own, FIRST, ["", "control", "activate names payout-fails, what-goes-wrong"],
        ["", "control", "activate names what-goes-wrong"], LAST,
    ]  # fmt: skip
    assert first_difference(beside(before, after)) is None
    uploaded = [["", "control", "upload scenario"], ["", "control", "activate names mine"]]
    assert len(beside(uploaded, uploaded)) == 2


LINES = st.lists(st.sampled_from([FIRST, CUT, LAST]), max_size=8)


@given(LINES, LINES)
def test_no_line_of_either_story_is_lost_or_moved(before: list[list[str]], after: list[list[str]]) -> None:
    rows = beside(before, after)
    assert [row[0]["text"] for row in rows if row[0]] == [line[2] for line in before]
    assert [row[1]["text"] for row in rows if row[1]] == [line[2] for line in after]
    assert (first_difference(rows) is None) == (before == after)


def several(*, known: int = 0) -> Explored:
    """Nine runs under one class with one verdict, and one more under another class."""
    stale = [
        judged(Run(f"webhook-stale-{n}", f"test_{n}", "webhook-stale", f"transaction.completed #{n}", {}),
               "forged-accepted")
        for n in range(1, 10)
    ]  # fmt: skip
    return explored(*stale[: 9 - known], judged(run("refused-429")), *stale[9 - known :])


def test_findings_of_one_cause_are_one_finding_with_its_runs(tmp_path: Path) -> None:
    what = several()
    told = report.summary(what, tmp_path)
    assert "10 runs, 2 findings in 10 runs." in told
    assert (told.count("FORGED-ACCEPTED"), told.count("\n  replay"), told.count("LOST")) == (1, 2, 1)
    assert "also    in 8 runs with the same cause: A genuine delivery is replayed much later." in told
    for number in range(2, 10):
        assert f"webhook-stale-{number}  webhook-stale at transaction.completed #{number} in test_{number}" in told
    out = written(tmp_path, what)
    page = Page((out / "report.html").read_text("utf-8"))
    assert page.tags.count("h2") == 3  # one for the receipt
    assert "9 runs have this cause" in page.text
    found = json.loads((out / "report.json").read_text())
    runs = [f"webhook-stale-{number}" for number in range(1, 10)]
    assert found["findings"] == ["refused-429-1", *runs]
    assert [(one["verdict"], one["runs"]) for one in found["causes"]] == [
        ("lost", ["refused-429-1"]), ("forged-accepted", runs),
    ]  # fmt: skip
    assert found["causes"][0]["cause"].startswith("POST /quotes: ")


def test_a_cause_fails_once_in_junit_and_names_its_other_runs(tmp_path: Path) -> None:
    what = several()
    suite = ElementTree.fromstring(report.junit_report(what, tmp_path, [one.run.id for one in what.findings]))
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"]) == ("10", "2", "8")
    assert len(suite.findall("testcase/failure")) == 2
    skipped = [one.attrib["message"] for one in suite.findall("testcase/skipped")]
    assert skipped == ["the same cause as webhook-stale-1: forged-accepted, why"] * 8
    one_more = ElementTree.fromstring(report.junit_report(what, tmp_path, ["webhook-stale-9"]))
    (case,) = one_more.findall("testcase[failure]")
    assert (case.attrib["name"], one_more.attrib["skipped"]) == ("webhook-stale transaction.completed #9", "9")


def test_classes_that_find_one_mistake_have_one_cause() -> None:
    def at(fault: str, site: str, verdict: str = "lost") -> Judged:
        return judged(Run(f"{fault}-{site}", "test", fault, site, {}), verdict)

    same = [at("refused-500", "GET /transactions/{id} #1"), at("answer-lost-before-work", "GET /transactions/{id} #4")]
    events = [at("webhook-late", "transaction.completed #1"), at("webhook-forged", "transaction.processing #1")]
    other = [
        at("refused-500", "POST /quotes #1"),
        at("refused-500", "GET /transactions/{id} #2", "stuck"),
        at("webhook-forged", "transaction.processing #2", "forged-accepted"),
    ]
    causes = causes_of([*same, *events, *other])
    assert [len(one.findings) for one in causes] == [2, 2, 1, 1, 1]
    assert len({one.id for one in causes}) == 5


def test_any_run_of_a_report_can_be_replayed_by_its_id(tmp_path: Path) -> None:
    one = run("key-forgotten")
    out = written(tmp_path, explored(judged(run()), judged(one, "survived")))
    assert report.read_run(one.id, out) == one
    with pytest.raises(report.NoFinding, match="the report contains no run with this id"):
        report.read_run("key-forgotten-2", out)


def test_every_class_and_every_verdict_has_its_words() -> None:
    assert set(ADVICE) == {*CLASSES, NONE, ORDERS.name}
    assert set(MEANINGS) == set(VERDICTS)
    alike = [name for _, names in FAMILIES.values() for name in names]
    assert set(alike) <= set(CLASSES)
    assert len(alike) == len(set(alike))
    for advice in ADVICE.values():
        assert advice.means.endswith(".")
        assert advice.mend.endswith(".")


def test_the_page_for_readers_lists_every_class_with_what_it_means() -> None:
    page = ROOT.joinpath("simulator/docs/reference/explore.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", page, re.M)
    assert [row for row in rows if row[0] in CLASSES] == [(name, ADVICE[name].means) for name in CLASSES]


def test_a_finding_of_each_class_is_a_scenario_file_and_is_read_again(tmp_path: Path) -> None:
    runs = [*runs_of({"test": EVERYTHING}, "quick"), without_fault("test")]
    loader = Loader(Simulator(library=Library()).vocabulary)
    assert {one.fault for one in runs} == {*CLASSES, NONE}
    for number, one in enumerate(runs):
        path = tmp_path / f"{number}.yaml"
        path.write_text(report.finding_file(judged(one)))
        assert not loader.load_file(path, ()).warnings
        assert json.dumps(report.read_run(str(path), tmp_path).plan) == json.dumps(one.plan)


def test_findings_of_an_earlier_time_go_and_nothing_else(tmp_path: Path) -> None:
    written(tmp_path, explored(judged(run()), judged(run("key-forgotten"))))
    findings = tmp_path / "findings"
    (findings / "mine.yaml").write_text("name: mine\n")
    (findings / "notes.txt").write_text("# explore: {}\n")
    written(tmp_path, explored(judged(run("key-forgotten"))))
    assert {path.name for path in findings.iterdir()} == {"key-forgotten-1.yaml", "mine.yaml", "notes.txt"}


def test_the_line_of_a_replay_has_all_that_it_needs(tmp_path: Path) -> None:
    hooks = Hooks("python -m shop settle", "books $X.csv")
    settings = Settings(("pytest", "-k", "a or b"), hooks=hooks, seed=7)
    line = report.replay_line(settings, "x-1", tmp_path)
    assert shlex.split(line) == [
        "rampsim", "explore", "--replay", f"{tmp_path}/findings/x-1.yaml", "--settle", "python -m shop settle",
        "--books", "books $X.csv", "--seed", "7", "--", "pytest", "-k", "a or b",
    ]  # fmt: skip
    assert (
        report.replay_line(Settings(("pytest",)), "x-1", report.DIRECTORY) == "rampsim explore --replay x-1 -- pytest"
    )


def git(*words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    return subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True).stdout.strip()


def test_a_receipt_describes_its_exploration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    what = explored(judged(run()), judged(run("key-forgotten"), "survived"), hooks=Hooks("settle", "books.csv"))
    receipt = report.document(what)["receipt"]
    assert receipt["suite"] == {"command": ["pytest", "tests"]}
    assert with_commit(receipt)["suite"] == {"command": ["pytest", "tests"], "commit": None, "changed": None}
    assert (receipt["seed"], receipt["plan"], receipt["verdicts"]) == (1, "pair", {"lost": 1, "survived": 1})
    assert (receipt["faults"], receipt["settle"], receipt["books"]) == (list(CLASSES), "settle", "books.csv")
    Path("test_it.py").write_text("")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "one")
    suite = with_commit(receipt)["suite"]
    assert (suite["commit"], suite["changed"]) == (git("rev-parse", "HEAD"), False)
    out = written(tmp_path / ".rampsim/explore", what)
    assert json.loads((out / "receipt.json").read_text())["suite"] == suite
    assert report.document(what)["receipt"] == receipt
    before = (out / "report.json").read_bytes()
    Path("test_it.py").write_text("changed = True\n")
    git("commit", "-qam", "two")
    Path("test_it.py").write_text("changed = None\n")
    written(out, what)
    assert (out / "report.json").read_bytes() == before
    suite = json.loads((out / "receipt.json").read_text())["suite"]
    assert (suite["commit"], suite["changed"]) == (git("rev-parse", "HEAD"), True)


def test_the_digest_is_that_of_the_rest_of_the_report() -> None:
    one, same, other = (
        report.document(explored(judged(run(), note=note)))["receipt"]["digest"] for note in ("why", "why", "else")
    )
    assert one == same != other
