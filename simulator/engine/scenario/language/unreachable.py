"""What can never happen in a scenario: a rule behind one that takes all it could take, a step that no state permits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from simulator.engine.rows.subjects import statuses_after
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.document import Document, Path, dotted
from simulator.engine.scenario.play.script import CREATED
from simulator.kernel.machine import Machine


def warn_of_dead_rules(document: Document, rules: Sequence[tuple[Path, Mapping[str, object]]]) -> None:
    """Rules that never fire whatever happens."""
    for number, (path, rule) in enumerate(rules):
        if rule.get("probability") == 0 and not isinstance(rule.get("probability"), bool):
            document.warn((*path, "probability"), "with a probability of 0 this rule never fires")
        for earlier_path, earlier in rules[:number]:
            if _takes_all(earlier, rule):
                line = document.place(earlier_path)[0]
                message = f"this rule never fires: {dotted(earlier_path)} in line {line} takes all that it could take"
                document.warn(path, f"{message}; the first rule that matches is the only one, so put this one first")
                break


def _takes_all(earlier: Mapping[str, object], later: Mapping[str, object]) -> bool:
    """Whether the earlier rule fires, without end, for whatever the later one would fire for."""
    if earlier.get("times") is not None or earlier.get("probability") not in (None, 1):
        return False
    listened, wanted = _texts(earlier.get("on")), _texts(later.get("on"))
    if not wanted or not wanted <= listened:
        return False
    asked, given = earlier.get("where", {}), later.get("where", {})
    if not isinstance(asked, Mapping) or not isinstance(given, Mapping):
        return False
    return all(name in given and _within(given[name], wish) for name, wish in asked.items())


def _within(narrow: object, wide: object) -> bool:
    """Whether every value that the first test lets pass passes the second, as far as one sees at once."""
    if isinstance(narrow, Mapping) or isinstance(wide, Mapping):
        return narrow == wide
    few = narrow if isinstance(narrow, list) else [narrow]
    many = wide if isinstance(wide, list) else [wide]
    return all(any(type(one) is type(other) and one == other for other in many) for one in few)


def _texts(value: object) -> set[str]:
    return {one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)}


# --- steps --------------------------------------------------------------------------------------------------------


def warn_of_dead_steps(
    document: Document,
    vocabulary: Vocabulary,
    events: Iterable[object],
    kinds_meant: Sequence[str],
    steps: Iterable[tuple[Path, Mapping[str, object]]],
) -> None:
    """Steps whose action no state permits that the rule's object can have reached by then."""
    actions = vocabulary.actions
    named = [event for event in events if isinstance(event, str)]
    states = {kind: _after(vocabulary, kind, named) for kind in kinds_meant}
    if not all(states.values()):
        return  # an event that can tell of anything
    for path, step in steps:
        action = step.get("action")
        if "scenario" in step:
            return  # whoever takes over does what this file does not say
        if "target" in step or not isinstance(action, str) or action not in actions.rows:
            continue
        acts_on = {kind for row in actions.rows[action] for kind in row.kinds}
        if not acts_on:
            continue
        # An action that no cell names moves nothing: it may always happen.
        if not all(_has_cell(vocabulary, kind, action) for kind in states if kind in acts_on):
            return
        able = [kind for kind in states if kind in acts_on]
        possible = [kind for kind in able if any(_permits(vocabulary, kind, state, action) for state in states[kind])]
        if able and not possible:
            document.warn((*path, "action"), _why(vocabulary, action, able[0], states[able[0]]))
        elif possible:
            states = {kind: _then(vocabulary, kind, states[kind], action) for kind in possible}


def _why(vocabulary: Vocabulary, action: str, kind: str, states: frozenset[str]) -> str:
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
    """Every state that an object of a kind can have from this event on."""
    found = vocabulary.kinds[kind]
    if event == CREATED:
        begins = (
            [move.target for move in found.machine.initial if not move.events]
            if kind in field_sets.made_silently(vocabulary)
            else []
        )
    else:
        begins = list(statuses_after(found, vocabulary.events[event])) if event in vocabulary.events else []
    return _closed(found.machine, begins)


def _after(vocabulary: Vocabulary, kind: str, events: Sequence[str]) -> frozenset[str]:
    found = frozenset[str]()
    for event in events:
        found |= _after_event(vocabulary, kind, event)
    return found


def _closed(machine: Machine, states: Iterable[str]) -> frozenset[str]:
    """These states, and all that can follow."""
    found: set[str] = set()
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        if state not in found:
            found.add(state)
            waiting += [move.target for move in machine.rows[state]]
    return frozenset(found)


def _then(vocabulary: Vocabulary, kind: str, states: frozenset[str], action: str) -> frozenset[str]:
    """Where an object can be after a step: moved on by it, or where it was skipped."""
    machine = _machine(vocabulary, kind)
    moved = [move.target for state in states for move in machine.rows[state] if move.on == action]
    return _closed(machine, moved) | {state for state in states if not machine.permits(state, action)}
