"""Measures the cost of `rampsim capture`: `python -m tests.tools.evidence.throughput` prints it.

The same client makes the same calls directly and through the relay, in turns, within one run.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

from tests.support import KEYS
from tests.tools.evidence.hidden import hidden_service
from tests.tools.evidence.test_capture_command import capturing

CALLS = 50
"""The calls of one round. A round is short, so that some rounds are not disturbed by other programs."""
SMALL_ROUNDS = 150
BIG = 50 * 1024 * 1024
BIG_ROUNDS = 6


class _Big(BaseHTTPRequestHandler):
    """Returns and takes long bodies."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(BIG))
        self.end_headers()
        for _ in range(BIG // 65536):
            self.wfile.write(b"x" * 65536)

    def do_POST(self) -> None:
        left = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, 65536)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class _Small:
    """A client that makes small calls on one connection."""

    def __init__(self, origin: str) -> None:
        self._connection = http.client.HTTPConnection(origin.removeprefix("http://"))
        self._connection.request("POST", "/v1/auth/token", json.dumps(KEYS), {"Content-Type": "application/json"})
        token = json.load(self._connection.getresponse())["access_token"]
        self._headers = {"Authorization": f"Bearer {token}"}

    def play(self) -> None:
        for _ in range(CALLS):
            path = "/v1/rates?type=onramp&network=celo&asset=USDC&fiat_currency=KES"
            self._connection.request("GET", path, headers=self._headers)
            self._connection.getresponse().read()


def _big(origin: str, method: str) -> None:
    connection = http.client.HTTPConnection(origin.removeprefix("http://"))
    connection.request(method, "/v1/x", b"x" * BIG if method == "POST" else None)
    received = connection.getresponse()
    while received.read(65536):
        pass
    connection.close()


def _used(process: subprocess.Popen[str]) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _compare(
    what: str, rounds: int, process: subprocess.Popen[str], direct: Callable[[], None], relayed: Callable[[], None]
) -> None:
    """Print the fastest round of each, the median share of the throughput, and what the relay uses of a processor.

    The rounds take turns, so that a busy machine slows both. A share compares two successive rounds.
    """
    seconds: dict[Callable[[], None], list[float]] = {direct: [], relayed: []}
    before = _used(process)
    for _ in range(rounds):
        for play in (direct, relayed):
            begun = time.perf_counter()
            play()
            seconds[play].append(time.perf_counter() - begun)
    own = (_used(process) - before) / rounds
    alone, through = min(seconds[direct]), min(seconds[relayed])
    share = median(a / b for a, b in zip(seconds[direct], seconds[relayed], strict=True))
    sys.stdout.write(
        f"{what}: direct {alone:.3f} s, relayed {through:.3f} s ({alone / through:.0%} of the throughput, "
        f"median {share:.0%}), of which the relay uses {own:.3f} s of a processor\n"
    )


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Big)
    Thread(target=server.serve_forever, daemon=True).start()
    big = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder, hidden_service({}) as service:
        with capturing(f"{service}/v1", Path(folder)) as (origin, process):
            _compare(f"{CALLS} small calls", SMALL_ROUNDS, process, _Small(service).play, _Small(origin).play)
        with capturing(f"{big}/v1", Path(folder)) as (origin, process):
            for method in ("GET", "POST"):
                direct, relayed = partial(_big, big, method), partial(_big, origin, method)
                _compare(f"{method} with 50 MB", BIG_ROUNDS, process, direct, relayed)
    server.shutdown()


if __name__ == "__main__":
    main()
