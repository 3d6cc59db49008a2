"""Text that explains the current state of a resource."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args, get_type_hints

from simulator.engine.control.objects.inspection_shapes import Cause, HistoryStep, StoryTimer
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.kind import Kind
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.text.json import Shown
from simulator.engine.text.shapes import Meanings, OneOf
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.world import World

Files = Callable[[World, str], ScenarioFile]
"""A function that returns a world's scenario by name. The function raises `ControlError` if there is no such scenario.
"""

_THROUGH = frozenset({"request", "body", "details"})
"""Parts of a field path that are omitted when the field is described."""
_TAKEN_FOR_GRANTED = frozenset({"type", "method", "path"})
"""Fields that a rule tests only to select the right kind of resource or request. The explanation omits them."""
_TESTS: Mapping[str, str] = {
    "ends_with": "ends in {}",
    "starts_with": "begins with {}",
    "matches": "fits {}",
    "gt": "is above {}",
    "gte": "is at least {}",
    "lt": "is below {}",
    "lte": "is at most {}",
}


def why(kind: Kind[Any], shown: Shown, history: Sequence[HistoryStep], timers: Sequence[StoryTimer]) -> str:
    """Return text with the meaning of a resource's state, the cause of the state, and the resource's next timer. If a
    failure led to the current state, for example to a refund, the text states the reason for the failure. Return "" if
    the resource has no history.
    """
    if not history:
        return ""
    last, code = history[-1], shown.get("failure_code")
    state = _words(last["state"]).capitalize()
    failure = next((step for step in reversed(history) if step["state"] == "failed"), None)
    if isinstance(code, str) and failure is not None:
        meant = meanings(kind, "failure_code").get(code)
        because = f"because {_inside(meant)} ({code})" if meant else f"because of {code}"
        explanation = f"{state} {because}: {_describe_cause(failure['cause'])}"
    else:
        meant = meanings(kind, kind.status_field).get(last["state"])
        explanation = f"{state}{f': {_inside(meant)}' if meant else ''}. Caused by {_describe_cause(last['cause'])}"
    return f"{explanation}.{_next(timers)}"


def condition_in(world: World, files: Files, scenario: str, location: str) -> str:
    """Return the conditions of the scenario rule at `location` as text, or "" if there are none."""
    try:
        file = files(world, scenario)
    except ControlError:
        return ""
    for index, rule in enumerate(file.script.rules):
        if file.place(f"rules[{index}]") == location:
            return " and ".join(_describe_conditions(rule.where, vocabulary_of(world).using))
    return ""


def _describe_conditions(where: Mapping[str, object], used: Collection[str]) -> Iterable[str]:
    for path, wanted in where.items():
        root, _, field = path.rpartition(".")
        if field in _TAKEN_FOR_GRANTED and (not root or root in used):
            continue
        # `beneficiary.details.phone_number` becomes "the beneficiary's phone number".
        name = "the " + "'s ".join(_words(part) for part in path.split(".") if part not in _THROUGH)
        if isinstance(wanted, Mapping):
            yield from (f"{name} {_TESTS[test].format(value)}" for test, value in wanted.items() if test in _TESTS)
        elif isinstance(wanted, list):
            yield f"{name} is one of {', '.join(map(str, wanted))}"
        elif wanted is not None:
            yield f"{name} is {wanted}"


def _describe_cause(cause: Cause) -> str:
    if cause["kind"] == "rule":
        where = f", where {cause['condition']}" if cause.get("condition") else ""
        return f"a rule of the scenario {cause['name']} ({cause['reference']}){where}"
    request = cause.get("request")
    if request is not None:
        return f"the call {request['method']} {request['path']} ({request['id']})"
    return cause["text"]


def _next(timers: Sequence[StoryTimer]) -> str:
    due = next((timer for timer in timers if timer["due_at"] is not None), None)
    if due is None or due["due_at"] is None:
        return ""
    does = due.get("text") or f"{_words(due.get('action', ''))}, by the scenario {due.get('scenario')}"
    return f" Next, at {due['due_at'][:19].replace('T', ' ')}: {does}."


@lru_cache(maxsize=256)
def meanings(kind: Kind[Any], field: str) -> Mapping[str, str]:
    """Return the descriptions of a field's values from the kind's response type, or {} if the type has none."""
    try:
        hint = get_type_hints(kind.shape(), include_extras=True).get(field)
    except TypeError:  # The annotation is a union of several types.
        return {}
    return next(_explained(hint), {})


def _explained(hint: object) -> Iterator[Mapping[str, str]]:
    for part in get_args(hint):
        if isinstance(part, OneOf | Meanings) and isinstance(part.values, Mapping):
            yield part.values
        yield from _explained(part)


def _inside(sentence: str) -> str:
    """Return the sentences in a text as clauses joined with semicolons, for use inside another sentence."""
    return "; ".join(part[:1].lower() + part[1:] for part in sentence.rstrip(".").split(". "))


def _words(name: str) -> str:
    return name.replace("_", " ")
