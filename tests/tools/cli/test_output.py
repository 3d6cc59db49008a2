"""Output never controls a terminal, whatever strings it contains."""

from __future__ import annotations

import ast
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from simulator.cli import main
from simulator.engine.text.terminal import plain
from tests.places import ROOT
from tests.tools.cli.conftest import Command

PACKAGE = ROOT / "simulator"
ODD = "a\x1b]0;x\x07b\x9b31m\x85\u202ec\u2066d\u200ee\x7f\x08\u061c"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PRINTING = {"echo", "secho", "echo_via_pager", "print", "pprint"}


@pytest.fixture(scope="module")
def hostile() -> Iterator[str]:
    """A server that answers everything with texts that steer terminals, refusals with status 422."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            refusal = {"error": {"code": ODD, "message": f"{ODD}\n::error::{ODD}", "allowed": [ODD]}}
            body = json.dumps(refusal, ensure_ascii=False).encode()
            self.send_response(422)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815 - as the handler wants them

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_plain_escapes_terminal_control_characters() -> None:
    assert plain("a\tb\nc é \u200d 😀") == "a\tb\nc é \u200d 😀"
    assert plain("\x1b[31m\x9b\u202e\x00\ud800") == r"\u001b[31m\u009b\u202e\u0000\ud800"


@given(st.text(st.characters(exclude_categories=[])))
def test_plain_leaves_json_unchanged(text: str) -> None:
    written = plain(json.dumps([text], ensure_ascii=False))
    assert STEERS.search(written) is None
    assert json.loads(written) == [text]
    written.encode()


def test_no_command_prints_by_other_means() -> None:
    """`simulator/cli/output.py` alone writes to terminals, so that nothing is printed as it came."""
    found = []
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if path.name == "output.py" or not isinstance(node, ast.Attribute | ast.Name):
                continue
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            owner = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
            if name in PRINTING or (name == "write" and owner in ("sys.stdout", "sys.stderr")):
                found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert found == []


@pytest.mark.parametrize(
    "words",
    ["find x", "inbox", "inbox demo", "resources", "requests", "events", "deliveries", "advice", "record", "tail",
     "faults list", "worlds", "snapshots list", "clock advance 1h", "reset", "action emit --type a", "coverage",
     "trigger quote.created", "open --print", "events wait", "scenario activate --none"],
)  # fmt: skip
def test_refusal_of_a_hostile_server_is_shown_escaped(hostile: str, words: str) -> None:
    result = CliRunner().invoke(main, words.split(), env={"SIMULATOR_URL": hostile}, catch_exceptions=False)
    assert STEERS.search(result.output) is None
    assert result.output.startswith("rampsim: refused (a\\u001b"), result.output
    assert "\n::error::" not in result.output


def test_planted_texts_are_shown_escaped(rampsim: Command, tmp_path: Path) -> None:
    keys = rampsim.client.get(f"/worlds/{rampsim.world}")["credentials"]["sandbox"]
    rampsim.client.post("/inbox/demo", {"note": ODD, "type": ODD, "data": {"object": {"id": ODD}}})
    rampsim.client.post("/actions/emit", {"type": "kyc.approved", "object": {"id": ODD, "status": ODD, ODD: ODD}})
    httpx.post(f"{keys['base_url']}/auth/token", json={"public_key": keys["public_key"], "secret_key": ODD, ODD: ODD})
    recording = tmp_path / "odd.yaml"
    for words in (
        ("inbox", "demo"), ("inbox", "demo", "--json"), ("find", "approved"), ("find", "approved", "--json"),
        ("events",), ("requests",), ("record",), ("record", "--out", str(recording)), ("advice", "--json"),
    ):  # fmt: skip
        result = rampsim(*words)
        assert STEERS.search(result.output) is None, words
        if "--json" in words:
            json.loads(result.stdout)
    assert json.loads(rampsim("events").stdout)[0]["data"]["object"]["id"] == ODD
    assert STEERS.search(recording.read_text("utf-8")) is None


def test_validate_shows_texts_of_a_file_escaped(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(json.dumps({"name": "odd", "rules": [{"on": ODD, "do": [{ODD: ODD}]}], ODD: ODD}), "utf-8")
    result = CliRunner().invoke(main, ["scenario", "validate", str(path)])
    assert result.exit_code != 0
    assert STEERS.search(result.output) is None


def test_compare_shows_texts_of_a_recording_escaped(tmp_path: Path) -> None:
    call = {
        "request": {"method": "GET", "url": f"https://api.example.com/v1/{ODD}", "headers": []},
        "response": {"status": 418, "content": {"text": json.dumps({"error": {"code": ODD}})}, "headers": []},
        "startedDateTime": "2026-01-05T08:00:00Z",
    }
    path = tmp_path / "odd.har"
    path.write_text(json.dumps({"log": {"entries": [call]}}, ensure_ascii=False), "utf-8")
    for more in ([], ["--json"]):
        result = CliRunner().invoke(main, ["compare", str(path), *more])
        assert result.exit_code in (1, 2), result.output
        assert STEERS.search(result.output) is None
