"""Real calls of the control interface and their responses: the examples of `reference/control.md`.

They are made in the order of `calls.yaml`, against a server in this process. Values that differ between runs are
replaced by typical ones.
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
"""Fields that differ between runs, with the value that the page shows."""
_AT = "2026-01-05T08:10:00.000Z"
_WALL = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d(?!0Z)\dZ|(?!2026-0[1-4])20\d\d-\d\d-\d\dT[\d:.]+Z")
"""A wall-clock time: with milliseconds, or far from the start of a world."""
_LONGEST_TEXT = 120
_MOST_LINES = 48
_DEEPEST = 6


@dataclass(frozen=True)
class Example:
    """One call with its response, shortened. `path` includes the query."""

    path: str
    body: JsonObject | None
    status: int
    answer: Any


@cache
def examples() -> Mapping[str, Example]:
    """Return an example of each call, by name."""
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
                shown = _usual(path, origin), _usual(body, origin), reply.status, _short(_usual(reply.body, origin))
                found.setdefault(row.name, Example(*shown))
            else:
                reply = await http.request(step["method"], f"/v1{path}", body, headers)
            if reply.status >= 400:
                raise ValueError(f"the example {step} returned {reply.status}: {reply.body}")
            for name, place in step.get("keep", {}).items():
                known[name] = _at(reply.body, place)
            if "token" in known:
                headers = {"Authorization": f"Bearer {known['token']}"}
    return found


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    """Return the value with `{name}` in its strings replaced by the saved value of that name."""
    if isinstance(value, str):
        for name, one in known.items():
            value = value.replace(f"{{{name}}}", one)
        return value
    if isinstance(value, dict):
        return {name: _filled(member, known) for name, member in value.items()}
    return [_filled(item, known) for item in value] if isinstance(value, list) else value


def _at(body: Any, place: str) -> str:
    for name in place.split("."):
        body = body[int(name)] if isinstance(body, list) else body[name]
    return str(body)


def _usual(value: Any, origin: str) -> Any:
    if value is None or isinstance(value, str):
        return value and value.replace(origin, DEFAULT_URL)
    text = dumps(value).decode()
    for here, usual in ((origin, DEFAULT_URL), (origin.partition("//")[2], DEFAULT_URL.partition("//")[2])):
        text = text.replace(here, usual)
    return loads(_WALL.sub(_AT, text).encode())


def _short(value: Any) -> Any:
    """Return the response, cut at the depth that keeps it short."""
    for depth in range(_DEEPEST, 0, -1):
        shown = _cut(value, depth)
        if len(json.dumps(shown, indent=2).splitlines()) <= _MOST_LINES:
            break
    return shown


def _cut(value: Any, depth: int) -> Any:
    """Return the value down to a depth, with the first item of each list and the start of each string."""
    if isinstance(value, dict) and value:
        if depth == 0:
            return {"…": "…"}
        return {key: _BY_CHANCE.get(key) if key in _BY_CHANCE else _cut(one, depth - 1) for key, one in value.items()}
    if isinstance(value, list) and value:
        return ["…"] if depth == 0 else [_cut(value[0], depth)]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}…"
    return value
