"""Scenarios from directories: known from the start, and read again when their files change, valid or not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.scenario.files.folder import FolderProblem
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config, ConfigError
from simulator.engine.server.running import folders
from simulator.engine.server.runtime import Watcher
from simulator.host import create_app
from tests.support import CELO, KEYS, QUOTE

PAYS = """name: mine
rules:
  - {on: transaction.awaiting_payment, times: 1, do: [{after: AFTER, action: payment_arrives}]}
faults:
  - {match: {path: /profile}, respond: {status: STATUS, code: service_unavailable}}
"""
BROKEN = "name: mine\nrules:\n  - {on: transaction.nothing, do: []}\n"


def written(directory: Path, after: str = "10s", status: int = 503, name: str = "mine.yaml") -> Path:
    path = directory / name
    path.write_text(PAYS.replace("AFTER", after).replace("STATUS", str(status)))
    return path


class Server:
    """A server in this process whose directory of scenarios is looked at when a test says so."""

    def __init__(self, directory: Path, active: tuple[str, ...] = ("mine",)) -> None:
        self.app: Application = create_app(Config(clock="manual", scenarios=active, scenario_directories=(directory,)))
        self.client = AsgiClient(self.app)

    async def control(self, method: str, path: str, body: Any = None) -> Any:
        reply = await self.client.request(method, f"/_simulator{path}", body)
        assert reply.status < 400, reply.body
        return reply.body

    async def look(self) -> None:
        assert self.app.runtime.folder is not None
        await folders.look_again(self.app.runtime, self.app.runtime.folder)

    async def order(self) -> str:
        """An onramp that waits for its payment."""
        token = (await self.client.request("POST", "/v1/auth/token", KEYS)).body["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        quote = (await self.client.request("POST", "/v1/quotes", QUOTE, headers)).body["id"]
        body = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}}
        made = await self.client.request("POST", f"/v1/quotes/{quote}/confirm", body, headers)
        return str(made.body["id"])

    async def planned(self, order: str) -> list[str]:
        story = await self.control("GET", f"/resources/{order}")
        return [timer["due_at"] for timer in story["timers"] if timer.get("scenario") == "mine"]

    async def faults(self) -> list[int]:
        return [row["respond"]["status"] for row in (await self.control("GET", "/faults"))["data"]]


def test_files_of_a_directory_are_known_like_those_that_ship(tmp_path: Path) -> None:
    path = written(tmp_path)
    server = Server(tmp_path)

    async def go() -> None:
        rows = {row["name"]: row for row in (await server.control("GET", "/scenarios"))["data"]}
        assert rows["mine"]["source"] == str(path)
        assert rows["mine"]["active"] is True
        assert "autopilot" in rows

    asyncio.run(go())


def test_an_invalid_file_at_the_start_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN)
    written(tmp_path, name="b.yaml")
    written(tmp_path, name="c.yaml")
    with pytest.raises(ConfigError) as caught:
        Server(tmp_path)
    first, second = caught.value.problems
    assert first.startswith(f"--scenarios: {tmp_path}/a.yaml:3:10: rules[0].on: unknown event `transaction.nothing`")
    assert (
        second == f"--scenarios: {tmp_path}/c.yaml:1:1: name: the scenario mine is already defined in {tmp_path}/b.yaml"
    )
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        Server(tmp_path / "nowhere")


def test_a_changed_file_applies_to_new_steps_only(tmp_path: Path) -> None:
    written(tmp_path, "10s", 503)
    server = Server(tmp_path)

    async def go() -> None:
        first = await server.order()
        assert await server.planned(first) == ["2026-01-05T08:00:10.000Z"]
        assert await server.planned(await server.order()) == []  # `times: 1`
        written(tmp_path, "1m", 500)
        await server.look()
        assert await server.planned(first) == ["2026-01-05T08:00:10.000Z"]
        assert await server.planned(await server.order()) == ["2026-01-05T08:01:00.000Z"]  # counted anew
        assert await server.faults() == [500]

    asyncio.run(go())


def test_an_invalid_change_leaves_the_old_in_force_and_says_where(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path)
    server = Server(tmp_path)
    told: list[tuple[list[str], list[FolderProblem]]] = []

    class Looker(Watcher):
        def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
            told.append((list(names), list(problems)))

    server.app.runtime.watch(Looker())

    async def go() -> None:
        path.write_text(BROKEN)
        await server.look()
        await server.look()  # it is told of once
        listed = await server.control("GET", "/scenarios")
        (problem,) = listed["problems"]
        assert (problem["file"], problem["line"], problem["column"]) == (str(path), 3, 10)
        assert await server.planned(await server.order()) == ["2026-01-05T08:00:10.000Z"]
        assert [names for names, _ in told] == [[]]
        written(tmp_path, "1m")
        await server.look()
        assert "problems" not in await server.control("GET", "/scenarios")
        assert told[-1] == (["mine"], [])

    asyncio.run(go())
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"{path}:3:10: rules[0].on: unknown event")


def test_deleting_a_file_restores_the_shipped_scenario(tmp_path: Path) -> None:
    mine, autopilot = written(tmp_path), tmp_path / "own.yaml"
    autopilot.write_text("name: autopilot\ndescription: my own\n")
    server = Server(tmp_path, ("autopilot", "mine"))

    async def go() -> None:
        order = await server.order()
        mine.unlink()
        autopilot.unlink()
        await server.look()
        rows = {row["name"]: row for row in (await server.control("GET", "/scenarios"))["data"]}
        assert "mine" not in rows
        assert rows["autopilot"]["source"] == "scenarios/autopilot.yaml"
        assert await server.planned(order) == []
        assert await server.faults() == []
        assert (await server.control("GET", "/worlds/default"))["scenarios"] == ["autopilot"]
        await server.order()  # nothing asks for what is gone

    asyncio.run(go())


def test_a_conflicting_file_is_read_once_the_other_has_changed(tmp_path: Path) -> None:
    first = written(tmp_path)
    server = Server(tmp_path)

    async def go() -> None:
        second = written(tmp_path, "1m", name="second.yaml")
        await server.look()
        (problem,) = (await server.control("GET", "/scenarios"))["problems"]
        assert problem["message"] == f"the scenario mine is already defined in {first}"
        first.unlink()
        await server.look()
        listed = await server.control("GET", "/scenarios")
        assert "problems" not in listed
        assert [row["source"] for row in listed["data"] if row["name"] == "mine"] == [str(second)]
        assert await server.planned(await server.order()) == ["2026-01-05T08:01:00.000Z"]

    asyncio.run(go())


def test_an_unreadable_directory_leaves_its_scenarios_active(tmp_path: Path) -> None:
    directory, aside = tmp_path / "mine", tmp_path / "aside"
    directory.mkdir()
    written(directory)
    server = Server(directory)

    async def go() -> None:
        directory.rename(aside)
        await server.look()
        (problem,) = (await server.control("GET", "/scenarios"))["problems"]
        assert (problem["file"], problem["message"]) == (str(directory), "cannot be read: No such file or directory")
        assert await server.planned(await server.order()) == ["2026-01-05T08:00:10.000Z"]
        aside.rename(directory)
        await server.look()
        assert "problems" not in await server.control("GET", "/scenarios")

    asyncio.run(go())


def test_a_file_that_is_being_replaced_has_not_gone(tmp_path: Path) -> None:
    path = written(tmp_path)
    folder = Server(tmp_path).app.runtime.folder
    assert folder is not None
    path.unlink()
    assert not folder.has_changed()
    written(tmp_path, "1m")
    assert not folder.has_changed(), "it is not as it was before, so it may not be whole yet"
    assert folder.has_changed()
    path.unlink()
    assert [folder.has_changed(), folder.has_changed()] == [False, True], "gone for good"


def test_only_files_are_read(tmp_path: Path) -> None:
    written(tmp_path)
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    assert Server(tmp_path).app.runtime.folder is not None


def test_an_uploaded_scenario_of_the_name_stays_what_it_is(tmp_path: Path) -> None:
    written(tmp_path)
    server = Server(tmp_path)

    async def go() -> None:
        await server.control("POST", "/scenarios", {"name": "mine", "description": "uploaded"})
        written(tmp_path, "1m")
        await server.look()
        assert (await server.control("GET", "/scenarios/mine"))["description"] == "uploaded"
        assert await server.planned(await server.order()) == []

    asyncio.run(go())


def test_files_are_checked_while_the_server_serves(tmp_path: Path) -> None:
    path = written(tmp_path)
    server = Server(tmp_path)
    seen = asyncio.Event()

    class Looker(Watcher):
        def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
            seen.set()

    async def go() -> None:
        runtime = server.app.runtime
        runtime.watch(Looker())
        assert runtime.folder is not None
        assert not runtime.folder.has_changed()
        task = asyncio.create_task(folders.follow(runtime, runtime.folder, 0.001))
        path.write_text(BROKEN)
        await asyncio.wait_for(seen.wait(), 20)
        task.cancel()
        assert not runtime.folder.has_changed()

    asyncio.run(go())
