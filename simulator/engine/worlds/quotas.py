"""Quotas of worlds on a shared server, which the service does not have. The quotas of the server are upper limits, even
after a state is restored, so a user who can only change a world cannot raise its quotas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from simulator.engine.records.records import INDEX
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.text.json import dumps
from simulator.engine.worlds.settings import DEFAULTS, bound_journal, put_settings, settings_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.world import World

CODE = "simulator_quota_exceeded"
HEADER = "X-Simulator-Quota"
"""The response header that names the exceeded quota."""

QUOTAS = tuple(name for name in DEFAULTS if name.startswith("quota_"))
"""The settings that are quotas."""


class QuotaExceeded(ApiError):
    """The error for a request that would exceed a quota of the simulator. The service does not know its code."""

    def __init__(self, status: int, quota: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(CODE, message, None, status, {HEADER: quota, **(headers or {})})


def too_many_objects(world: World, most: int) -> QuotaExceeded:
    """Return the error 507 for a change that would create more objects than a world may have."""
    return QuotaExceeded(
        507,
        "quota_objects",
        f"This world of the simulator has the {most} objects that its quota_objects allows, so nothing was created. "
        "This is a quota of the simulator, not a limit of the service. Reset the world, use another one, or "
        "restart the server with a higher --quota-objects.",
    )


def too_much(quota: str, most: int, what: str) -> QuotaExceeded:
    """Return the error 507 for a control request that would exceed a quota of its world."""
    flag = f"--{quota.replace('_', '-')}"
    return QuotaExceeded(
        507,
        quota,
        f"This world of the simulator may have {most} {what} (its {quota}), so nothing was done. This is a quota of "
        "the simulator, not a limit of the service. Delete some, reset the world, or restart the server "
        f"with a higher {flag}.",
    )


@dataclass(frozen=True)
class Held:
    """The number of a world's snapshots, uploaded scenarios and events, and their total size, which count towards
    quotas.
    """

    snapshots: int = 0
    scenarios: int = 0
    events: int = 0
    size: int = 0
    """The total size in bytes."""

    def require(self, world: World, quota: str) -> None:
        """Raise `QuotaExceeded` if the world may not have the number that `quota` limits, or not the size."""
        settings = settings_of(world)
        count, what = {
            "quota_snapshots": (self.snapshots, "snapshots"),
            "quota_scenarios": (self.scenarios, "uploaded scenarios"),
            "quota_events": (self.events, "events"),
        }[quota]
        number: int | None = settings[quota]  # type: ignore[literal-required]  # a quota is a setting
        if number is not None and count > number:
            raise too_much(quota, number, what)
        most = settings["quota_bytes"]
        if most is not None and self.size > most:
            raise too_much("quota_bytes", most, "bytes in total for snapshots, uploaded scenarios and events")

    def with_more(self, *, snapshots: int = 0, scenarios: int = 0, events: int = 0, size: int = 0) -> Held:
        """Return the usage that results from adding these numbers."""
        return Held(self.snapshots + snapshots, self.scenarios + scenarios, self.events + events, self.size + size)


def held_by(world: World) -> Held:
    """Return the number of a world's uploaded scenarios and events, and their size. Its snapshots are not included."""
    uploaded = world.store.written(UPLOADED_SCENARIOS)
    size = sum(len(dumps(row)) for row in uploaded.values())
    size += sum(len(event.text) for event in world.journal.events())
    return Held(0, len(uploaded), world.journal.event_count, size)


def require_event_room(world: World) -> None:
    """Raise `QuotaExceeded` if a world has reached its event quota. The action `emit` calls this first."""
    settings = settings_of(world)
    if settings["quota_events"] is not None or settings["quota_bytes"] is not None:
        held_by(world).with_more(events=1).require(world, "quota_events")


UPLOADED_SCENARIOS = "uploaded_scenarios"
"""The name of the table of uploaded scenarios."""


def objects_of(world: World) -> int:
    """Return the number of resources in a world, including keys and deleted resources, whose histories remain."""
    return len(world.store[INDEX])


def attempt(world: World) -> AbstractContextManager[None]:
    """Like `Store.attempt`, but raise `QuotaExceeded` if the block creates more objects than the world may have."""
    most = settings_of(world)["quota_objects"]
    return world.store.attempt() if most is None else _counted(world, most)


@contextmanager
def _counted(world: World, most: int) -> Iterator[None]:
    with world.store.attempt():
        before = objects_of(world)
        yield
        if objects_of(world) > max(most, before):
            raise too_many_objects(world, most)


def require_room(world: World) -> None:
    """Raise `QuotaExceeded` if a new world contains more than its own settings allow."""
    settings = settings_of(world)
    if settings["quota_scenarios"] is not None or settings["quota_bytes"] is not None:
        held_by(world).require(world, "quota_scenarios")
    most = settings["quota_objects"]
    if most is not None and objects_of(world) > most:
        raise too_many_objects(world, most)


def is_over(world: World, objects_before: int) -> bool:
    """Return True if a world that had `objects_before` objects now exceeds its object quota."""
    most = settings_of(world)["quota_objects"]
    return most is not None and objects_of(world) > max(most, objects_before)


def check_wanted(wanted: Mapping[str, Any], most: Mapping[str, Any], within: str = "") -> None:
    """Raise `ControlError` 400 if the settings in a request exceed a quota of the server."""
    bounds = {**{name: most.get(name) for name in QUOTAS}, "journal_bytes": most.get("quota_journal_bytes")}
    for name, bound in bounds.items():
        value = wanted.get(name)
        if bound is not None and value is not None and value > bound:
            flag = "--quota-journal-bytes" if name == "journal_bytes" else f"--{name.replace('_', '-')}"
            message = (
                f"The parameter `{within}{name}` is not valid: this server was started with {flag} {bound}, "
                "which is the limit for all worlds."
            )
            raise ControlError(400, "invalid_parameter", message, f"{within}{name}")


def hold_to(world: World, most: Mapping[str, Any]) -> None:
    """Lower each quota of a world that is higher than the quota of its server."""
    settings: Mapping[str, Any] = settings_of(world)
    held: dict[str, Any] = {}
    for name in QUOTAS:
        bounds = [value for value in (settings[name], most.get(name)) if value is not None]
        held[name] = min(bounds, default=None)
    if any(held[name] != settings[name] for name in QUOTAS):
        with world.change(Cause("start", "quotas")):
            put_settings(world, {**settings, **held})
        bound_journal(world)
