"""The project's prose is plain English. `python -m tests.english [PATH]` prints the sentences that are not."""

from __future__ import annotations

import pytest

from tests.english import Paragraph, found_below, judged

pytestmark = pytest.mark.xdist_group("source")  # its modules are parsed once


def test_every_sentence_follows_the_rules() -> None:
    found = [f"{one.path}:{one.line}: {one.rule}: {one.sentence}" for one in found_below()]
    assert found == [], "see them with: python -m tests.english"


@pytest.mark.parametrize(
    ("kind", "text", "rules"),
    [
        ("docstring", "What the rows say.", ["starts with 'What'"]),
        ("docstring", "How calls are counted.", ["starts with 'How'"]),
        ("docstring", "Whether it is open. What it costs is in `fees`.", []),
        ("docstring", "Return the rows. None where none is open.", ["'None where'"]),
        ("page", "What the rows say.", []),
        ("string", "it is told to whoever waits", ["'told'"]),
        ("string", "two objects that can be told apart", []),
        ("string", "this is no terminal", ["'is no t'"]),
        ("string", "it is no longer open; there is no other", []),
        ("string", "recommended amendments", []),
        ("page", "Set `told anew`, as [the page](told.md) says.", []),
        ("page", "One. Word " + "word " * 39 + "end.", ["41 words"]),
        ("page", "word " * 20 + "end. " + "Word " * 20 + "end.", []),
    ],
)
def test_judged_sentence_breaks_expected_rules(kind: str, text: str, rules: list[str]) -> None:
    assert [one.rule for one in judged(Paragraph("page.md", 1, kind, text))] == rules


def test_judged_reports_the_line_of_the_sentence() -> None:
    (one,) = judged(Paragraph("page.md", 10, "page", "First line.\nSecond line.\nIt begins anew."))
    assert (one.line, one.sentence) == (12, "It begins anew.")
