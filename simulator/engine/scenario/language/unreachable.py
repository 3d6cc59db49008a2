"""Warnings of rules that never fire, and of steps whose action no possible state permits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from simulator.engine.rows.subjects import statuses_after
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.document import Document, Path, dotted
from simulator.engine.scenario.play.script import CREATED
from simulator.kernel.machine import Machine


def warn_of_unreachable_rules(document: Document, rules: Sequence[tuple[Path, Mapping[str, object]]]) -> None:
    """Warn of rules that never fire."""
    for number, (path, rule) in enumerate(rules):
        if rule.get("probability") == 0 and not isinstance(rule.get("probability"), bool):
            document.warn((*path, "probability"), "with a probability of 0 this rule never fires")
        for earlier_path, earlier in rules[:number]:
            if _covers(earlier, rule):
                line = document.place(earlier_path)[0]
                message = f"this rule never fires: {dotted(earlier_path)} in line {line} matches first in all cases"
                document.warn(path, f"{message}; put this rule before it")
                break


def _covers(earlier: Mapping[str, object], later: Mapping[str, object]) -> bool:
    """Return whether the earlier rule always fires when the later one would."""
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
    """Return whether passing the first test implies passing the second. Only tests of equality are compared."""
    if isinstance(narrow, Mapping) or isinstance(wide, Mapping):
        return narrow == wide
    few = narrow if isinstance(narrow, list) else [narrow]
    many = wide if isinstance(wide, list) else [wide]
    return all(any(type(one) is type(other) and one == other for other in many) for one in few)


def _strings(value: object) -> set[str]:
    return {one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)}


# --- steps --------------------------------------------------------------------------------------------------------


def warn_of_unreachable_steps(
    document: Document,
    vocabulary: Vocabulary,
    events: Iterable[object],
    kinds: Sequence[str],
    steps: Iterable[tuple[Path, Mapping[str, object]]],
) -> None:
    """Warn of steps whose action is illegal in every state that the rule's object can then have."""
    actions = vocabulary.actions
    named = [event for event in events if isinstance(event, str)]
    states = {kind: _after(vocabulary, kind, named) for kind in kinds}
    if not all(states.values()):
        return  # the event can be about an object of any kind
    for path, step in steps:
        action = step.get("action")
        if "scenario" in step:
            return  # the other scenario decides from here on
        if "target" in step or not isinstance(action, str) or action not in actions.rows:
            continue
        acts_on = {kind for row in actions.rows[action] for kind in row.kinds}
        if not acts_on:
            continue
        # An action that no transition rule names changes no status, so it is legal in any state.
        if not all(_has_cell(vocabulary, kind, action) for kind in states if kind in acts_on):
            return
        able = [kind for kind in states if kind in acts_on]
        possible = [kind for kind in able if any(_permits(vocabulary, kind, state, action) for state in states[kind])]
        if able and not possible:
            document.warn((*path, "action"), _explain(vocabulary, action, able[0], states[able[0]]))
        elif possible:
            states = {kind: _then(vocabulary, kind, states[kind], action) for kind in possible}


def _explain(vocabulary: Vocabulary, action: str, kind: str, states: frozenset[str]) -> str:
    rows = _machine(vocabulary, kind).rows
    allowed = dict.fromkeys(move.on for state in sorted(states) for move in rows[state] if move.on != "expire")
    then = f"possible then: {', '.join(allowed)}" if allowed else "nothing is possible then"
    return f"`{action}` will be skipped: the {kind} is {' or '.join(sorted(states))} by then, and {then}"


def _machine(vocabulary: Vocabulary, kind: str) -> Machine:
    return vocabulary.kinds[kind].machine


def _has_cell(vocabulary: Vocabulary, kind: str, action: str) -> bool:
    return any(_permits(vocabulary, kind, state, action) for state in _machine(vocabulary, kind).rows)


def _permits(vocabulary: Vocabulary, kind: str, state: str, action: str) -> bool:
    return _machine(vocabulary, kind).permits(state, action)


@lru_cache(maxsize=1024)
def _after_event(vocabulary: Vocabulary, kind: str, event: str) -> frozenset[str]:
    """Return every state that an object of a kind can have from this event on."""
    found = vocabulary.kinds[kind]
    if event == CREATED:
        initial = (
            [move.target for move in found.machine.initial if not move.events]
            if kind in field_sets.kinds_created_silently(vocabulary)
            else []
        )
    else:
        initial = list(statuses_after(found, vocabulary.events[event])) if event in vocabulary.events else []
    return _reachable(found.machine, initial)


def _after(vocabulary: Vocabulary, kind: str, events: Sequence[str]) -> frozenset[str]:
    found = frozenset[str]()
    for event in events:
        found |= _after_event(vocabulary, kind, event)
    return found


def _reachable(machine: Machine, states: Iterable[str]) -> frozenset[str]:
    """Return these states and all that can follow."""
    found: set[str] = set()
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        if state not in found:
            found.add(state)
            waiting += [move.target for move in machine.rows[state]]
    return frozenset(found)


def _then(vocabulary: Vocabulary, kind: str, states: frozenset[str], action: str) -> frozenset[str]:
    """Return the possible states after a step: those it leads to, and those in which it is skipped."""
    machine = _machine(vocabulary, kind)
    moved = [move.target for state in states for move in machine.rows[state] if move.on == action]
    return _reachable(machine, moved) | {state for state in states if not machine.permits(state, action)}
