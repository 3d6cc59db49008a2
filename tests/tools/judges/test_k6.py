"""The k6 recipe under Node, with stubs for k6's modules: it loads an application and removes its faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from simulator.cli.tools import recipes
from tests.tools.judges import tools


@contextmanager
def application(status: int, faults: str) -> Iterator[tuple[str, list[dict[str, object]], list[object]]]:
    """An application that returns a status for each order; its address, the orders, and the faults at each of them."""
    orders: list[dict[str, object]] = []
    armed: list[object] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            orders.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            armed.append(httpx.get(faults).json()["data"])
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", orders, armed
        server.shutdown()


@pytest.mark.parametrize("status", [201, 500])
def test_script_of_k6_sends_orders_under_a_delay_and_removes_it(status: int, origin: str, tmp_path: Path) -> None:
    script = recipes.recipes()["k6"].folder / "load.js"
    faults = f"{origin}/_simulator/faults"
    with application(status, faults) as (url, orders, armed):
        done = tools.run(
            *(tools.node_directory() / "node", tools.HERE / "k6.mjs", script, tmp_path),
            APP_URL=url,
            SIMULATOR_URL=origin,
        )
    assert done.returncode == 0, done.stdout
    said = json.loads(done.stdout.strip().rpartition("\n")[2])
    assert said["checks"] == [*[["order accepted", status < 300]] * 2, ["webhooks settled", True]]
    assert "http_req_failed" in said["thresholds"]
    assert [order["number"] for order in orders] == ["load-1-0", "load-1-1"]
    assert all("latency" in str(found) for found in armed)
    assert httpx.get(faults).json()["data"] == []
