"""The settings of a world: how tolerant it is, how often it may be called, where webhooks may go.

Decisions H6 (strict), H15 (rate_limit, rate_limit_clock), W2 (webhook_timestamp) and W3 (webhook_urls).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.wire.codec import StateError
from simulator.wire.fields import Body
from simulator.wire.json import JsonObject
from simulator.wire.saved import hold_against
from simulator.wire.shapes import Count, Format

RATE_LIMIT_PATTERN = r"^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$"

RateLimit = Annotated[str, StringConstraints(pattern=RATE_LIMIT_PATTERN)]
"""`N/SECONDS`: at most N calls in so many seconds, for each key pair."""


MANUAL_START = "2026-01-05T08:00:00.000Z"
"""Where a manual clock begins when nobody says otherwise."""


class Settings(Body):
    """All settings with their defaults."""

    strict: bool = False
    rate_limit: RateLimit | None = None
    rate_limit_clock: Literal["simulated", "wall"] = "simulated"
    webhook_urls: Literal["public", "local", "any"] = "local"
    webhook_timestamp: Literal["wall", "simulated"] = "wall"
    journal_limit: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    journal_bytes: Annotated[int, Field(ge=65_536, le=2**40)] = 64 * 1024 * 1024
    timers_per_instant: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000


class SettingSet(TypedDict):
    strict: bool
    rate_limit: Annotated[str, Format(pattern="^[1-9][0-9]*/[1-9][0-9]*$")] | None
    rate_limit_clock: Literal["simulated", "wall"]
    webhook_urls: Literal["public", "local", "any"]
    webhook_timestamp: Literal["wall", "simulated"]
    journal_limit: Count
    journal_bytes: Count
    timers_per_instant: Count


def _set(members: Mapping[str, object]) -> SettingSet:
    return cast(SettingSet, members)  # read from a `Settings`, whose fields these are


DEFAULTS = Settings()
DEFAULT_NAMES = frozenset(Settings.model_fields)


def check_settings(key: str, row: JsonObject) -> None:
    """StateError for what are no settings of this version or an earlier one."""
    hold_against(Settings, row)
    if key != "settings" or not row.keys() <= Settings.model_fields.keys():
        raise StateError("", f"the settings are {', '.join(Settings.model_fields)}")


SETTINGS = TableKey("settings", dict[str, Any], check=check_settings)
"""One row, `settings`: those in force, by name. A world of a version that had fewer has fewer."""


def settings_of(world: World) -> SettingSet:
    """The settings in force, as shown."""
    stored = world.store[SETTINGS].get("settings")
    if stored is None or len(stored) < len(DEFAULT_NAMES):  # stored by a version that had fewer settings
        return _set({**shown(DEFAULTS), **(stored or {})})
    return _set(stored)


def bound_journal(world: World) -> None:
    """Hold the journal of interface calls to the settings in force."""
    settings = settings_of(world)
    world.journal.keep(settings["journal_limit"], settings["journal_bytes"])


def shown(settings: Settings) -> SettingSet:
    return _set({name: getattr(settings, name) for name in Settings.model_fields})


def put_settings(world: World, settings: Mapping[str, object]) -> SettingSet:
    """Put these settings in place of all; inside a change."""
    world.store[SETTINGS].put("settings", row := dict(settings))
    return _set(row)


def change_settings(world: World, changes: Settings) -> SettingSet:
    """Replace the settings that were given; inside a change."""
    given = {name: getattr(changes, name) for name in changes.model_fields_set if name in DEFAULT_NAMES}
    return put_settings(world, {**settings_of(world), **given})
