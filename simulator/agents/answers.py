"""Limits the number of characters in a response. A shortened response lists the omitted parts and how to get them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from simulator.agents.session import invalid
from simulator.engine.text.json import JsonObject, Shown

_LONG_TEXT = 160
_FEW = 3


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bounded(answer: Shown, most: int) -> JsonObject:
    """Return a response of at most `most` characters. Cut long strings first, then nested lists, and then remove the
    largest fields.

    `left_out` in the result lists the names of the removed fields. `picked` returns a field by its name.
    """
    shown: JsonObject = dict(answer)
    for shorten in (lambda value: value, _texts_cut, _lists_cut):
        shown = {name: shorten(value) for name, value in shown.items()}
        if len(written(shown)) <= most:
            return shown
    advice = {"to_see_it": "use `fields`, or a larger `max_characters`"}
    left_out: list[str] = []
    while len(written(short := {**shown, "left_out": sorted(left_out), **advice})) > most:
        if not shown:
            return {"left_out": len(left_out), **advice}
        largest = max(shown, key=lambda name: len(written(shown[name])))
        del shown[largest]
        left_out.append(largest)
    return short


def _texts_cut(value: object) -> object:
    if isinstance(value, str) and len(value) > _LONG_TEXT:
        return f"{value[:_LONG_TEXT]}… ({len(value)} characters)"
    return _inside(value, _texts_cut)


def _lists_cut(value: object) -> object:
    if isinstance(value, list) and len(value) > _FEW:
        return [*map(_lists_cut, value[:_FEW]), f"… {len(value) - _FEW} more"]
    return _inside(value, _lists_cut)


def _inside(value: object, change: Callable[[object], object]) -> object:
    if isinstance(value, Mapping):
        return {name: change(member) for name, member in value.items()}
    return [change(member) for member in value] if isinstance(value, list) else value


def picked(answer: Shown, fields: Sequence[str]) -> JsonObject:
    """Return only the values at these dotted paths. A missing value is None."""
    return {place: _at(answer, place) for place in fields}


def _at(value: object, place: str) -> object:
    for name in place.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def page(rows: Sequence[Shown], key: Callable[[Shown], str], before: str | None, most: int) -> JsonObject:
    """Return the newest items that fit into `most` characters, newest first. `next_cursor` is set if there are older
    items. `before` is the cursor from the previous page, which is the key of its last item. If no item has this key,
    raise `ToolRefused`.
    """
    newest_first = list(reversed(rows))
    if before is not None:
        keys = [key(row) for row in newest_first]
        if before not in keys:
            why = f"{before!r} is not a next_cursor of this list. Omit the cursor to start at the beginning."
            raise invalid("cursor", why)
        newest_first = newest_first[keys.index(before) + 1 :]
    shown: list[Shown] = []
    for row in newest_first:
        if shown and len(written([*shown, row])) > most - 150:
            break
        shown.append(row)
    answer: JsonObject = {"data": shown, "of": len(rows)}
    if len(shown) < len(newest_first):
        answer["next_cursor"] = key(shown[-1])
    return answer
