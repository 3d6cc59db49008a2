"""The signal: one place in the traffic that shows a kind of advice."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias

from simulator.engine.records.advice import Severity
from simulator.kernel.dataclass import dataclass

INFO: Severity = "info"


@dataclass(frozen=True)
class Signal:
    """One place that shows a kind of advice about a subject."""

    kind: str
    subject: str
    at_ms: int | None
    """In simulated time, or None if there is no moment."""
    requests: tuple[str, ...] = ()
    """The ids of the calls that show it."""
    evidence: tuple[str, ...] = ()
    """Other ids that show it."""
    detail: str = ""
    """Fills the message of the kind."""
    severity: Severity | None = None
    """Replaces the severity of the kind."""


class _Pause(Enum):
    PAUSE = "pause"


PAUSE: Final = _Pause.PAUSE
"""A detector yields this between slices of long work, so that other calls get their turn."""

Pause: TypeAlias = Literal[_Pause.PAUSE]
