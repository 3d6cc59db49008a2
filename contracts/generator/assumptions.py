"""`contracts/assumptions.md`: every point the specification leaves open, what is assumed, why, and how to find out.

The decisions on the interface as a whole stand in `simulator/decisions.yaml`; what a single module assumes stands in
the module (`ASSUMPTIONS`), wherever that is. One page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

import simulator
from contracts.generator.decisions import DECISIONS
from simulator.resources import ORDER
from simulator.wire.assumptions import Assumption

_PACKAGE = Path(simulator.__file__).parent
_KEEPS = re.compile(r"^ASSUMPTIONS = ", re.MULTILINE)
_WHY = "Neither the specification nor a decision on the whole interface says; integrators would expect this."
_CHAPTERS: tuple[tuple[str, str, str], ...] = (
    ("wire", "Shared by all rooms", _WHY),
    *((f"resources.{name}", f"Room {name}", _WHY) for name in ORDER),
    ("server", "Server", "Only a simulator can be reached, or its worlds ended, in such ways."),
    ("control", "Control interface", "The page of the control interface leaves it open."),
)
"""The packages whose modules assume something: their chapter's title, and why its assumptions were needed."""


def all_assumptions() -> tuple[Assumption, ...]:
    """Every assumption, in the order of the page; ValueError for two of one id, or one that no chapter takes."""
    modules = _modules()
    decisions = (entry for rows in DECISIONS.values() for entry in rows)
    found = (*decisions, *(entry for package, _, _ in _CHAPTERS for entry in _of(package, modules)))
    known: dict[str, Assumption] = {}
    for entry in found:
        if known.setdefault(entry.id, entry) is not entry:
            raise ValueError(f"two assumptions have the id {entry.id}")
    if lost := {entry.id for rows in modules.values() for entry in rows} - known.keys():
        raise ValueError(f"no chapter takes {', '.join(sorted(lost))}")
    return found


def _modules() -> Mapping[str, tuple[Assumption, ...]]:
    """What each module assumes that has a tuple `ASSUMPTIONS`, by its name below the package, in order."""
    found = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        if _KEEPS.search(path.read_text("utf-8")):
            name = ".".join(path.relative_to(_PACKAGE).with_suffix("").parts).removesuffix(".__init__")
            found[name] = import_module(f"simulator.{name}").ASSUMPTIONS
    return found


def _of(package: str, modules: Mapping[str, tuple[Assumption, ...]]) -> list[Assumption]:
    """The assumptions of the modules of a package, by their ids: to move one to another module changes no page."""
    found = (entry for name, rows in modules.items() if f"{name}.".startswith(f"{package}.") for entry in rows)
    return sorted(found, key=lambda entry: entry.id)


def page() -> str:
    """The page as Markdown."""
    all_assumptions()
    modules = _modules()
    lines = [
        "# What the simulator assumes",
        "",
        "The specification promises much and leaves some points open. Where it is silent, the simulator had to choose. "
        "Whatever rests on such a choice is marked `x-provenance: assumed` in the contract, and `x-basis` names the "
        "entry on this page. Do not build on an assumed point without asking the real service; each entry says how.",
    ]
    for chapter, rows in DECISIONS.items():
        cells = ((entry, f"**{entry.point}**: {entry.text}", entry.why) for entry in rows)
        lines += _table(chapter, cells)
    for package, title, why in _CHAPTERS:
        lines += _table(title, ((entry, _sentence(entry.text), why) for entry in _of(package, modules)))
    return "\n".join(lines) + "\n"


def _table(title: str, rows: Iterable[tuple[Assumption, str, str]]) -> list[str]:
    lines = ["", f"## {title}", "", "| id | assumed | rests on it | why | how to find out |", "| - | - | - | - | - |"]
    for entry, text, why in rows:
        cells = (f'<a id="{entry.id}"></a>{entry.id}', text, entry.rests_on, why, entry.find_out)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return lines


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."
