"""Scenarios: what there is, uploading, choosing the active ones (control interface, chapter "Scenarios")."""

from __future__ import annotations

import asyncio
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.worlds import holdings
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.files.folder import FolderProblem
from simulator.engine.scenario.files.loader import Loader, ScenarioError
from simulator.engine.scenario.language.document import UPLOAD
from simulator.engine.scenario.language.shapes import ScenarioEntry, ScenarioProgress, ScenarioWarning, StoppedScenario
from simulator.engine.scenario.play.catalogue import UPLOADED, row_of
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject, dumps
from simulator.kernel.journal import Cause, newest

operation = calls_under("Scenarios")

_CAUSE = Cause("action", "scenarios", "control")


class Warned(TypedDict):
    warnings: NotRequired[list[ScenarioWarning]]
    """What is possible in it but probably not meant; left out when there is nothing."""


class ScenarioUploaded(ScenarioEntry, Warned): ...


class ScenarioList(TypedDict):
    data: list[ScenarioEntry]
    """The scenarios that the world knows."""
    problems: NotRequired[list[FolderProblem]]
    """What is wrong with files in the server's directories of scenarios; left out when there is nothing.

    What was read of them before stays in force.
    """


class ActiveNames(TypedDict):
    names: list[str]
    """The active scenarios; later ones win."""
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that were stopped meanwhile; left out when there were none."""


class ActiveScenarios(Body):
    names: list[Text]
    """The scenarios to be active, later ones winning; none: nothing moves but by law."""


@operation("GET /scenarios", "All scenarios of the world", query=LIMIT)
async def list_scenarios(call: ControlCall) -> ScenarioList:
    """Every scenario that the world knows: those that ship, and those that were uploaded to it."""
    folder = call.runtime.folder
    told: ScenarioList = {"data": newest(call.simulator.engine.listing(call.world), call.limit())}
    return {**told, "problems": folder.problems} if folder is not None and folder.problems else told


@operation(
    "POST /scenarios",
    "Upload a scenario",
    status=201,
    takes="bytes",
    accepts={"type": "object", "description": "A scenario; see scenario.schema.json."},
    sent_as=("application/yaml", "application/json"),
    max_bytes=UPLOAD.size + 1,
    recorded_as="upload",
    cuts=True,
)
async def upload_scenario(call: ControlCall) -> ScenarioUploaded:
    """Keep a scenario in the world; 400 invalid_scenario with every problem.

    507 simulator_quota_exceeded for more uploaded scenarios, or more bytes, than the world may have.
    """
    engine = call.simulator.engine
    await holdings.require_room(call.simulator, call.world, "quota_scenarios", size=len(call.raw))
    loader = Loader(call.simulator.vocabulary)
    try:
        # PerWorld the loop: a large file takes a while, and the other worlds go on.
        file = await asyncio.to_thread(loader.load, call.raw, known=engine.names(call.world))
    except ScenarioError as error:
        raise ControlError(400, "invalid_scenario", str(error), errors=error.errors) from None
    world = call.world
    if holdings.is_bounded(world):
        is_new = file.name not in world.store[UPLOADED]
        size = len(dumps(row_of(file))) if is_new else len(call.raw)
        holdings.held_now(call.simulator, world).with_more(scenarios=int(is_new), size=size).require(
            world, "quota_scenarios"
        )
    with world.change(_CAUSE):
        engine.upload(world, file)
    call.runtime.changed(world)
    warned: Warned = {"warnings": list(file.warnings)} if file.warnings else {}
    return {**engine.summary(world, file.name), **warned}


@operation(
    "PUT /scenarios/active",
    "Choose the active scenarios",
    body=ActiveScenarios,
    catches_up=False,
    recorded_as="activation",
)
async def activate(call: ControlCall) -> ActiveNames:
    """Choose the active scenarios, later ones winning; 404 for an unknown name, 400 for one that cannot be active."""
    world = call.world
    with world.change(_CAUSE):
        names = call.simulator.engine.activate(world, call.body.names)
    await call.runtime.follow_up(world)
    return {"names": names, **call.stopped_scenarios(world)}


@operation("GET /scenarios/{name}", "One scenario and its progress")
async def get_scenario(call: ControlCall) -> Annotated[JsonObject, ScenarioProgress]:
    """A scenario as written, and what it has done in this world; 404 for an unknown name."""
    return call.simulator.engine.describe(call.world, call.path["name"])
