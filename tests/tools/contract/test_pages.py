"""The readable pages: state diagrams and assumptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.generator import diagrams
from contracts.generator.assumptions import all_assumptions, page
from simulator.host import vocabulary
from simulator.providers.ramp.provider import ROOMS


def test_every_kind_of_resource_has_a_diagram_and_the_index_names_them_all() -> None:
    pages = diagrams.pages(ROOMS)
    index = pages["README.md"]
    text = "".join(pages.values())
    for room in ROOMS:
        assert all(f"`{ruled.name}`" in text for ruled in room.kinds)
    assert all(f"({name})" in index for name in pages if name != "README.md")
    assert {"kyc.md", "profile.md", "quote.md", "onramp-transaction.md"} <= pages.keys()


def test_diagram_shows_specified_and_assumed_transitions() -> None:
    onramp = diagrams.pages(ROOMS)["onramp-transaction.md"]
    assert "    [*] --> awaiting_payment: confirm\n" in onramp
    assert "    awaiting_payment --> failed: payment_declined (assumed S3)\n" in onramp
    assert "    expired --> [*]\n" in onramp
    assert "| `processing` | complete | `completed` | `transaction.completed` | specified |" in onramp


def test_every_assumption_lists_its_dependents() -> None:
    for entry in all_assumptions():
        assert entry.text
        assert entry.rests_on
    text = page()
    assert '<a id="H14"></a>H14' in text
    assert '<a id="listing-price"></a>listing-price' in text


def test_page_lists_the_assumptions_of_every_module() -> None:
    text = page()
    for identifier in ("list-zone", "webhook-dropped", "snapshot-settles", "stream-slow", "trigger-kyc"):
        assert f'<a id="{identifier}"></a>' in text, identifier


def _assume(package: Path, monkeypatch: pytest.MonkeyPatch, *identifiers: str) -> None:
    """A package with one file of assumptions, in place of the simulator's."""
    rows = "".join(f"    {identifier}: A text.\n" for identifier in identifiers)
    chapter = package / "providers" / "ramp"
    chapter.mkdir(parents=True)
    (chapter / "assumptions.yaml").write_text(f"- rests_on: all\n  assumed:\n{rows}")
    monkeypatch.setattr("contracts.generator.assumptions._PACKAGE", package)


def test_two_assumptions_with_one_id_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assume(tmp_path, monkeypatch, "H1")
    with pytest.raises(ValueError, match="two assumptions have the id H1"):
        all_assumptions()


def test_duplicate_id_in_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assume(tmp_path, monkeypatch, "twice", "once", "twice")
    with pytest.raises(ValueError, match="twice"):
        all_assumptions()


def test_assumption_outside_every_chapter_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assume(tmp_path, monkeypatch, "new")
    assert all_assumptions()[-1].id == "new"
    monkeypatch.setattr("contracts.generator.assumptions._CHAPTERS", ())
    with pytest.raises(ValueError, match=r"no chapter takes .*ramp"):
        all_assumptions()


def test_page_lists_the_bases_of_errors_and_state_tables() -> None:
    known = {entry.id for entry in all_assumptions()} | {"specified"}
    assert {row.basis for row in vocabulary().errors.values()} <= known
    moves = [
        move
        for room in ROOMS
        for ruled in room.kinds
        for move in (*ruled.machine.initial, *(move for row in ruled.machine.rows.values() for move in row))
    ]
    assert {move.basis for move in moves} - known == set()
