"""The receipt of an exploration: suite, options, and the number of runs for each verdict.

In `report.json`, it has the same bytes whenever the exploration is repeated. Every commit changes the suite's git
state, so `with_commit` adds it only to readable output and to `receipt.json`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter

from simulator.engine.text.json import JsonObject
from simulator.exploration.exploring import Explored
from simulator.exploration.judgement.judging import VERDICTS
from simulator.version import __version__


def receipt(explored: Explored, rest: JsonObject) -> JsonObject:
    """Return the receipt for a report. `digest`: the SHA-256 of `rest`, the other fields, as compact sorted JSON."""
    settings = explored.settings
    written = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return {
        "version": __version__,
        "seed": settings.seed,
        "plan": settings.plan,
        "faults": list(settings.faults),
        "suite": {"command": list(settings.command)},
        "settle": settings.hooks.settle,
        "settle_mode": settings.hooks.mode,
        "books": settings.hooks.books,
        "verdicts": verdicts(explored),
        "digest": f"sha256:{hashlib.sha256(written.encode()).hexdigest()}",
    }


def verdicts(explored: Explored) -> dict[str, int]:
    """Return the number of runs for each verdict, most severe first."""
    counts = Counter(one.verdict.verdict for one in explored.judged)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def with_commit(receipt: JsonObject) -> JsonObject:
    """Return the receipt with the git commit (None outside a repository) and whether tracked files have changed."""
    commit = _git("rev-parse", "HEAD")
    # An exploration creates untracked files itself, so a second exploration would differ from the first.
    changed = _git("status", "--porcelain", "--untracked-files=no") if commit else None
    state = {"commit": commit or None, "changed": None if changed is None else bool(changed)}
    return {**receipt, "suite": {**receipt["suite"], **state}}


def _git(*words: str) -> str | None:
    """Return the output of a git command, or None if git or the repository is missing."""
    try:
        done = subprocess.run(["git", "--no-optional-locks", *words], capture_output=True, text=True)
    except OSError:
        return None
    return None if done.returncode else done.stdout.strip()
