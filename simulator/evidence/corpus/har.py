"""Reader for HAR 1.2 files, to which browsers, proxies and API clients export recorded traffic."""

from __future__ import annotations

import base64
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from simulator.engine.text.json import JsonObject, loads
from simulator.evidence.corpus.exchange import Traffic
from simulator.kernel.clock import LAST_MS, parse_timestamp
from simulator.kernel.dataclass import dataclass

BASE_END = "/v1"
LIVE = "pk_live_"
UNKNOWN_TYPE = "application/json"
"""The type that a replay sends if the file does not contain the type. The service accepts it under all assumptions."""
MAX_BYTES = 256 * 1024**2

Kind = TypeVar("Kind")


class HarError(Exception):
    """Raised if the file is not a HAR file, or contains no call to the service."""


@dataclass(frozen=True, kw_only=True)
class RecordedCall(Traffic):
    """One recorded call. `n` is the number of its entry in the file. The header `content-type` is "" if the call has a
    body, but the file does not contain the type.
    """

    status: int
    sent: Any
    """The request body as parsed JSON, or None if there is no body."""
    answer: object
    """The response body as parsed JSON, or its text if it is not JSON."""


def read_har(raw: bytes, base: str | None = None) -> list[RecordedCall]:
    """Return the calls to the service, ordered by time.

    `base` is the base URL of the service. By default, calls to all base URLs that end with /v1 are included. Raise
    `HarError` for an invalid file. The message contains the entry and the field.
    """
    if len(raw) > MAX_BYTES:
        raise HarError(f"the file is larger than {MAX_BYTES // 1024**2} MB")
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise HarError(f"this is not a HAR file, because it is not valid JSON: {error}") from None
    try:
        rows = _member(_member(document, "log", dict, "the file"), "entries", list, "log")
        found = [_entry(number, row, base) for number, row in enumerate(rows, 1)]
    except HarError as error:
        raise HarError(f"this is not a HAR file: {error}") from None
    calls = sorted((entry for entry in found if entry is not None), key=lambda entry: (entry.at_ms, entry.n))
    if not calls:
        where = base or f"a base URL that ends with {BASE_END}"
        raise HarError(f"the file contains no calls to {where}. Set the base URL with --base")
    return calls


def _member(value: object, name: str, kind: type[Kind], where: str) -> Kind:
    """Return a required field from an object. Raise `HarError` if it is missing or has the wrong type."""
    found = value.get(name) if isinstance(value, dict) else None
    if type(found) is kind:
        return found
    raise HarError(f"`{name}` of {where} must be {_KINDS[kind]}")


def _optional(value: JsonObject, name: str, kind: type[Kind], where: str) -> Kind | None:
    return None if value.get(name) is None else _member(value, name, kind, where)


_KINDS: dict[type[Any], str] = {dict: "an object", list: "a list", str: "a string", int: "a whole number"}


def _entry(number: int, row: object, base: str | None) -> RecordedCall | None:
    here = f"entry {number}"
    request, response = _member(row, "request", dict, here), _member(row, "response", dict, here)
    asked, answered = f"the request of {here}", f"the response of {here}"
    status = _member(response, "status", int, answered)
    if status <= 0:
        return None  # there was no response
    if not 100 <= status <= 999:
        raise HarError(f"`status` of {answered} must be an HTTP status")
    try:
        split = urlsplit(_member(request, "url", str, asked))
    except ValueError:
        raise HarError(f"`url` of {asked} must be a URL") from None
    address = f"{split.scheme}://{split.netloc}{split.path}"
    path = _below(address, base)
    if path is None:
        return None
    posted = _optional(request, "postData", dict, asked) or {}
    raw_body = (_optional(posted, "text", str, f"postData of {asked}") or "").encode()
    headers = _headers(_member(request, "headers", list, asked), asked)
    if raw_body and "content-type" not in headers:
        headers["content-type"] = _optional(posted, "mimeType", str, f"postData of {asked}") or ""
        _require_one_line(headers["content-type"], f"`mimeType` of postData of {asked}")
    content = _optional(response, "content", dict, answered) or {}
    raw_answer = _content(content, f"content of {answered}")
    return RecordedCall(
        n=number,
        at_ms=_moment(_member(row, "startedDateTime", str, here), here),
        method=_member(request, "method", str, asked).upper(),
        path=path,
        query=split.query,
        headers=[*headers.items()],
        body=raw_body,
        sent=_parsed(raw_body),
        status=status,
        response_headers=[*_headers(_optional(response, "headers", list, answered) or [], answered).items()],
        response=raw_answer,
        answer=_parsed(raw_answer),
    )


def _moment(text: str, where: str) -> int:
    try:
        at_ms = parse_timestamp(text)
    except ValueError:
        at_ms = -1
    if not 0 <= at_ms <= LAST_MS:
        raise HarError(f"`startedDateTime` of {where} must be a timestamp between the years 1970 and 9998")
    return at_ms


def _headers(rows: list[Any], where: str) -> dict[str, str]:
    headers = {}
    for number, row in enumerate(rows, 1):
        here = f"header {number} of {where}"
        name, value = _member(row, "name", str, here), _member(row, "value", str, here)
        _require_one_line(name + value, here)
        headers[name.lower()] = value
    return headers


def _require_one_line(text: str, where: str) -> None:
    if any(character < " " for character in text):
        raise HarError(f"{where} must be a string without line breaks")


def _below(address: str, base: str | None) -> str | None:
    if base is not None:
        prefix = base.rstrip("/")
        return address[len(prefix) :] if address.startswith(prefix + "/") else None
    _, found, rest = address.partition(f"{BASE_END}/")
    return f"/{rest}" if found else None


def _content(content: JsonObject, where: str) -> bytes:
    text = _optional(content, "text", str, where) or ""
    if content.get("encoding") == "base64":
        try:
            return base64.b64decode(text)
        except ValueError:
            return b""
    return text.encode()


def _parsed(raw: bytes) -> Any:
    """Return the parsed JSON of a body, None if the body is empty, or its text if it is not JSON."""
    try:
        return loads(raw) if raw else None
    except ValueError:
        return raw.decode("utf-8", "replace")
