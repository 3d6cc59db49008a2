"""`contracts/events/*.md`: a page for each event, with its fields and code for a receiver."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from contracts.generator.diagrams import file_name
from contracts.generator.evidence import TOUR, Evidence
from contracts.generator.schemas import REF, Components, Schema, references
from contracts.generator.texts import meanings_of
from simulator.engine.rows.event import EventType
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.text.shapes import values_of
from simulator.host import vocabulary
from simulator.kernel.clock import format_duration, parse_timestamp
from simulator.providers.ramp.signing import RETRY_DELAYS_MS, SIGNING
from simulator.service import SIGNATURE

VERIFIER = Path(__file__).with_name("verifiers") / "verify.py"
"""The signature check. Every page has it with its own example."""
KEY = "whk_test_simulator"
"""The sandbox webhook key of the world `default`."""
_DEEPEST = 2
_SCENARIOS = 3


def pages(components: Components, found: Collection[Evidence]) -> dict[str, str]:
    """Return the pages by file name, with README.md as the index."""
    return {"README.md": _index()} | {
        f"{name}.md": "\n".join(_page(components, event, found)) + "\n" for name, event in vocabulary().events.items()
    }


def _index() -> str:
    lines = [
        "# Events",
        "",
        "The events that a webhook endpoint can receive. Every page has the fields with their meaning, a real "
        "envelope, and code that checks its signature. The JSON Schema of the whole envelope is next to it; it accepts "
        "new fields and new values, as a receiver should.",
        "",
        "| event | sent when | object | statuses | schema |",
        "| - | - | - | - | - |",
    ]
    for name, event in vocabulary().events.items():
        statuses = ", ".join(f"`{status}`" for status in _statuses(event))
        schema = f"[schema]({name}.schema.json)"
        lines.append(f"| [{name}]({name}.md) | {event.sent_when} | {event.object} | {statuses} | {schema} |")
    return "\n".join([*lines, "", *_delivery(), ""])


def _page(components: Components, event: EventType, found: Collection[Evidence]) -> Iterator[str]:
    shown = [one for one in found if event.name in one.events]
    events = (envelope for one in sorted(shown, key=_size) for envelope in one.envelopes)
    example = next((envelope for envelope in events if envelope["type"] == event.name), None)
    yield from (f"# {event.name}", "", f"Sent when {event.sent_when}.", "", *_object(event), "")
    yield from ("## Fields", "", *_envelope_fields(event))
    for name in _names(components, event):
        yield from ("", f"### {name}", "", *_fields(components.schemas[name], components))
    if example is not None:
        yield from ("", "## Example", "", "```json", _pretty(example), "```", "")
        yield from (
            "## Receiving it",
            "",
            "This code runs unchanged, with the key of the simulator's world `default`.",
            "",
        )
        yield from ("```python", *_recipe(example), "```")
    yield from ("", *_delivery(), "")
    yield from ("## Seeing it", "", *_seeing(event, shown))


def _size(one: Evidence) -> int:
    return len(one.envelopes)


def _statuses(event: EventType) -> list[str]:
    found = dict.fromkeys(
        (*(status for one in vocabulary().subjects[event.name] for status in one.statuses), *event.also)
    )
    return list(found) if event.narrows else []


def _object(event: EventType) -> Iterator[str]:
    kinds = [one.kind for one in vocabulary().subjects[event.name]]
    tables = ", ".join(f"[{kind.name}](../states/{file_name(kind.machine)})" for kind in kinds)
    yield f"- Object: {tables}."
    if _statuses(event):
        yield f"- Possible statuses: {', '.join(f'`{status}`' for status in _statuses(event))}."
    if event.requires:
        yield f"- Always present: {', '.join(f'`{member}`' for member in event.requires)}."
    for row in (row for row in vocabulary().operations if row.shows == event.object):
        path = row.path if row.path.endswith("{id}") else row.path.replace("{id}", f"{{{kinds[0].parent}}}")
        yield f"- Current state of the object: `{row.method} {path}`. Events may arrive late, twice or out of order."
    if event.is_last:
        yield "- The object is final after this event, unless someone acts on it."


def _names(components: Components, event: EventType) -> list[str]:
    """Return the names of the schemas of the event's object in its possible statuses."""
    found = (
        name for shape in vocabulary().shapes_of(event.name) for name in _variants(components.answer(shape), components)
    )
    names = list(dict.fromkeys(found))
    field, wanted = vocabulary().subjects[event.name][0].kind.status_field, set(_statuses(event))

    def fits(name: str) -> bool:
        status = _followed(components.schemas[name].get("properties", {}).get(field, {}), components)
        return not wanted or not values_of(status) or bool(wanted & set(values_of(status)))

    return [name for name in names if fits(name)]


def _variants(schema: Schema, components: Components) -> Iterator[str]:
    """Yield the names of the object schemas in a union."""
    for reference in references({key: value for key, value in schema.items() if key in ("$ref", "oneOf", "anyOf")}):
        name = reference.removeprefix(REF)
        if "properties" in components.schemas[name]:
            yield name
        else:
            yield from _variants(components.schemas[name], components)


def _envelope_fields(event: EventType) -> list[str]:
    return [
        "| field | type | meaning |",
        "| - | - | - |",
        "| `id` | string | The id of the event. A repeated id is the same event again. |",
        f"| `type` | string | `{event.name}` |",
        "| `created_at` | string | The time of the event: ISO 8601, UTC. |",
        "| `livemode` | boolean | true in production, false in the sandbox. |",
        "| `data.object` | object | The object at the time of the event. |",
    ]


def _fields(schema: Schema, components: Components) -> Iterator[str]:
    yield from ("| field | type | meaning | basis |", "| - | - | - | - |")
    yield from _rows(schema, components)


def _rows(schema: Schema, components: Components, path: str = "", depth: int = 0) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        whole = _followed(member, components)
        optional = "" if name in schema.get("required", ()) else " (optional)"
        yield f"| `{path}{name}` | {_type(whole)}{optional} | {_meaning(whole)} | {_basis(member)} |"
        inner = _followed(whole.get("items") or {}, components) if "items" in whole else whole
        if depth < _DEEPEST and "properties" in inner:
            yield from _rows(inner, components, f"{path}{name}{'[]' if 'items' in whole else ''}.", depth + 1)


def _followed(schema: Schema, components: Components) -> Schema:
    """A schema with what it refers to; its own words win. Of `X or null` it is X."""
    for option in schema.get("anyOf", ()):
        if "$ref" in option and {"type": "null"} in schema["anyOf"]:
            own = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
            return {**_followed(option, components), **own, "nullable": True}
    if "$ref" not in schema:
        return schema
    referred = _followed(components.schemas[schema["$ref"].removeprefix(REF)], components)
    return {**referred, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if kind is None:
        options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        return " or ".join(dict.fromkeys(_type(option) for option in options)) or "object"
    kinds = [kind] if isinstance(kind, str) else [one for one in kind if one != "null"]
    null = " or null" if schema.get("nullable") or (isinstance(kind, list) and "null" in kind) else ""
    return " or ".join(kinds) + null


def _meaning(schema: Mapping[str, Any]) -> str:
    texts = [schema["description"]] if "description" in schema else []
    meanings = meanings_of(schema)
    values = [value for value in values_of(schema) if f"`{value}`" not in "".join(texts)]
    if meanings:
        texts += [f"`{value}`: {meaning}" for value, meaning in meanings.items()]
    elif values:
        texts.append(", ".join(f"`{value}`" for value in values))
    return "<br>".join(texts).replace("|", "\\|").replace("\n", " ")


def _basis(schema: Mapping[str, Any]) -> str:
    if schema.get("x-provenance") != "assumed":
        return "specified"
    basis = schema.get("x-basis")
    return f"assumed: [{basis}](../assumptions.md#{basis})" if basis else "assumed"


def _pretty(envelope: JsonObject) -> str:
    return orjson.dumps(envelope, option=orjson.OPT_INDENT_2).decode()


def _recipe(example: JsonObject) -> Iterator[str]:
    """Yield the signature check and a request that passes it."""
    body, at_ms = dumps(example), parse_timestamp(example["created_at"])
    verifier = VERIFIER.read_text("utf-8").strip().splitlines()
    yield from sorted([*verifier[:4], "import json"])
    yield from verifier[4:]
    yield from (
        "",
        "",
        f'key = "{KEY}"',
        f'headers = {{"X-Timestamp": "{at_ms}", "X-Signature": "{SIGNATURE.sign(KEY, str(at_ms), body)}"}}',
        f"body = {body!r}",
        f"assert is_genuine(key, headers, body, now_ms={at_ms})",
        "event = json.loads(body)",
        f'assert event["type"] == "{example["type"]}"',
    )


def _delivery() -> list[str]:
    waits = [format_duration(delay) for delay in RETRY_DELAYS_MS]
    return [
        "## Delivery",
        "",
        f"- Respond with 2xx within {SIGNING.timeout_seconds:.0f} seconds, and process the event afterwards.",
        f"- A failed delivery is retried after {', '.join(waits)}. After the last failure the endpoint is `disabled` "
        "until `PATCH /webhooks/{id}` enables it.",
        "- Events may arrive more than once and out of order. Store the ids of processed events, and fetch the object "
        "before you act on its status.",
        "- Compute the signature from the raw body. Parsing and re-encoding it changes its bytes.",
        "- [Receiving webhooks](../webhooks.md) has verifiers in six languages, and a test of a whole receiver.",
    ]


def _seeing(event: EventType, shown: Iterable[Evidence]) -> Iterator[str]:
    if event.name != "webhook.test":
        yield f"- `rampsim trigger {event.name}` causes it on a running simulator."
    best = sorted((one for one in shown if one.name != TOUR), key=_size)[:_SCENARIOS]
    for one in best:
        yield f"- [{one.name}](../../scenarios/{one.name}.yaml): {one.file.description}"
