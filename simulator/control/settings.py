"""The settings of a world, to be read and changed (control interface, chapter "Worlds")."""

from __future__ import annotations

from simulator.control.operation import ControlCall, ControlOperation
from simulator.kernel.journal import Cause
from simulator.wire.setting_model import Settings
from simulator.wire.settings import SettingSet, bound_journal, change_settings, settings_of


async def get_settings(call: ControlCall) -> SettingSet:
    """All settings of the world, those too that nobody changed."""
    return settings_of(call.world)


async def patch_settings(call: ControlCall) -> SettingSet:
    """Change the settings that the body names; the journal is cut to its new bounds at once."""
    world = call.world
    with world.change(Cause("action", "settings")):
        settings = change_settings(world, call.body)
    bound_journal(world)
    return settings


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
)
