"""What goes wrong between a test and the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SimulatorError(Exception):
    """The simulator refused, or cannot be reached. Base of all errors of the test kit.

    `status` is that of the HTTP answer, None without one; `code`, `message`, `param` and `allowed` (the actions that
    are possible instead) are those of its error envelope.
    """

    def __init__(self, message: str, *, status: int | None = None, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        given = error or {}
        self.status = status
        self.message: str = given.get("message", message)
        self.code: str | None = given.get("code")
        self.param: str | None = given.get("param")
        self.allowed: Sequence[str] = tuple(given.get("allowed") or ())


class NotReached(SimulatorError):
    """What an `advance(until=...)` waited for never came; `receipt` is what it had done by then."""

    receipt: Mapping[str, Any]

    def __init__(self, message: str, *, status: int | None = None, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, status=status, error=error)
        self.receipt = (error or {}).get("receipt") or {}


class ActionRefused(SimulatorError):
    """An action is not possible now, or not on this object; `allowed` are those that are."""
