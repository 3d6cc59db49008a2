"""`--app` and `crash-of-process`: an application that explore starts, kills and starts again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tools.exploration.suite import PYTEST, Explored, explore

pytestmark = pytest.mark.farm

SHOP = """
import json, os, sqlite3, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URL, PORT = os.environ["SIMULATOR_URL"], int(os.environ["PORT"])
PLACE = @PLACE@
SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

def call(path, body, **headers):
    headers = {"Content-Type": "application/json", **headers}
    asked = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)

db = sqlite3.connect(PLACE, check_same_thread=False, isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS orders (reference PRIMARY KEY, state, amount, kept)")

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/webhooks":
            about = given["data"].get("object", {})
            if given["type"] == "transaction.completed":
                row = (about["net_amount"], about["reference"])
                db.execute("UPDATE orders SET state = 'completed', amount = ? WHERE reference = ?", row)
        else:
            reference = given["reference"]
            db.execute("INSERT OR IGNORE INTO orders VALUES (?, 'new', '0', '')", (reference,))
            keys = {name: os.environ["SIMULATOR_" + name.upper()] for name in ("public_key", "secret_key")}
            token = call("/v1/auth/token", keys)["access_token"]
            call("/v1/wallet/send", {**SEND, "reference": reference},
                 **{"Authorization": f"Bearer {token}", "Idempotency-Key": reference})
        self.answer("{}")

    def do_GET(self):
        rows = db.execute("SELECT reference, state, amount FROM orders").fetchall()
        self.answer(json.dumps([dict(zip(("order", "state", "amount"), row)) for row in rows]))

    def answer(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *given):
        pass

ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
"""
PLACES = {"a file": 'os.environ["SIMULATOR_PUBLIC_KEY"] + ".db"', "memory": '":memory:"'}
TEST = """
import http.client, json, os
import pytest

def order(port):
    for _ in range(200):
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            asked.request("POST", "/orders", json.dumps({"reference": "A-1"}))
            return asked.getresponse().read()
        except OSError:
            import time
            time.sleep(0.05)

@pytest.mark.scenario("autopilot")
def test_send(world):
    port = int(os.environ["PORT"])
    world.client.post("/webhooks", json={"url": f"http://127.0.0.1:{port}/webhooks", "events": ["*"]},
                      headers={"Idempotency-Key": "receiver-1"}).raise_for_status()
    order(port)
    world.advance("1m")
"""
BOOKS = "curl -s http://127.0.0.1:$PORT/"


def explored(directory: Path, place: str, *words: str) -> Explored:
    (directory / "shop.py").write_text(SHOP.replace("@PLACE@", PLACES[place]))
    (directory / "test_shop.py").write_text(TEST)
    app = f"{sys.executable} -S shop.py"
    return explore(directory, "--app", app, "--books", BOOKS, "--plan", "quick", *words)


@pytest.mark.parametrize(("place", "verdicts"), [("a file", {"survived"}), ("memory", {"survived", "lost"})])
def test_crash_of_process_finds_an_application_that_keeps_orders_in_memory(
    place: str, verdicts: set[str], tmp_path: Path
) -> None:
    found = explored(tmp_path, place, "--faults", "crash-of-process")
    rows = {row["site"]: row["verdict"] for row in found.report["runs"]}
    assert set(rows.values()) == verdicts, found.said
    assert {"POST /wallet/send #1", "transaction.completed #1"} <= set(rows)
    if place == "memory":
        assert rows["transaction.completed #1"] == "lost"


def test_an_app_that_does_not_listen_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(TEST)
    found = explore(tmp_path, "--app", f"{sys.executable} -S -c pass", command=(*PYTEST, "."))
    assert (found.code, "did not listen on the port in PORT" in found.said) == (2, True), found.said


def test_without_app_nothing_is_killed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(world):\n    world.client.get('/profile')\n")
    found = explore(tmp_path, "--faults", "crash-of-process")
    assert (found.code, found.report["runs"]) == (0, []), found.said
