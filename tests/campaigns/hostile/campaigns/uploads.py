"""Scenario uploads. Each accepted scenario is activated, triggered, and run while the clock advances."""

from __future__ import annotations

from random import Random

import orjson

from tests.campaigns.hostile.actor import Actor
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.campaigns.yaml_texts import scenario_text
from tests.campaigns.hostile.server_under_test import Request, ServerUnderTest

UPLOADS = 20


async def play(subject: ServerUnderTest, rng: Random, actor: Actor, name: str) -> None:
    """Everything that can happen to a scenario that was kept."""
    world = actor.world
    await subject.control(world, "GET", f"/scenarios/{name}")
    made = await subject.control(
        world, "PUT", "/scenarios/active", {"names": rng.choice(([name], ["autopilot", name]))}
    )
    if made.status != 200:
        return
    await actor.deal()
    await subject.control(world, "POST", "/actions/set_network", {"network": "celo", "status": "down"})
    await subject.control(world, "POST", "/actions/set_network", {"network": "celo", "status": "operational"})
    for kind in rng.sample(("kyc.approved", "transaction.completed", "quote.expired", "deposit.detected"), 2):
        await subject.control(world, "POST", "/actions/emit", {"type": kind})
    await subject.control(world, "GET", "/timers")
    await subject.control(world, "POST", "/clock/advance", {"by": "1s"})
    await actor.deal()
    await subject.control(world, "POST", "/clock/advance", {"by": rng.choice(("45s", "10m", "3h"))})
    await actor.live(2)
    await subject.control(world, "POST", "/clock/advance", {"by": rng.choice(("31m", "2d", "3d"))})
    for path in (
        f"/scenarios/{name}",
        "/clock",
        "/timers",
        "/worlds",
        f"/worlds/{world}",
        "/advice",
        "/events",
        "/resources",
    ):
        await subject.control(world, "GET", path)
    if rng.random() < 0.2:
        state = await subject.control(world, "GET", "/state")
        if state.status == 200 and len(state.raw) < 2_000_000:
            await subject.ask(
                Request(
                    "PUT", "/_simulator/state", "", [("host", "127.0.0.1"), ("x-simulator-world", world)], state.raw
                )
            )
            await actor.look()
    subject.judge_books()
    await subject.control(world, "PUT", "/scenarios/active", {"names": []})


async def episode(subject: ServerUnderTest, rng: Random, number: int) -> int:
    actor = Actor(subject, rng, f"u{number}")
    await actor.move_in(seed=number)
    for index in range(UPLOADS):
        text = scenario_text(rng, f"s{index}")
        failed = subject.failed
        headers = [("host", "127.0.0.1"), ("x-simulator-world", actor.world), ("content-type", "application/yaml")]
        subject.place = f"{subject.place.partition(' upload')[0]} upload {index}"
        answer = await subject.ask(Request("POST", "/_simulator/scenarios", "", headers, text))
        if answer.status == 201:
            name = answer.body.get("name") if isinstance(answer.body, dict) else None
            await play(subject, rng, actor, str(name))
        if subject.failed > failed:
            subject.findings.add(
                "scenario", "uploads after which something failed", call=_shown(text), place=subject.place
            ) if answer.status == 201 else None
            await actor.move_out()
            if actor.world in subject.simulator.worlds:  # the world is beyond help
                subject.simulator.delete_world(actor.world)
            subject.what_was_printed("DELETE of a world")
            await actor.move_in(seed=number)
        elif rng.random() < 0.5:
            await subject.control(actor.world, "POST", "/reset")
            await actor.look()
    await actor.move_out()
    return UPLOADS


def _shown(text: bytes) -> str:
    try:
        return orjson.dumps(orjson.loads(text)).decode()[:3000]
    except ValueError:
        return repr(text[:3000])


CAMPAIGN = Campaign("uploads", 3_000, UPLOADS, episode)
