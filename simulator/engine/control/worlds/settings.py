"""Control calls about settings and configurable assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import calls_under
from simulator.engine.control.worlds.world_object import observed_by
from simulator.engine.insight.shapes import Standing
from simulator.engine.text.shapes import Meanings
from simulator.engine.worlds import quotas
from simulator.engine.worlds.alternatives import ShownSwitch, Switch, shown
from simulator.engine.worlds.observations import Observed, date_observed
from simulator.engine.worlds.settings import AllSettings, all_settings, bound_journal, change_settings, named
from simulator.kernel.journal import Cause

operation = calls_under("Worlds")
VERDICTS = {
    "holds": "The service behaves as assumed.",
    "differs": "The service has one of the alternatives.",
    "neither": "The service behaves in another way.",
}
"""Verdicts on an assumption."""


class SeenVerdict(TypedDict, total=False):
    verdict: Annotated[Literal["holds", "differs", "neither"], Meanings(VERDICTS)]
    """The verdict in the world's file of observations of the real service. Absent if there is none."""
    seen: str
    """The observed behaviour, if it is neither the assumed behaviour nor one of the alternatives."""


class SwitchEntry(ShownSwitch, SeenVerdict):
    in_force: str | None
    """The alternative chosen for this world; null for the default."""
    standing: Standing
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
    """Change the settings in the body. All other settings stay the same. A smaller journal limit immediately drops the
    oldest rows. A quota cannot exceed the quota that the server was started with. The value null selects the server's
    quota.
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
    `assumptions`. Use alternatives to test your code against each possible behaviour of the real service.
    """
    chosen = all_settings(call.world)["assumptions"]
    switches = call.simulator.provider.alternatives().values()
    files = observed_by(call.simulator, call.world)
    return {"data": [_entry(switch, chosen.get(switch.id), files) for switch in switches]}


def _entry(switch: Switch, in_force: str | None, files: Sequence[Observed]) -> SwitchEntry:
    rows = (file.verdicts[switch.id] for file in files if switch.id in file.verdicts)
    row = next((row for row in rows if row["verdict"] != "undecided"), {})
    date = date_observed(switch.id, in_force, files)
    verdict: SeenVerdict = {}
    if row:
        verdict["verdict"] = row["verdict"]
    if row and row["verdict"] == "neither":
        verdict["seen"] = str(row.get("seen") or "")
    return {
        **shown(switch),
        "in_force": in_force,
        "standing": "observed" if date else "assumed",
        "observed_at": date,
        **verdict,
    }
