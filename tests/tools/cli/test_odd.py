"""Odd files and odd servers: one line of output, exit code 2 or 3, and never a traceback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.engine.control.token_files import BadTokens, tokens_of

DEEP = 5_000
SHAPES = (
    b"[]", b"{}", b"5", b'"x"', b"null", b'{"data": 5}', b'{"data": [5]}', b'{"data": [{}]}', b'{"data": null}',
    b"\xff\xfe", b"[" * DEEP + b"]" * DEEP, b'{"data": ' + b"9" * 5_000 + b"}", b"", b"<html>",
)  # fmt: skip


pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture(scope="module")
def odd() -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers 200 with the bytes in the list, whatever it is asked."""
    answers = [b""]

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answers[0])))
            self.end_headers()
            self.wfile.write(answers[0])

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815 - as the handler wants them

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", answers
    server.shutdown()
    server.server_close()


def run(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(main, list(words), env=environment)


def ends_in_a_line(result: Result, *codes: int) -> None:
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in codes, result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "words",
    ["advice", "advice --format github", "advice --format junit", "advice --all-worlds --fail-on info", "find x",
     "inbox", "inbox demo", "inbox wait demo", "coverage", "coverage --missing", "worlds", "snapshots", "faults list",
     "faults clear", "actions", "clock advance 1h", "record", "events wait", "events --follow", "reset",
     "snapshots take", "worlds create", "scenario activate autopilot", "open --print",
     "faults add --status 500 --code x",
     "trigger quote.created", "action payment_arrives txn_1", "resources", "worlds prune --idle 1h"],
)  # fmt: skip
def test_answers_of_another_shape_end_a_command(odd: tuple[str, list[bytes]], words: str) -> None:
    url, answers = odd
    for shape in SHAPES:
        answers[0] = shape
        ends_in_a_line(run(*words.split(), SIMULATOR_URL=url), 0, 1, 3)


def test_advice_from_no_simulator_says_so(odd: tuple[str, list[bytes]]) -> None:
    url, answers = odd
    answers[0] = b'{"rows": []}'
    result = run("advice", SIMULATOR_URL=url)
    assert result.exit_code == 3
    assert result.output.startswith(f"rampsim: the program at {url} is not a simulator of this version")


def test_certify_with_odd_answers_ends_in_a_line(odd: tuple[str, list[bytes]]) -> None:
    url, answers = odd
    for shape in SHAPES:
        answers[0] = shape
        words = ("certify", f"{url}/hooks", "--simulator", url, "--only", "signature")
        ends_in_a_line(run(*words), 1, 2, 3)
        ends_in_a_line(run("certify", f"{url}/hooks", "--books", f"{url}/books", "--simulator", url), 1, 2, 3)


@pytest.mark.parametrize(
    "text",
    ["port = " + "[" * DEEP + "]" * DEEP, "port = " + "9" * 5_000, "a = " + "{a = " * DEEP + "1" + "}" * DEEP,
     "port = 0x" + "f" * 20_000,
     "port = 1e99999999999", "now = 9999-99-99", "seed = " + "-" * 5_000, ".".join(["a"] * 5_000) + " = 1"],
)  # fmt: skip
def test_odd_settings_file_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rampsim.toml"
    path.write_text(text)
    for words in (("advice", "--config", str(path)), ("serve", "--config", str(path))):
        result = run(*words)
        ends_in_a_line(result, 2)
        assert "rampsim.toml" in result.output
        assert len(result.output) < 2_000
        assert len(result.output.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    ["[" * 50, "tokens: " + "[" * DEEP + "]" * DEEP, "{a: " * DEEP, json.dumps({"tokens": [[]] * 3}),
     "tokens: [{name: a, worlds: '*', most_worlds: " + "9" * 5_000 + "}]", "a: &a [*a]", "&a [*a]", "tokens: &a [*a]",
     "? [a]\n: b", "tokens: [{name: 2026-99-99, worlds: 1}]", "\x00", "!!python/object:os.system x"],
)  # fmt: skip
def test_odd_token_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens.yaml"
    path.write_text(text)
    with pytest.raises(BadTokens) as refused:
        tokens_of(None, path)
    assert all(len(problem) < 2_000 and "\n" not in problem for problem in refused.value.problems)


def test_a_recipe_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".github").write_text("a file")
    result = run("recipe", "write", "github-action", "--to", str(tmp_path))
    ends_in_a_line(result, 2)
    assert str(tmp_path / ".github") in result.output
    assert len(result.output.splitlines()) == 1
