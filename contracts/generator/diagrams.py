"""`contracts/states/`: every state table as a Mermaid diagram, with assumed transitions marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simulator.engine.rows.room import Room, kinds_in_order
from simulator.kernel.machine import Machine, Move


def state_tables(rooms: Iterable[Room]) -> list[tuple[Machine, list[str]]]:
    """Return every state table with its kinds of resource."""
    found: dict[str, tuple[Machine, list[str]]] = {}
    for kind in kinds_in_order(rooms):
        found.setdefault(kind.machine.name, (kind.machine, []))[1].append(kind.name)
    return list(found.values())


def pages(rooms: Iterable[Room]) -> dict[str, str]:
    """Return the pages by file name, with README.md as the index."""
    found = state_tables(rooms)
    return {"README.md": _index(found)} | {file_name(machine): _page(machine, kinds) for machine, kinds in found}


def file_name(machine: Machine) -> str:
    return machine.name.lower().replace(" ", "-") + ".md"


def _index(found: list[tuple[Machine, list[str]]]) -> str:
    lines = [
        "# State diagrams",
        "",
        "Drawn from the state tables of the simulator. Transitions marked *assumed* are not specified; "
        "[assumptions.md](../assumptions.md) explains them.",
        "",
        "| resource | states | transitions | assumed transitions |",
        "| - | - | - | - |",
    ]
    for machine, _ in found:
        moves = list(moves_of(machine))
        assumed = sum(move.basis != "specified" for _, move in moves)
        states = ", ".join(f"`{state}`" for state in machine.rows)
        lines.append(f"| [{machine.name}]({file_name(machine)}) | {states} | {len(moves)} | {assumed} |")
    return "\n".join(lines) + "\n"


def moves_of(machine: Machine) -> Iterator[tuple[str, Move]]:
    """Yield every transition with its source state, or "" for an initial one."""
    for move in machine.initial:
        yield "", move
    for state, row in machine.rows.items():
        for move in row:
            yield state, move


def _page(machine: Machine, kinds: list[str]) -> str:
    title = machine.name[:1].upper() + machine.name[1:]
    shown = ", ".join(f"`{kind}`" for kind in kinds)
    lines = [f"# {title}", "", f"Kinds of resource: {shown}.", "", "```mermaid", "stateDiagram-v2"]
    for state, move in moves_of(machine):
        mark = "" if move.basis == "specified" else f" (assumed {move.basis})"
        lines.append(f"    {state or '[*]'} --> {move.target}: {_label(move)}{mark}")
    lines += [f"    {state} --> [*]" for state, row in machine.rows.items() if not row]
    lines += ["```", "", "| from | trigger | to | events | basis |", "| - | - | - | - | - |"]
    for state, move in moves_of(machine):
        events = ", ".join(f"`{event}`" for event in move.events)
        basis = "specified" if move.basis == "specified" else f"assumed: {move.basis}"
        source = f"`{state}`" if state else "(none)"
        lines.append(f"| {source} | {_label(move)} | `{move.target}` | {events} | {basis} |")
    return "\n".join(lines) + "\n"


def _label(move: Move) -> str:
    return f"{move.on}, {move.when}" if move.when else move.on
