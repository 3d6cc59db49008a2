"""The format of responses, events and errors under assumptions that differ from the default. This module changes error
codes and timestamp formats, and removes fields. Other modules decide the content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.kind import Kind
from simulator.engine.rows.service import Wording, service_of
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.worlds.settings import assumes, assumes_anything
from simulator.kernel.patterns import compile_late
from simulator.kernel.world import World

_Rewrite: TypeAlias = Callable[[str, Any], object]
"""A function that returns the replacement for a value, given the name of its field and the value.

To remove the field, it returns `_ABSENT`.
"""

_ABSENT = object()
_TIMESTAMP = compile_late(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8})(\.[0-9]{3})Z")
_GIVEN = frozenset({"reference", "label", "description", "name", "pause_reason"})
"""The fields that contain text from the caller. The text never changes. If none was given, the field is null."""
_DECIMAL = compile_late(r"[0-9]+\.[0-9]+")


def _refusal(world: World, error: ApiError) -> ApiError:
    """Return an error with the code and status that this world assumes (decisions H3 to H5, H17)."""
    if not assumes_anything(world):
        return error
    status, code, headers = error.status, error.code, error.headers
    if status == 405 and assumes(world, "H3", "wrong_method_answers_404"):
        return ApiError("not_found", "There is no such path.")
    if code == "missing_parameter":
        if assumes(world, "H4", "answers_422"):
            status = 422
        elif assumes(world, "H4", "answers_invalid_request"):
            code = "invalid_request"
    elif code == "invalid_parameter" and status == 400:
        if assumes(world, "H5", "answers_422"):
            status = 422
        elif assumes(world, "H5", "answers_invalid_request"):
            code = "invalid_request"
    elif code in ("invalid_credentials", "environment_mismatch") and assumes(world, "H17", "answers_unauthorized"):
        code = "unauthorized"
    return ApiError(code, error.message, error.param, status, headers)


def _envelope(world: World, error: ApiError, request_id: str) -> JsonObject:
    """Return the envelope of an error, with or without the request id (decision H11)."""
    return error.envelope(None if assumes(world, "H11", "only_in_the_header") else request_id)


def _answer(world: World, shown: Shown) -> Shown:
    """Return a response or the envelope of an event as this world assumes it (decisions H8, H10, H19, L3, M2, S4)."""
    if not assumes_anything(world):
        return shown
    for rewrite in _rewrites(world):
        shown = _rewritten(shown, rewrite, "")  # type: ignore[assignment]  # an object stays one
    return shown


def _subject(world: World, event_type: str, subject: Shown) -> Shown:
    """Return the fields that an event includes from its resource (decision W8)."""
    if not assumes_anything(world):
        return subject
    if assumes(world, "W8", "only_id_and_status"):
        return {name: value for name, value in subject.items() if name in ("id", "type", "status")}
    if assumes(world, "W8", "only_the_listed_fields"):
        rows = (row for kind in _orders(world) for row in (kind.machine.initial, *kind.machine.rows.values()))
        if any(event_type in move.events for row in rows for move in row):
            return {name: value for name, value in subject.items() if name in service_of(world).money.in_events}
    return subject


def _orders(world: World) -> Iterator[Kind]:
    kinds = world.wiring.kinds
    return (kinds[name] for name in service_of(world).money.orders if name in kinds)


def _rewrites(world: World) -> list[_Rewrite]:
    money = service_of(world).money
    prefixes = tuple({kind.prefix for kind in _orders(world) if kind.prefix})

    def is_order(value: object) -> bool:
        return isinstance(value, Mapping) and str(value.get("id")).startswith(prefixes) and "created_at" in value

    found: list[_Rewrite] = []
    if assumes(world, "H8", "no_trailing_zeros"):
        found.append(lambda name, value: _plain(value) if _is_amount(money.amounts, name, value) else value)
    if assumes(world, "H10", "whole_seconds"):
        found.append(lambda name, value: _TIMESTAMP.sub(r"\1Z", value) if _is_time(name, value) else value)
    elif assumes(world, "H10", "offset_for_utc"):
        found.append(lambda name, value: _TIMESTAMP.sub(r"\1\2+00:00", value) if _is_time(name, value) else value)
    if assumes(world, "H19", "not_given_is_absent"):
        found.append(lambda name, value: _ABSENT if value is None and name in _GIVEN else value)
    if assumes(world, "L3", "transactions_have_no_order_id"):
        found.append(lambda name, value: _without("order_id", value) if is_order(value) else value)
    if assumes(world, "M2", "free_network_fee_is_absent"):
        found.append(lambda name, value: _without("network_fee", value) if _is_free(name, value) else value)
    if assumes(world, "S4", "null_without_failure"):
        found.append(lambda name, value: {"failure_code": None, **value} if is_order(value) else value)
    return found


def _is_amount(amounts: frozenset[str], name: str, value: object) -> bool:
    return isinstance(value, str) and name in amounts and _DECIMAL.fullmatch(value) is not None


def _plain(amount: str) -> str:
    return amount.rstrip("0").rstrip(".")


def _is_time(name: str, value: object) -> bool:
    return isinstance(value, str) and name not in _GIVEN and _TIMESTAMP.fullmatch(value) is not None


def _is_free(name: str, value: object) -> bool:
    return name == "fee" and isinstance(value, Mapping) and value.get("network_fee") == "0.00"


def _without(field: str, value: Mapping[str, object]) -> object:
    return {name: inner for name, inner in value.items() if name != field}


def _rewritten(value: object, rewrite: _Rewrite, name: str) -> object:
    """Apply `rewrite` to all nested values, and then to the value itself. Return the result."""
    if isinstance(value, Mapping):
        fields = ((key, _rewritten(inner, rewrite, key)) for key, inner in value.items())
        value = {key: inner for key, inner in fields if inner is not _ABSENT}
    elif isinstance(value, list):
        value = [_rewritten(item, rewrite, name) for item in value]
    return rewrite(name, value)


WORDING = Wording(_refusal, _envelope, _answer, _subject)
