"""Probes of hidden services: simulators whose assumptions are switched at random.

`python -m tests.tools.evidence.hidden [COUNT]` prints for each control mode what was decided, and what wrongly.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from simulator.evidence.search import combination
from simulator.service import TOOLING
from tests.tools.evidence import free_port

CONTROLS = ("steered", "none")


@contextmanager
def hidden_service(assumed: Mapping[str, str]) -> Iterator[str]:
    """Serve a simulator with these alternatives; yield its origin."""
    port = free_port()
    flags = [part for one, name in assumed.items() for part in ("--assume", f"{one}={name}")]
    command = [sys.executable, "-m", "simulator", "serve", "--port", str(port), "--clock", "manual", "--end-with-stdin"]
    process = subprocess.Popen(
        [*command, *flags], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        origin = f"http://127.0.0.1:{port}"
        _await(origin)
        yield origin
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(20)


def _await(origin: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urlopen(f"{origin}/_simulator/health", timeout=5):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def probed(origin: str, control: str, *more: str) -> tuple[int, dict[str, Any]]:
    """Run `rampsim probe` on a service; return its exit code and its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        given = ["--target", f"{origin}/v1", "--public-key", "pk_test_simulator", "--secret-key", "sk_test_simulator"]
        command = [sys.executable, "-m", "simulator", "probe", *given, "--control", control, "--json", str(report)]
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=300, check=False)
        if not report.exists():
            raise AssertionError(done.stdout + done.stderr)
        return done.returncode, json.loads(report.read_text())


def judged(report: Mapping[str, Any], assumed: Mapping[str, str]) -> tuple[Counter[str], list[str]]:
    """Return how many assumptions were decided or why not, and the wrong verdicts."""
    counts: Counter[str] = Counter()
    wrong = []
    for row in report["assumptions"]:
        if row["verdict"] == "undecided":
            counts[row["reason"]] += 1
            continue
        counts["decided"] += 1
        truth = assumed.get(row["id"])
        if row["verdict"] != ("differs" if truth else "holds") or row["alternative"] != truth:
            wrong.append(f"{row['id']}: {row['verdict']} {row['alternative'] or row['seen']}, is {truth}")
    return counts, wrong


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    for control in CONTROLS:
        totals: Counter[str] = Counter()
        for seed in range(count):
            assumed = combination(TOOLING.alternatives(), f"hidden {seed}")
            with hidden_service(assumed) as origin:
                chosen = origin if control == "steered" else "none"
                _code, report = probed(origin, chosen, "--spend", "sandbox", "--calls", "2000")
            counts, wrong = judged(report, assumed)
            totals += counts
            totals["wrong"] += len(wrong)
            shown = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
            sys.stdout.write(
                f"{control} {seed}: {len(assumed)} switched; {shown}; {len(wrong)} wrong; "
                f"{report['calls']} calls, {report['seconds']} s\n"
            )
            for line in wrong:
                sys.stdout.write(f"    {line}\n")
        sys.stdout.write(f"{control}, all: {dict(totals)}\n")


if __name__ == "__main__":
    main()
