"""`rampsim serve --detach` and `rampsim stop`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import ROOT

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("SIMULATOR_")}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / ".git").mkdir()
    yield tmp_path
    rampsim(tmp_path, "stop", "--all")


def rampsim(here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simulator", *words]
    env = {**CLEAN, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=here, env=env, capture_output=True, text=True, timeout=60)


def test_a_detached_server_outlives_its_command_until_it_is_stopped(here: Path) -> None:
    started = rampsim(here, "serve", "--detach", "--port", "0", "--clock", "manual")
    url = started.stdout.strip()
    assert (started.returncode, url.startswith("http://127.0.0.1:")) == (0, True)
    assert "Stop the server with `rampsim stop`." in started.stderr
    assert rampsim(here, "call", "GET", "/profile", "-f", "account_type").stdout == "individual\n"
    stopped = rampsim(here, "stop")
    assert (stopped.returncode, stopped.stdout) == (0, f"Stopped {url}\n")
    assert rampsim(here, "call", "GET", "/profile").returncode == 3


def test_a_server_that_cannot_start_says_why_and_leaves_nothing(here: Path) -> None:
    refused = rampsim(here, "serve", "--detach", "--clock", "sundial")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert "--clock: 'sundial' is not one of real, manual, scaled" in refused.stderr
    assert list((here / ".rampsim" / "servers").glob("*.log")) == []


def test_one_of_several_servers_has_to_be_named(here: Path) -> None:
    urls = sorted(rampsim(here, "serve", "--detach", "--port", "0").stdout.strip() for _ in range(2))
    several = rampsim(here, "stop")
    assert several.returncode == 2
    assert all(url in several.stderr for url in urls)
    assert rampsim(here, "stop", "--url", urls[0]).stdout == f"Stopped {urls[0]}\n"
    assert rampsim(here, "stop").stdout == f"Stopped {urls[1]}\n"
    assert rampsim(here, "stop").returncode == 3


def test_a_stopped_server_saves_its_worlds_first(here: Path) -> None:
    store = ("serve", "--detach", "--port", "0", "--clock", "manual", "--store", "sqlite:///worlds.db")
    rampsim(here, *store)
    rampsim(here, "clock", "advance", "1h")
    rampsim(here, "stop")
    rampsim(here, *store)
    assert '"now": "2026-01-05T09:00:00.000Z"' in rampsim(here, "clock").stdout


def test_a_server_that_was_not_started_here_is_left_alone(here: Path) -> None:
    refused = rampsim(here, "stop", "--url", "http://127.0.0.1:9")
    assert (refused.returncode, "was started here" in refused.stderr) == (3, True)


def test_ctrl_c_in_the_terminal_does_not_reach_a_detached_server(here: Path) -> None:
    url = rampsim(here, "serve", "--detach", "--port", "0").stdout.strip()
    note = next((here / ".rampsim" / "servers").glob("*.json"))
    import json

    pid = int(json.loads(note.read_text())["pid"])
    assert os.getsid(pid) != os.getsid(0)
    os.kill(pid, signal.SIGTERM)
    assert rampsim(here, "stop").stdout in ("", f"Stopped {url}\n")
