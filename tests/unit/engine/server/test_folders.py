"""Scenarios from directories: loaded at the start, and read again when their files change, whether valid or not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.scenario.files.folder import Folder, FolderProblem
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader, describe_problem
from simulator.engine.server.running import folders
from simulator.engine.server.runtime import Runtime, Watcher
from simulator.engine.worlds.simulator import Blueprint, Inherited
from tests.library import Simulator, application_of, vocabulary
from tests.toy import PROVIDER

RETURNS = """name: mine
rules:
  - {on: created, where: {status: out}, times: 1, do: [{after: AFTER, action: bring_back}]}
faults:
  - {match: {path: /webhooks}, respond: {status: STATUS, code: service_unavailable}}
"""
BROKEN = "name: mine\nrules:\n  - {on: loan.nothing, do: []}\n"


def written(directory: Path, after: str = "10s", status: int = 503, name: str = "mine.yaml") -> Path:
    path = directory / name
    path.write_text(RETURNS.replace("AFTER", after).replace("STATUS", str(status)))
    return path


class Server:
    """A library in this process that looks at its directory of scenarios when a test says so. It ships an autopilot."""

    def __init__(self, directory: Path, active: tuple[str, ...] = ("mine",)) -> None:
        shipped = Loader(vocabulary()).load("name: autopilot", "scenarios/autopilot.yaml")
        simulator = Simulator(PROVIDER, Library({"autopilot": lambda: shipped}), Inherited(scenarios=active))
        self.folder = Folder((directory,), simulator.vocabulary, simulator.library)
        self.folder.take(self.folder.read())
        assert not self.folder.problems
        self.world = simulator.create_world(Blueprint("default", 1, scenarios=active))
        self.runtime = Runtime(simulator)
        self.runtime.folder = self.folder
        self.client = AsgiClient(application_of(self.runtime))

    async def control(self, method: str, path: str, body: Any = None) -> Any:
        reply = await self.client.request(method, f"/_simulator{path}", body)
        assert reply.status < 400, reply.body
        return reply.body

    async def look(self) -> None:
        await folders.look_again(self.runtime, self.folder)

    async def order(self) -> str:
        """A loan that is out."""
        headers = {"Authorization": f"Bearer {PROVIDER.identity.credentials(self.world)['practice']['secret_key']}"}
        book = await self.client.request("POST", "/v1/books", {"title": "Emma"}, headers)
        made = await self.client.request("POST", "/v1/loans", {"book_id": book.body["id"]}, headers)
        return str(made.body["id"])

    async def planned(self, order: str) -> list[str]:
        story = await self.control("GET", f"/resources/{order}")
        return [timer["due_at"] for timer in story["timers"] if timer.get("scenario") == "mine"]

    async def faults(self) -> list[int]:
        return [row["respond"]["status"] for row in (await self.control("GET", "/faults"))["data"]]


def test_files_of_a_directory_are_known_like_included_ones(tmp_path: Path) -> None:
    path = written(tmp_path)
    server = Server(tmp_path)

    async def go() -> None:
        rows = {row["name"]: row for row in (await server.control("GET", "/scenarios"))["data"]}
        assert rows["mine"]["source"] == str(path)
        assert rows["mine"]["active"] is True
        assert "autopilot" in rows

    asyncio.run(go())


def problems_at_the_start(directory: Path) -> list[str]:
    folder = Folder((directory,), vocabulary(), Library())
    folder.take(folder.read())
    return [describe_problem(problem["file"], problem) for problem in folder.problems]


def test_an_invalid_file_at_the_start_is_a_problem_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN)
    written(tmp_path, name="b.yaml")
    written(tmp_path, name="c.yaml")
    first, second = problems_at_the_start(tmp_path)
    assert first.startswith(f"{tmp_path}/a.yaml:3:10: rules[0].on: unknown event `loan.nothing`")
    assert second == f"{tmp_path}/c.yaml:1:1: name: the scenario mine is already defined in {tmp_path}/b.yaml"
    (nowhere,) = problems_at_the_start(tmp_path / "nowhere")
    assert "cannot be read: No such file" in nowhere


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

    server.runtime.watch(Looker())

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
    folder = Server(tmp_path).folder
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
    assert Server(tmp_path).folder.problems == []


def test_an_uploaded_scenario_of_the_same_name_is_unchanged(tmp_path: Path) -> None:
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
        runtime = server.runtime
        runtime.watch(Looker())
        assert runtime.folder is not None
        assert not runtime.folder.has_changed()
        task = asyncio.create_task(folders.follow(runtime, runtime.folder, 0.001))
        path.write_text(BROKEN)
        await asyncio.wait_for(seen.wait(), 20)
        task.cancel()
        assert not runtime.folder.has_changed()

    asyncio.run(go())
