"""The receipt of an exploration: of what it was, with what, and what came of it; the same bytes when it is repeated."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from simulator.exploration.exploring import Explored
from simulator.exploration.judging import VERDICTS
from simulator.version import __version__
from simulator.wire.json import JsonObject


def receipt(explored: Explored, rest: Mapping[str, Any]) -> JsonObject:
    """The receipt of a report. `digest`: SHA-256 of `rest`, all else in it, as JSON with sorted names and no spaces."""
    settings = explored.settings
    written = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return {
        "version": __version__,
        "seed": settings.seed,
        "plan": settings.plan,
        "faults": list(settings.faults),
        "suite": suite(settings.command),
        "settle": settings.hooks.settle,
        "books": settings.hooks.books,
        "verdicts": verdicts(explored),
        "digest": f"sha256:{hashlib.sha256(written.encode()).hexdigest()}",
    }


def verdicts(explored: Explored) -> dict[str, int]:
    """How many runs ended how, the gravest first."""
    counts = Counter(one.verdict.verdict for one in explored.judged)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def suite(command: Sequence[str]) -> JsonObject:
    """What was explored. `commit`: that of git in the current directory, None outside; `changed`: files of it are."""
    commit = _git("rev-parse", "HEAD")
    # New files do not count: a run leaves some itself, and would not be the same the next time.
    changed = _git("status", "--porcelain", "--untracked-files=no") if commit else None
    return {"command": list(command), "commit": commit or None, "changed": None if changed is None else bool(changed)}


def _git(*words: str) -> str | None:
    """What git says; None where there is none, or no repository."""
    try:
        done = subprocess.run(["git", "--no-optional-locks", *words], capture_output=True, text=True)
    except OSError:
        return None
    return None if done.returncode else done.stdout.strip()
