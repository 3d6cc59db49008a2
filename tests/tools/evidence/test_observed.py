"""The observed file: reading, invalid files, files that disagree, and old files."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from simulator.engine.worlds.observations import alternatives_in, observations
from simulator.evidence import observed
from simulator.evidence.probing import Verdict
from simulator.service import TOOLING

SWITCHES = TOOLING.alternatives()


def written(path: Path, *verdicts: Verdict) -> Path:
    observed.write(path, "https://api.example.test/v1", "sandbox", verdicts, [])
    return path


def verdict(identifier: str, alternative: str | None) -> Verdict:
    return Verdict(identifier, "", "differs" if alternative else "holds", alternative)


def test_read_returns_what_was_written(tmp_path: Path) -> None:
    path = written(tmp_path / "a.yaml", verdict("H14", "lapses_after_1h"), verdict("H1", None))
    file = observed.read(path, SWITCHES)
    assert alternatives_in([file]) == {"H14": "lapses_after_1h"}
    assert [one.verdict for one in observed.verdicts_in(file, SWITCHES)] == ["differs", "holds"]
    assert "example.test" not in path.read_text()


def test_write_leaves_undecided_out(tmp_path: Path) -> None:
    path = written(tmp_path / "a.yaml", Verdict("H1", ""))
    assert observed.read(path, SWITCHES).verdicts == {}


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("H14:", "H99:", "assumptions.H99"),
        ("lapses_after_1h", "lapses_never", "assumptions.H14.alternative"),
        ("version: 1", "version: 7", "version: 7 is newer"),
        ("verdict: differs", "verdict: sure", "assumptions.H14.verdict"),
        ("    alternative: lapses_after_1h\n", "", "assumptions.H14.alternative: it is missing"),
        ("    exchanges: []", "    exchange: []", "assumptions.H14.exchange: .*did you mean `exchanges`"),
        ("assumptions:", "asumptions:", "asumptions: .*did you mean `assumptions`"),
        ("facts: {}", "facts: {rate: []}", "facts.rate: .*did you mean `rates`"),
    ],
)
def test_read_refuses_and_names_the_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    path = written(tmp_path / "a.yaml", verdict("H14", "lapses_after_1h"))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(observed.BadObserved, match=place):
        observed.read(path, SWITCHES)


def test_read_refuses_what_is_not_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    for text in ("[1]", "a: [", "", "version: 1\nobserved_at: 2026-11-23\nassumptions: [1]"):
        path.write_text(text)
        with pytest.raises(observed.BadObserved):
            observed.read(path, SWITCHES)


def test_read_files_refuses_two_files_that_disagree(tmp_path: Path) -> None:
    one = written(tmp_path / "a.yaml", verdict("H14", "lapses_after_1h"))
    other = written(tmp_path / "b.yaml", verdict("H14", None))
    assert observations(observed.read_files([one, one], SWITCHES))["H14"].alternative == "lapses_after_1h"
    with pytest.raises(observed.BadObserved, match=r"a\.yaml.*b\.yaml"):
        observed.read_files([one, other], SWITCHES)


def test_read_files_refuses_facts_that_disagree(tmp_path: Path) -> None:
    one, other = written(tmp_path / "a.yaml"), written(tmp_path / "b.yaml")
    facts = "facts: {limits: {daily: '7', currency: KES}}"
    one.write_text(one.read_text().replace("facts: {}", facts))
    assert observed.read_files([one, other], SWITCHES)[0].facts["limits"]["daily"] == "7"
    other.write_text(other.read_text().replace("facts: {}", facts.replace("7", "8")))
    with pytest.raises(observed.BadObserved, match=r"a\.yaml.*b\.yaml.*facts\.limits"):
        observed.read_files([one, other], SWITCHES)


def test_warning_only_for_an_old_file(tmp_path: Path) -> None:
    file = observed.read(written(tmp_path / "a.yaml"), SWITCHES)
    date = datetime.date.fromisoformat(file.date)
    assert observed.warnings_of([file], date + datetime.timedelta(days=90)) == []
    (warning,) = observed.warnings_of([file], date + datetime.timedelta(days=91))
    assert "observed 91 days ago. Probe into a new file" in warning
