"""Reading a HAR file: what browsers, proxies and API clients export of the traffic they saw (HAR 1.2)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from simulator.kernel.clock import parse_timestamp

BASE_END = "/v1"
LIVE = "pk_live_"


class HarError(Exception):
    """The file is no HAR, or holds no call of the service."""


@dataclass(frozen=True)
class Entry:
    """One recorded call: `path` lies below the base, bodies are parsed JSON (None without one)."""

    number: int
    at_ms: int
    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: Any
    raw_body: bytes
    status: int
    answer: Any


def read_har(raw: bytes, base: str | None = None) -> list[Entry]:
    """The calls to the service in the order of time; `base` is its base address, by default whatever ends with /v1."""
    try:
        entries = orjson.loads(raw)["log"]["entries"]
        found = [_entry(number, row, base) for number, row in enumerate(entries, 1)]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise HarError(f"this is not a HAR file: {type(error).__name__}: {error}") from None
    calls = sorted((entry for entry in found if entry is not None), key=lambda entry: (entry.at_ms, entry.number))
    if not calls:
        where = base or f"a base that ends with {BASE_END}"
        raise HarError(f"the file holds no call to {where}")
    return calls


def _entry(number: int, row: dict[str, Any], base: str | None) -> Entry | None:
    request, response = row["request"], row["response"]
    if response["status"] == 0:
        return None  # never answered
    split = urlsplit(request["url"])
    address = f"{split.scheme}://{split.netloc}{split.path}"
    path = _below(address, base)
    if path is None:
        return None
    text = (request.get("postData") or {}).get("text") or ""
    raw_body = text.encode()
    return Entry(
        number=number,
        at_ms=parse_timestamp(row["startedDateTime"]),
        method=request["method"].upper(),
        path=path,
        query=split.query,
        headers={header["name"].lower(): header["value"] for header in request["headers"]},
        body=_parsed(raw_body),
        raw_body=raw_body,
        status=int(response["status"]),
        answer=_parsed(_content(response.get("content") or {})),
    )


def _below(address: str, base: str | None) -> str | None:
    if base is not None:
        prefix = base.rstrip("/")
        return address[len(prefix) :] if address.startswith(prefix + "/") else None
    _, found, rest = address.partition(f"{BASE_END}/")
    return f"/{rest}" if found else None


def _content(content: dict[str, Any]) -> bytes:
    text = content.get("text") or ""
    if content.get("encoding") == "base64":
        try:
            return base64.b64decode(text)
        except binascii.Error:
            return b""
    return str(text).encode()


def _parsed(raw: bytes) -> Any:
    try:
        return orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError:
        return raw.decode("utf-8", "replace")
