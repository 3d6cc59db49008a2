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
from simulator.wire.shapes import Count, Format, Meanings

RATE_LIMIT_PATTERN = r"^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$"

RateLimit = Annotated[str, StringConstraints(pattern=RATE_LIMIT_PATTERN)]
"""`N/SECONDS`: at most N calls in so many seconds, for each key pair."""


RateLimitClock = Annotated[
    Literal["simulated", "wall"],
    Meanings({"simulated": "The clock of the world.", "wall": "The clock of the machine."}),
]
WebhookUrls = Annotated[
    Literal["public", "local", "any"],
    Meanings(
        {
            "public": "Public HTTPS URLs only, as at the service.",
            "local": "Those, and any URL of this machine.",
            "any": "Any URL.",
        }
    ),
]
WebhookTimestamp = Annotated[
    Literal["wall", "simulated"],
    Meanings(
        {
            "wall": "The clock of the machine, which receivers compare it with.",
            "simulated": "The clock of the world, for receivers whose time is frozen with it.",
        }
    ),
]


MANUAL_START = "2026-01-05T08:00:00.000Z"
"""Where a manual clock begins when nobody says otherwise."""


class Settings(Body):
    """All settings with their defaults."""

    strict: bool = False
    """Whether unknown fields and query parameters are refused with 400 instead of ignored."""
    rate_limit: RateLimit | None = None
    """How many calls a key pair may make in how many seconds, as N/SECONDS; null: no limit."""
    rate_limit_clock: RateLimitClock = "simulated"
    """The clock that the windows of the rate limit are counted by."""
    webhook_urls: WebhookUrls = "local"
    """Which URLs may receive webhooks."""
    webhook_timestamp: WebhookTimestamp = "wall"
    """The clock that X-Timestamp is taken from."""
    journal_limit: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """How many interface calls the journal keeps."""
    journal_bytes: Annotated[int, Field(ge=65_536, le=2**40)] = 64 * 1024 * 1024
    """How many bytes of them it keeps."""
    timers_per_instant: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """How many timers may fire at one instant before the world is taken to run in circles."""


class SettingSet(TypedDict):
    """The settings of a world."""

    strict: bool
    """Whether unknown fields and query parameters are refused with 400 instead of ignored."""
    rate_limit: Annotated[str, Format(pattern="^[1-9][0-9]*/[1-9][0-9]*$")] | None
    """How many calls a key pair may make in how many seconds, as N/SECONDS; null: no limit."""
    rate_limit_clock: RateLimitClock
    """The clock that the windows of the rate limit are counted by."""
    webhook_urls: WebhookUrls
    """Which URLs may receive webhooks."""
    webhook_timestamp: WebhookTimestamp
    """The clock that X-Timestamp is taken from."""
    journal_limit: Count
    """How many interface calls the journal keeps."""
    journal_bytes: Count
    """How many bytes of them it keeps."""
    timers_per_instant: Count
    """How many timers may fire at one instant before the world is taken to run in circles."""


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
