"""Servers for tests: in a separate process that ends with the tests, and the messages if a server cannot be used."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from simulator.engine.server.config import Config
from simulator.testing import Server, SimulatorError, serve, world
from simulator.testing.links.http_link import HttpLink
from simulator.testing.servers.server import Process
from tests.remote import running


@contextmanager
def watched(url: str) -> Iterator[threading.Event]:
    """Set as soon as the server there has ended."""
    ended = threading.Event()
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname or "", parts.port or 0))

    def watch() -> None:
        try:
            while connection.recv(4096):
                pass
        except OSError:
            pass
        ended.set()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield ended
    finally:
        connection.close()


def refuses(url: str) -> bool:
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_server_of_ones_own_serves_and_ends_with_its_block() -> None:
    with serve(strict=True, rate_limit="1000/60", scenario=["autopilot"]) as server:
        assert server.control_url == f"{server.url}/_simulator"
        with server.new_world() as made:
            settings = made.info["settings"]
            assert (settings["strict"], settings["rate_limit"]) == (True, "1000/60")
            assert made.client.get("/profile").status_code == 200
        with watched(server.url) as ended:
            server.stop()
            assert ended.wait(20)
    assert refuses(server.url)


def test_a_server_ends_with_a_process_that_is_killed() -> None:
    program = "from simulator.testing.servers.server import Process; p = Process({}); print(p.url, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().strip()
        with watched(url) as ended:
            os.kill(parent.pid, signal.SIGKILL)
            assert ended.wait(20)
    assert refuses(url)


def test_a_server_that_does_not_start_says_why_in_its_own_words() -> None:
    with pytest.raises(SimulatorError) as caught, serve(rate="fast", port=99999999):
        pass
    text = str(caught.value)
    assert text.startswith("The simulator did not start. Its output:\n")
    assert "--rate: 'fast' is not a number" in text
    assert "--port" in text


def test_a_test_directory_called_simulator_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "simulator").mkdir()
    (tmp_path / "simulator" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    process = Process({})
    process.close()
    process.close()


def test_a_server_may_ask_for_a_token() -> None:
    with running(Config(host="0.0.0.0", clock="manual", control_token="s3cret")) as (url, _):
        with Server(HttpLink(url, "s3cret")) as server, server.new_world() as made:
            assert made.now
        with Server(HttpLink(url)) as server, pytest.raises(SimulatorError) as caught:
            server.new_world()
        assert (caught.value.status, caught.value.code) == (401, "unauthorized")


def test_a_missing_server_is_reported_with_address_and_fix() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SimulatorError) as caught, world(url):
            pass
    assert str(caught.value) == (
        f"No simulator responds at {url} (Connection refused). Start one with `rampsim serve` "
        "(default address: http://127.0.0.1:8642), set SIMULATOR_URL to its address, or unset SIMULATOR_URL "
        "so that the tests start their own."
    )
    assert caught.value.status is None


@pytest.mark.parametrize("url", ["127.0.0.1:8642", "ftp://127.0.0.1", "http://", ""])
def test_a_string_that_is_not_a_url_is_refused(url: str) -> None:
    with pytest.raises(SimulatorError, match=r"is not the URL of a simulator. Use a URL like http://127"):
        HttpLink(url)


def test_another_program_at_the_address_is_recognised() -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        thread = threading.Thread(target=other.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{other.server_port}"
        with Server(HttpLink(url)) as server, pytest.raises(SimulatorError, match="is not from a simulator") as caught:
            server.new_world()
        thread.join()
    assert caught.value.status == 501


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/?x=y#z"])
def test_any_url_of_a_server_names_it(origin: str, ending: str) -> None:
    link = HttpLink(f"{origin}{ending}")
    assert link.url == origin
    link.close()


def test_a_world_without_pytest(http_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for given in (http_server, http_server.url):
        with world(given, seed=7) as made:
            assert (made.url, made.seed) == (http_server.url, 7)
        with pytest.raises(SimulatorError, match="no world"):
            _ = made.now
    monkeypatch.setenv("SIMULATOR_URL", http_server.url)
    with world() as made:
        assert made.url == http_server.url


def test_threads_share_a_server_and_never_see_each_others_worlds(kit_server: Server) -> None:
    def one(number: int) -> tuple[int, int]:
        with kit_server.new_world(seed=number) as made:
            made.client.get("/profile").raise_for_status()
            return made.seed, len(made.requests())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(40))) == [(number, 2) for number in range(40)]
