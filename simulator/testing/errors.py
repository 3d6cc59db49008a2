"""Errors between a test and the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.engine.clients.address import DEFAULT_URL
from simulator.version import wheel

if TYPE_CHECKING:
    import pytest


class SimulatorError(Exception):
    """A refusal by the simulator, or a failed connection. Base class of all errors of the test kit.

    `status` is the HTTP status, or None if there was no response. `code`, `message`, `param` and `allowed` (the
    actions that are legal instead) come from the error envelope.
    """

    def __init__(self, message: str, *, status: int | None = None, error: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self._given = given = error or {}
        self.status = status
        self.message: str = _text(given, "message") or message
        self.code: str | None = _text(given, "code")
        self.param: str | None = _text(given, "param")
        self.allowed: Sequence[str] = tuple(map(str, _rows(given, "allowed")))


def hides_traceback(caught: pytest.ExceptionInfo[BaseException]) -> bool:
    """Return True if an error needs no traceback. As `__tracebackhide__`, it makes pytest hide the kit's frames."""
    return isinstance(caught.value, SimulatorError | AssertionError)


class NotReached(SimulatorError):
    """An `advance(until=...)` ended without its condition. `receipt` describes the time that passed."""

    @property
    def receipt(self) -> Mapping[str, Any]:
        found = self._given.get("receipt")
        return found if isinstance(found, Mapping) else {}


class ActionRefused(SimulatorError):
    """An action is illegal in the present state or for this object. `allowed` lists the legal actions."""


class Unreachable(SimulatorError):
    """No simulator responds at the address. The message names the address, the reason and a remedy."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"No simulator responds at {url} ({why}). Start one with `rampsim serve` (default address: {DEFAULT_URL}), "
            "set SIMULATOR_URL to its address, or unset SIMULATOR_URL so that the tests start their own."
        )


def error_of(status: int, body: object) -> SimulatorError:
    """Return the exception for a refusal, from its HTTP status and parsed body `{error: {code, message, ...}}`."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return SimulatorError(
            f"The response with status {status} is not from a simulator's control interface.", status=status
        )
    text = _text(error, "message") or _text(error, "code") or f"refused with status {status}"
    problems = [_problem(row) for row in _rows(error, "errors") if isinstance(row, Mapping)]
    if problems:
        text = "\n".join([f"{len(problems)} problems:" if len(problems) > 1 else "1 problem:", *problems])
    if error.get("code") == "invalid_transition":
        text += f" Legal now: {', '.join(map(str, _rows(error, 'allowed'))) or 'nothing'}."
    kind = _KINDS.get(_text(error, "code") or "", SimulatorError)
    return kind(text, status=status, error=error)


def _problem(row: Mapping[str, object]) -> str:
    """Format one problem of a scenario with its location."""
    place = f"line {row['line']}, column {row.get('column')}: " if row.get("line") else ""
    path = f"{row['path']}: " if row.get("path") else ""
    return f"  {place}{path}{row.get('message', '')}"


def _text(error: Mapping[str, object], name: str) -> str | None:
    value = error.get(name)
    return value if isinstance(value, str) else None


def _rows(error: Mapping[str, object], name: str) -> Sequence[object]:
    value = error.get(name)
    return value if isinstance(value, list | tuple) else ()


_KINDS: Mapping[str, type[SimulatorError]] = {"not_reached": NotReached, "invalid_transition": ActionRefused}


def missing(package: str, what: str) -> ImportError:
    """Return the error for a missing library of the extra; `what` names the feature that needs it."""
    return ImportError(f'{what} needs {package}: pip install "{wheel("testing")}"', name=package)
