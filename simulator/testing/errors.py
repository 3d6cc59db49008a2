"""The exceptions that the test kit raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.engine.clients.address import DEFAULT_URL
from simulator.version import wheel

if TYPE_CHECKING:
    import pytest


class SimulatorError(Exception):
    """The simulator refused a request, or the connection failed. Base class of all errors of the test kit.

    `status` is the HTTP status, or None if there was no response. `code`, `message`, `param` and `allowed` (the
    actions that are legal in the current state) come from the error envelope.
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
    """Return True for an error that a test can report without a traceback: SimulatorError or AssertionError. Assign
    this function to `__tracebackhide__` to make pytest hide the test kit's frames.
    """
    return isinstance(caught.value, SimulatorError | AssertionError)


class NotReached(SimulatorError):
    """`advance(until=...)` ended before its condition was met. `receipt` describes what happened until then."""

    @property
    def receipt(self) -> Mapping[str, Any]:
        found = self._given.get("receipt")
        return found if isinstance(found, Mapping) else {}


class ActionRefused(SimulatorError):
    """An action is illegal in the current state or for this resource. `allowed` lists the legal actions."""


class Unreachable(SimulatorError):
    """No simulator responds at the address. The message contains the address, the reason and a remedy."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"No simulator responds at {url} ({why}). Start one with `rampsim serve` (default address: {DEFAULT_URL}), "
            "set SIMULATOR_URL to its address, or unset SIMULATOR_URL so that the tests start their own."
        )


def error_of(status: int, body: object) -> SimulatorError:
    """Return the exception for a refused request. `body` is the parsed response: `{error: {code, message, ...}}`."""
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
    """Return the error for a feature (`what`) that needs an uninstalled package of the extra `testing`."""
    return ImportError(f'{what} needs {package}: pip install "{wheel("testing")}"', name=package)
