"""`contracts/assumptions.md`: every point the specification leaves open, what is assumed, why, and how to find out.

All of it is data beside the code: the decisions on the interface as a whole are in
`simulator/providers/ramp/decisions.yaml`, what a package assumes in its `assumptions.yaml`. One page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import simulator
from contracts.generator.decisions import DECISIONS, Assumption, data_of
from simulator.host import PROVIDER

SWITCHES = PROVIDER.alternatives()
_PACKAGE = Path(simulator.__file__).parent
_FILE = "assumptions.yaml"
ASSUMED_ID = re.compile(r"[A-Z][0-9]+|[a-z]+(?:-[a-z]+)+")
"""The ids that citations recognise (`simulator/engine/text/citations.py`)."""
_CHAPTERS: tuple[tuple[str, str], ...] = (
    ("providers.ramp", "Shared by all packages"),
    *((f"providers.ramp.{room.name}", f"Package {room.name}") for room in PROVIDER.rooms[:-1]),
    ("engine.webhooks", "Package webhooks"),
    ("engine.server", "Server"),
    ("engine.control", "Control interface"),
)
"""The packages whose modules assume something, and the title of their chapter."""

_KINDS = (
    "The specification leaves some points open. Where it is silent or contradicts itself, the simulator has to "
    "choose. There are two kinds of choices:",
    "",
    "- **About the API.** The real service may differ. The contract names each of these entries: `x-basis` at an "
    "assumed field, status or code, `x-assumed-basis` at a specified field with an assumed constraint or meaning, and "
    "`x-assumptions` at an operation or event. Each entry on this page says why the choice was necessary, and which "
    "call to the real service settles it. Ask about such a point before you rely on it.",
    "- **About the simulator itself.** Worlds, actions, faults, scenarios, settings and the control interface do not "
    "exist in the real service. There is nothing to find out, so the contract of the API does not name these entries.",
)
"""The opening of both pages."""


def all_assumptions() -> tuple[Assumption, ...]:
    """Every assumption, in the order of the page; ValueError for two of one id, or a file that no chapter takes."""
    decisions = (entry for rows in DECISIONS.values() for entry in rows)
    found = (*decisions, *(entry for package, _ in _CHAPTERS for entry in _of(package)))
    known: dict[str, Assumption] = {}
    for entry in found:
        if known.setdefault(entry.id, entry) is not entry:
            raise ValueError(f"two assumptions have the id {entry.id}")
    if lost := set(_PACKAGE.rglob(_FILE)) - {_file(package) for package, _ in _CHAPTERS}:
        raise ValueError(f"no chapter takes {', '.join(map(str, sorted(lost)))}")
    return found


def _file(package: str) -> Path:
    return _PACKAGE.joinpath(*package.split("."), _FILE)


def _of(package: str) -> list[Assumption]:
    """The assumptions of a package, by ids. The entries of a group of its file have the same things resting on them."""
    file = _file(package)
    groups = data_of(file) if file.exists() else []
    found = [
        _entry_of(identifier, group["rests_on"], said)
        for group in groups
        for identifier, said in group["assumed"].items()
    ]
    return sorted(found, key=lambda entry: entry.id)


def _entry_of(identifier: str, rests_on: str, said: Any) -> Assumption:
    """One entry of a file: a text alone is the simulator's own. ValueError for an id that could not be cited."""
    if isinstance(said, str):
        return Assumption(id=identifier, rests_on=rests_on, text=said)
    if not ASSUMED_ID.fullmatch(identifier):
        raise ValueError(f"{identifier}: an id has several words with hyphens, such as order-number")
    if not said.get("why") or not said.get("find_out"):
        raise ValueError(f"{identifier} needs why and find_out, or is a text alone")
    return Assumption(id=identifier, rests_on=rests_on, **{**said, "named_at": tuple(said.get("named_at", ()))})


def page() -> str:
    """The page as Markdown."""
    all_assumptions()
    lines = [
        "# What the simulator assumes",
        "",
        *_KINDS,
    ]
    for chapter, rows in DECISIONS.items():
        lines += _table(chapter, ((entry, f"**{entry.point}**: {entry.text}") for entry in rows))
    for package, title in _CHAPTERS:
        lines += _table(title, ((entry, _sentence(entry.text)) for entry in _of(package)))
    lines += _switches()
    return "\n".join(lines) + "\n"


def docs_page() -> str:
    """The same for the documentation; there every entry is a list item of its own, to be read on a phone too."""
    lines = [
        "# What the simulator assumes",
        "",
        *_KINDS,
        "",
        f"{len(SWITCHES)} points can be [switched](#what-can-be-switched) to an alternative, to test how your code "
        "handles it.",
    ]
    for chapter, rows in DECISIONS.items():
        lines += ["", f"## {chapter}"]
        for row in rows:
            lines += _entry(row, row.point[:1].upper() + row.point[1:])
    for package, title in _CHAPTERS:
        lines += ["", f"## {title}"]
        for entry in _of(package):
            lines += _entry(entry, "")
    return "\n".join([*lines, *_switched()]) + "\n"


def _entry(entry: Assumption, point: str) -> list[str]:
    name = f'<a id="{entry.id}"></a>**{entry.id}**'
    lines = ["", f"{name} {point}." if point else name, "", _sentence(entry.text), ""]
    if entry.why:
        lines.append(f"- *Why it had to be decided*: {entry.why}")
    lines.append(f"- *Affects*: {_sentence(entry.rests_on)}")
    lines.append("- *About the simulator itself*." if entry.own else f"- *Find out*: {entry.find_out}")
    if entry.id in SWITCHES:
        names = ", ".join(f"`{name}`" for name in SWITCHES[entry.id].alternatives)
        lines.append(f"- *Can be [switched](#what-can-be-switched)* to {names}.")
    return lines


def _switched() -> list[str]:
    lines = [
        "",
        "## What can be switched",
        "",
        "`rampsim serve --assume H14=lapses_after_1h` switches every world to an alternative. To switch one world, "
        'create it with `"settings": {"assumptions": {"H14": "lapses_after_1h"}}`. `rampsim assumptions` shows '
        "this list, and `rampsim explore --assumptions -- pytest` runs your tests under one alternative at a time.",
    ]
    for switch in SWITCHES.values():
        lines += ["", f"### {switch.id} as an alternative", "", f"Usually: {_sentence(switch.assumed)}", ""]
        lines += [f"- `{name}`: {_sentence(changes)}" for name, changes in switch.alternatives.items()]
        lines += [f"- *Ask the service*: {switch.question}", f"- *Find out in the sandbox*: {_sentence(switch.call)}"]
    return lines


def _table(title: str, rows: Iterable[tuple[Assumption, str]]) -> list[str]:
    """A chapter: the entries about the interface, then the simulator's own, each kind in a table of its own."""
    rows = tuple(rows)
    lines = ["", f"## {title}"]
    for own in (False, True):
        cells = [_row(_cells(entry, text)) for entry, text in rows if entry.own is own]
        if cells and own:
            lines += [
                "",
                "About the simulator itself:",
                "",
                "| id | assumed | depends on it |",
                "| - | - | - |",
                *cells,
            ]
        elif cells:
            lines += ["", "| id | assumed | depends on it | why | how to find out |", "| - | - | - | - | - |", *cells]
    return lines


def _cells(entry: Assumption, text: str) -> Iterator[str]:
    yield f'<a id="{entry.id}"></a>{entry.id}'
    yield text + (" This can be [switched](#what-can-be-switched)." if entry.id in SWITCHES else "")
    yield entry.rests_on
    if not entry.own:
        yield entry.why
        yield entry.find_out


def _switches() -> list[str]:
    lines = [
        "",
        "## What can be switched",
        "",
        "`rampsim serve --assume ID=ALTERNATIVE` switches every world to an alternative. To switch one world, use "
        "`settings.assumptions` of `POST /_simulator/worlds` or `PATCH /_simulator/settings`. `rampsim assumptions` "
        "and `GET /_simulator/assumptions` show the same list.",
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
