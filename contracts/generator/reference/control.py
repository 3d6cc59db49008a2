"""`reference/control.md` and `reference/actions.md`: the control interface, generated from its contract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from contracts.generator import control
from contracts.generator.provenance import pascal
from contracts.generator.reference.calls import Example, examples
from contracts.generator.reference.fields import link, listed, shapes_in
from contracts.generator.reference_page.fields import Field, Reader
from simulator.contract.serving import CONTRACT_ROWS
from simulator.engine.control.operation import TAGS
from simulator.engine.rows.action import ActionTable
from simulator.host import Simulator, control_rows

_HEAD = """\
# Control interface

The calls below `/_simulator` control the simulator and show its state. They are not part of the simulated service.
Their contract is [control.yaml](../../../contracts/control.yaml).

- **Access.** On loopback, every program on the machine has access. Otherwise a call needs `Authorization: Bearer` with
  the control token of the server.
- **World.** The header `X-Simulator-World` selects the world; the default is `default`. A call below `/_worlds/ID/`
  applies to that world.
- **Environment.** If a call applies to one environment, `X-Simulator-Environment` is `sandbox` (the default) or
  `production`.
- **Lists** return `{"data": [...]}` with the newest `limit` items, oldest first.
- **Errors** have [the same form as in the API](errors.md#refusals-of-the-control-interface).

Most of these calls have a command ([command line](commands.md)) and a method of the test kit ([in your
tests](../how-to/in-your-tests.md)). The examples are real; `…` marks shortened responses.
"""


@cache
def _document() -> Mapping[str, Any]:
    return control.build(control_rows(CONTRACT_ROWS), Simulator().actions)


@cache
def _reader() -> Reader:
    return Reader(_document())


def page() -> str:
    """Return the page of the calls as Markdown."""
    lines = [_HEAD]
    used: dict[str, None] = {}
    operations = [
        (method, path, operation) for path, item in _document()["paths"].items() for method, operation in item.items()
    ]
    for tag, about in TAGS.items():
        lines += [f"## {tag}", "", about, ""]
        for method, path, operation in operations:
            if operation["tags"] == [tag]:
                text, shapes = _call(method.upper(), path, operation)
                lines += [*text, ""]
                used |= dict.fromkeys(shapes)
    lines += ["## Shapes", "", "Shapes that several calls use.", "", *_shapes(used)]
    return "\n".join(lines).rstrip() + "\n"


def _call(method: str, path: str, operation: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the lines of one call, and the names of its shapes."""
    name = operation["operationId"]
    lines = [f"### {operation['summary']}", "", f'<a id="{name}"></a>`{method} {path}`', ""]
    if "description" in operation:
        lines += [operation["description"], ""]
    fields: list[Field] = []
    parameters = [_reader().follow(one) for one in operation.get("parameters", ())]
    own = [one for one in parameters if one["in"] != "header"]
    if own:
        shown = [_parameter(one) for one in own]
        lines += ["**Path and query**", "", *listed(shown), ""]
        fields += shown
    if "requestBody" in operation and "{action}" not in path:
        media = operation["requestBody"]["content"]
        shown = _members(next(iter(media.values()))["schema"])
        lines += [f"**Body**, {' or '.join(f'`{kind}`' for kind in media)}", "", *_told(shown), ""]
        fields += shown
    if "{action}" in path:
        lines += ["**Body**: the target and the parameters of [the action](actions.md).", ""]
    status, success = next((status, one) for status, one in operation["responses"].items() if status.startswith("2"))
    media = success.get("content", {})
    shown = _members(next(iter(media.values()))["schema"]) if media else []
    text = {"application/json": "JSON"}
    kinds = " or ".join(text.get(kind, f"`{kind}`") for kind in media)
    lines += [f"**Response {status}**{f', {kinds}' if kinds else ', no body'}", "", *_told(shown)]
    if shown:
        lines.append("")
    fields += shown
    if name in examples():
        lines += _example(method, examples()[name])
    return lines[:-1] if not lines[-1] else lines, list(shapes_in(fields))


def _parameter(parameter: Mapping[str, Any]) -> Field:
    schema = {"description": parameter.get("description", ""), **parameter["schema"]}
    return _reader().field(parameter["name"], schema, is_required=parameter.get("required", False))


def _members(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields of a body or response. A union of shapes is one field without a name."""
    members = _reader().members(schema)
    is_choice = any(word in _reader().follow(schema) for word in ("anyOf", "oneOf"))
    return list(members) if members and not is_choice else [_reader().field("", schema)]


def _told(fields: Iterable[Field]) -> Iterator[str]:
    for field in fields:
        if field.name:
            yield from listed([field])
        elif field.parts:
            yield f"{field.kind.capitalize()}: {', '.join(link(part.name) for part in field.parts)}."
        elif field.text or field.kind != "any":
            yield " ".join(f"{field.kind.capitalize()}. {field.text}".split())


def _example(method: str, example: Example) -> list[str]:
    lines = ["```http", f"{method} {example.path}"]
    if example.body is not None:
        lines += ["Content-Type: application/json", "", json.dumps(example.body, indent=2, ensure_ascii=False)]
    lines += ["```", ""]
    if example.answer is not None and not isinstance(example.answer, str):
        lines += ["```json", json.dumps(example.answer, indent=2, ensure_ascii=False), "```", ""]
    return lines


def _shapes(used: Iterable[str]) -> Iterator[str]:
    """Yield every shape in `used` and the shapes that they refer to, ordered by name."""
    waiting, found = list(used), dict[str, list[str]]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            schema = _document()["components"]["schemas"][name]
            fields = _members(schema)
            text = [schema["description"], ""] if "description" in schema else []
            found[name] = [f'<a id="shape-{name}"></a>**{name}**', "", *text, *_told(fields), ""]
            waiting += shapes_in(fields)
    for name in sorted(found):
        yield from found[name]


_ACTIONS = """\
# Actions

An action is something a third party does: a payer pays, a network goes down, an account is suspended. It has the
same name and parameters everywhere: `POST /_simulator/actions/NAME`, `rampsim action NAME TARGET --parameter value`,
the `action` of a scenario, `world.act("NAME", target)` in a test, a button on the dashboard.

An action that is not possible now is refused with 409 `invalid_transition`. `error.allowed` lists the possible actions.

```bash
rampsim action set_network --network celo --status degraded
rampsim action set_network --network celo --status operational
```

"""


def actions_page() -> str:
    """Return the page of the actions as Markdown."""
    table: ActionTable = Simulator().actions
    lines = [_ACTIONS.rstrip()]
    used: dict[str, None] = {}
    for name in sorted(table.rows):
        rows = table.rows[name]
        kinds = [kind for row in rows for kind in row.kinds]
        schema = _document()["components"]["schemas"][f"{pascal(name)}Action"]
        fields = [field for field in _parameters(schema) if field.name != "target"]
        used |= dict.fromkeys(shapes_in(fields))
        lines += ["", f"## {name}", "", *dict.fromkeys(f"{row.does[:1].upper()}{row.does[1:]}." for row in rows), ""]
        lines += [
            f"Target: {' or '.join(dict.fromkeys(kinds))}." if kinds else "No target: it applies to the environment.",
            "",
        ]
        lines += [*listed(fields), ""] if fields else []
        while lines[-1] == "":
            lines.pop()
    lines += ["", "## Shapes", "", *_shapes(used)] if used else []
    return "\n".join(lines).rstrip() + "\n"


def _parameters(schema: Mapping[str, Any]) -> list[Field]:
    """Return the parameters of all variants of an action."""
    variants = schema.get("anyOf") or schema.get("oneOf") or [schema]
    found = {field.name: field for one in variants for field in _reader().members(one)}
    return list(found.values())
