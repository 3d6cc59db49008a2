"""Hypothesis strategies from the contract: request bodies, ids, amounts, addresses, phone numbers, events.

    from hypothesis import given
    from simulator.testing import strategies

    @given(strategies.bodies("create_quote"))
    def test_a_quote_is_stored(body): ...

All values match the contract's schema, and the API accepts most request bodies: amounts are within every limit of a
fresh account, addresses have valid checksums, phone numbers are valid. Referenced beneficiaries and quotes must
exist, so replace their ids. Requires the package hypothesis.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from simulator.contract.files import followed, strict_document
from simulator.engine.text.json import JsonObject
from simulator.service import TOOLING

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError("simulator.testing.strategies needs hypothesis: pip install hypothesis") from error

__all__ = ["addresses", "amounts", "bodies", "events", "idempotency_keys", "identifiers", "phone_numbers"]

Schema = Mapping[str, Any]

_SAMPLES = TOOLING.samples()

_PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_categories=("Cc", "Cs")), max_size=40)


def identifiers(prefix: str) -> SearchStrategy[str]:
    """Ids with a prefix, such as `qt_` or `ben_`. They are well-formed, but no resource has them."""
    return st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=20, max_size=20).map(prefix.__add__)


def idempotency_keys() -> SearchStrategy[str]:
    return st.uuids(version=4).map(str)


def amounts(currency: str) -> SearchStrategy[str]:
    """Amounts in a currency as decimal strings, within the limits of a fresh account."""
    least, greatest, decimals = _SAMPLES.amounts[currency]
    return st.decimals(least, greatest, places=min(decimals, 6)).map(lambda amount: f"{amount:f}")


def addresses(network: str) -> SearchStrategy[str]:
    """Addresses on stellar, celo or bitcoin, with valid checksums."""
    size, make = _SAMPLES.addresses[network]
    return st.binary(min_size=size, max_size=size).map(make)


def phone_numbers(country: str | None = None) -> SearchStrategy[str]:
    """Mobile numbers in international format for a country (KE, TZ, NG, ZA, ZM, or None for any of these). No number
    ends in 0001, 0002, 0003 or 0009, because these are the simulator's test values.
    """
    if country is None:
        return st.sampled_from(sorted(_SAMPLES.phones)).flatmap(phone_numbers)
    numbers = st.from_regex(_SAMPLES.phones[country], fullmatch=True, alphabet="+0123456789")
    return numbers.filter(lambda text: _SAMPLES.is_ordinary_phone(text, country))


@cache
def bodies(operation_id: str) -> SearchStrategy[JsonObject]:
    """Request bodies for an operation. Raises KeyError if the operation is unknown or has no request body."""
    for item in strict_document()["paths"].values():
        for operation in item.values():
            if operation["operationId"] == operation_id:
                media = operation["requestBody"]["content"]["application/json"]
                return _make(media["schema"]).map(_with_acceptable_amount)
    raise KeyError(operation_id)


@cache
def events(event_type: str) -> SearchStrategy[JsonObject]:
    """Parsed envelopes of an event type, as a receiver gets them. Raises KeyError for an unknown type."""
    media = strict_document()["webhooks"][event_type]["post"]["requestBody"]["content"]["application/json"]
    return _make(media["schema"])


def _with_acceptable_amount(body: JsonObject) -> JsonObject:
    currency = _SAMPLES.currency_of(body)
    if currency is None or "amount" not in body:
        return body
    least, greatest, decimals = _SAMPLES.amounts[currency]
    scale = 10 ** min(decimals, 4)
    low, high = (round(float(bound) * scale) for bound in (least, greatest))
    units = low + sum(body["amount"].encode()) * 7919 % (high - low + 1)
    return {**body, "amount": f"{units // scale}.{units % scale:0{min(decimals, 4)}d}"}


class _Impossible(Exception):
    """The schema matches no value."""


def _make(schema: Schema, name: str = "") -> SearchStrategy[Any]:
    """Build a strategy from a schema. If a pattern is not precise enough, the field name determines the values."""
    schema = _whole(schema)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return st.one_of([_make(variant, name) for variant in schema[keyword]])
    types = schema.get("type", "object")
    if isinstance(types, list):
        return st.one_of([_make({**schema, "type": kind}, name) for kind in types])
    makers: Mapping[str, Callable[[Schema, str], SearchStrategy[Any]]] = {
        "object": _object,
        "array": _array,
        "string": _string,
        "integer": lambda schema, name: st.integers(schema.get("minimum", 0), schema.get("maximum", 1_000_000)),
        "number": _number,
        "boolean": lambda schema, name: st.booleans(),
        "null": lambda schema, name: st.none(),
    }
    return makers[types](schema, name)


def _whole(schema: Schema) -> Schema:
    if "$ref" in schema:
        return _whole(followed(strict_document(), schema))
    if "allOf" not in schema:
        return schema
    merged: Schema = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        merged = _both(merged, _whole(part))
    return merged


def _both(one: Schema, other: Schema) -> Schema:
    """Merge two schemas, of which `other` takes precedence. Raises _Impossible if no value matches both."""
    for keyword in ("anyOf", "oneOf"):
        if keyword in one:
            return {**one, keyword: _possible((variant, other) for variant in one[keyword])}
        if keyword in other:
            return {**other, keyword: _possible((one, variant) for variant in other[keyword])}
    merged = {**one, **other}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**one["properties"]}
        for name, member in other["properties"].items():
            known = _whole(one["properties"].get(name, {}))
            merged["properties"][name] = _both(known, _whole(member))
    if "type" in one and "type" in other:
        merged["type"] = _common_type(one["type"], other["type"])
    merged["required"] = [*one.get("required", ()), *other.get("required", ())]
    limited = (schema for schema in (one, other) if schema.keys() & {"enum", "const"})
    if chosen := [schema.get("enum", [schema.get("const")]) for schema in limited]:
        merged.pop("const", None)
        merged["enum"] = [value for value in chosen[0] if all(value in values for values in chosen)]
        if not merged["enum"]:
            raise _Impossible
    return merged


def _possible(pairs: Iterable[tuple[Schema, Schema]]) -> list[Schema]:
    possible = []
    for one, other in pairs:
        with contextlib.suppress(_Impossible):
            possible.append(_both(_whole(one), _whole(other)))
    return possible


def _object(schema: Schema, name: str) -> SearchStrategy[Any]:
    required = schema.get("required", ())
    properties = {key: member for key, member in schema.get("properties", {}).items() if member.get("not") != {}}
    return st.fixed_dictionaries(
        {key: _make(properties[key], key) for key in properties if key in required},
        optional={key: _make(properties[key], key) for key in properties if key not in required},
    )


def _array(schema: Schema, name: str) -> SearchStrategy[Any]:
    least = schema.get("minItems", 0)
    return st.lists(_make(schema.get("items", {}), name), min_size=least, max_size=max(least, 3))


def _common_type(one: str | list[str], other: str | list[str]) -> str | list[str]:
    """Return the types that both schemas allow. Raises _Impossible if there are none."""
    some, rest = ([kinds] if isinstance(kinds, str) else kinds for kinds in (one, other))
    both = [kind for kind in some if kind in rest]
    if not both:
        raise _Impossible
    return both[0] if len(both) == 1 else both


def _string(schema: Schema, name: str) -> SearchStrategy[str]:
    pattern = schema.get("pattern")
    named = _by_name(name, pattern)
    if named is not None:
        return named
    formats: Mapping[str, SearchStrategy[str]] = {
        "date-time": st.datetimes(datetime.datetime(2026, 1, 1), datetime.datetime(2035, 1, 1)).map(  # noqa: DTZ001
            lambda moment: f"{moment.isoformat(timespec='milliseconds')}Z"
        ),
        "date": st.dates(datetime.date(2030, 1, 1), datetime.date(2035, 1, 1)).map(datetime.date.isoformat),
        "uuid": st.uuids(version=4).map(str),
        "email": st.from_regex(r"[a-z]{1,12}@example\.test", fullmatch=True),
        "uri": st.from_regex(r"https://[a-z]{1,12}\.example\.com/[a-z]{0,12}", fullmatch=True),
    }
    if schema.get("format") in formats:
        return formats[schema["format"]]
    least, most = schema.get("minLength", 0), schema.get("maxLength", 60)
    if pattern is not None:
        return _matching(pattern, least, most)
    return (
        st.text(min_size=least, max_size=most) if least > 1 else _PLAIN.filter(lambda text: least <= len(text) <= most)
    )


@cache
def _matching(pattern: str, least: int, most: int) -> SearchStrategy[str]:
    """Return strings that match a pattern. Cached, because parsing is slow and patterns recur in many schemas."""
    found = st.from_regex(re.compile(pattern, re.ASCII), alphabet=st.characters(codec="ascii", exclude_characters="\0"))
    # `$` matches before a trailing line feed in Python, but not in JSON Schema.
    return found.filter(lambda text: not text.endswith("\n") and least <= len(text) <= most)


def _by_name(name: str, pattern: str | None) -> SearchStrategy[str] | None:
    """Return values that depend on the field name, for fields whose pattern describes only the form."""
    if name == "timezone":
        return st.sampled_from(_SAMPLES.zones)
    if pattern is None:
        return None
    if name in _SAMPLES.address_names:
        chosen = [addresses(network) for network, sample in _address_samples().items() if re.search(pattern, sample)]
        return st.one_of(chosen) if chosen else None
    if name == "phone_number":
        countries = [country for country, sample in _SAMPLES.phone_samples.items() if re.search(pattern, sample)]
        return st.one_of([phone_numbers(country) for country in countries]) if countries else None
    return None


@cache
def _address_samples() -> Mapping[str, str]:
    return {network: make(bytes(size)) for network, (size, make) in _SAMPLES.addresses.items()}


def _number(schema: Schema, name: str) -> SearchStrategy[float]:
    least = math.floor(schema.get("minimum", schema.get("exclusiveMinimum", 0)) * 100)
    most = math.floor(schema.get("maximum", 100) * 100)
    return st.integers(least + ("exclusiveMinimum" in schema), most).map(lambda hundredths: hundredths / 100)
