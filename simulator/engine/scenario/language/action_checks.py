"""Checks the action steps in a scenario: action names, fields and parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError

from simulator.engine.rows.action import Action
from simulator.engine.scenario.language.document import Document, Path, did_you_mean
from simulator.engine.scenario.play.filling import PLACEHOLDER
from simulator.engine.scenario.play.matching import dig
from simulator.engine.text.fields import Wrong, dotted, wrongs_of
from simulator.engine.vocabulary.vocabulary import Vocabulary

_CONFUSED = {"at": "after", "after": "at"}
"""Fields that users confuse: steps in rules use `after`, and steps in timelines use `at`."""


class ActionChecker:
    """Checks the action steps of rules, timelines, `world` sections and `drive` sections."""

    def __init__(self, document: Document, vocabulary: Vocabulary) -> None:
        self._document = document
        self._actions = vocabulary.actions
        self._events = tuple(vocabulary.events)

    def check(self, path: Path, step: dict[str, object], fields: tuple[str, ...], kinds: tuple[str, ...] = ()) -> None:
        """Check an action step on these kinds of resource. `fields` are the keys that are not parameters."""
        name = step.get("action")
        if name is None:
            for key in step:
                if key not in fields and self._document.nearest(key, fields):
                    self._document.report_unknown_name((*path, key), fields, "field")
            if "scenario" in fields:
                self._document.report_missing(path, ("action", "scenario"), "a step needs `action` or `scenario`")
            return
        if not isinstance(name, str):
            return
        if name not in self._actions.rows:
            self._document.check_known((*path, "action"), name, self._actions.rows, "action")
            # If an action is unknown, its parameters are unknown, too. So a key is reported only if it closely
            # resembles a field.
            for key in step:
                if key not in fields and len(key) < 20 and get_close_matches(key, fields, cutoff=0.8):
                    self._document.report_unknown_name((*path, key), fields, "field")
            return
        self.check_parameters(path, name, {key: step[key] for key in step if key not in fields}, fields, kinds)

    def check_parameters(
        self, path: Path, action: str, given: dict[str, object], fields: Iterable[str], kinds: tuple[str, ...] = ()
    ) -> None:
        """Check parameters against every row of an action, and report the problems for the row with the fewest."""
        rows = [row for row in self._actions.rows[action] if not kinds or not row.kinds or set(row.kinds) & set(kinds)]
        if not rows:
            possible = ", ".join(self._actions.kinds(action))
            message = f"the action {action} cannot be performed on {', '.join(kinds)}; it is for {possible}"
            self._document.report((*path, "action"), message)
            return
        found = [_problems(row, given, self._events) for row in rows]
        for place, kind, message in min(found, key=len):
            if kind == "unknown" and _CONFUSED.get(str(place[-1]), "") in fields:
                meant = _CONFUSED[str(place[-1])]
                message = f"unknown parameter `{place[-1]}` of {action}{did_you_mean(meant)}"
                self._document.report_unknown((*path, *place), message, meant)
            elif kind == "unknown":
                known = [*(name for row in rows for name in names_of(row.parameters())), *fields]
                self._document.report_unknown_name((*path, *place), known, "parameter", f" of {action}")
            elif kind == "missing":
                self._document.report_missing((*path, *place[:-1]), (str(place[-1]),), message, (*path, *place))
            else:
                self._document.report((*path, *place), message)

    def check_target(self, path: Path, step: dict[str, object]) -> None:
        """Report a step without `target` if its action needs a target."""
        action = step.get("action")
        rows = self._actions.rows.get(action) if isinstance(action, str) else None
        if rows and "target" not in step and all(row.kinds for row in rows):
            self._document.report(path, f"the action {action} needs a `target` here")


def names_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def placeholders(value: object, path: Path = ()) -> Iterable[tuple[Path, str]]:
    """Yield the name in each placeholder `${…}` in a value, and the path of the string that contains it."""
    if isinstance(value, str):
        for used in PLACEHOLDER.findall(value):
            yield path, used
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from placeholders(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from placeholders(item, (*path, index))


def describe_wrong(one: Wrong, name: object) -> str:
    """Return a message about the problem `one` (an invalid value) in the field `name`."""
    if one.kind == "string_type" and isinstance(one.value, int | float) and not isinstance(one.value, bool):
        return f"`{name}` must be a string; write it in quotes: '{one.value}'"
    return f"`{name}`: {one.why}"


def _problems(row: Action, given: dict[str, object], events: Collection[str]) -> list[tuple[Path, str, str]]:
    """Check parameters against one definition of an action. Return the path, kind and message of each problem."""
    known = names_of(row.parameters())
    problems: list[tuple[Path, str, str]] = [((name,), "unknown", "") for name in given if name not in known]
    try:
        found = list(row.wrongs(row.parameters().model_validate(given), events))
    except ValidationError as error:
        found = wrongs_of(error, given)
    for one in found:
        place: Path = tuple(part for part in one.path if not isinstance(part, int))
        if "${" in str(one.value) or "${" in str(dig(given, dotted(one.path))):
            continue  # The value is known only when the step is planned.
        name = place[-1] if place else ""
        if one.kind == "missing":
            problems.append((place, "missing", f"the parameter `{name}` is missing"))
        else:
            problems.append((place, "value", describe_wrong(one, name)))
    return problems
