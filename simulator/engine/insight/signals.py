"""The signal: one place in the traffic that shows a kind of advice."""

from __future__ import annotations

from simulator.engine.records.advice import Severity
from simulator.kernel.dataclass import dataclass

INFO: Severity = "info"


@dataclass(frozen=True)
class Signal:
    """One place that shows a kind of advice about a subject: calls (`requests`), or other ids (`evidence`).

    `detail` fills the message; `severity` replaces the kind's. `at_ms` is simulated time, None where there is none.
    """

    kind: str
    subject: str
    at_ms: int | None
    requests: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    detail: str = ""
    severity: Severity | None = None
