"""`contracts/coverage.md`: every operation, refusal, error code, event, state and move, and what shows it.

What shows it is a scenario that ships, by what was seen when it ran (`evidence`). Two things no scenario can show: how
resources stand that every world has from its start, which no history tells, and a refusal that cannot be met, for which
the reason is given here. `gaps` says what nothing shows; a test holds it empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from contracts.generator.diagrams import file_name, moves_of, state_tables
from contracts.generator.evidence import Answered, Edge, Evidence
from simulator.engine.rows.operation import Operation
from simulator.host import vocabulary
from simulator.kernel.machine import Machine
from simulator.providers.ramp.provider import ROOMS

SCENARIOS_NAMED = 3

EVERY_WORLD = "every world from its start"
NEVER_MET: Mapping[tuple[str, str], str] = {
    ("calculate_fee", "not_found"): "listed for the whole chapter; the calculator has no id that could be unknown",
}
"""The refusals (operation, code) that the specification lists and nothing can cause, with the reason."""

_HEAD = """\
# Coverage

What shows each part of the interface: a [scenario](../scenarios/README.md) that ships, by what was really seen when it
ran. Made by `python -m contracts.generator coverage`; do not edit. A test fails when something is shown by
nothing, or when this page is not what the scenarios show.
"""

Shows = Callable[[Evidence], bool]


class Coverage:
    """The scenarios that cover each part of the contract."""

    def __init__(self, found: Iterable[Evidence]) -> None:
        self._found = sorted(found, key=lambda one: (len(one.answers) + len(one.edges), one.name))
        self.operations: tuple[Operation, ...] = tuple(row for room in ROOMS for row in room.operations)
        self.machines: tuple[Machine, ...] = tuple(machine for machine, _ in state_tables(ROOMS))
        self._standing = {kind.machine.name for room in ROOMS for kind in room.kinds if kind.standing is not None}

    def _by(self, shows: Shows) -> list[str]:
        """The scenarios that show something, the most focused first."""
        return [one.name for one in self._found if shows(one)]

    def operation(self, row: Operation) -> list[str]:
        return self._by(lambda one: Answered(row.name, row.status, "") in one.answers)

    def refusal(self, row: Operation, code: str) -> list[str]:
        wanted = Answered(row.name, vocabulary().errors[code].status, code)
        never = NEVER_MET.get((row.name, code))
        return [*self._by(lambda one: wanted in one.answers), *([f"nothing: {never}"] if never else [])]

    def code(self, code: str) -> list[str]:
        """Return the scenarios in which the code is returned, or is a failure code if it is never returned."""
        answered = self._by(lambda one: any(answer.code == code for answer in one.answers))
        return answered or self._by(lambda one: code in one.failures)

    def event(self, name: str) -> list[str]:
        return self._by(lambda one: name in one.events)

    def edge(self, edge: Edge) -> list[str]:
        return [*self._by(lambda one: edge in one.edges), *([EVERY_WORLD] if self._stands(edge) else [])]

    def state(self, machine: Machine, state: str) -> list[str]:
        into = [_edge(machine, before, move.on, move.target) for before, move in moves_of(machine)]
        reached = [edge for edge in into if edge.after == state]
        standing = any(map(self._stands, reached))
        return [*self._by(lambda one: not one.edges.isdisjoint(reached)), *([EVERY_WORLD] if standing else [])]

    def _stands(self, edge: Edge) -> bool:
        return edge.before == "" and edge.machine in self._standing

    def parts(self) -> Iterator[tuple[str, list[str]]]:
        """Everything there is to show, in words, with what shows it."""
        for row in self.operations:
            yield f"the operation {row.name}", self.operation(row)
            for code in row.errors:
                yield f"the refusal {code} of {row.name}", self.refusal(row, code)
        for code in vocabulary().errors:
            yield f"the error code {code}", self.code(code)
        for name in vocabulary().events:
            yield f"the event {name}", self.event(name)
        for machine in self.machines:
            for state in machine.rows:
                yield f"the state {state} of {machine.name}", self.state(machine, state)
            for before, move in moves_of(machine):
                edge = _edge(machine, before, move.on, move.target)
                yield (
                    f"the move {before or '(none)'} → {move.target} of {machine.name} by {move.on}",
                    self.edge(edge),
                )

    def gaps(self) -> list[str]:
        return [part for part, shown_by in self.parts() if not shown_by]


def _edge(machine: Machine, before: str, on: str, after: str) -> Edge:
    return Edge(machine.name, before, on, after)


def page(found: Iterable[Evidence]) -> str:
    """The page as Markdown."""
    coverage = Coverage(found)
    sections = [_operations(coverage), _refusals(coverage), _codes(coverage), _events(coverage), _states(coverage)]
    return "\n".join([_HEAD, *sections])


def _operations(coverage: Coverage) -> str:
    rows = [
        (f"`{row.method} {row.path}`", f"`{row.name}`", str(row.status), shown_by(coverage.operation(row)))
        for row in coverage.operations
    ]
    return _section(f"The {len(rows)} operations", ("call", "operation", "answers", "shown by"), rows)


def _refusals(coverage: Coverage) -> str:
    rows = [
        (f"`{row.name}`", f"`{code}`", str(vocabulary().errors[code].status), shown_by(coverage.refusal(row, code)))
        for row in coverage.operations
        for code in row.errors
    ]
    title = f"The {len(rows)} refusals that operations declare of their own"
    return _section(title, ("operation", "code", "status", "shown by"), rows)


def _codes(coverage: Coverage) -> str:
    rows = [
        (f"`{code}`", str(row.status), row.cause, shown_by(coverage.code(code)))
        for code, row in vocabulary().errors.items()
    ]
    return _section(f"The {len(rows)} error codes", ("code", "status", "cause", "shown by"), rows)


def _events(coverage: Coverage) -> str:
    rows = [(f"`{name}`", row.sent_when, shown_by(coverage.event(name))) for name, row in vocabulary().events.items()]
    return _section(f"The {len(rows)} events", ("event", "sent when", "shown by"), rows)


def _states(coverage: Coverage) -> str:
    parts = [f"## The {len(coverage.machines)} state tables\n"]
    for machine in coverage.machines:
        parts.append(f"### [{machine.name}](states/{file_name(machine)})\n")
        states = [(f"`{state}`", shown_by(coverage.state(machine, state))) for state in machine.rows]
        parts.append(_table(("state", "shown by"), states))
        moves = []
        for before, move in moves_of(machine):
            edge = _edge(machine, before, move.on, move.target)
            trigger = f"`{move.on}`" + (f" ({move.when})" if move.when and move.when != move.target else "")
            from_state = f"`{before}`" if before else "(none)"
            moves.append((from_state, trigger, f"`{move.target}`", shown_by(coverage.edge(edge))))
        parts.append(_table(("from", "by", "to", "shown by"), moves))
    return "\n".join(parts)


def shown_by(names: Sequence[str]) -> str:
    """Links to the first few scenarios of what shows something, and what else does; "**nothing**" when nothing does."""
    scenarios = [name for name in names if " " not in name]
    links = [f"[{name}](../scenarios/{name}.yaml)" for name in scenarios[:SCENARIOS_NAMED]]
    more = len(scenarios) - len(links)
    others = [name for name in names if " " in name]
    return ", ".join([*links, *([f"{more} more"] if more else []), *others]) or "**nothing**"


def _section(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return f"## {title}\n\n{_table(head, rows)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["-"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
