"""The settings of a world, and the assumptions it switches.

Decisions H6 (strict), H15 (rate_limit, rate_limit_clock), W2 (webhook_timestamp) and W3 (webhook_urls). Code that rests
on an assumption that can be switched calls `assumes`.

The module has no `from __future__ import annotations`, because the annotations of `SettingSet` are read at import.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, cast, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict

from simulator.engine.records.codec import StateError
from simulator.engine.records.requests import requests_of
from simulator.engine.records.saved import hold_against
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Count, Format, Meanings
from simulator.engine.worlds import alternatives, setting_model
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

MANUAL_START = "2026-01-05T08:00:00.000Z"
"""The default start of a manual clock."""

RATE_LIMIT_PATTERN = r"^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$"
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Setting:
    """The default of a setting, and the values that calls and flags may give it beyond its type."""

    default: object
    least: int | None = None
    most: int | None = None
    pattern: str = ""


class SettingSet(TypedDict):
    """The settings of a world."""

    strict: Annotated[bool, Setting(False)]
    """Whether unknown fields and query parameters are refused with 400 instead of ignored."""
    rate_limit: Annotated[
        Annotated[str, Format(pattern="^[1-9][0-9]*/[1-9][0-9]*$")] | None, Setting(None, pattern=RATE_LIMIT_PATTERN)
    ]
    """How many calls a key pair may make in how many seconds, as N/SECONDS; null: no limit."""
    rate_limit_clock: Annotated[
        Literal["simulated", "wall"],
        Meanings({"simulated": "The clock of the world.", "wall": "The clock of the machine."}),
        Setting("simulated"),
    ]
    """The clock that the windows of the rate limit are counted by."""
    webhook_urls: Annotated[
        Literal["public", "local", "any"],
        Meanings(
            {
                "public": "Public HTTPS URLs only, as at the service.",
                "local": "Those, and any URL of this machine.",
                "any": "Any URL.",
            }
        ),
        Setting("local"),
    ]
    """Which URLs may receive webhooks."""
    webhook_timestamp: Annotated[
        Literal["wall", "simulated"],
        Meanings(
            {
                "wall": "The clock of the machine, which receivers compare it with.",
                "simulated": "The clock of the world, for receivers whose time is frozen with it.",
            }
        ),
        Setting("wall"),
    ]
    """The clock that X-Timestamp is taken from."""
    journal_limit: Annotated[Count, Setting(10_000, 1, 1_000_000)]
    """How many API calls the journal keeps, and as many control calls."""
    journal_bytes: Annotated[Count, Setting(64 * 1024 * 1024, 65_536, 1024 * _GIB)]
    """How many bytes of each it keeps."""
    timers_per_instant: Annotated[Count, Setting(10_000, 1, 1_000_000)]
    """How many timers may fire at one instant before the world is assumed to loop forever."""
    quota_calls_per_second: Annotated[Count | None, Setting(None, 1, 1_000_000)]
    """How many API calls a second of real time may be made; null: as many as the server's own quota allows."""
    quota_objects: Annotated[Count | None, Setting(None, 10, 1_000_000_000)]
    """How many resources the world may have, including keys and deleted ones; null: the server's own quota."""
    quota_journal_bytes: Annotated[Count | None, Setting(None, 65_536, 1024 * _GIB)]
    """The upper limit of `journal_bytes`; null: the server's own quota."""
    # Not required, because documents saved before these settings existed lack them. A response has them all.
    quota_snapshots: NotRequired[Annotated[Count | None, Setting(None, 1, 1_000_000)]]
    """How many snapshots the world may have; null: the server's own quota."""
    quota_scenarios: NotRequired[Annotated[Count | None, Setting(None, 1, 1_000_000)]]
    """How many uploaded scenarios the world may have; null: the server's own quota."""
    quota_events: NotRequired[Annotated[Count | None, Setting(None, 1, 1_000_000_000)]]
    """How many events the world may have for `emit` to add one; null: the server's own quota."""
    quota_bytes: NotRequired[Annotated[Count | None, Setting(None, 65_536, 1024 * _GIB)]]
    """How many bytes snapshots, uploaded scenarios and events may take together; null: the server's own quota."""


def _read(hint: Any) -> tuple[Any, Setting]:
    """Return the type of a setting without its `Setting`, and that."""
    if get_origin(hint) is NotRequired:
        (hint,) = get_args(hint)
    *typed, setting = get_args(hint)
    return typed[0] if len(typed) == 1 else Annotated[tuple(typed)], setting


DECLARED = {name: _read(hint) for name, hint in get_type_hints(SettingSet, include_extras=True).items()}
"""The type and the `Setting` of each setting."""

DEFAULTS = cast(SettingSet, {name: setting.default for name, (_, setting) in DECLARED.items()})
"""The settings of a world for which none is given. The model has the same, but building it takes 2 ms of a start."""


class AllSettings(SettingSet):
    """The settings of a world with the assumptions it switches, which have a table of their own for quick lookups."""

    assumptions: Mapping[str, str]
    """The alternative in force, by the id of the assumption; assumptions that are as usual are not listed."""


def check_settings(key: str, row: JsonObject) -> None:
    """Raise `StateError` unless the row has settings of this version or an earlier one."""
    hold_against(setting_model.Settings, row)
    if key != "settings" or not row.keys() <= setting_model.Settings.model_fields.keys():
        raise StateError("", f"the settings are {', '.join(setting_model.Settings.model_fields)}")


SETTINGS = TableKey("settings", dict[str, Any], check=check_settings)
"""One row, `settings`: the settings by name. A world saved by an earlier version may have fewer."""


ASSUMED = TableKey("assumptions", str)
"""The alternatives in force, by the id of the assumption; an assumption that is as usual has no row."""


def assumes(world: World, assumption: str, alternative: str) -> bool:
    """Return True if an alternative of an assumption is in force; both are spelled as in the provider's rows."""
    return world.store[ASSUMED].get(assumption) == alternative


def check_assumed(known: "alternatives.Alternatives", assumed: Mapping[str, str], path: str) -> None:
    """Raise `StateError` unless worlds of this service can switch these assumptions."""
    hold_against(setting_model.model_of(known), {"assumptions": assumed}, path)


def assumes_anything(world: World) -> bool:
    """Return True if any alternative is in force."""
    return bool(world.store[ASSUMED].rows)


def settings_of(world: World) -> SettingSet:
    """Return all settings in force."""
    stored: Any = world.store[SETTINGS].get("settings")
    if stored is None or len(stored) < len(DEFAULTS):  # saved by a version that had fewer settings
        stored = {**DEFAULTS, **(stored or {})}
    complete: SettingSet = stored  # not `cast`: every call reads the settings four times
    return complete


def bound_journal(world: World) -> None:
    """Apply the settings in force to the journal of API calls."""
    requests_of(world).keep(settings_of(world)["journal_limit"], journal_bytes(world))


def journal_bytes(world: World) -> int:
    """Return how many bytes each journal keeps: the setting, at most the quota."""
    settings = settings_of(world)
    kept, most = settings["journal_bytes"], settings["quota_journal_bytes"]
    return kept if most is None else min(kept, most)


def all_settings(world: World) -> AllSettings:
    """Return the settings in force with the switched assumptions."""
    return {**settings_of(world), "assumptions": dict(world.store[ASSUMED].items())}


def shown(settings: "setting_model.Settings") -> SettingSet:
    """Return parsed settings of calls and flags as they are saved."""
    return cast(SettingSet, {name: getattr(settings, name) for name in DEFAULTS})


def named(settings: "setting_model.Settings | None") -> dict[str, Any]:
    """Return the settings that a call names, by name."""
    return {} if settings is None else {name: getattr(settings, name) for name in settings.model_fields_set}


def put_settings(world: World, settings: Mapping[str, object]) -> None:
    """Replace all settings, including `assumptions` if given; inside a change."""
    world.store[SETTINGS].put("settings", {name: value for name, value in settings.items() if name != "assumptions"})
    if "assumptions" in settings:
        _assume(world, cast(Mapping[str, str], settings["assumptions"]))


def change_settings(world: World, changes: "setting_model.Settings") -> SettingSet:
    """Change the settings that a call names; inside a change."""
    given = {name: getattr(changes, name) for name in changes.model_fields_set if name in DEFAULTS}
    put_settings(world, {**settings_of(world), **given})
    if "assumptions" in changes.model_fields_set:
        _assume(world, changes.assumptions)
    return settings_of(world)


def _assume(world: World, chosen: Mapping[str, str]) -> None:
    """Replace all alternatives in force."""
    table = world.store[ASSUMED]
    for assumption in [*table.rows]:
        table.delete(assumption)
    for assumption, alternative in chosen.items():
        table.put(assumption, alternative)
