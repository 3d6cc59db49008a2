"""`contracts/assumptions.md`: every point the specification leaves open, what is assumed, why, and how to find out.

All of it is data beside the code: the decisions on the interface as a whole stand in `simulator/decisions.yaml`, what a
package assumes in its `assumptions.yaml`. One page.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import simulator
from contracts.generator.decisions import DECISIONS, Assumption, data_of
from simulator.resources import ORDER
from simulator.wire.alternatives import SWITCHES

_PACKAGE = Path(simulator.__file__).parent
_FILE = "assumptions.yaml"
_WHY = "Neither the specification nor a decision on the whole interface says; integrators would expect this."
_CHAPTERS: tuple[tuple[str, str, str], ...] = (
    ("wire", "Shared by all rooms", _WHY),
    *((f"resources.{name}", f"Room {name}", _WHY) for name in ORDER),
    ("server", "Server", "Only a simulator can be reached, or its worlds ended, in such ways."),
    ("control", "Control interface", "The page of the control interface leaves it open."),
)
"""The packages whose modules assume something: their chapter's title, and why its assumptions were needed."""


def all_assumptions() -> tuple[Assumption, ...]:
    """Every assumption, in the order of the page; ValueError for two of one id, or a file that no chapter takes."""
    decisions = (entry for rows in DECISIONS.values() for entry in rows)
    found = (*decisions, *(entry for package, _, _ in _CHAPTERS for entry in _of(package)))
    known: dict[str, Assumption] = {}
    for entry in found:
        if known.setdefault(entry.id, entry) is not entry:
            raise ValueError(f"two assumptions have the id {entry.id}")
    if lost := set(_PACKAGE.rglob(_FILE)) - {_file(package) for package, _, _ in _CHAPTERS}:
        raise ValueError(f"no chapter takes {', '.join(map(str, sorted(lost)))}")
    return found


def _file(package: str) -> Path:
    return _PACKAGE.joinpath(*package.split("."), _FILE)


def _of(package: str) -> list[Assumption]:
    """What a package assumes, by ids. A group of its file is what the same things rest on and is found out alike."""
    file = _file(package)
    groups = data_of(file) if file.exists() else []
    found = [
        Assumption(identifier, text, group["rests_on"], group["find_out"])
        for group in groups
        for identifier, text in group["assumed"].items()
    ]
    return sorted(found, key=lambda entry: entry.id)


def page() -> str:
    """The page as Markdown."""
    all_assumptions()
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
        lines += _table(title, ((entry, _sentence(entry.text), why) for entry in _of(package)))
    lines += _switches()
    return "\n".join(lines) + "\n"


def docs_page() -> str:
    """The same for the documentation; there every entry is a list item of its own, to be read on a phone too."""
    lines = [
        "# What the simulator assumes",
        "",
        "The specification of the service promises much and leaves some points open. Where it is silent, the simulator "
        "had to choose. Whatever rests on such a choice is marked `x-provenance: assumed` in the contract, and "
        "`x-basis` names the entry on this page. Do not build on an assumed point without asking the real service; "
        "each entry says how.",
        "",
        f"{len(SWITCHES)} points can be [switched](#what-can-be-switched): a world then assumes the alternative, and "
        "you see what your code makes of it.",
    ]
    for chapter, rows in DECISIONS.items():
        lines += ["", f"## {chapter}"]
        for row in rows:
            lines += _entry(row, row.point[:1].upper() + row.point[1:], row.why)
    for package, title, why in _CHAPTERS:
        lines += ["", f"## {title}", "", why]
        for entry in _of(package):
            lines += _entry(entry, "", "")
    return "\n".join([*lines, *_switched()]) + "\n"


def _entry(entry: Assumption, point: str, why: str) -> list[str]:
    name = f'<a id="{entry.id}"></a>**{entry.id}**'
    lines = ["", f"{name} {point}." if point else name, "", _sentence(entry.text), ""]
    if why:
        lines.append(f"- *Why it had to be decided*: {why}")
    lines += [f"- *Rests on it*: {_sentence(entry.rests_on)}", f"- *Find out*: {entry.find_out}"]
    if entry.id in SWITCHES:
        names = ", ".join(f"`{name}`" for name in SWITCHES[entry.id].alternatives)
        lines.append(f"- *Can be [switched](#what-can-be-switched)* to {names}.")
    return lines


def _switched() -> list[str]:
    lines = [
        "",
        "## What can be switched",
        "",
        '`rampsim serve --assume H14=lapses_after_1h` has every world assume an alternative; `"settings": '
        '{"assumptions": {"H14": "lapses_after_1h"}}` when a world is made, only that one. `rampsim assumptions` shows '
        "this list, and `rampsim explore --assumptions -- pytest` runs your tests under one alternative at a time.",
    ]
    for switch in SWITCHES.values():
        lines += ["", f"### {switch.id} as an alternative", "", f"Usually: {_sentence(switch.assumed)}", ""]
        lines += [f"- `{name}`: {_sentence(changes)}" for name, changes in switch.alternatives.items()]
        lines += [f"- *Ask the service*: {switch.question}", f"- *Find out in the sandbox*: {_sentence(switch.call)}"]
    return lines


def _table(title: str, rows: Iterable[tuple[Assumption, str, str]]) -> list[str]:
    lines = ["", f"## {title}", "", "| id | assumed | rests on it | why | how to find out |", "| - | - | - | - | - |"]
    for entry, text, why in rows:
        if entry.id in SWITCHES:
            text += " This can be [switched](#what-can-be-switched)."
        cells = (f'<a id="{entry.id}"></a>{entry.id}', text, entry.rests_on, why, entry.find_out)
        lines.append(_row(cells))
    return lines


def _switches() -> list[str]:
    lines = [
        "",
        "## What can be switched",
        "",
        "A world can assume otherwise: `settings.assumptions` of `POST /_simulator/worlds` and `PATCH "
        "/_simulator/settings` names the alternative by the id, and so does `rampsim serve --assume ID=ALTERNATIVE` of "
        "every world. `rampsim assumptions` and `GET /_simulator/assumptions` show the same list.",
        "",
        "| id | usually | alternatives | ask the service | find out in the sandbox |",
        "| - | - | - | - | - |",
    ]
    for switch in SWITCHES.values():
        names = " ".join(f"`{name}`: {changes}" for name, changes in switch.alternatives.items())
        cells = f"[{switch.id}](#{switch.id})", switch.assumed, names, switch.question, switch.call
        lines.append(_row(cells))
    return lines


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."
