"""A server to be tried that is a process of its own, as users start it; reached over sockets only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hostile.findings import Findings
from tests.hostile.progress import Progress
from tests.hostile.server_under_test import last_frame

ROOT = Path(__file__).parents[2]


class Server:
    """`python -m simulator serve` on a free port; what it prints on stderr is kept in a file."""

    def __init__(self, *flags: str) -> None:
        handle, name = tempfile.mkstemp(prefix="rampsim-hostile-", suffix=".log")
        self.log = Path(name)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simulator", "serve", "--port", "0", "--clock", "manual", *flags],
            stdout=subprocess.PIPE, stderr=handle, text=True, cwd=ROOT,
        )  # fmt: skip
        os.close(handle)
        self.origin = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("Ready on "):
                self.origin = line.removeprefix("Ready on ").strip()
                break
        if not self.origin:
            raise RuntimeError(f"the server did not start: {self.printed()}")
        self._read = 0

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def printed(self) -> str:
        """All that it printed on stderr so far."""
        return self.log.read_text("utf-8", "replace")

    def printed_since(self) -> str:
        """What it printed since this was asked last."""
        text = self.printed()
        fresh, self._read = text[self._read :], len(text)
        return fresh

    def stop(self, seconds: float = 10, how: int = signal.SIGTERM) -> int | None:
        """End it; the exit code, or None when it had to be killed."""
        code: int | None = None
        if self.alive:
            self.process.send_signal(how)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def forget(self) -> None:
        self.stop(5, signal.SIGKILL)
        self.log.unlink(missing_ok=True)


class Apart:
    """The server of a campaign, its findings, and where in the run it is."""

    def __init__(self, findings: Findings, progress: Progress) -> None:
        self.findings = findings
        self.progress = progress
        self.server = Server()
        self.place = ""
        self.slowest = 0.0
        self.failed = 0

    @property
    def origin(self) -> str:
        return self.server.origin

    def fail(self, kind: str, signature: str, call: str, detail: str = "") -> None:
        self.failed += 1
        self.findings.add(kind, signature, call=call, detail=detail, place=self.place)

    def begin(self, text: str) -> None:
        self.progress.begin(f"{self.place} {text}")

    def judge(self, call: str) -> None:
        """The server lives, and has printed nothing."""
        text = self.server.printed_since()
        if "Traceback" in text:
            self.fail("traceback", last_frame(text), call, text)
        if not self.server.alive:
            self.fail("death", f"the server ended with {self.server.process.returncode}", call, text)
            self.server.forget()
            self.server = Server()
