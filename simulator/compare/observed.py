"""Compares two observed files, which contain verdicts about assumptions, and lists the verdicts that differ."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.engine.text.json import Shown
from simulator.engine.worlds.observations import Observed
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Changes:
    """The result of comparing two observed files."""

    compared: int
    changed: list[str]
    """One line for each verdict that has changed."""
    left_out: list[str]
    """The assumptions that only one of the files decides."""

    def readable(self) -> str:
        left_out = [f"not compared: {one} is decided in one file only" for one in self.left_out]
        return "\n".join([*self.changed, *left_out, f"{self.compared} verdicts compared, {len(self.changed)} changed"])


def changes(old: Observed, new: Observed) -> Changes:
    """Compare the verdicts in two observed files of the same service."""
    before, after = _decided(old.verdicts), _decided(new.verdicts)
    both = [one for one in before if one in after]
    return Changes(
        len(both),
        [f"{one}: {before[one]}, now {after[one]}" for one in both if before[one] != after[one]],
        sorted(before.keys() ^ after.keys()),
    )


def _decided(verdicts: Mapping[str, Shown]) -> dict[str, str]:
    return {
        one: str(row.get("alternative") or ("as assumed" if row["verdict"] == "holds" else row["verdict"]))
        for one, row in verdicts.items()
        if row["verdict"] != "undecided"
    }
