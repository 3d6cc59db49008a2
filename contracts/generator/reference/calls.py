"""Calls of the control interface as they are really answered: the examples of `reference/control.md`.

They are made one after another against a server of this process, in the order of `calls.yaml`. Whatever differs from
run to run is written as it might be.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from contracts.generator.decisions import data_of
from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.clients.asynchronous import HttpClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.engine.text.json import JsonObject, dumps, loads
from simulator.host import control_rows, create_app

FILE = Path(__file__).with_name("calls.yaml")
_BY_CHANCE = {
    "duration_ms": 3,
    "version": "0.1.0",
    "last_used_at": "2026-01-05T08:00:00.000Z",
    "idle_seconds": 60,
    "bytes": 4096,
    "traceparent": None,
}
"""Members that differ from run to run, and what is shown in their place."""
_AT = "2026-01-05T08:10:00.000Z"
_WALL = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d(?!0Z)\dZ|(?!2026-0[1-4])20\d\d-\d\d-\d\dT[\d:.]+Z")
"""A time of the wall clock: to the millisecond, or far from the beginning of a world."""
_LONGEST_TEXT = 120
_MOST_LINES = 48
_DEEPEST = 6


@dataclass(frozen=True)
class Example:
    """One call: its path with query, the body that was sent (None: none), status and answer, the latter shortened."""

    path: str
    body: JsonObject | None
    status: int
    answer: Any


@cache
def examples() -> Mapping[str, Example]:
    """By the name of each call an example of it."""
    return asyncio.run(_play())


async def _play() -> Mapping[str, Example]:
    rows = {row.name: row for row in control_rows()}
    found: dict[str, Example] = {}
    application = create_app(Config(clock="manual"))
    async with serving(application) as origin:
        http = HttpClient(origin)
        known = {"origin": origin}
        headers: dict[str, str] = {}
        for step in data_of(FILE):
            path, body = _filled(step.get("path", ""), known), _filled(step.get("body"), known)
            if "call" in step:
                row = rows[step["call"]]
                variables = {name: str(_filled(value, known)) for name, value in step.get("in_path", {}).items()}
                path = CONTROL_BASE + row.path.format(**variables)
                if query := _filled(step.get("query"), known):
                    path += f"?{urlencode(query)}"
                reply = await http.request(row.method, path, body)
                told = _usual(path, origin), _usual(body, origin), reply.status, _short(_usual(reply.body, origin))
                found.setdefault(row.name, Example(*told))
            else:
                reply = await http.request(step["method"], f"/v1{path}", body, headers)
            if reply.status >= 400:
                raise ValueError(f"the example {step} is answered {reply.status}: {reply.body}")
            for name, place in step.get("keep", {}).items():
                known[name] = _at(reply.body, place)
            if "token" in known:
                headers = {"Authorization": f"Bearer {known['token']}"}
    return found


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    """A value with `{name}` in its texts replaced by what was kept under that name."""
    if isinstance(value, str):
        for name, one in known.items():
            value = value.replace(f"{{{name}}}", one)
        return value
    if isinstance(value, dict):
        return {name: _filled(member, known) for name, member in value.items()}
    return [_filled(item, known) for item in value] if isinstance(value, list) else value


def _at(body: Any, place: str) -> str:
    """What stands at a dotted place."""
    for name in place.split("."):
        body = body[int(name)] if isinstance(body, list) else body[name]
    return str(body)


def _usual(value: Any, origin: str) -> Any:
    """With the usual address in place of this server's."""
    if value is None or isinstance(value, str):
        return value and value.replace(origin, DEFAULT_URL)
    text = dumps(value).decode()
    for here, usual in ((origin, DEFAULT_URL), (origin.partition("//")[2], DEFAULT_URL.partition("//")[2])):
        text = text.replace(here, usual)
    return loads(_WALL.sub(_AT, text).encode())


def _short(value: Any) -> Any:
    """An answer without what fills pages: no deeper than fits."""
    for depth in range(_DEEPEST, 0, -1):
        shown = _cut(value, depth)
        if len(json.dumps(shown, indent=2).splitlines()) <= _MOST_LINES:
            break
    return shown


def _cut(value: Any, depth: int) -> Any:
    """A value down to a depth: the first item of lists, the beginnings of texts."""
    if isinstance(value, dict) and value:
        if depth == 0:
            return {"…": "…"}
        return {key: _BY_CHANCE.get(key) if key in _BY_CHANCE else _cut(one, depth - 1) for key, one in value.items()}
    if isinstance(value, list) and value:
        return ["…"] if depth == 0 else [_cut(value[0], depth)]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}…"
    return value
