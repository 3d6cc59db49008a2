"""Warns of rules that can never fire, and of steps whose action is illegal in every state that the object can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.document import Document, Path, dotted
from simulator.engine.scenario.play.script import CREATED
from simulator.engine.vocabulary.subjects import statuses_after
from simulator.engine.vocabulary.vocabulary import Vocabulary
from simulator.kernel.machine import Machine


def warn_of_unreachable_rules(document: Document, rules: Sequence[tuple[Path, Mapping[str, object]]]) -> None:
    """Warn of rules that can never fire."""
    for number, (path, rule) in enumerate(rules):
        if rule.get("probability") == 0 and not isinstance(rule.get("probability"), bool):
            document.warn((*path, "probability"), "with a probability of 0 this rule never fires")
        for earlier_path, earlier in rules[:number]:
            if _covers(earlier, rule):
                line = document.place(earlier_path)[0]
                message = f"this rule never fires: {dotted(earlier_path)} in line {line} matches first in all cases"
                document.warn(path, f"{message}; move this rule above that one")
                break


def _covers(earlier: Mapping[str, object], later: Mapping[str, object]) -> bool:
    """Return True if the earlier rule fires in every case in which the later rule would fire."""
    if earlier.get("times") is not None or earlier.get("probability") not in (None, 1):
        return False
    listened, wanted = _strings(earlier.get("on")), _strings(later.get("on"))
    if not wanted or not wanted <= listened:
        return False
    wide, narrow = earlier.get("where", {}), later.get("where", {})
    if not isinstance(wide, Mapping) or not isinstance(narrow, Mapping):
        return False
    return all(name in narrow and _implies(narrow[name], test) for name, test in wide.items())


def _implies(narrow: object, wide: object) -> bool:
    """Return True if all values that pass `narrow` pass `wide`. Tests but equality imply only an identical test."""
    if isinstance(narrow, Mapping) or isinstance(wide, Mapping):
        return narrow == wide
    few = narrow if isinstance(narrow, list) else [narrow]
    many = wide if isinstance(wide, list) else [wide]
    return all(any(type(one) is type(other) and one == other for other in many) for one in few)


def _strings(value: object) -> set[str]:
    return {one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)}


def warn_of_unreachable_steps(
    document: Document,
    vocabulary: Vocabulary,
    events: Iterable[object],
    kinds: Sequence[str],
    steps: Iterable[tuple[Path, Mapping[str, object]]],
) -> None:
    """Warn of steps whose action is illegal in every state that the rule's object can have when the step is due."""
    actions = vocabulary.actions
    machines = {kind: vocabulary.kinds[kind].machine for kind in kinds}
    named = [event for event in events if isinstance(event, str)]
    states = {kind: frozenset[str]().union(*(_after(vocabulary, kind, one) for one in named)) for kind in kinds}
    if not all(states.values()):
        return  # The event may be about an object of any kind.
    for path, step in steps:
        action = step.get("action")
        if "scenario" in step:
            return  # From here on, the other scenario decides.
        if "target" in step or not isinstance(action, str) or action not in actions.rows:
            continue
        acts_on = {kind for row in actions.rows[action] for kind in row.kinds}
        able = [kind for kind in states if kind in acts_on]
        # If no transition rule names an action, the action changes no status, so it is legal in any state.
        if any(not any(machines[kind].permits(state, action) for state in machines[kind].rows) for kind in able):
            return
        possible = [kind for kind in able if any(machines[kind].permits(state, action) for state in states[kind])]
        if possible:
            states = {kind: _then(machines[kind], states[kind], action) for kind in possible}
        elif able:
            kind = able[0]
            moves = (move.on for state in sorted(states[kind]) for move in machines[kind].rows[state])
            allowed = ", ".join(dict.fromkeys(on for on in moves if on != "expire"))
            then = f"possible actions: {allowed}" if allowed else "no action is possible then"
            reached = " or ".join(sorted(states[kind]))
            document.warn((*path, "action"), f"`{action}` will be skipped: the {kind} is {reached} by then; {then}")


@lru_cache(maxsize=1024)
def _after(vocabulary: Vocabulary, kind: str, event: str) -> frozenset[str]:
    """Return every state that an object of a kind can have at any time after an event."""
    found, first = vocabulary.kinds[kind], list[str]()
    if event == CREATED and kind in field_sets.kinds_created_silently(vocabulary):
        first = [move.target for move in found.machine.initial if not move.events]
    elif event in vocabulary.events:
        first = list(statuses_after(found, vocabulary.events[event]))
    return _reachable(found.machine, first)


def _reachable(machine: Machine, states: Iterable[str]) -> frozenset[str]:
    """Return `states`, and all states that can be reached from these states."""
    found, fresh = set[str](), set(states)
    while fresh:
        found |= fresh
        fresh = {move.target for state in fresh for move in machine.rows[state]} - found
    return frozenset(found)


def _then(machine: Machine, states: frozenset[str], action: str) -> frozenset[str]:
    """Return the possible states after a step. These include the states in which the step is skipped."""
    moved = [move.target for state in states for move in machine.rows[state] if move.on == action]
    return _reachable(machine, moved) | {state for state in states if not machine.permits(state, action)}
