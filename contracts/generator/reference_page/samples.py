"""A working call of each operation: the samples of the reference page.

The values come from the contract's examples, which are real calls of a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from contracts.generator.reference_page.fields import Reader
from simulator.contract.files import operations_of
from simulator.engine.text.json import Shown, dumps
from simulator.kernel.dataclass import dataclass

JSON = "application/json"
_PATTERN_OF_ID = re.compile(r"\^[A-Za-z]+[_-]")


@dataclass(frozen=True)
class Sample:
    """A call: `path` with its query, `body` as JSON text ("" without one)."""

    method: str
    path: str
    body: str
    needs_token: bool


def samples(document: Shown, reader: Reader) -> Mapping[str, Sample]:
    """The sample of every operation, by its name."""
    known = list(_texts_in_examples(document))
    found = {}
    for method, path, operation in operations_of(document):
        parameters = [reader.follow(parameter) for parameter in operation.get("parameters", ())]
        query = []
        for parameter in parameters:
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", quote(_value(parameter, known)))
            elif parameter["in"] == "query" and parameter.get("required"):
                query.append((parameter["name"], _value(parameter, known)))
        found[operation["operationId"]] = Sample(
            method,
            path + (f"?{urlencode(query)}" if query else ""),
            _body(operation),
            operation.get("security") != [],
        )
    return found


def first_example(content: Shown) -> Any:
    """Return the first example of a request or response, or None."""
    media = content.get(JSON, {})
    if "example" in media:
        return media["example"]
    return next((example["value"] for example in media.get("examples", {}).values()), None)


def one_line(value: object) -> str:
    """JSON on one line, which may stand between the quotation marks of a shell."""
    return dumps(value).decode().replace("'", "\\u0027")


def _body(operation: Shown) -> str:
    example = first_example(operation.get("requestBody", {}).get("content", {}))
    return "" if example is None else one_line(example)


def _value(parameter: Shown, known: list[str]) -> str:
    """A value for a parameter: its example, the first that it may have, or one that an answer showed."""
    schema = parameter.get("schema", {})
    examples = parameter.get("examples", {})
    for value in (parameter.get("example"), *(example["value"] for example in examples.values())):
        if value is not None:
            return str(value)
    for word in ("examples", "enum", "x-extensible-enum", "x-known-values"):
        if schema.get(word):
            return str(schema[word][0])
    pattern = schema.get("pattern", "")
    if _PATTERN_OF_ID.match(pattern):
        return next((text for text in known if re.search(pattern, text)), parameter["name"])
    return str(parameter["name"])


def _texts_in_examples(document: Shown) -> Iterator[str]:
    for _, _, operation in operations_of(document):
        for response in operation["responses"].values():
            yield from _texts(first_example(response.get("content", {})))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
