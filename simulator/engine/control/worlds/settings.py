"""Control calls about settings and configurable assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import calls_under
from simulator.engine.text.shapes import Meanings
from simulator.engine.worlds import quotas
from simulator.engine.worlds.alternatives import Observation, ShownSwitch, Switch, shown
from simulator.engine.worlds.settings import AllSettings, all_settings, bound_journal, change_settings, named
from simulator.kernel.journal import Cause

operation = calls_under("Worlds")
STANDINGS = {
    "assumed": "The specification is silent and the simulator made a choice.",
    "observed": "A running service was observed to behave this way.",
}
"""Whether a choice is assumed or observed."""


class SwitchEntry(ShownSwitch):
    in_force: str | None
    """The alternative chosen for this world; null for the default."""
    standing: Annotated[Literal["assumed", "observed"], Meanings(STANDINGS)]
    """`observed` if the real service was observed to use this alternative, otherwise `assumed`."""
    observed_at: str | None
    """The date of the observation; null if the alternative was not observed."""


class SwitchList(TypedDict):
    data: list[SwitchEntry]
    """The assumptions that have alternatives."""


@operation("GET /settings", "Get the settings")
async def get_settings(call: ControlCall) -> AllSettings:
    """Return all settings of the world, including defaults."""
    return all_settings(call.world)


@operation("PATCH /settings", "Change settings", recorded_as="settings")
async def patch_settings(call: ControlCall) -> AllSettings:
    """Change the settings in the body. All other settings stay the same.

    A smaller journal limit immediately drops the oldest rows. A quota cannot exceed the quota that the server was
    started with. The value null selects the server's quota.
    """
    world, most = call.world, call.simulator.inherited.settings
    quotas.check_wanted(named(call.body), most)
    with world.change(Cause("action", "settings")):
        change_settings(world, call.body)
    quotas.hold_to(world, most)
    bound_journal(world)
    return all_settings(world)


@operation("GET /assumptions", "List the switchable assumptions")
async def list_assumptions(call: ControlCall) -> SwitchList:
    """List the assumptions about the service that have alternatives. Choose an alternative with the setting
    `assumptions`.

    Use it to test your code against each way in which the real service may behave.
    """
    chosen = all_settings(call.world)["assumptions"]
    switches = call.simulator.provider.alternatives().values()
    return {"data": [_entry(switch, chosen.get(switch.id), call.simulator.inherited.observed) for switch in switches]}


def _entry(switch: Switch, in_force: str | None, observed: Mapping[str, Observation]) -> SwitchEntry:
    seen = observed.get(switch.id)
    if seen is None or seen.alternative != in_force:
        return {**shown(switch), "in_force": in_force, "standing": "assumed", "observed_at": None}
    return {**shown(switch), "in_force": in_force, "standing": "observed", "observed_at": seen.date}
