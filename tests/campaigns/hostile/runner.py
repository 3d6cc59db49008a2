"""Runs a campaign: starts its worker, checks the server's health, kills a hanging worker, and summarises findings."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.findings import Findings
from tests.campaigns.hostile.prober import Prober
from tests.campaigns.hostile.progress import Progress
from tests.campaigns.hostile.stopwatch import Stopwatch
from tests.places import ROOT

GROWTH_FACTOR, GROWTH_BYTES = 1.5, 96 << 20
"""Memory at the end may be so many times what it was after a quarter of the episodes, and so much more."""


@dataclass
class Report:
    """The result of a campaign."""

    name: str
    seed: int
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    worst_health: float = 0.0
    memory: list[list[int]] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)

    @property
    def memory_span(self) -> tuple[int, int]:
        """After a quarter of the episodes and at the end, of the worker that lived longest."""
        longest = max(self.memory, key=len, default=[])
        return (longest[len(longest) // 4], longest[-1]) if longest else (0, 0)

    def as_json(self) -> dict[str, Any]:
        warm, end = self.memory_span
        return {
            "campaign": self.name,
            "seed": self.seed,
            "inputs": self.inputs,
            "seconds": round(self.seconds, 1),
            "slowest_seconds": round(self.slowest, 3),
            "worst_health_seconds": round(self.worst_health, 3),
            "memory_warm": warm,
            "memory_end": end,
            "failures": self.findings.by_kind(),
            "groups": [group.as_json() for group in self.findings.groups.values()],
        }


def run_campaign(
    campaign: Campaign, *, seed: int, first: int = 0, last: int | None = None, scale: float = 1.0
) -> Report:
    """Run the episodes from `first` to before `last` (by default as many as `scale` of the whole has)."""
    report = Report(campaign.name, seed)
    last = first + campaign.episodes(scale) if last is None else last
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        number = 0
        while first < last:
            number += 1
            first = _Worker(campaign, report, Path(folder) / f"progress{number}", first, last).run()
    report.seconds = perf_counter() - began
    for memory in report.memory:
        if len(memory) >= 8 and memory[-1] > memory[len(memory) // 4] * GROWTH_FACTOR + GROWTH_BYTES:
            told = f"{memory[len(memory) // 4] >> 20} MB after a quarter, {memory[-1] >> 20} MB at the end"
            report.findings.add("memory", "memory grows", call=told, place=f"seed {seed}")
    return report


class _Worker:
    """One worker process: from the first episode on, until all are done or it hangs or dies."""

    def __init__(self, campaign: Campaign, report: Report, page: Path, first: int, last: int) -> None:
        self._campaign, self._report, self._first, self._last = campaign, report, first, last
        self._progress = Progress(page)
        self._done = first
        self._prober: Prober | None = None
        self._memory: list[int] = []
        self._lock = threading.Lock()
        command = [sys.executable, "-m", "tests.campaigns.hostile.worker", campaign.name, "--progress", str(page)]
        command += ["--seed", str(report.seed), "--first", str(first), "--last", str(last)]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 — closed in run
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, cwd=ROOT
        )

    def run(self) -> int:
        """The episode to go on with."""
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._hear(json.loads(line))
        code = self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        watcher.join(15)
        self._end_probing()
        self._report.memory.append(self._memory)
        self._errors.seek(0)
        printed = self._errors.read().decode("utf-8", "replace")
        self._errors.close()
        if self._done < self._last:
            if code != -9:
                self._add("death", f"the worker ended with {code}", printed)
            return self._done + 1
        return self._done

    def _hear(self, line: dict[str, Any]) -> None:
        if "ready" in line:
            if self._campaign.health:
                present = self._progress
                self._prober = Prober(line["ready"], line["pid"], self._slow_health, lambda: present.present[1])
                self._prober.start()
        elif "end" in line:
            self._end_probing()
            assert self._process.stdin is not None
            self._process.stdin.close()
        elif "failure" in line:
            with self._lock:
                self._report.findings.merge(line["failure"])
        else:
            self._done = line["episode"] + 1
            self._memory.append(line["memory"])
            self._report.inputs += line["inputs"]
            self._report.slowest = max(self._report.slowest, line["slowest"])

    def _end_probing(self) -> None:
        if self._prober is not None:
            self._prober.stop()
            self._report.worst_health = max(self._report.worst_health, self._prober.worst)
            self._prober = None

    def _add(self, kind: str, signature: str, detail: str = "", present: str = "") -> None:
        place, call = _placed(present or self._progress.present[1])
        with self._lock:
            self._report.findings.add(kind, signature, call=call, detail=detail, place=place)

    def _slow_health(self, seconds: float, present: str) -> None:
        _, call = _placed(present)
        told = f"health waits during {' '.join(call.split(' ', 2)[:2])[:80]}"
        self._add("health", told, f"{seconds:.2f} s", present)

    def _watch(self) -> None:
        """End the worker when one input takes too long."""
        seen, watch = -1, Stopwatch(self._process.pid)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.25)
                return
            count = self._progress.present[0]
            if count != seen:
                seen, watch = count, Stopwatch(self._process.pid)
            elif watch.seconds > self._campaign.patience_seconds:
                _, call = _placed(self._progress.present[1])
                told = f"one input took more than {self._campaign.patience_seconds:g} s"
                self._add("hang", f"the server hangs during {' '.join(call.split(' ', 2)[:2])[:80]}", told)
                if self._prober is not None:
                    self._prober.hush()
                self._process.kill()
                return


def _placed(text: str) -> tuple[str, str]:
    """`seed 1 episode 2 upload 3 POST /…` → the place, the call."""
    words = text.split(" ")
    end = next((i for i in range(0, len(words), 2) if words[i] not in ("seed", "episode", "upload", "document")), 0)
    return " ".join(words[:end]), " ".join(words[end:])
