"""The API: plausible calls and calls with odd values, between actions, faults and clock changes."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.campaigns.hostile.actor import Actor
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.server_under_test import ServerUnderTest, control_request

CALLS = 250
FAULTS: tuple[dict[str, Any], ...] = (
    {"match": {"method": "POST", "path": "/quotes"}, "times": 2, "respond": {"status": 503,
    "code": "service_unavailable"}},
    {"match": {"path": "/wallet/*"}, "times": 3, "respond": {"status": 500, "code": "internal_error"},
    "probability": 0.5},
    {"match": {"method": "POST"}, "times": 2, "after_commit": True, "respond": {"status": 502, "code": "bad_gateway"}},
    {"match": {"method": "POST"}, "times": 1, "after_commit": True, "drop": True},
    {"match": {}, "times": 2, "drop": True},
    {"match": {}, "times": 2, "delay": "5ms"},
    {"match": {}, "times": 2, "malformed": "truncate"},
    {"match": {}, "times": 2, "malformed": "garbage", "respond": {"status": 429, "code": "rate_limited",
    "retry_after": 1}},
    {"webhook": {}, "deliver": {"copies": 3}, "times": 2},
    {"webhook": {}, "deliver": {"delay": "90s"}, "times": 2},
    {"webhook": {}, "deliver": {"reorder": True}, "times": 1},
    {"match": {"method": "POST"}, "times": 3, "first_per_key": 1, "drop": True, "after_commit": True},
    {"match": {"method": "POST"}, "times": 1, "key_forgotten": True},
    {"match": {}, "times": 3, "unknown_enum": True, "extra_field": True, "missing_field": True},
    {"webhook": {}, "deliver": {"before_answer": True, "two_at_once": True}, "times": 2},
    {"webhook": {}, "deliver": {"acknowledgement_lost": True, "unknown_type": True}, "times": 2},
    {"webhook": {}, "deliver": {"hold": "terminal", "extra_field": True}, "times": 2},
    {"webhook": {}, "deliver": {"hold": 3, "missing_field": True}, "times": 2},
)  # fmt: skip
WEATHER: tuple[list[str], ...] = (
    [], ["autopilot"], ["autopilot", "test-values"], ["autopilot", "test-values"], ["autopilot", "buy-declined"],
    ["lightning-send-completes"],
)  # fmt: skip
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"strict": True},
    {"webhook_timestamp": "simulated"},
    {"journal_limit": 50},
)


async def disturb(actor: Actor) -> None:
    """One thing that an integrator does not do."""
    subject, rng, chance = actor.subject, actor.rng, actor.rng.random()
    if chance < 0.55:
        await actor.act()
    elif chance < 0.8:
        await actor.pass_time()
    elif chance < 0.85:
        await subject.control(actor.world, "POST", "/faults", rng.choice(FAULTS))
    elif chance < 0.93:
        await subject.control(actor.world, "DELETE", "/faults")
    elif chance < 0.97:
        await subject.control(actor.world, "PUT", "/scenarios/active", {"names": rng.choice(WEATHER)})
    else:
        await subject.control(actor.world, "PATCH", "/settings", rng.choice(SETTINGS))


MEANWHILE: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("POST", "/clock/advance", {"by": "1h"}), ("POST", "/clock/advance", {"to_next_timer": True}),
    ("DELETE", "/clock/advance", None), ("POST", "/settle", {}), ("POST", "/snapshots", {}), ("GET", "/state", None),
    ("POST", "/trigger", {"event": "transaction.completed"}), ("POST", "/trigger", {"event": "deposit.confirmed"}),
    ("PUT", "/scenarios/active", {"names": ["autopilot"]}), ("GET", "/recording", None), ("GET", "/advice", None),
    ("POST", "/reset", {}),
)  # fmt: skip


async def rush(actor: Actor) -> None:
    """Calls side by side, often one of them several times, with something done to their world meanwhile."""
    rng = actor.rng
    requests = [actor.plausible()[0] if rng.random() < 0.7 else actor.broken() for _ in range(rng.randrange(2, 6))]
    requests += [rng.choice(requests)] * rng.choice((0, 1, 4))
    if rng.random() < 0.6:
        requests.append(control_request(actor.world, *rng.choice(MEANWHILE)))
    rng.shuffle(requests)
    for answer in await actor.subject.ask_at_once(requests):
        actor.harvest(answer)


async def episode(subject: ServerUnderTest, rng: Random, number: int) -> int:
    strangers: list[str] = []
    neighbour = Actor(subject, rng, f"n{number}")
    actor = Actor(subject, rng, f"w{number}", strangers)
    if not (await neighbour.move_in(seed=number) and await actor.move_in(seed=number, scenarios=rng.choice(WEATHER))):
        return 0
    for _ in range(2):
        await neighbour.deal()
    strangers += [found for ids in neighbour.pool.values() for found in ids]
    tried = 0
    while tried < CALLS:
        chance = rng.random()
        if chance < 0.06:
            await actor.deal()
        elif chance < 0.2:
            await disturb(actor)
        elif chance < 0.22:
            await rush(actor)
        else:
            request = actor.plausible()[0] if rng.random() < 0.35 else actor.broken()
            await actor.call(request)
            tried += 1
            if tried % 50 == 0:
                subject.judge_books()
    subject.judge_books()
    subject.judge_events()
    if number % 8 == 0:
        await actor.record()
    await actor.move_out()
    await neighbour.move_out()
    await subject.control("default", "POST", "/reset")  # it has the calls in its journal that named nobody
    return tried


CAMPAIGN = Campaign("interface", 200_000, CALLS, episode, contract=True)
