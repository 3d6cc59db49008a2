"""The settings of a world (decisions H6, H15, W2 and W3)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.text.fields import parse
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import DEFAULTS, assumes, assumes_anything, change_settings, settings_of, shown
from tests.unit.engine.rows import lamps

FRESH = {
    "strict": False,
    "rate_limit": None,
    "rate_limit_clock": "simulated",
    "webhook_urls": "local",
    "webhook_timestamp": "wall",
    "journal_limit": 10_000,
    "journal_bytes": 67_108_864,
    "timers_per_instant": 10_000,
    "quota_calls_per_second": None,
    "quota_objects": None,
    "quota_journal_bytes": None,
    "quota_snapshots": None,
    "quota_scenarios": None,
    "quota_events": None,
    "quota_bytes": None,
}


def change(world: Any, raw: dict[str, Any]) -> Any:
    with world.change(lamps.CAUSE):
        return change_settings(world, parse(Settings, raw, patch=True))


def test_a_fresh_world_is_tolerant_unlimited_and_sends_to_this_machine() -> None:
    assert settings_of(lamps.make()) == shown(Settings()) == DEFAULTS == FRESH


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strict", True),
        ("rate_limit", "1/1"),
        ("rate_limit", "999999999/999999999"),
        ("rate_limit_clock", "wall"),
        ("webhook_urls", "public"),
        ("webhook_urls", "any"),
        ("webhook_timestamp", "simulated"),
        ("journal_limit", 1),
        ("journal_limit", 1_000_000),
        ("journal_bytes", 65_536),
        ("timers_per_instant", 1),
        ("timers_per_instant", 1_000_000),
        ("quota_calls_per_second", 1),
        ("quota_objects", 1_000_000_000),
        ("quota_journal_bytes", 65_536),
        ("quota_snapshots", 1),
        ("quota_scenarios", 1),
        ("quota_events", 1),
        ("quota_bytes", 65_536),
    ],
)
def test_a_setting_is_changed_alone(name: str, value: Any) -> None:
    world = lamps.make()
    assert change(world, {name: value}) == settings_of(world) == FRESH | {name: value}


def test_changes_add_up_and_null_takes_the_rate_limit_away() -> None:
    world = lamps.make()
    change(world, {"strict": True, "rate_limit": "10/1"})
    change(world, {"webhook_urls": "any"})
    assert settings_of(world) == FRESH | {"strict": True, "rate_limit": "10/1", "webhook_urls": "any"}
    change(world, {"rate_limit": None, "strict": False})
    assert settings_of(world) == FRESH | {"webhook_urls": "any"}
    assert change(world, {}) == settings_of(world)


def test_an_unknown_setting_is_not_saved() -> None:
    world = lamps.make()
    assert change(world, {"colour": "red"}) == settings_of(world) == FRESH


def test_an_earlier_answer_does_not_change_with_the_settings() -> None:
    world = lamps.make()
    before = change(world, {"strict": True})
    change(world, {"strict": False})
    assert before["strict"] is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strict", "true"),
        ("strict", 1),
        ("strict", None),
        ("rate_limit", "0/1"),
        ("rate_limit", "1/0"),
        ("rate_limit", "10"),
        ("rate_limit", "10/s"),
        ("rate_limit", " 10/1"),
        ("rate_limit", "10/1\n"),
        ("rate_limit", "1.5/1"),
        ("rate_limit", "1234567890/1"),
        ("rate_limit", 10),
        ("webhook_urls", "everywhere"),
        ("webhook_urls", None),
        ("webhook_timestamp", "real"),
        ("journal_limit", 0),
        ("journal_bytes", 65_535),
        ("timers_per_instant", 0),
        ("timers_per_instant", 1_000_001),
        ("journal_limit", 1_000_001),
        ("journal_limit", "5"),
        ("quota_calls_per_second", 0),
        ("quota_objects", 9),
        ("quota_journal_bytes", 65_535),
        ("quota_snapshots", 0),
        ("quota_scenarios", 0),
        ("quota_events", 0),
        ("quota_bytes", 65_535),
    ],
)
def test_a_setting_with_another_value_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ApiError) as caught:
        parse(Settings, {name: value}, patch=True)
    assert (caught.value.code, caught.value.param) == ("invalid_parameter", name)


def test_a_wiring_records_the_assumptions_that_its_worlds_look_up() -> None:
    world, other, looked_up = lamps.make(), lamps.make(), list[str]()
    world.wiring = dataclasses.replace(world.wiring, on_assumption=looked_up.append)
    assert (assumes_anything(world), assumes_anything(other)) == (True, False)
    assert not assumes(world, "H1", "other")
    assert not assumes(other, "H2", "other")
    assert looked_up == ["H1"]
