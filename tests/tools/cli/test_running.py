"""How commands find the server that was started here, and `rampsim wait`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.cli.server import running
from tests.places import ROOT
from tests.tools.cli.conftest import Command

CLEAN = dict.fromkeys(("SIMULATOR_URL", "SIMULATOR_HOST", "SIMULATOR_PORT", "SIMULATOR_CONFIG"), "")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, whose directory `tests` is the working directory."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path / "tests")
    return tmp_path


def call(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(main, list(words), env={**CLEAN, **variables}, catch_exceptions=False)


@contextmanager
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def note(directory: Path, url: str, pid: int) -> Path:
    path = directory / running.DIRECTORY / f"{url.rpartition(':')[2]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"url": url, "pid": pid}))
    return path


def test_a_server_is_found_from_below_where_it_was_started(here: Path, origin: str) -> None:
    with running.noted(origin, None):
        assert json.loads(call("worlds", "show", "default").stdout)["id"] == "default"
        assert (here / ".rampsim/servers/.gitignore").read_text() == "*\n"
        elsewhere = call("clock", SIMULATOR_PORT="1")
        assert (elsewhere.exit_code, "the address comes from SIMULATOR_PORT" in elsewhere.stderr) == (3, True)
    assert list((here / running.DIRECTORY).glob("*.json")) == []


def test_one_that_listens_everywhere_is_found_on_loopback(here: Path) -> None:
    with running.noted("http://0.0.0.0:9", here / "tests/rampsim.toml"):
        assert json.loads((here / "tests/.rampsim/servers/9.json").read_text())["url"] == "http://127.0.0.1:9"


def test_notes_of_servers_that_are_gone_are_removed(here: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with listening() as url:
        dead = note(here, url, ended.pid)
        silent = note(here, "http://127.0.0.1:1", os.getpid())
        broken = note(here, "http://127.0.0.1:2", os.getpid())
        broken.write_text("{")
        assert running.here() == []
        assert (dead.exists(), silent.exists(), broken.exists()) == (False, False, True)


def test_a_note_with_a_foreign_host_is_ignored_without_connecting(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket, "create_connection", connect)
    foreign = note(here, "http://service.example.test:80", os.getpid())
    assert running.here() == []
    assert foreign.exists()


def test_an_invalid_note_is_ignored(here: Path) -> None:
    note(here, "http://127.0.0.1:1", 10**30)
    note(here, "http://127.0.0.1:99999999", os.getpid())
    note(here, "none", os.getpid()).write_text("[]")
    assert running.here() == []


def test_of_several_one_has_to_be_named(here: Path) -> None:
    with listening() as one, listening() as other:
        note(here, one, os.getpid())
        note(here, other, os.getpid())
        result = call("clock")
    assert result.exit_code == 2
    assert result.stderr.startswith("rampsim: several servers are running here (http://127.0.0.1:")
    assert result.stderr.endswith("); choose one with --url or SIMULATOR_URL\n")
    assert one in result.stderr
    assert other in result.stderr


@pytest.mark.parametrize(
    "words",
    [("clock", "advance", "1s"), ("worlds", "list"), ("faults", "list"), ("inbox", "show", "x"), ("snapshots", "list"),
     ("events", "wait")],
)  # fmt: skip
@pytest.mark.parametrize("on_the_group", [False, True])
def test_of_several_a_command_of_a_group_takes_the_one_that_url_names(
    here: Path, words: tuple[str, ...], on_the_group: bool
) -> None:
    with listening() as one, listening() as other:
        note(here, one, os.getpid())
        note(here, other, os.getpid())
        named = ("--url", "http://127.0.0.1:9")
        group, *command = words
        result = call(*(group, *named, *command) if on_the_group else (*words, *named))
    assert result.exit_code == 3
    assert result.stderr.startswith("rampsim: no simulator responds at http://127.0.0.1:9")
    assert "SIMULATOR_URL names" not in result.stderr


def test_mcp_reports_a_missing_library_first(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with listening() as one, listening() as other:
        note(here, one, os.getpid())
        note(here, other, os.getpid())
        result = call("mcp")
    assert result.exit_code == 2
    assert "rampsim mcp` needs the library mcp" in result.stderr


def test_of_several_servers_the_default_address_is_used(
    here: Path, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.cli.remote.DEFAULT_URL", origin)
    with listening() as other:
        note(here, origin, os.getpid())
        note(here, other, os.getpid())
        result = call("clock")
    assert (result.exit_code, result.stderr) == (
        0, f"rampsim: using the server at {origin}; other servers run here: {other}\n",
    )  # fmt: skip


def test_no_server_error_explains_the_address(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.cli.remote.DEFAULT_URL", "http://127.0.0.1:1")
    result = call("clock")
    assert (result.exit_code, result.stderr.splitlines()) == (
        3,
        [
            "rampsim: no simulator responds at http://127.0.0.1:1 (Connection refused)",
            "rampsim: this is the default address, because no other address is set and no server was "
            "started in this directory or "
            "above",
            "rampsim: start a server with `rampsim serve`, or set --url or SIMULATOR_URL",
        ],
    )


def test_an_unwritable_directory_is_ignored(here: Path) -> None:
    (here / ".rampsim").write_text("a file")
    with running.noted("http://127.0.0.1:9", None):
        assert running.here() == []


def test_wait_says_that_a_server_is_ready(rampsim: Command) -> None:
    result = rampsim("wait")
    assert (result.exit_code, result.stdout) == (0, f"Ready on {rampsim.origin}\n")
    assert rampsim("wait", "--quiet").stdout == ""
    assert rampsim("wait", "--print-url").stdout == f"{rampsim.origin}\n"


def test_wait_gives_up_with_the_reason(rampsim: Command) -> None:
    result = rampsim("wait", "--timeout", "0", "--url", "http://127.0.0.1:1")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        3, "rampsim: not ready after 0 s: no simulator responds at http://127.0.0.1:1 (Connection refused)",
    )  # fmt: skip


def serving(*words: str, directory: Path) -> subprocess.Popen[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}
    return subprocess.Popen(
        [sys.executable, "-m", "simulator", "serve", "--port", "0", *words],
        cwd=directory, env={**clean, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("words", [[], ["--store", "sqlite:///worlds.db"]])
def test_a_server_that_is_terminated_ends_with_code_0_and_takes_its_note_along(words: list[str], here: Path) -> None:
    (here / "rampsim.toml").write_text('clock = "manual"\nseed = 11\n')
    with serving(*words, directory=here / "tests") as server:
        waited = call("wait", "--timeout", "60")
        assert (waited.exit_code, waited.stdout[:8]) == (0, "Ready on"), waited.stderr
        world = json.loads(call("worlds", "show", "default").stdout)
        assert (world["seed"], world["clock"]["mode"]) == (11, "manual")
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=30)
    assert (server.returncode, out.splitlines()[-1], err) == (0, waited.stdout.strip(), "")
    assert list((here / running.DIRECTORY).glob("*.json")) == []


def test_the_server_of_another_program_is_not_found(here: Path) -> None:
    with serving("--end-with-stdin", directory=here) as server:
        assert server.stdout is not None
        assert any(line.startswith("Ready on ") for line in server.stdout)
        assert running.here() == []
        server.communicate()
        assert server.returncode == 0
