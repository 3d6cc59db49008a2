"""Random values in a test, such as references made from a UUID, which comparisons of two runs ignore.

The two runs without faults reveal which values are random. Reports replace them with `<random 1>`, `<random 2>` and so
on, in order of appearance, so that reports are reproducible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from simulator.exploration.runs.tasks import Document
from simulator.kernel.dataclass import dataclass

_WORD = re.compile(r"[\w-]+")
_LEAST = 6
"""The minimum length of a random word. Masking shorter words, such as every `3` that differs, would hide amounts."""

Row = Sequence[str]


@dataclass(frozen=True)
class Masks:
    """The random values in a test. `templates`: regular expressions for lines in the test's history, with a group for
    each random word. `references`: the references that are equal in both runs, or None if all of them are.
    """

    templates: tuple[re.Pattern[str], ...] = ()
    references: frozenset[str] | None = None

    def names(self, evidence: Document) -> Names:
        """Return the names that replace the random values in a run."""
        found = dict.fromkeys(self._random(evidence))
        return Names({value: f"<random {number}>" for number, value in enumerate(found, 1)})

    def _random(self, evidence: Document) -> Iterator[str]:
        if self.references is not None:
            books = evidence.get("books") or ()
            given = [row["reference"] for row in (*evidence["transactions"], *evidence["standing"])]
            for reference in (*given, *(row["order"] for row in books)):
                if len(reference) >= _LEAST and reference not in self.references:
                    yield reference
        for row in evidence.get("timeline", ()):
            for template in self.templates:
                if (match := template.fullmatch(row[-1])) is not None:
                    yield from (word for word in match.groups() if len(word) >= _LEAST)


class Names:
    """Replaces the random values in the texts of a run, such as ids, with names that are the same in every run."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._names, key=len, reverse=True)
        return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")

    def masked(self, text: str) -> str:
        """Return a string in which names replace the random values."""
        return self._pattern.sub(lambda found: self._names[found[0]], text) if self._names else text

    def rows(self, timeline: Sequence[Row]) -> list[Row]:
        """Return a history in which names replace the random values."""
        return [[*row[:-1], self.masked(row[-1])] for row in timeline]


def masks_of(one: Document, other: Document) -> Masks:
    """Return the random values in a test, determined from its two runs without faults."""
    references = [[row["reference"] for row in each["transactions"]] for each in (one, other)]
    same = None if references[0] == references[1] else frozenset(references[0]) & frozenset(references[1])
    texts = [[row[-1] for row in each.get("timeline", ())] for each in (one, other)]
    templates = {template.pattern: template for pair in _alike(*texts) if (template := _template(*pair)) is not None}
    return Masks(tuple(templates.values()), same)


def _alike(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Align two histories. Yield each pair of lines that are equal except for words with digits."""
    left, right = ([_shape(text) for text in texts] for texts in (before, after))
    for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        yield from zip(before[block.a : block.a + block.size], after[block.b : block.b + block.size], strict=True)


def _shape(text: str) -> str:
    return _WORD.sub(lambda word: "*" if any(map(str.isdigit, word[0])) else word[0], text)


def _template(one: str, other: str) -> re.Pattern[str] | None:
    words, others = _WORD.findall(one), _WORD.findall(other)
    if one == other or len(words) != len(others):
        return None
    differing = iter([word != another for word, another in zip(words, others, strict=True)])
    pieces, end = [], 0
    for match in _WORD.finditer(one):
        pieces += [re.escape(one[end : match.start()]), r"([\w-]+)" if next(differing) else re.escape(match[0])]
        end = match.end()
    return re.compile("".join([*pieces, re.escape(one[end:])]))
