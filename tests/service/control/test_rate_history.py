"""The history of rates over simulated time, with causes."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.providers.ramp.reference import rates
from tests.remote import Remote

PAIR = {"asset": "USDC", "fiat_currency": "KES"}


def points(world: Remote, **environment: str) -> list[dict[str, Any]]:
    headers = {"X-Simulator-Environment": environment["of"]} if environment else None
    (way,) = world.control("GET", "/rates/history", params=PAIR, headers=headers).body["data"]
    found: list[dict[str, Any]] = way["points"]
    return found


def present(world: Remote) -> dict[str, str]:
    shown = world.control("GET", "/rates").body
    return {
        kind: next(row["rate"] for row in shown[kind] if PAIR.items() <= row.items())
        for kind in ("mid", "onramp", "offramp")
    }


def test_a_fresh_world_has_one_rate_since_its_beginning(world: Remote) -> None:
    (only,) = points(world)
    assert only == {"at": world.world["created_at"], **present(world), "cause": None}


def test_rate_changes_are_listed_with_time_and_cause(world: Remote) -> None:
    world.advance(by="1h")
    world.act("set_rate", **PAIR, rate="131.5")
    world.act("set_rate", asset="XLM", fiat_currency="KES", rate="20")
    world.advance(by="1h")
    world.act("set_rate", **PAIR, rate="140", type="onramp")
    world.act("move_rates", percent=-2.5)
    start, pinned, raised, moved = points(world)
    assert (pinned["at"], pinned["mid"], pinned["onramp"]) == ("2026-01-05T09:00:00.000Z", "131.5", "131.5")
    assert (raised["at"], raised["mid"], raised["onramp"]) == ("2026-01-05T10:00:00.000Z", "131.5", "140")
    assert moved["mid"] == "128.2125"
    assert {name: moved[name] for name in present(world)} == present(world)
    assert [point["cause"] and point["cause"]["name"] for point in (start, pinned, moved)] == [
        None,
        "set_rate",
        "move_rates",
    ]
    assert len(points(world, of="production")) == 1


def test_rate_history_keeps_the_newest_changes(world: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "CHANGES_KEPT", 3)
    for percent in (10, -7, 3, 9, -1):
        world.advance(by="1m")
        world.act("move_rates", percent=percent)
    assert len(points(world)) == 4, "three changes, and what held before them"
    assert points(world)[0]["at"] == "2026-01-05T08:03:00.000Z"
    assert {name: points(world)[-1][name] for name in present(world)} == present(world)


def test_restored_snapshot_restores_the_rate_history(world: Remote) -> None:
    kept = world.control("POST", "/snapshots").body["id"]
    world.act("set_rate", **PAIR, rate="131.5")
    assert len(points(world)) == 2
    world.control("POST", f"/snapshots/{kept}/restore")
    assert len(points(world)) == 1


def test_rate_history_lists_every_pair_by_default(world: Remote) -> None:
    ways = world.control("GET", "/rates/history").body["data"]
    pairs = world.control("GET", "/rates").body["mid"]
    assert [(way["asset"], way["fiat_currency"]) for way in ways] == [
        (row["asset"], row["fiat_currency"]) for row in pairs
    ]
    assert world.control("GET", "/rates/history", params={"asset": "USD"}).refusal == (
        400,
        "invalid_parameter",
        "asset",
    )
