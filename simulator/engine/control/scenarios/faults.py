"""Control calls that add, list and remove faults."""

from __future__ import annotations

from functools import reduce
from operator import or_
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine import webhooks
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.control.refusals import invalid_parameter, not_found
from simulator.engine.faults import in_force
from simulator.engine.faults.in_force import FAULTS, put_in_force
from simulator.engine.faults.models import Deliver, InterfaceFault, WebhookFault, check_fault
from simulator.engine.faults.presets import PRESETS, PresetFault, spelled_out
from simulator.engine.server.checks.faults import doubts
from simulator.engine.text.fields import Body
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Count
from simulator.engine.worlds.quotas import too_much
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.clock import LAST_MS, parse_duration
from simulator.kernel.journal import Cause
from simulator.kernel.world import World

operation = calls_under("Faults")


def _as_given(hint: Any) -> Any:
    """Return the type that a fault field has in responses. It has no bounds and allows objects with any fields."""
    if get_origin(hint) in (Union, UnionType):
        return reduce(or_, map(_as_given, get_args(hint)))
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if isinstance(inner, type):
        return Count if inner is int else JsonObject if issubclass(inner, Body) else inner
    return hint


if TYPE_CHECKING:
    from simulator.engine.faults.in_force import FaultEntry
else:  # The types are derived, so that each fault field is declared only once.
    _Given = TypedDict(
        "_Given",
        {
            name: Annotated[_as_given(member.annotation), Field(description=f"`{name}` as given.")]
            for name, member in (InterfaceFault.model_fields | WebhookFault.model_fields).items()
            if name not in in_force.FaultEntry.__annotations__
        },
        total=False,
    )

    class FaultEntry(in_force.FaultEntry, _Given):
        """An active fault: the fields it was created with, and its state."""


class MadeFault(FaultEntry):
    warnings: list[str]
    """Reasons why the fault may never apply in the current state of the world."""


class FaultList(TypedDict):
    data: list[FaultEntry]
    """The active faults, oldest first."""


class PresetEntry(TypedDict):
    name: str
    """The name to use in the field `preset`."""
    means: str
    """A description of the fault."""
    fault: JsonObject
    """The fields of the fault."""


class PresetList(TypedDict):
    data: list[PresetEntry]
    """All presets. Presets for API requests come first."""


_CAUSE = Cause("action", "faults", "control")


def require_in_time(world: World, deliver: Deliver) -> None:
    """Raise `ControlError` 400 if a delay would end after the latest possible simulated time."""
    if deliver.delay is not None and world.now_ms + parse_duration(deliver.delay) > LAST_MS:
        raise invalid_parameter("deliver.delay", "it is too long: simulated time ends with the year 9998")


@operation(
    "POST /faults",
    "Add a fault",
    status=201,
    takes="raw",
    accepts=(InterfaceFault, WebhookFault, PresetFault),
    recorded_as="fault",
    keeps_answer=True,
)
async def create_fault(call: ControlCall) -> MadeFault:
    """Add a fault to API requests or webhook deliveries. Use faults to test how your code handles errors and delays.
    The body is a request fault, a webhook fault or the name of a preset. Fields next to the name override fields of the
    preset. `warnings` lists reasons why the fault may never apply. Fails with 507 simulator_quota_exceeded if the world
    already has as many faults as `quota_objects` allows.
    """
    world, fault = call.world, check_fault(spelled_out(call.raw), call.simulator.vocabulary)
    most = settings_of(world)["quota_objects"]
    if most is not None and len(world.store[FAULTS]) >= most:
        raise too_much("quota_objects", most, "faults")
    if isinstance(fault, WebhookFault):
        require_in_time(world, fault.deliver)
    with world.change(_CAUSE):
        entry = put_in_force(world, fault.model_dump(exclude_unset=True, exclude_none=True))
    return {**entry, "warnings": doubts(world, fault)}


@operation("GET /faults", "List the faults", query=LIMIT)
async def list_faults(call: ControlCall) -> FaultList:
    """List the active faults, including faults of scenarios and faults that have been used up."""
    return {"data": call.newest(list(call.world.store[FAULTS].values()))}


@operation("GET /faults/presets", "List the fault presets", scope="server")
async def list_presets(call: ControlCall) -> PresetList:
    """List the presets, which are common faults that you can add by name with POST /faults."""
    return {"data": [{"name": name, "means": row.means, "fault": dict(row.fault)} for name, row in PRESETS.items()]}


@operation("DELETE /faults", "Remove all faults", status=204, recorded_as="call")
async def delete_faults(call: ControlCall) -> None:
    """Remove all faults, including faults of scenarios."""
    world = call.world
    with world.change(_CAUSE):
        for fault_id in list(world.store[FAULTS].rows):
            webhooks.end_fault(world, fault_id)


@operation("DELETE /faults/{id}", "Remove a fault", status=204, recorded_as="call")
async def delete_fault(call: ControlCall) -> None:
    """Remove a fault. Fails with 404 if there is no such fault."""
    world, fault_id = call.world, call.path["id"]
    if fault_id not in world.store[FAULTS]:
        raise not_found("fault", fault_id, "/faults")
    with world.change(_CAUSE):
        webhooks.end_fault(world, fault_id)
