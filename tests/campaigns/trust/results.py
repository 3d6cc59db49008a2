"""The results as a table and as JSON."""

from __future__ import annotations

import json
import re
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simulator.version import __version__
from tests.campaigns.benchmarks.machine import described
from tests.campaigns.trust.campaign import Outcome
from tests.campaigns.trust.findings import PROMISES

HERE = Path(__file__).parent
PAGE, RESULTS = HERE / "README.md", HERE / "results.json"
_RATIOS = {"SQLite": "SQLite / memory (goal 0.6)", "PostgreSQL": "PostgreSQL / memory (goal 0.4)"}
_RATIOS |= {"three replicas": "three replicas / one (goal 2.5)", "forwarded": "forwarded / direct"}


def shown(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON."""
    found = {
        "seed": str(outcome.seed),
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
    page = _put(PAGE.read_text(), "results", table(told))
    if "throughput" in told:
        page = _put(page, "throughput", throughput(told["throughput"]))
    PAGE.write_text(page)


def throughput(figures: dict[str, Any]) -> str:
    """Rows of a table in Markdown: a side, what it takes, and how that compares."""
    head = ("", "calls a second", "servers, ms of processor time a call", "PostgreSQL, ms a call")
    rows = ["| " + " | ".join((*head, "ratio by calls a second", "ratio by processor time")) + " |", "| - " * 6 + "|"]
    for side in ("memory", *_RATIOS):
        ratio = figures.get(_RATIOS.get(side, ""), {"": "", " ": ""})
        name = _RATIOS.get(side, side)
        rows.append("| " + " | ".join(map(str, (name, *figures[side].values(), *ratio.values()))) + " |")
    return "\n".join(rows)


def _put(page: str, name: str, text: str) -> str:
    found = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    return found.sub(lambda match: match[1] + text + "\n" + match[2], page)
