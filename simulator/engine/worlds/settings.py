"""The settings of a world, including its choice of alternatives for assumptions.

Decisions H6 (strict), H15 (rate_limit, rate_limit_clock), W2 (webhook_timestamp) and W3 (webhook_urls). Code that
depends on an assumption with alternatives calls `assumes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from simulator.engine.records.codec import StateError
from simulator.engine.records.requests import requests_of
from simulator.engine.records.saved import hold_against
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds import alternatives, setting_model
from simulator.engine.worlds.setting_set import DEFAULTS as DEFAULTS
from simulator.engine.worlds.setting_set import SettingSet as SettingSet
from simulator.engine.worlds.setting_set import setting_set
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

MANUAL_START = "2026-01-05T08:00:00.000Z"
"""The default start time of a manual clock."""


class AllSettings(SettingSet):
    """The settings of a world, including the alternatives that it uses."""

    assumptions: Mapping[str, str]
    """The active alternative, by assumption id. Assumptions for which the assumed behaviour applies are not listed."""


def check_settings(key: str, row: JsonObject) -> None:
    """Raise `StateError` if a table row is not the settings of a world. One from an earlier version may have fewer."""
    hold_against(setting_model.Settings, row)
    if key != "settings" or not row.keys() <= setting_model.Settings.model_fields.keys():
        raise StateError("", f"unknown setting. Use one of: {', '.join(setting_model.Settings.model_fields)}")


SETTINGS = TableKey("settings", dict[str, Any], check=check_settings)
"""One table row, `settings`: the settings by name. A world saved by an earlier version may have fewer settings."""


ASSUMED = TableKey("assumptions", str)
"""The active alternatives, by assumption id. An assumption without an active alternative has no table row."""


def assumes(world: World, assumption: str, alternative: str) -> bool:
    """Return True if an alternative of an assumption is active. The provider declares both names."""
    if (record := world.wiring.on_assumption) is not None:
        record(assumption)
    return world.store[ASSUMED].get(assumption) == alternative


def check_assumed(known: alternatives.Alternatives, assumed: Mapping[str, str], path: str) -> None:
    """Raise `StateError` unless worlds of this service can select these alternatives."""
    hold_against(setting_model.model_of(known), {"assumptions": assumed}, path)


def assumes_anything(world: World) -> bool:
    """Return True if any alternative is active, or if the world has a listener for lookups of assumptions."""
    return bool(world.store[ASSUMED].rows) or world.wiring.on_assumption is not None


def settings_of(world: World) -> SettingSet:
    """Return all current settings of a world."""
    stored: Any = world.store[SETTINGS].get("settings")
    if stored is None or len(stored) < len(DEFAULTS):  # A version that had fewer settings saved this world.
        stored = {**DEFAULTS, **(stored or {})}
    complete: SettingSet = stored  # This is not a `cast` call, because every request reads the settings four times.
    return complete


def bound_journal(world: World) -> None:
    """Limit the world's journal of API requests to the number and size in its current settings."""
    requests_of(world).keep(settings_of(world)["journal_limit"], journal_bytes(world))


def journal_bytes(world: World) -> int:
    """Return the size limit of each journal in bytes: the setting, but at most the quota."""
    settings = settings_of(world)
    kept, most = settings["journal_bytes"], settings["quota_journal_bytes"]
    return kept if most is None else min(kept, most)


def all_settings(world: World) -> AllSettings:
    """Return the current settings, including the alternatives that the world has selected."""
    return {**settings_of(world), "assumptions": dict(world.store[ASSUMED].items())}


def shown(settings: setting_model.Settings) -> SettingSet:
    """Convert parsed settings from a request or from flags to the form that is saved."""
    return setting_set({name: getattr(settings, name) for name in DEFAULTS})


def named(settings: setting_model.Settings | None) -> dict[str, Any]:
    """Return only the settings that a request contains, by name."""
    return {} if settings is None else {name: getattr(settings, name) for name in settings.model_fields_set}


def put_settings(world: World, settings: Mapping[str, object]) -> None:
    """Replace all settings, including `assumptions` if given. Call this inside a transaction."""
    world.store[SETTINGS].put("settings", {name: value for name, value in settings.items() if name != "assumptions"})
    if "assumptions" in settings:
        _assume(world, cast(Mapping[str, str], settings["assumptions"]))


def change_settings(world: World, changes: setting_model.Settings) -> SettingSet:
    """Change the settings that are given in a request. Call this inside a transaction."""
    given = {name: getattr(changes, name) for name in changes.model_fields_set if name in DEFAULTS}
    put_settings(world, {**settings_of(world), **given})
    if "assumptions" in changes.model_fields_set:
        _assume(world, changes.assumptions)
    return settings_of(world)


def _assume(world: World, chosen: Mapping[str, str]) -> None:
    """Activate the chosen alternatives, by assumption id. All other assumptions get their default."""
    table = world.store[ASSUMED]
    for assumption in [*table.rows]:
        table.delete(assumption)
    for assumption, alternative in chosen.items():
        table.put(assumption, alternative)
