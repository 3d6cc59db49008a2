"""`contracts/collection/`: a Postman collection with every operation once, whose requests pass on ids."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import orjson

from contracts.generator.flows import Flow, Step, with_places
from contracts.generator.schemas import Schema
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.text.json import dumps

_DESCRIPTION = """\
Every operation of the API once, in a working order. It runs in its own world, which its first request creates again, \
so you can run it repeatedly. `origin` is the address of the simulator. Requests to /_simulator cause outside events: \
time passes, somebody pays."""


def document(flow: Flow) -> Schema:
    """A flow as a Postman collection (format 2.1), with a folder for each run of requests about the same."""
    return {
        "info": {
            "name": "Stablecoin ramp and wallet service",
            "description": _DESCRIPTION,
            "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
        },
        "item": [{"name": name, "item": [_item(step) for step in steps]} for name, steps in _folders(flow.steps)],
        "variable": [{"key": "origin", "value": DEFAULT_URL, "type": "string"}],
    }


def _folders(steps: Iterable[Step]) -> list[tuple[str, list[Step]]]:
    """Steps in folders by their tag; what happens outside stands where it happens."""
    tag = "Beginning"
    tagged = []
    for step in steps:
        tag = step.tag or tag
        tagged.append((tag, step))
    return [(name, [step for _, step in part]) for name, part in groupby(tagged, key=lambda one: one[0])]


def _item(step: Step) -> Schema:
    path = step.path.replace("{", ":").replace("}", "")
    query = {name: _filled(value) for name, value in step.query.items()}
    url: Schema = {
        "raw": "{{origin}}" + path + ("?" + urlencode(query) if query else ""),
        "host": ["{{origin}}"],
        "path": path.strip("/").split("/"),
    }
    if step.values:
        url["variable"] = [{"key": name, "value": _filled(value)} for name, value in step.values.items()]
    if query:
        url["query"] = [{"key": name, "value": value} for name, value in query.items()]
    request: Schema = {
        "method": step.method,
        "header": [{"key": name, "value": _filled(value)} for name, value in step.headers.items()],
        "url": url,
        "description": f"{step.summary}.",
    }
    if step.body is not None:
        raw = orjson.dumps(_filled(step.body), option=orjson.OPT_INDENT_2).decode()
        request["header"].append({"key": "Content-Type", "value": "application/json"})
        request["body"] = {"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}}
    return {
        "name": step.summary,
        "request": request,
        "event": [{"listen": "test", "script": {"type": "text/javascript", "exec": _script(step)}}],
    }


def _script(step: Step) -> list[str]:
    """Return the test script of a response, which also saves values for later requests."""
    lines = [f'pm.test("{step.operation} answers {step.status}", () => pm.response.to.have.status({step.status}));']
    if step.checks or step.used:
        lines.append("const answer = pm.response.json();")
    lines += [
        f'pm.test("{path} is {value}", () => pm.expect(answer{_access(path)}).to.eql({wanted}));'
        for path, value in step.checks.items()
        for wanted in [dumps(_filled(value)).decode()]
    ]
    within = _access(step.within) if step.within else ""
    lines += [
        f'pm.collectionVariables.set("{_variable(step.name, path)}", answer{within}{_access(path)});'
        for path in step.used
    ]
    return lines


def _access(path: str) -> str:
    return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in path.split("."))


def _variable(step: str, path: str) -> str:
    return f"{step}.{path}".rstrip(".").replace(".", "_")


def _filled(value: Any) -> Any:
    """A value with the collection's variables for what earlier requests answered."""

    def variable(step: str, path: str) -> str:
        return "{{" + _variable(step, path) + "}}"

    return with_places(value, variable, variable)
