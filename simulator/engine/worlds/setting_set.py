"""The declaration of every world setting. The model and the defaults are derived from it.

The module does not use `from __future__ import annotations`, because the annotations of `SettingSet` are read at
import.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, cast, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict

from simulator.engine.text.shapes import Count, Format, Meanings
from simulator.kernel.dataclass import dataclass

RATE_LIMIT_PATTERN = r"^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$"
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Setting:
    """The default of a setting, and constraints on its value in addition to its type."""

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
    """The rate limit per key pair as N/SECONDS: at most N calls in this many seconds. null means no limit."""
    rate_limit_clock: Annotated[
        Literal["simulated", "wall"],
        Meanings({"simulated": "The clock of the world.", "wall": "The clock of the machine."}),
        Setting("simulated"),
    ]
    """The clock used to measure the windows of the rate limit."""
    webhook_urls: Annotated[
        Literal["public", "local", "any"],
        Meanings(
            {
                "public": "Public HTTPS URLs only, as in the real service.",
                "local": "Public HTTPS URLs, and any URL on this machine.",
                "any": "Any URL.",
            }
        ),
        Setting("local"),
    ]
    """The URLs that can receive webhooks."""
    webhook_timestamp: Annotated[
        Literal["wall", "simulated"],
        Meanings(
            {
                "wall": "The machine's clock. Receivers compare the timestamp with their own clock.",
                "simulated": "The world's clock, for receivers whose time is frozen at the world's time.",
            }
        ),
        Setting("wall"),
    ]
    """The clock used for X-Timestamp."""
    journal_limit: Annotated[Count, Setting(10_000, 1, 1_000_000)]
    """The maximum number of API calls in the journal. The journal of control calls has the same limit."""
    journal_bytes: Annotated[Count, Setting(64 * 1024 * 1024, 65_536, 1024 * _GIB)]
    """The maximum size in bytes of each of the two journals."""
    timers_per_instant: Annotated[Count, Setting(10_000, 1, 1_000_000)]
    """The number of timers that can fire at one instant before the simulator assumes an endless loop."""
    quota_calls_per_second: Annotated[Count | None, Setting(None, 1, 1_000_000)]
    """The maximum number of API calls per second of real time. null means the server's own quota."""
    quota_objects: Annotated[Count | None, Setting(None, 10, 1_000_000_000)]
    """The maximum number of resources in the world, including keys and deleted resources. null means the server's own
    quota.
    """
    quota_journal_bytes: Annotated[Count | None, Setting(None, 65_536, 1024 * _GIB)]
    """The maximum value of `journal_bytes`. null means the server's own quota."""
    # These fields are not required, because older documents do not contain them. A response contains all of them.
    quota_snapshots: NotRequired[Annotated[Count | None, Setting(None, 1, 1_000_000)]]
    """The maximum number of snapshots of the world. null means the server's own quota."""
    quota_scenarios: NotRequired[Annotated[Count | None, Setting(None, 1, 1_000_000)]]
    """The maximum number of scenarios uploaded to the world. null means the server's own quota."""
    quota_events: NotRequired[Annotated[Count | None, Setting(None, 1, 1_000_000_000)]]
    """The maximum number of events in the world.

    Once this number is reached, `emit` is refused. null means the server's own quota.
    """
    quota_bytes: NotRequired[Annotated[Count | None, Setting(None, 65_536, 1024 * _GIB)]]
    """The maximum total size in bytes of snapshots, uploaded scenarios and events. null means the server's own quota.
    """


def _read(hint: Any) -> tuple[Any, Setting]:
    """Split the annotation of a setting into its type and its `Setting` object."""
    if get_origin(hint) is NotRequired:
        (hint,) = get_args(hint)
    *typed, setting = get_args(hint)
    return typed[0] if len(typed) == 1 else Annotated[tuple(typed)], setting


DECLARED = {name: _read(hint) for name, hint in get_type_hints(SettingSet, include_extras=True).items()}
"""The type and the `Setting` object for each setting."""


def setting_set(values: Mapping[str, object]) -> SettingSet:
    """Return validated values with the type `SettingSet`."""
    return cast(SettingSet, values)


DEFAULTS = setting_set({name: setting.default for name, (_, setting) in DECLARED.items()})
"""The settings of a world if none are given.

The model has the same defaults, but building the model takes 2 ms at startup.
"""
