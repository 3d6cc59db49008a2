"""The settings of a world, and what it can assume otherwise (control interface, chapter "Worlds")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import calls_under
from simulator.engine.worlds import quotas
from simulator.engine.worlds.alternatives import Observation, ShownSwitch, Switch, shown
from simulator.engine.worlds.settings import AllSettings, all_settings, bound_journal, change_settings, named
from simulator.kernel.journal import Cause

operation = calls_under("Worlds")


class SwitchEntry(ShownSwitch):
    in_force: str | None
    """The alternative that this world has chosen; null where it assumes the usual."""
    standing: Literal["assumed", "observed"]
    """`observed` if the real service was observed to behave like this."""
    observed_at: str | None
    """The date of the observation; null if it is assumed."""


class SwitchList(TypedDict):
    data: list[SwitchEntry]
    """The assumptions that can be switched."""


@operation("GET /settings", "The world's settings")
async def get_settings(call: ControlCall) -> AllSettings:
    """All settings of the world, those too that nobody changed."""
    return all_settings(call.world)


@operation("PATCH /settings", "Change settings", recorded_as="settings")
async def patch_settings(call: ControlCall) -> AllSettings:
    """Change the settings that the body names; the journal is cut to its new bounds at once.

    A quota may be anything within that which the server was started with; null is as much as that.
    """
    world, most = call.world, call.simulator.inherited.settings
    quotas.check_wanted(named(call.body), most)
    with world.change(Cause("action", "settings")):
        change_settings(world, call.body)
    quotas.hold_to(world, most)
    bound_journal(world)
    return all_settings(world)


@operation("GET /assumptions", "What the world can assume otherwise")
async def list_assumptions(call: ControlCall) -> SwitchList:
    """The assumptions that a world can switch by `settings.assumptions`, and what this one has chosen."""
    chosen = all_settings(call.world)["assumptions"]
    switches = call.simulator.provider.alternatives().values()
    return {"data": [_entry(switch, chosen.get(switch.id), call.simulator.inherited.observed) for switch in switches]}


def _entry(switch: Switch, in_force: str | None, observed: Mapping[str, Observation]) -> SwitchEntry:
    seen = observed.get(switch.id)
    if seen is None or seen.alternative != in_force:
        return {**shown(switch), "in_force": in_force, "standing": "assumed", "observed_at": None}
    return {**shown(switch), "in_force": in_force, "standing": "observed", "observed_at": seen.date}
