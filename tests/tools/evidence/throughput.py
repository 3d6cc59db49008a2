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
from threading import Thread

from tests.support import KEYS
from tests.tools.evidence.hidden import hidden_service
from tests.tools.evidence.test_capture_command import capturing

CALLS = 2_000
BIG = 50 * 1024 * 1024
ROUNDS = 4


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


def _small(origin: str) -> None:
    connection = http.client.HTTPConnection(origin.removeprefix("http://"))
    connection.request("POST", "/v1/auth/token", json.dumps(KEYS), {"Content-Type": "application/json"})
    headers = {"Authorization": f"Bearer {json.load(connection.getresponse())['access_token']}"}
    for _ in range(CALLS):
        connection.request("GET", "/v1/rates?type=onramp&network=celo&asset=USDC&fiat_currency=KES", headers=headers)
        connection.getresponse().read()
    connection.close()


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
    what: str, process: subprocess.Popen[str], direct: Callable[[], None], relayed: Callable[[], None]
) -> None:
    """Print the fastest round of each, and what the relay uses of a processor.

    On a busy machine the second figure is the reliable one: it does not count the time that other programs take.
    """
    seconds = {direct: 1e9, relayed: 1e9}
    used = 0.0
    for _ in range(ROUNDS):
        for play in (direct, relayed):
            before, begun = _used(process), time.perf_counter()
            play()
            seconds[play] = min(seconds[play], time.perf_counter() - begun)
            used += _used(process) - before
    alone, through, own = seconds[direct], seconds[relayed], used / ROUNDS
    sys.stdout.write(
        f"{what}: direct {alone:.3f} s, relayed {through:.3f} s ({alone / through:.0%} of the throughput), "
        f"of which the relay uses {own:.3f} s of a processor ({alone / (alone + own):.0%})\n"
    )


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Big)
    Thread(target=server.serve_forever, daemon=True).start()
    big = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder, hidden_service({}) as service:
        with capturing(f"{service}/v1", Path(folder)) as (origin, process):
            _compare(f"{CALLS} small calls", process, lambda: _small(service), lambda: _small(origin))
        with capturing(f"{big}/v1", Path(folder)) as (origin, process):
            for method in ("GET", "POST"):
                direct, relayed = partial(_big, big, method), partial(_big, origin, method)
                _compare(f"{method} with 50 MB", process, direct, relayed)
    server.shutdown()


if __name__ == "__main__":
    main()
