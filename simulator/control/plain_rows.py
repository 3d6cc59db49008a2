"""The tables whose rows are plain data, and what a row of each looks like: checked when a document is read.

Every other table holds records, whose fields the codec checks by their annotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from simulator.scenario.slowing import MOST
from simulator.wire.advice import SEVERITIES
from simulator.wire.errors import ApiError
from simulator.wire.faults import read_fault
from simulator.wire.fields import in_words
from simulator.wire.settings import Settings
from simulator.wire.state import LAST_TIMESTAMP_MS, StateError, checker

_STRICT = ConfigDict(strict=True, extra="forbid")
_AT = r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$"

Moment = Annotated[int, Field(ge=0, le=LAST_TIMESTAMP_MS)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
At = Annotated[str, Field(pattern=_AT)]


class Advice(TypedDict):
    """A finding that a room noted."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    id: str
    kind: str
    severity: Literal["info", "warning", "error"]
    message: str
    what_to_do: str
    requests: list[str]
    at: At


class LogEntry(TypedDict):
    """What a scenario did, and when."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    at: At
    part: str
    place: str
    object: NotRequired[str]
    event: NotRequired[str]
    request: NotRequired[str]
    action: NotRequired[str]
    error: NotRequired[str]
    name: NotRequired[str]
    reason: NotRequired[str]


class Logged(TypedDict):
    """A row of the logbook of scenarios."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    scenario: str
    what: Literal["fired", "done", "skipped", "failed", "stopped"]
    entry: LogEntry


class Stopped(TypedDict):
    """A scenario that was stopped: why, when, and the number of its entry in the logbook."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    name: str
    reason: str
    at: At
    entry: Count


class Failure(TypedDict):
    """The last step of a scenario that broke."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    part: str
    error: str


class StepArguments(TypedDict):
    """What the timer of a scenario's step carries: one action with its parameters, or a scenario to hand over to."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    scenario: str
    part: str
    place: str
    event: str
    at_once: NotRequired[bool]
    slowed_by: NotRequired[list[Literal["stellar", "celo", "bitcoin"]]]
    factor: NotRequired[Annotated[float, Field(gt=0, le=MOST)]]
    action: str | None
    acts_on: str | None
    parameters: dict[str, Any]
    environment: Literal["sandbox", "production"]
    hand_to: str | None


class Controlled(TypedDict):
    """A row of the journal of control calls."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    id: Annotated[str, Field(pattern=r"^ctl_[0-9]{6,18}$")]
    at_ms: Moment
    ended_ms: Moment
    after: Annotated[list[Any], Field(min_length=2, max_length=2)]
    name: str
    method: str
    path: str
    environment: Literal["sandbox", "production"]
    body: dict[str, Any] | str
    status: Annotated[int, Field(ge=100, le=599)]
    answer: dict[str, Any] | None


class Uploaded(TypedDict):
    """A scenario that belongs to its world."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    document: dict[str, Any]
    source: str
    lines: dict[str, Count]


class FaultState(TypedDict):
    """What a fault in force has besides what was asked for."""

    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]

    id: Annotated[str, Field(pattern=r"^flt_[0-9a-z]+$")]
    times_left: Count | None
    hits: Count
    scenario: str | None


_ROWS: Mapping[str, Any] = {
    "advice": Advice,
    "control.calls": Controlled,
    "faults": FaultState,
    "scenario.failures": Failure,
    "scenario.log": Logged,
    "scenario.stopped": Stopped,
    "settings": Settings,
    "uploaded_scenarios": Uploaded,
}
TABLES = tuple(_ROWS)
_STEP = "step"

assert SEVERITIES == ("info", "warning", "error")


@cache
def _adapter(what: str) -> TypeAdapter[Any]:
    return TypeAdapter(StepArguments if what == _STEP else _ROWS[what])


def check_row(table: str, key: str, row: Any, path: str) -> None:
    """StateError, with the place, for a row that this version cannot have written."""
    _validate(table, row, path)
    if table == "settings":
        if key != "settings" or not row.keys() <= Settings.model_fields.keys():
            raise StateError(path, f"the settings are {', '.join(Settings.model_fields)}")
    elif table == "faults":
        _check_fault(row, path)
    elif table == "control.calls":
        _check_call(row, path)
    if table in ("faults", "control.calls") and row["id"] != key:
        raise StateError(f"{path}.id", "it is the key of the row")


def check_step(arguments: dict[str, Any], path: str) -> None:
    """StateError for arguments that no timer of a scenario's step can carry."""
    _validate(_STEP, arguments, path)
    if (arguments["action"] is None) == (arguments["hand_to"] is None):
        raise StateError(path, "a step has an action, or a scenario to hand over to")


def _validate(what: str, value: Any, path: str) -> None:
    try:
        _adapter(what).validate_python(value)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise StateError(".".join([path, *map(str, detail["loc"])]), in_words(detail)) from None


def _check_fault(row: dict[str, Any], path: str) -> None:
    asked = {name: value for name, value in row.items() if name not in FaultState.__annotations__}
    try:
        read_fault(asked)
    except ApiError as error:
        raise StateError(f"{path}.{error.param}" if error.param else path, error.message) from None


def _check_call(row: dict[str, Any], path: str) -> None:
    request_id, count = row["after"]
    if not isinstance(request_id, str) or type(count) is not int or count < 0:
        raise StateError(f"{path}.after", "it is the id of a request, and how many of it there were")
    if isinstance(row["body"], str) != (row["name"] == "upload_scenario"):
        raise StateError(f"{path}.body", "it is a text for upload_scenario, else an object")
    if row["name"] == "activate" and not checker(list[str])(row["body"].get("names")):
        raise StateError(f"{path}.body.names", "it must be a list of names")
