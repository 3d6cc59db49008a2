"""The decisions on the interface as a whole: what the specification leaves open, chapter by chapter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.scenario.document import read

Row = tuple[str, str, str, str]
"""id, what is assumed, why, how to find out against the real service."""


def _read() -> Mapping[str, tuple[Row, ...]]:
    text = Path(__file__).with_suffix(".yaml").read_text("utf-8")
    chapters: dict[str, list[dict[str, str]]] = read(text).value
    return {
        chapter: tuple((row["id"], row["assumed"], row["why"], row["find_out"]) for row in rows)
        for chapter, rows in chapters.items()
    }


DECISIONS: Mapping[str, tuple[Row, ...]] = _read()
