"""What came of it, as a table and as JSON."""

from __future__ import annotations

import json
import re
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simulator.version import __version__
from tests.benchmarks.machine import described
from tests.trust.campaign import Outcome
from tests.trust.findings import PROMISES

HERE = Path(__file__).parent
PAGE, RESULTS = HERE / "README.md", HERE / "results.json"
_TABLE = re.compile(r"(<!-- results -->\n).*?(<!-- /results -->)", re.DOTALL)


def shown(outcome: Outcome) -> dict[str, Any]:
    """An outcome as it stands in the JSON."""
    found = {
        "seed": outcome.seed,
        "kills survived": outcome.kills,
        **({"went wrong besides": dict(sorted(outcome.wrongs.items()))} if outcome.wrongs else {}),
        "writes acknowledged": outcome.acknowledged,
        "calls without an answer": outcome.unknown,
        "webhooks that arrived": outcome.webhooks,
        **{PROMISES[promise]: outcome.findings.counts[promise] for promise in PROMISES},
        "promises broken": outcome.findings.total,
        "seconds": round(outcome.seconds),
    }
    if outcome.takeovers:
        found["takeovers timed"] = len(outcome.takeovers)
        for place, what in enumerate(("", ", less its wait for a processor")):
            seconds = [took[place] for took in outcome.takeovers]
            found[f"takeover{what}: median, worst (s)"] = f"{statistics.median(seconds):.1f}, {max(seconds):.1f}"
    return found


def table(results: dict[str, dict[str, Any]]) -> str:
    """In Markdown: a row for a figure, a column for a campaign."""
    names = [name for name in results if name in ("SQLite", "PostgreSQL", "protocol")]
    rows = list(dict.fromkeys(row for name in names for row in results[name]))
    lines = ["| | " + " | ".join(names) + " |", "| - |" + " - |" * len(names)]
    for row in rows:
        lines.append(f"| {row} | " + " | ".join(_cell(results[name].get(row)) for name in names) + " |")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def write(results: dict[str, dict[str, Any]]) -> None:
    """Put what was measured in place of what was, campaign by campaign."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    stamp = {"at": datetime.now(UTC).strftime("%Y-%m-%d"), "simulator": __version__, "machine": described()}
    kept.update({name: {**figures, **stamp} for name, figures in results.items()})
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    told = {name: {row: value for row, value in figures.items() if row not in stamp} for name, figures in kept.items()}
    PAGE.write_text(_TABLE.sub(lambda found: found[1] + table(told) + "\n" + found[2], PAGE.read_text()))
