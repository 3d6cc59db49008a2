"""State documents: real exports with rows changed, dropped, duplicated or of the wrong class. Accepted documents are
used.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import orjson

from tests.campaigns.hostile.actor import Actor
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.campaigns.interface import FAULTS
from tests.campaigns.hostile.mutations import ODD, dumps, leaves, mutated_bytes, odd
from tests.campaigns.hostile.server_under_test import Request, ServerUnderTest

DOCUMENTS = 20
LOOKS = (
    "/clock", "/timers", "/worlds", "/requests", "/events", "/deliveries", "/advice", "/emails", "/faults",
    "/scenarios", "/scenarios/autopilot",
    "/resources", "/rates", "/settings", "/coverage", "/controls", "/recording", "/reference", "/snapshots",
)  # fmt: skip


async def export(subject: ServerUnderTest, actor: Actor) -> dict[str, Any]:
    """A world with rows of many sorts, written out."""
    await subject.control(actor.world, "PUT", "/scenarios/active", {"names": ["autopilot", "test-values"]})
    for _ in range(10):
        await actor.deal()
        if actor.rng.random() < 0.5:
            await actor.pass_time()
    await subject.control(actor.world, "POST", "/faults", actor.rng.choice(FAULTS))
    state = await subject.control(actor.world, "GET", "/state")
    await subject.control(actor.world, "DELETE", "/faults")
    return state.body if isinstance(state.body, dict) else {}


def changed(rng: Random, document: dict[str, Any]) -> dict[str, Any]:
    """The document with something wrong: mostly within one row of one table, each table as likely as any other."""
    document = copy.deepcopy(document)
    tables = document.get("tables", {})
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        way = rng.random()
        names = [name for name, rows in tables.items() if rows]
        if way < 0.08 or not names:
            _change_leaf(
                rng, {key: value for key, value in document.items() if key not in ("tables", "requests")}, document
            )
        elif way < 0.14 and document.get("requests"):
            _change_leaf(rng, rng.choice(document["requests"]))
        elif way < 0.75:
            pair = rng.choice(tables[rng.choice(names)])
            if isinstance(pair, list) and len(pair) == 2 and rng.random() < 0.9:
                _change_leaf(rng, pair[1]) if isinstance(pair[1], dict | list) and pair[1] else pair.__setitem__(
                    1, odd(rng)
                )
            else:
                pair[0] = rng.choice(("", "x", "a\nb", "default", None))
        elif way < 0.8:
            rows = tables[rng.choice(names)]
            del rows[rng.randrange(len(rows))]
        elif way < 0.85:
            rows = tables[rng.choice(names)]
            rows.append(copy.deepcopy(rng.choice(rows)))
            if rng.random() < 0.8:
                rows[-1][0] = f"{rows[-1][0]}x"
        elif way < 0.9:
            one, other = rng.choice(names), rng.choice(names)
            rng.choice(tables[one])[1] = copy.deepcopy(rng.choice(tables[other])[1])
        elif way < 0.93:
            del tables[rng.choice(names)]
        elif way < 0.96:
            tables[rng.choice(names)] = copy.deepcopy(tables[rng.choice(names)])
        else:
            tables[rng.choice(("faults", "advice", "scenario.log", "control.calls", "unknown", "sandbox:wallets"))] = [
                ["k", copy.deepcopy(odd(rng))]
            ]
    return document


def _change_leaf(rng: Random, value: Any, holder: dict[str, Any] | None = None) -> None:
    root = value if holder is None else holder
    paths = leaves(value)
    if not paths:
        return
    path = rng.choice(paths)
    for part in path[:-1]:
        root = root[part]
    present = root[path[-1]]
    way = rng.random()
    if way < 0.55:
        root[path[-1]] = copy.deepcopy(odd(rng))
    elif way < 0.65:
        del root[path[-1]]
    elif way < 0.8 and isinstance(present, int) and not isinstance(present, bool):
        root[path[-1]] = rng.choice((present + 1, -present, present * 1000, 2**63, 0, -1, 253_402_300_800_000))
    elif isinstance(present, str):
        root[path[-1]] = rng.choice((present + "x", present[:-1], present.upper(), "", "a\r\nb", "9" * 30, present * 3))
    else:
        root[path[-1]] = copy.deepcopy(rng.choice(ODD))


async def put(subject: ServerUnderTest, world: str, raw: bytes) -> int:
    headers = [("host", "127.0.0.1"), ("x-simulator-world", world)]
    return (await subject.ask(Request("PUT", "/_simulator/state", "", headers, raw))).status


async def use(subject: ServerUnderTest, rng: Random, actor: Actor) -> None:
    """Use an imported world. It must work like any other world."""
    world = actor.world
    if not await actor.look():
        return
    for path in rng.sample(LOOKS, 7):
        await subject.control(world, "GET", path)
    for resource in rng.sample([i for ids in actor.pool.values() for i in ids] or ["x"], 1):
        await subject.control(world, "GET", f"/resources/{resource}")
    await actor.live(4)
    await actor.deal()
    await subject.control(world, "POST", "/clock/advance", {"by": rng.choice(("1s", "1h", "2d"))})
    await actor.live(3)
    subject.judge_books()
    again = await subject.control(world, "GET", "/state")
    if again.status == 200 and await put(subject, world, again.raw) not in (200, 500):
        subject.fail("own export", "a world's own export is refused", subject.place, f"{subject.place}")
    await subject.control(world, "POST", "/reset")


async def episode(subject: ServerUnderTest, rng: Random, number: int) -> int:
    actor = Actor(subject, rng, f"x{number}")
    await actor.move_in(seed=number)
    document = await export(subject, actor)
    for index in range(DOCUMENTS):
        failed = subject.failed
        subject.place = f"{subject.place.partition(' document')[0]} document {index}"
        wrong = changed(rng, document)
        raw = dumps(wrong)
        if rng.random() < 0.05:
            raw = mutated_bytes(rng, raw)
        taken = await put(subject, actor.world, raw) == 200
        if taken:
            await use(subject, rng, actor)
        if subject.failed > failed:
            subject.findings.add(
                "document", "documents after which something failed", call="what was changed: " + _difference(document,
                wrong), place=subject.place
            )  # fmt: skip
        if taken or subject.failed > failed:
            if actor.world in subject.simulator.worlds:
                subject.simulator.delete_world(actor.world)
            subject.what_was_printed("DELETE of a world")
            await actor.move_in(seed=number)
    await actor.move_out()
    return DOCUMENTS


def _difference(one: Any, other: Any, path: str = "") -> str:
    """Describe where two JSON values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
        return "; ".join(
            _difference(one.get(name), other.get(name), f"{path}.{name}") for name in sorted(names, key=str)[:4]
        )
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        at = [index for index, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
        return "; ".join(_difference(one[index], other[index], f"{path}[{index}]") for index in at[:3])
    return f"{path}: {_short(one)} -> {_short(other)}"


def _short(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()[:200]
    except (TypeError, ValueError):
        return repr(value)[:200]


CAMPAIGN = Campaign("documents", 3_000, DOCUMENTS, episode)
