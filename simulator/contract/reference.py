"""The reference page: the contract rendered for people, without any outside resource; its one script filters."""

from __future__ import annotations

import re

import jinja2
from markupsafe import Markup, escape

from simulator.contract.files import operations_of
from simulator.wire.json import JsonObject, Shown, pretty

_SCHEMAS = "#/components/schemas/"


def page(document: Shown) -> str:
    """The whole page as HTML."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("simulator.contract", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["kind"] = kind
    environment.filters["json"] = pretty
    environment.filters["anchor"] = anchor
    environment.filters["ticks"] = ticks
    operations = [_operation(document, *row) for row in operations_of(document)]
    return environment.get_template("reference.html.j2").render(
        info=document["info"],
        servers=document["servers"],
        tags=[
            {**tag, "operations": [row for row in operations if row["tag"] == tag["name"]]} for tag in document["tags"]
        ],
        events=[_event(document, name, item["post"]) for name, item in document["webhooks"].items()],
        schemas=document["components"]["schemas"],
    )


def anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def ticks(text: str) -> Markup:
    """Prose in which `words between backticks` are code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _follow(document: Shown, part: Shown) -> Shown:
    while "$ref" in part:
        place = part["$ref"].removeprefix("#/").split("/")
        part = document
        for name in place:
            part = part[name]
    return part


def _operation(document: Shown, method: str, path: str, operation: Shown) -> JsonObject:
    body = operation.get("requestBody")
    media = body["content"]["application/json"] if body else None
    return {
        "name": operation["operationId"],
        "method": method,
        "path": path,
        "tag": operation["tags"][0],
        "summary": operation["summary"],
        "provenance": operation["x-provenance"],
        "basis": operation.get("x-basis", ""),
        "parameters": [_follow(document, parameter) for parameter in operation.get("parameters", ())],
        "body": media["schema"] if media else None,
        "body_required": bool(body and body["required"]),
        "body_examples": _examples(media),
        "responses": [
            _response(document, status, response) for status, response in sorted(operation["responses"].items())
        ],
    }


def _response(document: Shown, status: str, response: Shown) -> JsonObject:
    response = _follow(document, response)
    media = response.get("content", {}).get("application/json")
    schema = media["schema"] if media else None
    return {
        "status": status,
        "description": response["description"],
        "provenance": response["x-provenance"],
        "basis": response.get("x-basis", ""),
        "schema": schema if int(status) < 400 else None,
        "codes": response.get("x-codes", {}),
        "examples": _examples(media),
        "links": response.get("links", {}),
    }


def _examples(media: Shown | None) -> JsonObject:
    return {name: example["value"] for name, example in (media or {}).get("examples", {}).items()}


def _event(document: Shown, name: str, operation: Shown) -> JsonObject:
    media = operation["requestBody"]["content"]["application/json"]
    return {
        "name": name,
        "summary": operation["summary"],
        "schema": media["schema"],
        "examples": _examples(media),
    }


def kind(schema: Shown) -> str:
    """What a value is, in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"].removeprefix(_SCHEMAS))
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return (" and " if word == "allOf" else " or ").join(dict.fromkeys(kind(part) for part in schema[word]))
    if "const" in schema:
        return f"“{schema['const']}”"
    if "enum" in schema:
        return ", ".join("null" if value is None else f"“{value}”" for value in schema["enum"])
    types = schema.get("type", "any")
    name = " or ".join(types) if isinstance(types, list) else str(types)
    if name == "array":
        return f"list of {kind(schema.get('items', {}))}"
    if schema.get("pattern"):
        return f"{name} {schema['pattern']}"
    return name
