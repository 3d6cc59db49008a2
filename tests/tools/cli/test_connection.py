"""Messages of the command line if the server does not respond, refuses, or is not a simulator."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from simulator.engine.clients.control import CallRefused, ControlClient, Unreachable
from tests.tools.cli.conftest import Command


class Stranger(BaseHTTPRequestHandler):
    """A web server that is not a simulator."""

    answers: ClassVar[dict[str, tuple[int, str]]] = {
        "/_simulator/clock": (200, "<html>Hello</html>"),
        "/_simulator/worlds": (500, "<html>Oops</html>"),
        "/_simulator/cut": (200, "half"),
        "/_simulator/odd": (400, '{"error": "odd"}'),
        "/_simulator/stream": (200, ": hello\n\nevent: event\ndata: 1\ndata: 2\n\nid: 7\ndata: x\n\n\n"),
    }

    def do_GET(self) -> None:
        status, body = self.answers.get(self.path, (302, ""))
        self.send_response(status)
        self.send_header("Location", "/_simulator/clock")
        if self.path == "/_simulator/cut":
            self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: Any) -> None:
        """Keep quiet."""


@contextmanager
def stranger() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_no_server_is_code_3_and_says_how_to_start_one(rampsim: Command) -> None:
    result = rampsim("clock", "--url", "http://127.0.0.1:1")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        "rampsim: no simulator responds at http://127.0.0.1:1 (Connection refused)",
        "rampsim: start a server with `rampsim serve`, or set --url or SIMULATOR_URL",
    ]


def test_the_server_is_found_by_the_variables_that_it_obeys(rampsim: Command) -> None:
    host, _, port = rampsim.origin.removeprefix("http://").partition(":")
    for variables in (
        {"SIMULATOR_HOST": host, "SIMULATOR_PORT": port},
        {"SIMULATOR_HOST": "0.0.0.0", "SIMULATOR_PORT": port},
        {"SIMULATOR_PORT": port},
    ):
        assert rampsim("clock", **{"SIMULATOR_URL": "", **variables}).exit_code == 0
    assert rampsim("clock", SIMULATOR_PORT="1").exit_code == 0, "SIMULATOR_URL goes before"
    refused = rampsim("clock", SIMULATOR_URL="", SIMULATOR_HOST="::1", SIMULATOR_PORT="1")
    assert (refused.exit_code, "http://[::1]:1" in refused.stderr) == (3, True)


@pytest.mark.parametrize("url", ["localhost:8642", "ftp://127.0.0.1", "http://no host"])
def test_invalid_url_is_an_error(rampsim: Command, url: str) -> None:
    result = rampsim("clock", "--url", url)
    assert (result.exit_code, url in result.stderr) == (2, True)


def test_the_options_of_a_server_may_stand_before_the_sub_command(rampsim: Command) -> None:
    assert rampsim("clock", "--url", "http://127.0.0.1:1", "advance", "1m").exit_code == 3
    assert rampsim("clock", "--url", "http://127.0.0.1:1", "advance", "1m", "--url", rampsim.origin).exit_code == 0


def test_an_unknown_world_is_refused(rampsim: Command) -> None:
    result = rampsim("clock", "--world", "nowhere")
    assert (result.exit_code, result.stderr) == (
        1,
        "rampsim: refused (not_found): There is no world 'nowhere'. List the worlds with GET /_simulator/worlds.\n",
    )


@pytest.mark.parametrize("world", ["€", "a\nb"])
def test_a_world_that_no_header_can_name_is_refused_as_one_that_is_not_there(rampsim: Command, world: str) -> None:
    done = rampsim("clock", "--world", world)
    assert done.exit_code == 1
    assert done.exit_code == 1
    assert "There is no world" in done.stderr


def test_a_guarded_server_asks_for_its_token(rampsim: Command, guarded: str) -> None:
    refused = rampsim("clock", "--url", guarded, "--world", "default")
    assert refused.exit_code == 1
    assert refused.stderr.endswith("Set --control-token or SIMULATOR_CONTROL_TOKEN.\n")
    for words, variables in ((["--control-token", "sesame"], {}), ([], {"SIMULATOR_CONTROL_TOKEN": "sesame"})):
        assert rampsim("clock", "--url", guarded, "--world", "default", *words, **variables).exit_code == 0


def test_another_server_is_recognised(rampsim: Command) -> None:
    with stranger() as url:
        greeting = rampsim("clock", "--url", url)
        assert (greeting.exit_code, "is not a simulator" in greeting.stderr) == (3, True)
        assert "refused (HTTP 500)" in rampsim("worlds", "--url", url).stderr
        assert "refused (HTTP 302)" in rampsim("actions", "--url", url).stderr


def test_truncated_response_is_an_error() -> None:
    with stranger() as url, pytest.raises(Unreachable, match="closed the connection"):
        ControlClient(url).get("/cut")


def test_an_error_without_an_envelope_is_reported_as_it_is() -> None:
    with stranger() as url, pytest.raises(CallRefused, match="odd"):
        ControlClient(url).get("/odd")


def test_a_stream_of_events_is_read_until_it_ends() -> None:
    with stranger() as url:
        assert list(ControlClient(url).stream()) == [("event", "1\n2"), ("message", "x")]


def test_a_closed_pipe_is_not_an_error(rampsim: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **query: Any) -> Any:
        raise BrokenPipeError

    monkeypatch.setattr(ControlClient, "get", broken)
    assert rampsim("clock").exit_code == 0


def test_a_client_may_have_a_time_limit(origin: str) -> None:
    assert ControlClient(origin, timeout_seconds=20).get("/health")["status"] == "ok"
    with pytest.raises(Unreachable):
        ControlClient("http://127.0.0.1:1", timeout_seconds=1).get("/health")


def test_a_client_deletes(origin: str) -> None:
    client = ControlClient(origin)
    client.post("/worlds", {"id": "short-lived"})
    assert client.call("DELETE", "/worlds/short-lived") is None
    assert "short-lived" not in json.dumps(client.get("/worlds"))
