"""Sanitises traffic with an allowlist. A recording contains the values listed here, and pseudonyms for all other
values.

The listed values are the operation, path template, status, sequence of exchanges, time differences, names and types of
fields, the contract's enumeration values, booleans, amounts and rates, counts, and error codes. Secrets are removed
without a pseudonym: keys, tokens, cookies, credentials and signatures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from urllib.parse import quote, unquote, unquote_plus

from simulator.engine.text.json import JsonObject, loads
from simulator.evidence.corpus.exchange import BodyForm, Exchange, Traffic, sealed
from simulator.evidence.corpus.known import SIGNATURE_HEADERS, known
from simulator.evidence.corpus.pseudonyms import REMOVED, Pseudonyms

_NEVER_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2", "x-api-key"}
    | {"proxy-authenticate", "authentication-info", "www-authenticate"} | SIGNATURE_HEADERS
)  # fmt: skip
_SECRET_HEADER = re.compile(r"auth|token|secret|signature|cookie|password|credential|session|api-?key", re.ASCII)
_CREDENTIALS = frozenset({"authorization", "x-api-key"})
_KEPT_VALUES: Mapping[str, re.Pattern[str]] = {
    "content-type": re.compile(r"(application/(json|problem\+json|x-www-form-urlencoded)|text/(html|plain))"
                               r"(; ?charset=utf-8)?|", re.I),  # "": a HAR file without the type
    "accept": re.compile(r"\*/\*|application/json"),
    "allow": re.compile(r"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)(, ?(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS))*"),
    "retry-after": re.compile(r"[0-9]{1,6}", re.ASCII),
    "idempotent-replayed": re.compile(r"true|false"),
    "connection": re.compile(r"close|keep-alive"),
}  # fmt: skip
_PSEUDONYM_VALUES = frozenset({"idempotency-key", "x-request-id", "retry-after"})
_SECRET_MEMBER = re.compile(
    r"(^|_)(secret|token|password|passwd|pin|otp|cvv|signature|authorization|cookie|private)(_|$)|(api|public|private|"
    r"secret|webhook|access)_?key", re.I,
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z][a-z]{0,15}(?:[_-]?[A-Za-z][a-z]{1,15}){0,5}", re.ASCII)
_UNLIKELY = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}|[aeiou]{4}|(.)\1\1", re.I)
_LONGEST_NAME = 40
_DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]{0,18})?", re.ASCII)
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,3}", re.ASCII)
_INT64_DIGITS = 18
"""The JSON writer accepts longer integers only as `Decimal`."""
_HARMLESS_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def sanitise(traffic: Traffic, pseudonyms: Pseudonyms) -> Exchange:
    """Return a copy of the exchange without secrets and personal data, which is safe to save to a file."""
    pseudonyms.begin(traffic.at_ms)
    assert pseudonyms.start_ms is not None
    is_call = traffic.direction == "call"
    operation = known().operation(traffic.method, traffic.path)[0] if is_call else None
    response: object
    response_body: BodyForm
    request, request_body = _body(traffic.body, pseudonyms)
    response, response_body = (None, "cut") if traffic.is_cut else _body(traffic.response, pseudonyms)
    if not is_call and isinstance(request, Mapping):
        operation = request["type"] if request.get("type") in known().events else None
    return sealed(
        {
            "n": traffic.n,
            "direction": traffic.direction,
            "after_ms": traffic.at_ms - pseudonyms.start_ms,
            "at": pseudonyms.moment(traffic.at_ms),
            "operation": operation,
            "method": traffic.method if traffic.method in _HARMLESS_METHODS else "OTHER",
            "path": pseudonyms.once(_path, traffic.method, traffic.path) if is_call else "/inbox",
            "query": pseudonyms.once(_query, traffic.query),
            "headers": _headers(traffic.headers, pseudonyms),
            "authenticated": any(name.lower() in _CREDENTIALS for name, _ in traffic.headers),
            "request": request,
            "request_body": request_body,
            "status": traffic.status,
            "response_headers": _headers(traffic.response_headers, pseudonyms),
            "response": response,
            "response_body": response_body,
            "signature": traffic.signature,
            "attempt": _attempt(traffic, request, pseudonyms),
            "hides_amounts": pseudonyms.hides_amounts,
        }
    )


def _attempt(traffic: Traffic, request: object, pseudonyms: Pseudonyms) -> int:
    if traffic.direction == "webhook":
        event = request.get("id") if isinstance(request, Mapping) else None
        return pseudonyms.attempt(f"event {event}") if isinstance(event, str) else 1
    key = next((value for name, value in traffic.headers if name.lower() == "idempotency-key"), "")
    return pseudonyms.attempt(f"{traffic.method} {traffic.path} {key}") if key else 1


def _path(method: str, path: str, pseudonyms: Pseudonyms) -> str:
    literals, template = known().literals, known().operation(method, path)[1]
    segments = [unquote(one) for one in path.strip("/").split("/")]
    shown = [
        one if one in literals and (not template or template[at] == one) else pseudonyms.text(one)
        for at, one in enumerate(segments)
    ]
    return "/" + "/".join(quote(one, safe="") for one in shown)


def _query(query: str, pseudonyms: Pseudonyms) -> JsonObject:
    shown: dict[str, list[str]] = {}
    for pair in query.split("&") if query else ():
        given, _, value = pair.partition("=")
        name = unquote_plus(given)
        shown.setdefault(_member(name, pseudonyms), []).append(_text(name, unquote_plus(value), pseudonyms))
    return {name: values[0] if len(values) == 1 else values for name, values in shown.items()}


def _headers(headers: Iterable[tuple[str, str]], pseudonyms: Pseudonyms) -> JsonObject:
    shown = (pseudonyms.once(_header_shown, given, value) for given, value in headers)
    return {name: kept for name, kept in shown if name is not None}


def _header_shown(given: str, value: str, pseudonyms: Pseudonyms) -> tuple[str | None, str | None]:
    """Return the header name and the value to save. The name is None if the header is omitted."""
    name, pattern = _header(given)
    if name is None:
        return None, None
    kept = value if pattern is not None and pattern.fullmatch(value) else None
    if kept is None and name in _PSEUDONYM_VALUES:
        kept = pseudonyms.text(value)
    return name or pseudonyms.text(given.lower()), kept


@lru_cache(maxsize=4096)
def _header(given: str) -> tuple[str | None, re.Pattern[str] | None]:
    """Return the header name to save, and a pattern that a value must match to be saved. The name is None if the header
    is omitted, and "" if a pseudonym replaces the name.
    """
    name = given.lower()
    is_known = name in known().headers
    if name in _NEVER_HEADERS or (not is_known and _SECRET_HEADER.search(name)):
        return None, None
    return name if is_known or _is_name(name) else "", _KEPT_VALUES.get(name)


def _body(raw: bytes | None, pseudonyms: Pseudonyms) -> tuple[object, BodyForm]:
    if raw is None:
        return None, "large"
    if not raw.strip():
        return None, "none"
    try:
        return _value("", loads(raw), pseudonyms), "json"
    except (ValueError, RecursionError):
        return None, "other"


def _value(name: str, value: object, pseudonyms: Pseudonyms) -> object:
    """Return a value without secrets and personal data, safe to save to a file. `name`: the name of the field that
    contains the value. In an `error` object, a dot precedes the name.
    """
    if isinstance(value, str):
        return pseudonyms.once(_text, name, value)
    if isinstance(value, Mapping):
        is_error = name == "error"
        return {
            _member(key, pseudonyms): _value(f".{key}" if is_error else key, one, pseudonyms)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_value(name, one, pseudonyms) for one in value]
    if value is None or isinstance(value, bool):
        return value
    assert isinstance(value, int | float | Decimal)
    return _number(name.lstrip("."), value, pseudonyms)


def _number(name: str, value: int | float | Decimal, pseudonyms: Pseudonyms) -> int | Decimal:
    if _is_secret(name):
        return 0
    if _keeps_numbers(name, pseudonyms):
        return value if isinstance(value, int) else Decimal(str(value))
    shown = pseudonyms.digits(str(value))
    return int(shown) if isinstance(value, int) and len(shown) <= _INT64_DIGITS else Decimal(shown)


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return name != "token_type" and _SECRET_MEMBER.search(name) is not None


def _keeps_numbers(name: str, pseudonyms: Pseudonyms) -> bool:
    return name in known().numeric and not (pseudonyms.hides_amounts and name in known().amounts)


def _text(name: str, value: str, pseudonyms: Pseudonyms) -> str:
    if name == ".code" and _is_name(value):
        return value
    if name == ".param":
        return ".".join(one if _VERSION.fullmatch(one) else _member(one, pseudonyms) for one in value.split("."))
    name = name.lstrip(".")
    if _is_secret(name):
        return pseudonyms.text(value) if value.startswith(("pk_", "sk_", "tok_", "whk_")) else REMOVED
    if name in known().numeric and _DECIMAL.fullmatch(value):
        return value if _keeps_numbers(name, pseudonyms) else pseudonyms.digits(value)
    if all(one in known().values for one in value.split(",")) or (name == "time" and _CLOCK.fullmatch(value)):
        return value
    if _is_of_known_words(value):
        return value
    return pseudonyms.text(value)


def _is_of_known_words(value: str) -> bool:
    """Return True for the id of a catalogue entry, such as `ast_usdc`: a known prefix and words from the contract."""
    prefix = known().prefix_of(value)
    return bool(prefix) and all(word in known().words for word in value[len(prefix) :].split("_"))


def _member(name: str, pseudonyms: Pseudonyms) -> str:
    """Return a field name, or its pseudonym. Names in the contract and names that consist of words are unchanged. Other
    names may contain personal data.
    """
    return name if name in known().members or _is_name(name) else pseudonyms.text(name)


@lru_cache(maxsize=4096)
def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None and not _UNLIKELY.search(text)
