"""What goes wrong between a test and the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.engine.clients.address import DEFAULT_URL
from simulator.version import wheel

if TYPE_CHECKING:
    import pytest


class SimulatorError(Exception):
    """The simulator refused, or cannot be reached. Base of all errors of the test kit.

    `status` is that of the HTTP answer, None without one; `code`, `message`, `param` and `allowed` (the actions that
    are possible instead) are those of its error envelope.
    """

    def __init__(self, message: str, *, status: int | None = None, error: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self._given = given = error or {}
        self.status = status
        self.message: str = _text(given, "message") or message
        self.code: str | None = _text(given, "code")
        self.param: str | None = _text(given, "param")
        self.allowed: Sequence[str] = tuple(map(str, _rows(given, "allowed")))


def is_told(caught: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether an error says it all. As the `__tracebackhide__` of a module it lets pytest show the test alone."""
    return isinstance(caught.value, SimulatorError | AssertionError)


class NotReached(SimulatorError):
    """What an `advance(until=...)` waited for never came; `receipt` is what it had done by then."""

    @property
    def receipt(self) -> Mapping[str, Any]:
        found = self._given.get("receipt")
        return found if isinstance(found, Mapping) else {}


class ActionRefused(SimulatorError):
    """An action is not possible now, or not on this object; `allowed` are those that are."""


class Unreachable(SimulatorError):
    """No simulator answers at the address; the text says which, why, and what to do."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"No simulator answers at {url} ({why}). Start one with `rampsim serve` (it listens at {DEFAULT_URL}), "
            "say with SIMULATOR_URL where it runs, or unset SIMULATOR_URL: then the tests start their own."
        )


def error_of(status: int, body: object) -> SimulatorError:
    """The exception for a refusal: its HTTP status and its parsed body, `{error: {code, message, ...}}`."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return SimulatorError(
            f"What answered with status {status} is not a simulator's control interface.", status=status
        )
    text = _text(error, "message") or _text(error, "code") or f"refused with status {status}"
    problems = [_problem(row) for row in _rows(error, "errors") if isinstance(row, Mapping)]
    if problems:
        text = "\n".join([f"{len(problems)} problems:" if len(problems) > 1 else "1 problem:", *problems])
    if error.get("code") == "invalid_transition":
        text += f" Possible now: {', '.join(map(str, _rows(error, 'allowed'))) or 'nothing'}."
    kind = _KINDS.get(_text(error, "code") or "", SimulatorError)
    return kind(text, status=status, error=error)


def _problem(row: Mapping[str, object]) -> str:
    """One problem of a scenario: where and what."""
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
    """What is raised where a library of the extra is not installed; `what` needs it, in words."""
    return ImportError(f'{what} needs {package}: pip install "{wheel("testing")}"', name=package)
