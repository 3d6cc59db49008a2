"""The server for runs of a command other than pytest. It creates the run's worlds and injects the run's fault.

The command need not know about the fault: this module replaces the ordinary control operations that create and delete
worlds, activate scenarios and perform actions. It adds operations to begin a run, describe it and end it.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from simulator.engine.control.app import ControlInterface
from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects import actions
from simulator.engine.control.objects.inspection import find_any
from simulator.engine.control.operation import ControlOperation
from simulator.engine.control.scenarios import scenarios
from simulator.engine.control.worlds import world_object, worlds
from simulator.engine.faults.in_force import FAULTS, put_in_force
from simulator.engine.records.records import render
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.process import new_event_loop, serving
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.fields import parse
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.worlds.alternatives import chosen
from simulator.engine.worlds.observer import Observer
from simulator.engine.worlds.settings import DEFAULTS
from simulator.evidence.observed import read_files
from simulator.exploration.runs.armed import SCENARIO, beginning
from simulator.exploration.runs.tasks import RUN, Document, Played
from simulator.host import PROVIDER, control_rows, create_app
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import DEFAULT_WORLD, World

_CAUSE = Cause("action", "explore", "control")


class Stage(Observer):
    """The current run and its worlds."""

    def __init__(self, runtime: Runtime) -> None:
        self._simulator = runtime.simulator
        self._id = ""
        self._seed = 1
        self._plan: Document = {}
        self._made = 0
        self._played: dict[str, Played] = {}
        self._simulator.observe(self)

    def rows(self) -> list[ControlOperation]:
        """Return all control operations, including the operations that this module adds or replaces."""
        other = {
            "create_world": self._create,
            "delete_world": self._keep,
            "activate": self._activate,
            "perform": self._perform,
        }
        rows = [replace(row, handler=other.get(row.name, row.handler)) for row in control_rows()]
        mine = [("PUT", "begin_run", self._begin), ("GET", "tell_run", self._tell), ("DELETE", "end_run", self._end)]
        return [*rows, *(_row(method, name, handler) for method, name, handler in mine)]

    async def _begin(self, call: ControlCall) -> None:
        """Start a run: `id` (of the run's own world), `seed` (of all its worlds) and `plan` (the fault to inject)."""
        self._id, self._seed, self._plan = call.raw["id"], call.raw["seed"], call.raw["plan"]
        self._made, self._played = 0, {}

    async def _tell(self, call: ControlCall) -> JsonObject:
        """Return the run's worlds, ordered by name. From now on, no action is replaced."""
        self._plan = {}
        return {"worlds": sorted(self._played.values(), key=lambda one: one["name"])}

    async def _end(self, call: ControlCall) -> None:
        self._id = ""
        for world_id in [one for one in self._simulator.worlds if one != DEFAULT_WORLD]:
            self._simulator.delete_world(world_id)

    def attach(self, world: World) -> None:
        """Inject the fault into a new or replaced world, if the plan applies to this world."""
        if not self._id:
            return
        name = world.id.replace(self._id, "")
        fresh: Played = {"id": world.id, "name": name, "faults": [], "hits": 0, "swapped": 0}
        played = self._played.setdefault(world.id, fresh)
        if name == self._plan.get("world", ""):
            played["faults"] = self._arm(world)

    def detach(self, world: World) -> None:
        """Before a world is deleted or replaced, record how often its faults have happened."""
        played = self._played.get(world.id)
        if played is not None:
            rows = world.store[FAULTS]
            played["hits"] += sum(rows[fault]["hits"] for fault in played["faults"] if fault in rows)

    def _arm(self, world: World) -> list[str]:
        """Add the run's faults to a world, and activate the scenario with the run's rules before all other scenarios.
        Return the ids of the faults whose hits prove that the injected fault has happened.
        """
        counting: list[str] = []
        for number, fault in enumerate(self._plan.get("faults", ())):
            with world.change(_CAUSE):
                entry = put_in_force(world, fault)
            if number >= self._plan["counted"]:
                counting.append(entry["id"])
        if self._plan.get("rules"):
            engine = self._simulator.engine
            document = {"name": SCENARIO, "description": "What goes wrong in this run.", "rules": self._plan["rules"]}
            file = Loader(self._simulator.vocabulary).load(dumps(document), known=engine.catalogue.names(world))
            with world.change(_CAUSE):
                engine.upload(world, file)
                engine.activate(world, self._above(engine.active(world)))
        return counting

    def _above(self, names: list[str]) -> list[str]:
        return [*(name for name in names if name != SCENARIO), SCENARIO]

    async def _create(self, call: ControlCall) -> world_object.WorldObject:
        if self._id:
            self._made += 1
            own: JsonObject = {"id": f"{self._id}-{self._made}"}
            if "from_snapshot" not in call.raw:  # a fork continues with the seed of its origin
                own["seed"] = self._seed
            call.body = parse(worlds.WorldBody, {**own, **beginning(self._plan, call.raw)})
        return await worlds.create_world(call)

    async def _keep(self, call: ControlCall) -> None:
        """Delete a world, unless the verdict needs it, because it belongs to the current run."""
        world = call.world_called(call.path["id"])
        if world.id not in self._played:
            await worlds.delete_world(call)

    async def _activate(self, call: ControlCall) -> scenarios.ActiveNames:
        """Activate the named scenarios. The scenario with the run's fault takes precedence over them."""
        names: list[str] = call.body.names
        if SCENARIO not in self._simulator.engine.active(call.world):
            return await scenarios.activate(call)
        call.body = scenarios.ActiveScenarios(names=self._above(names))
        return {**await scenarios.activate(call), "names": names}

    async def _perform(self, call: ControlCall) -> actions.ActionAnswer:
        """Perform an action, or its replacement in the run's plan."""
        played = self._played.get(call.world.id)
        target, action = call.raw.get("target"), call.path["action"]
        instead = (self._plan.get("instead") or {}).get(action)
        meant = played is not None and played["name"] == self._plan.get("world", "")
        if played is None or not meant or instead is None or target != self._plan.get("target"):
            return await actions.perform(call)
        answer: actions.ActionAnswer | None = None
        for step in instead:
            given: JsonObject = {name: value for name, value in step.items() if name != "action"}
            asked = replace(call, path={"action": step["action"]}, raw={"target": target, **given})
            try:
                answer = await actions.perform(asked)
            except ControlError:
                if answer is None:
                    raise  # the requested action is illegal; an illegal later step is skipped, as in a scenario
        played["swapped"] += 1
        return answer or self._as_if_done(call.world, action, target)

    def _as_if_done(self, world: World, action: str, target: str) -> actions.ActionAnswer:
        record = find_any(world, target)
        assert record is not None  # the plan's target exists
        at, resource = format_timestamp(world.now_ms), render(world, record)
        return {"action": action, "target": target, "at": at, "resource": resource, "events": []}


def _row(method: str, name: str, handler: Any) -> ControlOperation:
    takes = "raw" if method == "PUT" else "nothing"
    status = 200 if method == "GET" else 204
    return ControlOperation(method, RUN, name, "Explore", name, handler, status, takes=takes, scope="server")


def main(**names: object) -> None:
    """Serve on a free loopback port until standard input ends."""
    known, _problems = chosen(PROVIDER.alternatives(), os.environ.get("SIMULATOR_ASSUME", "").split())
    observed = read_files(map(Path, os.environ.get("SIMULATOR_OBSERVED", "").split()), PROVIDER.alternatives())
    config = Config(clock="manual", settings={**DEFAULTS, "assumptions": known}, observed=observed)
    runtime = create_app(config).runtime
    application = Application(runtime, control=ControlInterface(runtime, Stage(runtime).rows()))
    Thread(target=_end_with_stdin, daemon=True).start()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(application))


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)  # explore has ended, so skip the cleanup


async def _serve(application: Application) -> None:
    async with serving(application) as origin:
        print(f"Ready on {origin}", flush=True)  # noqa: T201 - the parent process waits for this line
        await asyncio.Event().wait()
