"""A team fills its world up to its quotas. Then the size of the world on disk is measured."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from random import Random
from typing import Any

from tests.campaigns.hostile.actor import Actor
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.mutations import dumps
from tests.campaigns.hostile.server_under_test import Request, ServerUnderTest

CALLS = 80
QUOTAS = {
    "quota_objects": 30, "quota_journal_bytes": 100_000, "quota_events": 60, "quota_bytes": 400_000,
    "quota_snapshots": 6, "quota_scenarios": 8,
}  # fmt: skip
OPENING_BYTES = 300_000
"""A world at its beginning, with room for the few rows that no quota counts (settings, faults, timers)."""
NATURAL_BYTES = 50_000
"""Events that follow from calls of the API: no quota stops them, so they may come on top."""
FOLDED_BYTES = 16 * 1024 * 1024
"""Changes since the last base; a store folds them into a new base when they come to this."""


async def fill(subject: ServerUnderTest, rng: Random, actor: Actor, number: int) -> None:
    """One try to make the world larger."""
    world, text = actor.world, "x" * rng.choice((10, 4_000, 30_000, 200_000))
    method, path, body = rng.choice((
        ("POST", "/snapshots", {}),
        ("POST", "/snapshots", {"name": f"n{number}"}),
        ("POST", "/scenarios", {"name": f"s{number}", "description": text}),
        ("POST", "/actions/emit", {"type": "transaction.completed", "object": {"note": text}}),
        ("POST", f"/inbox/{world}-{number % 40}", {"note": text}),
        ("PUT", f"/inbox/{world}-{number}", {"respond": [200] * 50}),
        ("POST", "/faults", {"match": {"path": f"/quotes/{number}"}, "respond": {"status": 503, "code": "odd"}}),
        ("GET", "/requests", None),
    ))  # fmt: skip
    below = f"/_worlds/{world}/_simulator" if path.startswith("/inbox/") else ""
    if below:
        headers = [("host", "127.0.0.1"), ("content-type", "application/json")]
        await subject.ask(Request(method, f"{below}{path}", "", headers, dumps(body)))
    else:
        await subject.control(world, method, path, body)
    if rng.random() < 0.3:
        await actor.live(1)


async def episode(subject: ServerUnderTest, rng: Random, number: int) -> int:
    actor = Actor(subject, rng, f"q{number}")
    # The quotas are the world's own, so that one server tries many worlds; whoever sets them could raise them again,
    # so settings are left alone here. tests/service/http/test_quotas.py holds that no
    # world passes the flags of its server.
    if not await actor.move_in(seed=number, settings=dict(QUOTAS)):
        return CALLS
    for index in range(CALLS):
        await fill(subject, rng, actor, index)
    usage = await subject.control("default", "GET", "/usage")
    (row,) = (one for one in usage.body["data"] if one["id"] == actor.world)
    snapshots = await subject.control(actor.world, "GET", "/snapshots")
    scenarios = await subject.control(actor.world, "GET", "/scenarios")
    uploaded = [one for one in scenarios.body["data"] if one["source"] == "uploaded"]
    counted = {
        "quota_objects": row["objects"], "quota_bytes": row.get("bytes", 0), "quota_scenarios": len(uploaded),
        "quota_snapshots": len(snapshots.body["data"]),
    }  # fmt: skip
    for name, held in counted.items():
        if held > QUOTAS[name] + (NATURAL_BYTES if name == "quota_bytes" else 0):
            subject.fail("quota", f"{name} is passed", actor.world, f"{held} of {QUOTAS[name]}: {row}")
    held = on_disk(subject, actor.world)
    # Snapshots and uploads lie in the store once; the world itself has each upload and event once more.
    most = OPENING_BYTES + NATURAL_BYTES + 2 * QUOTAS["quota_bytes"] + 2 * QUOTAS["quota_journal_bytes"]
    if held["parts"] > most or held["entries"] > FOLDED_BYTES:
        subject.fail("disk", "a world takes more of the disk than its quotas let it", actor.world, f"{held}, {row}")
    await actor.move_out()
    return CALLS


def on_disk(subject: ServerUnderTest, world: str) -> dict[str, Any]:
    """How many bytes the store has of a world: of whole copies (`parts`), and of changes since (`entries`)."""
    with closing(sqlite3.connect(subject.home / "worlds.db")) as store:
        (parts,) = store.execute(
            "SELECT coalesce(sum(length(content)), 0) FROM parts WHERE base IN (SELECT base FROM worlds WHERE id = ? "
            "UNION SELECT base FROM snapshots WHERE world = ?)",
            (world, world),
        ).fetchone()
        (entries,) = store.execute(
            "SELECT coalesce(sum(length(content)), 0) FROM entries WHERE world = ?", (world,)
        ).fetchone()
    return {"parts": parts, "entries": entries}


CAMPAIGN = Campaign("quotas", 4_000, CALLS, episode)
