"""The settings of a world, and what it can assume otherwise (control interface, chapter "Worlds")."""

from __future__ import annotations

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation
from simulator.engine.worlds import quotas
from simulator.engine.worlds.alternatives import SWITCHES
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import AllSettings, all_settings, bound_journal, change_settings, named
from simulator.kernel.journal import Cause


class Alternative(TypedDict):
    name: str
    """The name by which a world chooses it."""
    changes: str
    """What is otherwise then."""


class SwitchEntry(TypedDict):
    id: str
    """The id of the assumption, as contracts/assumptions.md has it."""
    assumed: str
    """What is assumed of the point that can be switched."""
    alternatives: list[Alternative]
    """What may be true instead, likeliest first."""
    question: str
    """The question to the real service, in words."""
    call: str
    """The calls to the real sandbox that answer it."""
    in_force: str | None
    """The alternative that this world has chosen; null where it assumes the usual."""


class SwitchList(TypedDict):
    data: list[SwitchEntry]
    """The assumptions that can be switched."""


async def get_settings(call: ControlCall) -> AllSettings:
    """All settings of the world, those too that nobody changed."""
    return all_settings(call.world)


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


async def list_assumptions(call: ControlCall) -> SwitchList:
    """The assumptions that a world can switch by `settings.assumptions`, and what this one has chosen."""
    chosen = all_settings(call.world)["assumptions"]
    return {
        "data": [
            {
                "id": switch.id,
                "assumed": switch.assumed,
                "alternatives": [{"name": name, "changes": text} for name, text in switch.alternatives.items()],
                "question": switch.question,
                "call": switch.call,
                "in_force": chosen.get(switch.id),
            }
            for switch in SWITCHES.values()
        ]
    }


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation("GET", "/settings", "get_settings", "Worlds", "The world's settings", get_settings),
    ControlOperation(
        "PATCH",
        "/settings",
        "patch_settings",
        "Worlds",
        "Change settings",
        patch_settings,
        200,
        Settings,
        recorded_as="settings",
    ),
    ControlOperation(
        "GET",
        "/assumptions",
        "list_assumptions",
        "Worlds",
        "What the world can assume otherwise",
        list_assumptions,
    ),
)
