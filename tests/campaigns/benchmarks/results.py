"""Measurements and what is derived from them: medians, ratios, verdicts, the table, the results file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from tests.campaigns.benchmarks.rows import Row

NOW, BEFORE, TWIN = "simulator", "before", "twin"
"""The names of what is measured: this tree, the one it is compared with, and the bare twin."""


@dataclass(frozen=True)
class Sample:
    """One measurement of one row; `size` is how much there was of what the row's `sizes` names."""

    row: str
    subject: str
    value: float
    calibration_ms: float
    size: int = 0


@dataclass(frozen=True)
class Outcome:
    """A row as it is shown. `base`, to which the ratio is, is the twin's figure or that at the smallest size."""

    row: Row
    base: float | None
    measured: float
    ratio: float | None
    met: bool


@dataclass
class Results:
    """All samples of a run."""

    samples: list[Sample] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The scenes that did not come to their end."""

    def add(self, samples: Iterable[Sample]) -> None:
        self.samples.extend(samples)

    def values(self, row: str, subject: str, size: int | None = None) -> list[float]:
        return [
            sample.value
            for sample in self.samples
            if (sample.row, sample.subject) == (row, subject) and (size is None or sample.size == size)
        ]

    def sizes(self, row: str, subject: str) -> list[int]:
        """The sizes at which the row was measured, in increasing order."""
        found = {sample.size for sample in self.samples if (sample.row, sample.subject) == (row, subject)}
        return sorted(found)

    def subjects(self, row: str) -> list[str]:
        return list(dict.fromkeys(sample.subject for sample in self.samples if sample.row == row))

    def curve(self, row: str, subject: str) -> list[tuple[int, float]]:
        """The median at each size."""
        return [(size, median(self.values(row, subject, size))) for size in self.sizes(row, subject)]

    def calibration_ms(self, row: str) -> float:
        return median(sample.calibration_ms for sample in self.samples if sample.row == row)

    def outcome(self, row: Row, subject: str = NOW) -> Outcome | None:
        """None when the row was not measured."""
        curve = self.curve(row.name, subject)
        if not curve:
            return None
        measured = curve[-1][1]
        twins = self.values(row.name, TWIN)
        base = median(twins) if twins else curve[0][1] if len(curve) > 1 else None
        ratio = measured / base if base else None
        held = measured if row.against == "value" else ratio
        met = held is not None and (held >= row.bound if row.better == "more" else held <= row.bound)
        return Outcome(row, base, measured, ratio, met)


def figure(value: float | None) -> str:
    """A number with about three digits that count."""
    if value is None:
        return "–"
    size = abs(value)
    places = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{places}f}"


def table(results: Results, rows: Sequence[Row]) -> str:
    """All rows that were measured, as a table in Markdown: ratio first, then what it is made of."""
    lines = [("row", "what", "ratio", "base", "measured", "unit", "goal", "", "loop")]
    for row in rows:
        found = results.outcome(row)
        if found is None:
            continue
        verdict = "met" if found.met else f"NOT MET{': ' if row.bound_by else ''}{row.bound_by}"
        lines.append((
            row.name, row.what, figure(found.ratio), _base(results, row, found), _measured(results, row, found),
            row.unit, row.goal, verdict, f"{results.calibration_ms(row.name):.1f} ms",
        ))  # fmt: skip
    return aligned(lines)


def _base(results: Results, row: Row, found: Outcome) -> str:
    if found.base is None:
        return "–"
    at = f"at {results.sizes(row.name, NOW)[0]:,}" if row.sizes else "twin"
    return f"{figure(found.base)} ({at})"


def _measured(results: Results, row: Row, found: Outcome) -> str:
    return figure(found.measured) + (f" (at {results.sizes(row.name, NOW)[-1]:,})" if row.sizes else "")


def comparison(results: Results, rows: Sequence[Row]) -> str:
    """Both commits beside each other: the first ratio is this tree's figure to that of the other."""
    lines = [("row", "what", "unit", "now / before", "before", "now", "goal", "met before", "met now")]
    for row in rows:
        now, before = results.outcome(row), results.outcome(row, BEFORE)
        if now is None or before is None:
            continue
        lines.append((
            row.name, row.what, row.unit, figure(now.measured / before.measured) if before.measured else "–",
            _as_held(before), _as_held(now), row.goal, "yes" if before.met else "no", "yes" if now.met else "no",
        ))  # fmt: skip
    return aligned(lines)


def _as_held(found: Outcome) -> str:
    """The value that is compared with the goal. For a ratio, also the measured value."""
    if found.row.against == "value" or found.ratio is None:
        return figure(found.measured)
    return f"{figure(found.ratio)} × ({figure(found.measured)})"


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns stand under each other."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    padded.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def as_json(results: Results, rows: Sequence[Row], **about: object) -> dict[str, Any]:
    """All results as JSON."""
    found = {row.name: results.outcome(row) for row in rows}
    return {
        **about,
        "failed": results.failed,
        "rows": {
            name: {**asdict(outcome), "row": asdict(outcome.row), "goal": outcome.row.goal}
            for name, outcome in found.items()
            if outcome is not None
        },
        "samples": [asdict(sample) for sample in results.samples],
    }
