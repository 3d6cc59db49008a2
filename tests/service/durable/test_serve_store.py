"""`rampsim serve --store`: processes that are killed, and stores that a server refuses to start with."""

from __future__ import annotations

import json
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from simulator.engine.clients.control import ControlClient
from simulator.engine.server.config import Config
from simulator.engine.worlds.settings import DEFAULTS
from tests.places import ROOT
from tests.remote import TLS, new_client, running
from tests.service.durable.crashing import document, kept, url_of
from tests.service.durable.stores import persistence_of
from tests.support import KEYS, QUOTE
from tests.tools.cli.test_serve import process, serve


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


def refusal_of(*words: str) -> str:
    """Return the message of a server that refuses to start."""
    done = serve("--port", "0", *words)
    assert done.exit_code == 2, done.output
    return done.output.strip()


def test_a_server_that_is_killed_continues_where_it_was(path: Path) -> None:
    words = ("--port", "0", "--clock", "manual", "--seed", "7", "--store", url_of(path))
    with process(*words) as (server, lines), new_client() as client:
        origin = lines[-1].removeprefix("Ready on ")
        world = client.get(f"{origin}/_simulator/worlds/default").json()
        token = client.post(f"{origin}/v1/auth/token", json=KEYS).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k"}
        quote = client.post(f"{origin}/v1/quotes", json=QUOTE, headers=headers)
        assert quote.status_code == 201
        server.kill()
        assert server.wait(10) == -signal.SIGKILL
    with process(*words) as (server, lines), new_client() as client:
        assert not any("kept as it was made" in line for line in lines)
        origin = lines[-1].removeprefix("Ready on ")
        assert (
            client.get(f"{origin}/_simulator/worlds/default").json()["credentials"]["sandbox"]["secret_key"]
            == (world["credentials"]["sandbox"]["secret_key"])
        )
        assert client.post(f"{origin}/v1/quotes", json=QUOTE, headers=headers).content == quote.content
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0
    with process("--port", "0", "--store", url_of(path)) as (_, lines):
        assert lines[0] == "The world default keeps its saved settings: seed 7, not 1; clock manual, not real."
        world = ControlClient(lines[-1].removeprefix("Ready on ")).get("/worlds/default")
        assert (world["seed"], world["clock"]["mode"]) == (7, "manual")


def test_a_second_server_learns_which_process_has_the_file(path: Path) -> None:
    with process("--port", "0", "--store", url_of(path)) as (server, _):
        told = refusal_of("--store", url_of(path))
        assert f"another rampsim serves '{path}' (process {server.pid})" in told
        assert "Stop it, or use another file" in told


def test_a_second_interrupt_ends_without_the_store(path: Path) -> None:
    change = b'POST /_simulator/clock/advance HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 11\r\n\r\n{"by":"1h"}'
    with process("--port", "0", "--store", url_of(path)) as (server, lines), new_client() as client:
        origin = lines[-1].removeprefix("Ready on ")
        with closing(sqlite3.connect(path, isolation_level=None)) as another:
            another.execute("BEGIN EXCLUSIVE")
            with socket.create_connection(("127.0.0.1", int(origin.rpartition(":")[2]))) as waiting:
                waiting.sendall(change)  # it waits to be kept
                assert [client.get(f"{origin}/_simulator/health").status_code for _ in range(2)] == [200, 200]
                while server.poll() is None:
                    server.send_signal(signal.SIGINT)
                    with suppress(subprocess.TimeoutExpired):
                        server.wait(0.1)
        assert server.returncode == 130


def test_a_relative_store_path_starts_at_the_working_directory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with kept(Path("here.db")):
        assert (path.parent / "here.db").exists()


@pytest.mark.parametrize(
    "url", ["sqlite://worlds.db", "sqlite:///", "mysql:///x", "worlds.db", "sqlite:////"], ids=lambda url: url
)
def test_a_file_that_is_not_a_store_is_refused(url: str) -> None:
    assert f"--store: {url!r} is not a store. Write sqlite:///FILE" in refusal_of("--store", url)


@pytest.mark.parametrize("name", [":memory:", "file:worlds.db?mode=memory", "file::memory:"])
def test_a_database_in_memory_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = refusal_of("--store", f"sqlite:///{name}")
    assert f"{name!r} is an in-memory database" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url", ["postgresql:/ada:secret@db/x", "mysql://ada:secret@db/x", "postgresql://ada:se/cret@db/x"]
)
def test_no_refusal_shows_a_password(url: str) -> None:
    told = refusal_of("--store", url)
    assert "--store: " in told
    assert "cret" not in told


def test_a_database_that_does_not_answer() -> None:
    told = refusal_of("--store", "postgresql://ada:secret@127.0.0.1:1/x")
    assert told.startswith("rampsim: --store: PostgreSQL cannot be reached")
    assert "secret" not in told


def test_a_lowered_quota_deletes_no_objects(path: Path) -> None:
    with kept(path) as (world, _):
        quotes = [world.api("POST", "/quotes", QUOTE).body["id"] for _ in range(12)]
    with kept(path, settings={**DEFAULTS, "quota_objects": 10}) as (world, _):
        assert world.api("GET", f"/quotes/{quotes[-1]}").status == 200
        assert world.api("POST", "/quotes", QUOTE).status == 507


def test_a_saved_world_wins_over_a_document_and_a_note_says_so(path: Path) -> None:
    state = path.with_name("world.json")
    with kept(path) as (world, application):
        state.write_text(json.dumps(document(world)), "utf-8")
        assert application.runtime.persistence is not None
    with kept(path, state=state) as (_, application):
        assert persistence_of(application).note == f"--state '{state}' was not read"
    with kept(path.with_name("other.db"), state=state) as (_, application):
        assert persistence_of(application).note == ""


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    told = refusal_of("--store", url_of(tmp_path / "no" / "worlds.db"))
    assert f"the directory '{tmp_path / 'no'}' does not exist" in told
    assert "is a directory" in refusal_of("--store", url_of(tmp_path))


def same_after(path: Path, *words: str) -> str:
    """Return the message of a server that refuses a file, and check that the file is unchanged."""
    before = path.read_bytes()
    told = refusal_of("--store", url_of(path), *words)
    assert path.read_bytes() == before
    return told


def test_a_file_that_is_not_a_database_is_refused(path: Path) -> None:
    path.write_bytes(b"name: rain\n" * 500)
    assert "is damaged or not a store (file is not a database)" in same_after(path)


def test_a_database_of_something_else(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE users (name TEXT)")
        other.commit()
    assert "is the database of another program; use another file" in same_after(path)


def written(path: Path, *statements: str) -> None:
    """Return a file that a server has written, after an edit."""
    with kept(path) as (world, _):
        assert world.api("POST", "/quotes", QUOTE).status == 201
    with closing(sqlite3.connect(path)) as store:
        for statement in statements:
            store.execute(statement)
        store.commit()
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_file_of_a_newer_version(path: Path) -> None:
    written(path, "UPDATE about SET value = '99' WHERE name = 'format'")
    assert "was written by a newer rampsim" in same_after(path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET content = CAST(substr(content, 1, 20) || x'20' || substr(content, 22) AS BLOB)",
        "UPDATE entries SET content = 'text'",
        "UPDATE parts SET content = x'7b7d' WHERE number = 0",
        "DELETE FROM entries WHERE number = (SELECT min(number) FROM entries)",
        "DELETE FROM parts",
    ],
    ids=["a flipped byte of an entry", "text in place of an entry", "another base", "a missing entry", "no base"],
)
def test_a_damaged_world_is_set_aside(path: Path, damage: str) -> None:
    written(path, damage)
    with running(Config(clock="manual", store=url_of(path))) as (origin, _):
        answer = httpx.get(f"{origin}/_simulator/worlds/default", trust_env=False, verify=TLS)
        assert (answer.status_code, "is damaged" in answer.text) == (503, True)


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to], ids=["symbolic", "hard"])
def test_second_server_by_a_link_is_refused(path: Path, link: Callable[[Path, Path], None]) -> None:
    other = path.with_name("elsewhere") / "other.db"
    other.parent.mkdir()
    with process("--port", "0", "--store", url_of(path)):
        link(other, path)
        assert f"another rampsim serves '{other}'" in refusal_of("--store", url_of(other))
    with kept(other) as (world, _):
        assert world.api("POST", "/quotes", QUOTE).status == 201


def test_empty_store_is_refused() -> None:
    assert "--store: the value is empty." in refusal_of("--store", "")
    done = serve("--port", "0", SIMULATOR_STORE="")
    assert (done.exit_code, "empty." in done.output) == (2, True)


def test_disk_holds_no_more_than_quotas_allow(path: Path) -> None:
    most = {"quota_objects": 30, "quota_journal_bytes": 100_000, "quota_events": 50, "quota_bytes": 1_000_000}
    most |= {"quota_snapshots": 20, "quota_scenarios": 20}
    with kept(path, settings={**DEFAULTS, **most}) as (world, _):
        for number in range(60):
            world.api("POST", "/quotes", QUOTE)
            world.control("POST", "/scenarios", {"name": f"s{number}", "description": "x" * 40_000})
            world.control("POST", "/snapshots", {})
            world.control("POST", "/actions/emit", {"type": "transaction.completed", "object": {"note": "x" * 5_000}})
        refused = world.control("POST", "/snapshots", {})
        assert (refused.status, refused.code) == (507, "simulator_quota_exceeded")
    with closing(sqlite3.connect(path)) as store:
        (held,) = store.execute("SELECT sum(length(content)) FROM parts").fetchone()
        (written,) = store.execute("SELECT sum(length(content)) FROM entries").fetchone()
    # The world has each scenario and event once more itself; its entries are folded from 16 MB on.
    assert held <= 2 * most["quota_bytes"]
    assert written <= 16 * 1024 * 1024


FULL_START = """
import os, sys
from simulator.engine.durable import sqlite
os.statvfs = lambda path: os.statvfs_result((4096, 4096, 100, 0, 0, 0, 0, 0, 0, 255))
from simulator.cli import main
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
main(["serve", "--port", "0", "--store", sys.argv[1]])
"""


def test_start_on_a_full_disk_is_reported(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_START, url_of(path)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert f"there is no space left for '{path}'" in done.stderr


def test_a_file_with_a_torn_page(path: Path) -> None:
    written(path)
    whole = bytearray(path.read_bytes())
    whole[4096:8192] = b"\xff" * 4096
    path.write_bytes(whole)
    assert "is damaged" in same_after(path)


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from simulator.cli import main
main(["serve", "--port", "0", "--clock", "manual", "--store", sys.argv[2]])
"""


def test_a_full_disk_refuses_writes_with_a_reason(path: Path) -> None:
    room = 1_000_000
    command = [sys.executable, "-c", FULL, str(room), url_of(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            origin = next(line for line in server.stdout if line.startswith("Ready on ")).split()[-1]
            made, refused = [], None
            with new_client() as client:
                token = client.post(f"{origin}/v1/auth/token", json=KEYS).json()["access_token"]
                headers = {"Authorization": f"Bearer {token}"}
                for _ in range(2000):
                    answer = client.post(f"{origin}/v1/quotes", json=QUOTE, headers=headers)
                    if answer.status_code == 503:
                        refused = answer.json()["error"]
                        break
                    made.append(answer.json()["id"])
                assert refused is not None
                assert refused["code"] == "service_unavailable"
                assert str(path) in refused["message"]
                assert client.get(f"{origin}/_simulator/health").status_code == 200
        finally:
            server.kill()
    with kept(path) as (world, _):
        there = {row["id"] for row in world.control("GET", "/resources", params={"type": "quote"}).body["data"]}
        assert there == set(made), "what was answered is there, and nothing else"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != room


def test_nothing_of_it_is_loaded_without_a_store() -> None:
    loads = "import json, sys; from simulator import Config, create_app; create_app(Config())"
    told = "print(json.dumps([n for n, m in sys.modules.items() if type(m).__name__ != '_LateModule']))"
    done = subprocess.run([sys.executable, "-c", f"{loads}; {told}"], cwd=ROOT, capture_output=True, check=True)
    loaded = json.loads(done.stdout)
    assert "simulator.host" in loaded
    assert not [
        name for name in loaded if name.startswith(("simulator.engine.durable.", "sqlite3", "_sqlite3", "asyncpg"))
    ]
