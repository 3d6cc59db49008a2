"""Strangers and another team against replicas that share a database: without a token, with a wrong one, or with a
team's.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import orjson

from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.shared import TEAM_A, TEAM_B, Shared
from tests.remote import async_client

CALLS = 100
TOGETHER = 10
OPEN = ("/_simulator/health", "/_simulator/ready")
ODD_IDS = ("junk", "team-b-", "team-a-", "default", "..", "a" * 300, "\u202e", "team-b-secret", "", "*")
FORWARDED: tuple[dict[str, str], ...] = (
    {}, {}, {"x-rampsim-forwarded": "anything"}, {"x-rampsim-forwarded": "default", "x-rampsim-proof": "0" * 64},
    {"x-rampsim-forwarded": "1", "x-rampsim-proof": ""}, {"x-rampsim-proof": "a\tb"}, {"x-forwarded-for": "10.0.0.1"},
)  # fmt: skip


@dataclass
class Stranger:
    """A call as it is sent."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def told(self) -> str:
        return f"{self.method} {self.path} {self.headers} {self.body[:200]!r}"


def call(rng: Random, theirs: str) -> Stranger:
    """A call about worlds that the caller may not reach: those of team B, and those that nobody has."""
    world = rng.choice((theirs, theirs, f"{rng.choice(ODD_IDS)}{rng.randrange(1000)}", rng.choice(ODD_IDS)))
    keys = {"tables": {"api_keys": [[f"pk_test_{rng.choice(('simulator', 'nobody', 'x' * 50))}", {}]]}}
    document: Any = rng.choice((keys, {}, [], {"tables": 5}, {"world": world, **keys}))
    method, path, body = rng.choice((
        ("POST", "/_simulator/worlds", {"id": world}),
        ("POST", "/_simulator/worlds", {"id": world, "replace": True}),
        ("POST", "/_simulator/worlds", {"id": world, "from_snapshot": "snap_1"}),
        ("GET", f"/_simulator/worlds?limit={rng.choice(('1', '0', '-1', '9' * 5000, 'x'))}", None),
        ("GET", f"/_simulator/worlds/{_segment(world)}", None),
        ("DELETE", f"/_simulator/worlds/{_segment(world)}", None),
        ("PUT", "/_simulator/state", document),
        ("GET", "/_simulator/state", None),
        ("POST", "/_simulator/reset", {}),
        ("POST", "/_simulator/snapshots", {}),
        ("POST", "/_simulator/prune", {"world": world}),
        ("POST", "/_simulator/clock/advance", {"by": "1d"}),
        ("PUT", f"/_worlds/{_segment(world)}/_simulator/state", document),
        ("POST", f"/_worlds/{_segment(world)}/_simulator/inbox/mine", {}),
        ("GET", f"/_worlds/{_segment(world)}/_simulator/requests", None),
        ("GET", f"/_worlds/{_segment(world)}/v1/profile", None),
        ("POST", "/v1/auth/token", {"public_key": f"pk_test_{rng.randrange(100)}", "secret_key": "sk_test_x"}),
        ("GET", "/v1/profile", None),
    ))  # fmt: skip
    headers = {"content-type": "application/json", **rng.choice(FORWARDED)}
    if rng.random() < 0.6:
        headers["x-simulator-world"] = world if world.isascii() else "odd"
    token = rng.choice(("", "", "wrong-token-0123456789", TEAM_A, "\\", "tok_test_nobody"))
    if token:
        headers["authorization"] = f"Bearer {token}"
    sent = b"" if body is None else orjson.dumps(body)
    return Stranger(method, path, headers, sent[: len(sent) // 2] if rng.random() < 0.1 else sent)


def _segment(world: str) -> str:
    return "".join(f"%{byte:02x}" for byte in world.encode()) or "%20"


async def send(subject: Shared, client: httpx.AsyncClient, origin: str, sent: Stranger) -> None:
    """One call of a stranger: it is refused with an envelope, or it is open to all."""
    try:
        answer = await client.request(sent.method, f"{origin}{sent.path}", headers=sent.headers, content=sent.body)
    except httpx.HTTPError as error:
        subject.fail("no answer", f"{sent.method} {type(error).__name__}", sent.told(), repr(error))
        return
    control = "/_simulator" in sent.path
    if answer.status_code >= 500:
        subject.fail("500", f"{sent.method} {answer.status_code}", sent.told(), answer.text[:600])
    if answer.status_code >= 400:
        try:
            assert answer.json()["error"]["code"]
        except (ValueError, KeyError, TypeError, AssertionError):
            subject.fail("envelope", f"{sent.method} {answer.status_code}", sent.told(), answer.text[:600])
    elif control and TEAM_A not in sent.headers.get("authorization", "") and sent.path not in OPEN:
        subject.fail("told", f"{sent.method} {answer.status_code} without a token", sent.told(), answer.text[:600])


async def episode(subject: Shared, rng: Random, number: int) -> int:
    """Strangers call both replicas while team B works; nothing of theirs is written, and team B is answered."""
    theirs, owner = f"team-b-{number}", {"Authorization": f"Bearer {TEAM_B}"}
    async with async_client(timeout=20) as client:
        made = await client.post(f"{subject.origins[0]}/_simulator/worlds", json={"id": theirs}, headers=owner)
        if made.status_code != 201:
            subject.fail("team", f"team B makes no world: {made.status_code}", theirs, made.text)
            return CALLS
        state = {**owner, "X-Simulator-World": theirs}
        await client.get(f"{subject.origins[1]}/_simulator/state", headers=state)
        before, written = (
            await client.get(f"{subject.origins[0]}/_simulator/state", headers=state),
            await subject.written(),
        )
        for _ in range(CALLS // TOGETHER):
            calls = [call(rng, theirs) for _ in range(TOGETHER)]
            told = " || ".join(one.told()[:300] for one in calls)
            subject.begin(told)
            works = client.get(f"{rng.choice(subject.origins)}/_simulator/clock", headers=state)
            strangers = [send(subject, client, rng.choice(subject.origins), one) for one in calls]
            answer, _ = await asyncio.gather(works, asyncio.gather(*strangers))
            if answer.status_code != 200:
                subject.fail("team", f"team B is answered {answer.status_code}", told, answer.text)
            subject.judge(told)
        after = await client.get(f"{subject.origins[1]}/_simulator/state", headers=state)
        if after.content != before.content:
            subject.fail("changed", "strangers changed a world of team B", theirs, after.text[:600])
        found = await subject.written()
        ours = [row for row in found["worlds"] if not row[0].startswith("team-a-")]
        if ours != [row for row in written["worlds"] if not row[0].startswith("team-a-")]:
            subject.fail("written", "strangers wrote worlds to the database", theirs, repr(found["worlds"]))
        if found["locks"] > written["locks"] + 3:
            subject.fail("written", "strangers hold locks of the database", theirs, repr(found))
        kept = {row[0] for row in found["keys"]} - {row[0] for row in written["keys"]}
        if len(kept) > 4 * 3:  # keys of the worlds that team A may have
            subject.fail("written", "strangers reserved keys", theirs, repr(kept))
    return CALLS


CAMPAIGN = Campaign("strangers", 2_000, CALLS, episode, apart=True, shared=True, patience_seconds=60)
