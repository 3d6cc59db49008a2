"""The settings of a world: how tolerant it is, how often it may be called, where webhooks may go.

Decisions H6 (strict), H15 (rate_limit, rate_limit_clock), W2 (webhook_timestamp) and W3 (webhook_urls). And what is
assumed otherwise there: whatever rests on an assumption that can be switched asks `assumes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, cast

from typing_extensions import TypedDict

from simulator.engine.records.codec import StateError
from simulator.engine.records.requests import requests_of
from simulator.engine.records.saved import hold_against
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Count, Format
from simulator.engine.worlds import alternatives, setting_model
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

MANUAL_START = "2026-01-05T08:00:00.000Z"
"""Where a manual clock begins when nobody says otherwise."""


class SettingSet(TypedDict):
    """The settings of a world."""

    strict: bool
    """Whether unknown fields and query parameters are refused with 400 instead of ignored."""
    rate_limit: Annotated[str, Format(pattern="^[1-9][0-9]*/[1-9][0-9]*$")] | None
    """How many calls a key pair may make in how many seconds, as N/SECONDS; null: no limit."""
    rate_limit_clock: setting_model.RateLimitClock
    """The clock that the windows of the rate limit are counted by."""
    webhook_urls: setting_model.WebhookUrls
    """Which URLs may receive webhooks."""
    webhook_timestamp: setting_model.WebhookTimestamp
    """The clock that X-Timestamp is taken from."""
    journal_limit: Count
    """How many interface calls the journal keeps, and as many control calls."""
    journal_bytes: Count
    """How many bytes of each it keeps."""
    timers_per_instant: Count
    """How many timers may fire at one instant before the world is taken to run in circles."""
    quota_calls_per_second: Count | None
    """How many interface calls a second of real time may be made; null: any number."""
    quota_objects: Count | None
    """How many resources the world may have, its keys and deleted ones included; null: any number."""
    quota_journal_bytes: Count | None
    """The most that `journal_bytes` comes to; null: any size."""
    # Not required, because documents saved before these settings existed lack them; an answer has them all.
    quota_snapshots: NotRequired[Count | None]
    """How many snapshots the world may have; null: any number."""
    quota_scenarios: NotRequired[Count | None]
    """How many uploaded scenarios the world may have; null: any number."""
    quota_events: NotRequired[Count | None]
    """How many events the world may have for `emit` to add one; null: any number."""
    quota_bytes: NotRequired[Count | None]
    """How many bytes snapshots, uploaded scenarios and events may take together; null: any size."""


class AllSettings(SettingSet):
    """The settings of a world with what it assumes, which has a table of its own: rules ask for it all the time."""

    assumptions: Mapping[str, str]
    """What is assumed otherwise than usual: the alternative in force, by the id of the assumption."""


def _set(members: Mapping[str, object]) -> SettingSet:
    return cast(SettingSet, members)  # read from a `Settings`, whose fields these are


DEFAULTS: SettingSet = {
    "strict": False,
    "rate_limit": None,
    "rate_limit_clock": "simulated",
    "webhook_urls": "local",
    "webhook_timestamp": "wall",
    "journal_limit": 10_000,
    "journal_bytes": 64 * 1024 * 1024,
    "timers_per_instant": 10_000,
    "quota_calls_per_second": None,
    "quota_objects": None,
    "quota_journal_bytes": None,
    "quota_snapshots": None,
    "quota_scenarios": None,
    "quota_events": None,
    "quota_bytes": None,
}
"""What `Settings` has where nobody says otherwise, without making it: that is 2 ms of a start."""


def check_settings(key: str, row: JsonObject) -> None:
    """StateError for what are no settings of this version or an earlier one."""
    hold_against(setting_model.Settings, row)
    if key != "settings" or not row.keys() <= setting_model.Settings.model_fields.keys():
        raise StateError("", f"the settings are {', '.join(setting_model.Settings.model_fields)}")


SETTINGS = TableKey("settings", dict[str, Any], check=check_settings)
"""One row, `settings`: those in force, by name. A world of a version that had fewer has fewer."""


ASSUMED = TableKey("assumptions", str)
"""The alternatives in force, by the ids of the assumptions; those that are as usual have no row."""


def assumes(world: World, assumption: str, alternative: str) -> bool:
    """Whether an alternative of an assumption is in force; both are written as the provider spells them."""
    return world.store[ASSUMED].get(assumption) == alternative


def check_assumed(known: alternatives.Alternatives, assumed: Mapping[str, str], path: str) -> None:
    """StateError for what worlds of a service cannot assume."""
    hold_against(setting_model.model_of(known), {"assumptions": assumed}, path)


def assumes_anything(world: World) -> bool:
    """Whether any alternative is in force."""
    return bool(world.store[ASSUMED].rows)


def settings_of(world: World) -> SettingSet:
    """The settings in force, as shown."""
    stored: Any = world.store[SETTINGS].get("settings")
    if stored is None or len(stored) < len(DEFAULTS):  # stored by a version that had fewer settings
        return _set({**DEFAULTS, **(stored or {})})
    complete: SettingSet = stored  # not by `_set`: every call asks four times
    return complete


def bound_journal(world: World) -> None:
    """Hold the journal of interface calls to the settings in force."""
    requests_of(world).keep(settings_of(world)["journal_limit"], journal_bytes(world))


def journal_bytes(world: World) -> int:
    """How many bytes of each journal are kept: what is set, within the quota."""
    settings = settings_of(world)
    kept, most = settings["journal_bytes"], settings["quota_journal_bytes"]
    return kept if most is None else min(kept, most)


def all_settings(world: World) -> AllSettings:
    """The settings in force with what is assumed."""
    return {**settings_of(world), "assumptions": dict(world.store[ASSUMED].items())}


def shown(settings: setting_model.Settings) -> SettingSet:
    """Settings as they are read from calls and flags, as they are kept."""
    return _set({name: getattr(settings, name) for name in DEFAULTS})


def named(settings: setting_model.Settings | None) -> dict[str, Any]:
    """The settings that a call names, by name."""
    return {} if settings is None else {name: getattr(settings, name) for name in settings.model_fields_set}


def put_settings(world: World, settings: Mapping[str, object]) -> None:
    """Put these settings in place of all, `assumptions` among them if there are any; inside a change."""
    world.store[SETTINGS].put("settings", {name: value for name, value in settings.items() if name != "assumptions"})
    if "assumptions" in settings:
        _assume(world, cast(Mapping[str, str], settings["assumptions"]))


def change_settings(world: World, changes: setting_model.Settings) -> SettingSet:
    """Replace the settings that were given; inside a change."""
    given = {name: getattr(changes, name) for name in changes.model_fields_set if name in DEFAULTS}
    put_settings(world, {**settings_of(world), **given})
    if "assumptions" in changes.model_fields_set:
        _assume(world, changes.assumptions)
    return settings_of(world)


def _assume(world: World, chosen: Mapping[str, str]) -> None:
    """Let these alternatives be in force, and no others."""
    table = world.store[ASSUMED]
    for assumption in [*table.rows]:
        table.delete(assumption)
    for assumption, alternative in chosen.items():
        table.put(assumption, alternative)
