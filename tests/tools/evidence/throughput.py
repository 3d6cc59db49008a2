"""What `rampsim capture` costs: `python -m tests.tools.evidence.throughput` prints it.

The same client makes the same calls directly and through the relay, in turn, within one run.
"""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

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


def _small(origin: str, count: int) -> None:
    connection = http.client.HTTPConnection(origin.removeprefix("http://"))
    for _ in range(count):
        connection.request("GET", "/v1/rates?type=onramp&network=celo&asset=USDC&fiat_currency=KES")
        connection.getresponse().read()
    connection.close()


def _big(origin: str, method: str) -> None:
    connection = http.client.HTTPConnection(origin.removeprefix("http://"))
    connection.request(method, "/v1/x", b"x" * BIG if method == "POST" else None)
    received = connection.getresponse()
    while received.read(65536):
        pass
    connection.close()


def _ratio(direct: Callable[[], None], relayed: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of the fastest round, direct and relayed."""
    seconds = {direct: 1e9, relayed: 1e9}
    for _ in range(ROUNDS):
        for play in (direct, relayed):
            begun = time.perf_counter()
            play()
            seconds[play] = min(seconds[play], time.perf_counter() - begun)
    return seconds[direct], seconds[relayed]


def _print(what: str, direct: float, relayed: float) -> None:
    sys.stdout.write(
        f"{what}: direct {direct:.2f} s, relayed {relayed:.2f} s, {direct / relayed:.0%} of the throughput\n"
    )


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Big)
    Thread(target=server.serve_forever, daemon=True).start()
    big = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder, hidden_service({}) as service:
        with capturing(f"{service}/v1", Path(folder)) as (origin, process):
            rounds = CALLS // ROUNDS
            found = _ratio(lambda: _small(service, rounds), lambda: _small(origin, rounds))
            _print(f"{rounds} small calls", *found)
            used = Path(f"/proc/{process.pid}/stat").read_text().split()
            ticks = (int(used[13]) + int(used[14])) / os.sysconf("SC_CLK_TCK")
            sys.stdout.write(f"processor time of the relay, start included: {ticks:.2f} s for {CALLS} calls\n")
        with capturing(f"{big}/v1", Path(folder)) as (origin, _):
            for method in ("GET", "POST"):
                found = _ratio(lambda way=method: _big(big, way), lambda way=method: _big(origin, way))  # type: ignore[misc]  # bound now
                _print(f"{method} with 50 MB", *found)
    server.shutdown()


if __name__ == "__main__":
    main()
