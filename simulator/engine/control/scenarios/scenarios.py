"""Control calls that list, upload and activate scenarios."""

from __future__ import annotations

import asyncio
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.worlds import holdings
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.files import loader
from simulator.engine.scenario.files.folder import FolderProblem
from simulator.engine.scenario.language.bounds import UPLOAD
from simulator.engine.scenario.language.shapes import ScenarioEntry, ScenarioProgress, ScenarioWarning, StoppedScenario
from simulator.engine.scenario.play.catalogue import UPLOADED, row_of
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import JsonObject, dumps
from simulator.kernel.journal import Cause

operation = calls_under("Scenarios")

_CAUSE = Cause("action", "scenarios", "control")


class Warned(TypedDict):
    warnings: NotRequired[list[ScenarioWarning]]
    """Probable mistakes in the scenario; omitted if there are none."""


class ScenarioUploaded(ScenarioEntry, Warned): ...


class ScenarioList(TypedDict):
    data: list[ScenarioEntry]
    """The scenarios available in the world."""
    problems: NotRequired[list[FolderProblem]]
    """Problems in the server's directories of scenario files; omitted if there are none. The previously loaded version
    of such a file stays active.
    """


class ActiveNames(TypedDict):
    names: list[str]
    """The active scenarios. Later ones take precedence."""
    stopped_scenarios: NotRequired[list[StoppedScenario]]
    """The scenarios that failed and were stopped during the call; omitted if there are none."""


class ActiveScenarios(Body):
    names: list[Text]
    """The scenarios to activate. Later ones take precedence. With an empty list, only service rules apply."""


@operation("GET /scenarios", "List the scenarios", query=LIMIT)
async def list_scenarios(call: ControlCall) -> ScenarioList:
    """List the scenarios available in the world: the server's scenarios, and scenarios uploaded to the world."""
    folder = call.runtime.folder
    found: ScenarioList = {"data": call.newest(call.simulator.engine.listing(call.world))}
    return {**found, "problems": folder.problems} if folder is not None and folder.problems else found


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
    """Upload a scenario to the world as YAML or JSON. An uploaded scenario with the same name is replaced. Activate the
    scenario with PUT /scenarios/active. The error 400 invalid_scenario lists every problem in the scenario with its
    line and column. Fails with 507 simulator_quota_exceeded if the world would have more uploaded scenarios or bytes
    than its quotas allow.
    """
    engine = call.simulator.engine
    await holdings.require_room(call.simulator, call.world, "quota_scenarios", size=len(call.raw))
    reader = loader.Loader(call.simulator.vocabulary)
    try:
        # This runs in a thread, because parsing a large file takes a while and would block other worlds.
        file = await asyncio.to_thread(reader.load, call.raw, known=engine.catalogue.names(call.world))
    except loader.ScenarioError as error:
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
    "Set the active scenarios",
    body=ActiveScenarios,
    catches_up=False,
    recorded_as="activation",
)
async def activate(call: ControlCall) -> ActiveNames:
    """Replace the list of active scenarios. Later ones take precedence. With an empty list, only service rules apply.
    Fails with 404 for an unknown name, or 400 for a scenario that cannot be active.
    """
    world = call.world
    with world.change(_CAUSE):
        names = call.simulator.engine.activate(world, call.body.names)
    await call.runtime.follow_up(world)
    return {"names": names, **call.stopped_scenarios(world)}


@operation("GET /scenarios/{name}", "Get a scenario and its progress")
async def get_scenario(call: ControlCall) -> Annotated[JsonObject, ScenarioProgress]:
    """Return a scenario and its progress in this world: rules that fired, and steps done, skipped and pending."""
    return call.simulator.engine.describe(call.world, call.path["name"])
