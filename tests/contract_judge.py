"""Checks traffic against a contract. A response or event that violates it raises an error with the location.

It needs only the contract's document and no other code of the simulator, so it can judge any server that implements the
contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import jsonschema_rs

Document = Mapping[str, Any]

_BASE = "urn:contract"


@dataclass(frozen=True)
class Finding:
    """One way in which traffic is not as the contract says."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class ContractJudge:
    """Judges answers and events by a contract (the document of openapi.yaml, parsed)."""

    def __init__(self, document: Document) -> None:
        self._document = document
        resource = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}
        self._registry = jsonschema_rs.Registry([(_BASE, resource)])
        self._validators: dict[str, jsonschema_rs.Draft202012Validator] = {}
        self._paths = {path: path.strip("/").split("/") for path in document["paths"]}

    def find(self, method: str, path: str) -> tuple[str, Mapping[str, Any]] | None:
        """The path template and the operation of a call (path below the base); None when the contract has none."""
        segments = path.partition("?")[0].strip("/").split("/")
        fitting = [template for template, parts in self._paths.items() if _fits(parts, segments)]
        for template in sorted(fitting, key=lambda template: template.count("{")):
            name = "get" if method == "HEAD" else method.lower()
            if name in self._document["paths"][template]:
                return template, self._document["paths"][template][name]
        return None

    def answer(self, method: str, path: str, status: int, headers: Mapping[str, str], body: Any) -> list[Finding]:
        """Check a response. `body`: parsed JSON, or None. `headers`: with lowercase names."""
        where = f"{method} {path} {status}"
        found = self.find(method, path)
        if found is None:
            return [Finding(where, "the contract has no such operation")]
        template, operation = found
        declared = str(status) if str(status) in operation["responses"] else f"{status // 100}XX"
        place = f"/paths/{_escaped(template)}/{'get' if method == 'HEAD' else method.lower()}/responses/{declared}"
        response = operation["responses"].get(declared)
        if response is None:
            return [Finding(where, "this status is not declared")]
        place, response = self._followed(place, response)
        findings = [Finding(where, message) for message in self._headers(response, headers)]
        content = response.get("content")
        if method == "HEAD":
            return findings
        if content is None:
            return findings if body is None else [*findings, Finding(where, "a body, where there is to be none")]
        if body is None:
            return [*findings, Finding(where, "no body")]
        pointer = f"{place}/content/application~1json/schema"
        return findings + [Finding(where, message) for message in self._violations(pointer, body)]

    def request(self, method: str, path: str, body: Any) -> list[Finding]:
        """Check a request body against the contract."""
        found = self.find(method, path)
        if found is None or "requestBody" not in found[1]:
            return []
        pointer = f"/paths/{_escaped(found[0])}/{method.lower()}/requestBody/content/application~1json/schema"
        return [Finding(f"{method} {path}", message) for message in self._violations(pointer, body)]

    def event(self, envelope: Any) -> list[Finding]:
        """Check an event as a receiver gets it."""
        event_type = str(envelope.get("type")) if isinstance(envelope, Mapping) else "?"
        where = f"event {event_type}"
        if event_type not in self._document["webhooks"]:
            return [Finding(where, "the contract has no such event type")]
        pointer = f"/webhooks/{_escaped(event_type)}/post/requestBody/content/application~1json/schema"
        return [Finding(where, message) for message in self._violations(pointer, envelope)]

    def named(self, schema: str, value: Any) -> list[Finding]:
        """Check a value against a named schema."""
        pointer = f"/components/schemas/{_escaped(schema)}"
        return [Finding(schema, message) for message in self._violations(pointer, value)]

    def _followed(self, place: str, part: Any) -> tuple[str, Any]:
        while "$ref" in part:
            place = part["$ref"].removeprefix("#")
            part = self._document
            for name in place.split("/")[1:]:
                part = part[name.replace("~1", "/").replace("~0", "~")]
        return place, part

    def _headers(self, response: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
        for name, declared in response.get("headers", {}).items():
            place, header = self._followed("", declared)
            value = headers.get(name.lower())
            if value is not None:
                for message in self._violations(f"{place}/schema", value):
                    yield f"header {name}: {message}"
            elif header.get("required"):
                yield f"the header {name} is missing"

    def _violations(self, pointer: str, value: Any) -> list[str]:
        validator = self._validators.get(pointer)
        if validator is None:
            schema = {"$ref": f"{_BASE}#{quote(pointer)}"}
            validator = jsonschema_rs.Draft202012Validator(schema, registry=self._registry, validate_formats=True)
            self._validators[pointer] = validator
        return [
            f"{'/'.join(str(part) for part in error.instance_path) or 'body'}: {error.message}"
            for error in validator.iter_errors(value)
        ]


def _fits(parts: list[str], segments: list[str]) -> bool:
    return len(parts) == len(segments) and all(
        part == segment or (part.startswith("{") and segment) for part, segment in zip(parts, segments, strict=True)
    )


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
