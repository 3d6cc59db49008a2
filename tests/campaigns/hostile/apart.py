"""A server under test in its own process, started as users start it and reached only over sockets."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.campaigns.hostile.findings import Findings
from tests.campaigns.hostile.progress import Progress
from tests.campaigns.hostile.restarting import judge, kept_by
from tests.campaigns.hostile.server_under_test import last_frame
from tests.places import ROOT
from tests.remote import async_client


class Server:
    """`python -m simulator serve` on a free port; what it prints on stderr is kept in a file.

    Its worlds are in a store of its own, which `forget` removes; `restarted` is a server on the same store.
    """

    def __init__(self, *flags: str, home: Path | None = None, store: str = "") -> None:
        self.home = Path(tempfile.mkdtemp(prefix="rampsim-hostile-")) if home is None else home
        self._given = (flags, store)
        flags = ("--store", store or f"sqlite:///{self.home / 'worlds.db'}", *flags)
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
        """The server's output on stderr so far."""
        return self.log.read_text("utf-8", "replace")

    def printed_since(self) -> str:
        """Return the output since the previous call."""
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

    def restarted(self) -> Server:
        """A server on the same store, once this one has ended."""
        self.log.unlink(missing_ok=True)
        flags, store = self._given
        return Server(*flags, home=self.home, store=store)

    def forget(self) -> None:
        self.stop(5, signal.SIGKILL)
        self.log.unlink(missing_ok=True)
        shutil.rmtree(self.home, ignore_errors=True)


class Apart:
    """The server of a campaign, its findings, and where in the run it is. `token` is its control token."""

    token = ""

    def __init__(self, findings: Findings, progress: Progress) -> None:
        self.findings = findings
        self.progress = progress
        self.server = self.started()
        self.place = ""
        self.slowest = 0.0
        self.keeps_worlds = False
        """Whether worlds stay at the end of an episode: those of the last one are compared after a restart."""
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
            self.server = self.started()

    def started(self) -> Server:
        """A server of this campaign."""
        return Server()

    def forget(self) -> None:
        """End all that was started."""
        self.server.forget()

    async def restart(self) -> None:
        """End the server, start it again on its store, and compare."""
        self.begin("restart")
        before = await kept_by(self._get)
        code = self.server.stop()
        if code != 0:
            self.fail("restart", f"the server ended with {code} when it was told to", "SIGTERM", self.server.printed())
        printed = self.server.printed_since()
        try:
            self.server = self.server.restarted()
        except RuntimeError as error:
            self.fail("restart", "the server does not start on its own store", "restart", f"{error}\n{printed}")
            return
        self.begin("restarted")
        judge(before, await kept_by(self._get, set(before.documents)), self.fail)
        self.judge("restart")

    async def _get(self, world: str, path: str) -> tuple[int, bytes]:
        headers = {"X-Simulator-World": world} if world else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        async with async_client(timeout=20) as client:
            answer = await client.get(f"{self.origin}/_simulator{path}", headers=headers)
        return answer.status_code, answer.content
