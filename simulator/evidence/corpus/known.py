"""The names, values and id prefixes in the contract. A sanitised recording may contain these strings unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from simulator.contract.files import contract_document, operations_of, strict_document
from simulator.engine.clients.exchange import WELL_KNOWN_HEADERS
from simulator.engine.text.json import Shown
from simulator.kernel.dataclass import dataclass
from simulator.service import SIGNATURE, TOOLING

_DECIMAL_PATTERN = re.compile(r"\^\(?\[0-9\](\+|\{[0-9]+,[0-9]+\})\(?\\\.\[0-9\]")
_PREFIX = re.compile(r"\^\(?([A-Za-z]{2,}[0-9]?[_-]?)(?=[\[(]|$)")
_REQUEST_HEADERS = """
accept accept-charset accept-encoding accept-language access-control-request-headers access-control-request-method
cache-control content-encoding content-length content-type dnt expect forwarded from host if-match if-modified-since
if-none-match if-range if-unmodified-since max-forwards origin prefer range referer sec-ch-ua
sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site te upgrade-insecure-requests user-agent
x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-requested-with
"""


@dataclass(frozen=True)
class Known:
    """The strings and id prefixes in the contract, by the way in which the contract uses them."""

    members: frozenset[str]
    """The names of fields and query parameters."""
    numeric: frozenset[str]
    """The names of fields that contain a number or a decimal string."""
    amounts: frozenset[str]
    """The numeric fields that `--hide-amounts` hides."""
    values: frozenset[str]
    """The values of enumerations, and the error codes."""
    words: frozenset[str]
    """The words in these values, in lower case and without digits."""
    prefixes: re.Pattern[str]
    """The id prefixes."""
    literals: frozenset[str]
    """The fixed segments of paths."""
    headers: frozenset[str]
    """The header names, in lower case."""
    events: frozenset[str]
    paths: Mapping[tuple[str, int], Sequence[tuple[str, tuple[str, ...]]]]
    """The operations with their path segments, by method and number of segments. Fixed paths come first."""

    def prefix_of(self, text: str) -> str:
        """Return the known prefix of an id, or ""."""
        found = self.prefixes.match(text)
        return found[0] if found else ""

    def operation(self, method: str, path: str) -> tuple[str | None, tuple[str, ...]]:
        """Return the operation of a call and the segments of its path template, or (None, ()) if there is none."""
        segments = path.strip("/").split("/")
        for operation, template in self.paths.get((method, len(segments)), ()):
            if all(one == other or one.startswith("{") for one, other in zip(template, segments, strict=True)):
                return operation, template
        return None, ()


class _Reader:
    """Collects the names, values and patterns of contracts."""

    def __init__(self) -> None:
        self.names: dict[str, list[Shown]] = {}
        """The schemas of each field and query parameter."""
        self.values: set[str] = set()
        self.patterns: set[str] = set()
        self.headers = {name.lower() for name in WELL_KNOWN_HEADERS.split()} | set(_REQUEST_HEADERS.split())

    def read(self, part: object) -> None:
        if isinstance(part, list):
            for one in part:
                self.read(one)
        if not isinstance(part, dict):
            return
        if isinstance(part.get("properties"), dict):
            for name, schema in part["properties"].items():
                self.names.setdefault(name, []).append(schema)
        if part.get("in") == "query":
            self.names.setdefault(part["name"], []).append(part.get("schema", {}))
        if part.get("in") == "header":
            self.headers.add(part["name"].lower())
        if "description" in part and isinstance(part.get("headers"), dict):  # the headers of a response
            self.headers |= {name.lower() for name in part["headers"]}
        if isinstance(part.get("pattern"), str):
            self.patterns.add(part["pattern"])
        if isinstance(part.get("x-codes"), dict):
            self.values |= set(part["x-codes"])
        listed = part["enum"] if isinstance(part.get("enum"), list) else []
        self.values |= {one for one in [*listed, part.get("const")] if isinstance(one, str)}
        for name, one in part.items():
            if name not in ("example", "examples", "default"):
                self.read(one)


@cache
def known() -> Known:
    """Read both forms of the contract, open and strict, because only the strict form lists complete enumerations."""
    reader = _Reader()
    document = contract_document()
    reader.read(document)
    reader.read(strict_document())
    rows: dict[tuple[str, int], list[tuple[str, tuple[str, ...]]]] = {}
    for method, path, operation in operations_of(document):
        template = tuple(path.strip("/").split("/"))
        rows.setdefault((method, len(template)), []).append((operation["operationId"], template))
    for of_length in rows.values():
        of_length.sort(key=lambda row: sum(part.startswith("{") for part in row[1]))
    segments = {part for of_length in rows.values() for _, template in of_length for part in template}
    numeric = {name for name, schemas in reader.names.items() if any(map(_is_numeric, schemas))}
    counts = {name for name in numeric if not any(map(_is_amount, reader.names[name])) and "amount" not in name}
    prefixes = {found[1] for one in reader.patterns if (found := _PREFIX.match(one))}
    return Known(
        members=frozenset(reader.names),
        numeric=frozenset(numeric),
        amounts=frozenset(numeric - counts),
        values=frozenset(reader.values | set(TOOLING.samples().zones)),
        words=frozenset(word for value in reader.values for word in re.findall("[a-z]+", value.lower())),
        prefixes=re.compile("|".join(map(re.escape, sorted(prefixes, reverse=True)))),
        literals=frozenset(part for part in segments if not part.startswith("{")),
        headers=frozenset(reader.headers),
        events=frozenset(document["webhooks"]),
        paths=rows,
    )


def _types(schema: Shown) -> set[str]:
    of = schema.get("type", ())
    return {of} if isinstance(of, str) else set(of)


def _is_numeric(schema: Shown) -> bool:
    return _is_amount(schema) or "integer" in _types(schema)


def _is_amount(schema: Shown) -> bool:
    return "number" in _types(schema) or _DECIMAL_PATTERN.match(str(schema.get("pattern", ""))) is not None


SIGNATURE_HEADERS = frozenset({SIGNATURE.signature_header.lower(), SIGNATURE.timestamp_header.lower()})
