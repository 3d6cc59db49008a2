"""What the rows of the action table find wrong with the parameters of a step, before there is any world."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import BaseModel, ValidationError

from simulator.engine.rows.action import Action
from simulator.engine.scenario.language.document import Path
from simulator.engine.scenario.play.matching import dig
from simulator.engine.text.fields import Wrong, dotted, wrongs_of


def names_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def wrongs(row: Action, given: dict[str, object], events: Collection[str]) -> list[tuple[Path, str, str]]:
    """What one row of an action finds wrong with parameters: place, kind, message."""
    known = names_of(row.parameters())
    wrong: list[tuple[Path, str, str]] = [((name,), "unknown", "") for name in given if name not in known]
    try:
        found = list(row.wrongs(row.parameters().model_validate(given), events))
    except ValidationError as error:
        found = wrongs_of(error, given)
    for one in found:
        place: Path = tuple(part for part in one.path if not isinstance(part, int))
        if "${" in str(one.value) or "${" in str(dig(given, dotted(one.path))):
            continue
        kind = "missing" if one.kind == "missing" else "value"
        wrong.append((place, kind, _words(one, place)))
    return wrong


def _words(one: Wrong, place: Path) -> str:
    name = place[-1] if place else ""
    if one.kind == "missing":
        return f"the parameter `{name}` is missing"
    if one.kind == "string_type" and isinstance(one.value, int | float) and not isinstance(one.value, bool):
        return f"`{name}` must be a string; write it in quotes: '{one.value}'"
    return f"`{name}`: {one.why}"
