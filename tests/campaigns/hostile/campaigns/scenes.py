"""Concurrent calls: one key a hundred times, disconnecting clients, two advances, worlds deleted during calls."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from tests.campaigns.hostile.apart import Apart
from tests.campaigns.hostile.apart_client import Client, Reply, client_of
from tests.campaigns.hostile.campaign import Campaign
from tests.support import CELO

QUOTE = {
    "type": "onramp", "network": "celo", "asset": "CELO", "fiat_currency": "KES", "amount": "5000",
    "amount_currency": "KES",
    "method": "mobile_money",
}  # fmt: skip
SEND = {
    "symbol": "USDC", "network": "STELLAR", "amount": "10", "destination": {"type": "platform_user",
    "email": "amina@example.test"},
}  # fmt: skip
CONFIRM = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}}

Scene = Callable[[Client, Random], Awaitable[None]]


def expect(client: Client, what: str, holds: bool, shown: Any) -> None:
    if not holds:
        client.subject.fail("scene", what, what, str(shown)[:2000])


def statuses(replies: list[Reply]) -> Counter[tuple[int, str]]:
    return Counter((reply.status, reply.code) for reply in replies)


async def available(client: Client) -> str:
    shown = await client.call("GET", "/v1/wallet/assets")
    return next(
        str(row["available"])
        for row in shown.body["data"]
        if (row["symbol"], row["network"].upper()) == ("USDC", "STELLAR")
    )


async def one_key_a_hundred_times(client: Client, rng: Random) -> None:
    replies = await client.many(100, "POST", "/v1/quotes", QUOTE, {"Idempotency-Key": "one"})
    ids = {reply.body["id"] for reply in replies if reply.status == 201}
    expect(
        client, "one key makes one quote", statuses(replies) == {(201, ""): 100} and len(ids) == 1, statuses(replies)
    )
    replayed = sum(1 for reply in replies if "idempotent-replayed" in reply.headers)
    expect(client, "ninety-nine answers are replays", replayed == 99, replayed)


async def one_key_two_bodies(client: Client, rng: Random) -> None:
    replies = await asyncio.gather(*(
        client.call("POST", "/v1/quotes", QUOTE | {"amount": str(5000 + number % 2)}, {"Idempotency-Key": "one"},
        limit=3)
        for number in range(60)
    ))  # fmt: skip
    found = Counter(reply.status for reply in replies)
    expect(
        client,
        "of two bodies under one key one is taken",
        set(found) == {201, 409} and found[201] == 30,
        statuses(list(replies)),
    )


async def one_quote_many_confirms(client: Client, rng: Random) -> None:
    quote = (await client.call("POST", "/v1/quotes", QUOTE)).body["id"]
    replies = await client.many(60, "POST", f"/v1/quotes/{quote}/confirm", CONFIRM)
    expect(client, "one quote is confirmed once", statuses(replies)[201, ""] == 1, statuses(replies))


async def a_balance_is_spent_once(client: Client, rng: Random) -> None:
    replies = await client.many(200, "POST", "/v1/wallet/send", SEND)
    good = sum(1 for reply in replies if reply.status == 201)
    rest = await available(client)
    expect(
        client, "no more is sent than there is", 0 < good <= 100 and float(rest) >= 0, (good, rest, statuses(replies))
    )


async def clients_cut_off(client: Client, rng: Random) -> None:
    async def hasty(number: int) -> None:
        await client.call(
            "POST",
            "/v1/wallet/send",
            SEND,
            {"Idempotency-Key": f"k{number % 20}"},
            limit=3,
            timeout=rng.uniform(0.0005, 0.02),
        )

    await asyncio.gather(*(hasty(number) for number in range(100)))
    retried = await asyncio.gather(*(
        client.call("POST", "/v1/wallet/send", SEND, {"Idempotency-Key": f"k{number}"}, limit=3) for number in range(20)
    ))  # fmt: skip
    listed = await client.call("GET", "/_simulator/resources?type=send")
    expect(
        client,
        "a client that was cut off may retry",
        len(listed.body["data"]) == 20,
        (len(listed.body["data"]), statuses(list(retried))),
    )


async def two_advances(client: Client, rng: Random) -> None:
    await client.call("POST", "/v1/quotes", QUOTE)
    replies = await client.many(20, "POST", "/_simulator/clock/advance", {"by": "1h"})
    found = statuses(replies)
    expect(
        client,
        "advances wait for none: 200 or clock_busy",
        set(found) <= {(200, ""), (409, "clock_busy")} and found[200, ""] >= 1,
        found,
    )
    clock = await client.call("GET", "/_simulator/clock")
    wanted = 8 + found[200, ""]
    now = clock.body["now"]
    expect(
        client,
        "the clock moved as often as it was told",
        int(now[11:13]) + 24 * (int(now[8:10]) - 5) == wanted,
        (now, found),
    )


async def calls_during_an_advance(client: Client, rng: Random) -> None:
    await client.call("PUT", "/_simulator/scenarios/active", {"names": ["autopilot"]})
    advance = asyncio.ensure_future(client.call("POST", "/_simulator/clock/advance", {"by": "20d"}, limit=15))
    keys = client.world["credentials"]["sandbox"]
    pair = {name: keys[name] for name in ("public_key", "secret_key")}
    replies = await client.many(50, "POST", "/v1/auth/token", pair)
    receipt = await advance
    expect(client, "calls are served while the clock moves", statuses(replies) == {(200, ""): 50}, statuses(replies))
    expect(client, "the advance ends", receipt.status == 200, receipt.body)


def ended(how: str) -> Scene:
    """A world that is reset, deleted or restored under a call that a fault holds back: what was promised is there."""

    async def scene(client: Client, rng: Random) -> None:
        snapshot = (await client.call("POST", "/_simulator/snapshots", {})).body["id"]
        await client.call("POST", "/_simulator/faults", {"match": {"method": "POST"}, "delay": "400ms"})
        calls = [
            asyncio.ensure_future(client.call("POST", "/v1/wallets", {"network": network}, limit=3))
            for network in ("celo", "stellar")
        ]
        for _ in range(50):
            shown = await client.call("GET", "/_simulator/faults")
            if shown.body["data"][0].get("hits", 2) >= 2:
                break
        if how == "reset":
            await client.call("POST", "/_simulator/reset", {})
        elif how == "restore":
            await client.call("POST", f"/_simulator/snapshots/{snapshot}/restore", {})
        else:
            await client.call("DELETE", f"/_simulator/worlds/{client.world['id']}")
        replies = await asyncio.gather(*calls)
        for reply in replies:
            if reply.status == 201:
                kept = await client.call("GET", f"/_simulator/resources/{reply.body['id']}")
                expect(
                    client,
                    f"a write acknowledged during a {how} is there",
                    kept.status == 200,
                    (reply.body, kept.status),
                )
            else:
                expect(
                    client,
                    f"a call into a world ended by {how} is 503",
                    (reply.status, reply.code) == (503, "service_unavailable"),
                    (reply.status, reply.code),
                )

    return scene


async def worlds_come_and_go(client: Client, rng: Random) -> None:
    async def one(number: int) -> Reply:
        return await client.call("POST", "/_simulator/worlds", {"id": "same", "replace": True}, limit=3)

    replies = await asyncio.gather(*(one(number) for number in range(30)))
    expect(
        client,
        "a world replaced by many at a time is made each time",
        statuses(list(replies)) == {(201, ""): 30},
        statuses(list(replies)),
    )
    await client.call("DELETE", "/_simulator/worlds/same")


async def snapshots_and_resets(client: Client, rng: Random) -> None:
    async def one(number: int) -> Reply:
        how = ("/_simulator/snapshots", "/_simulator/reset", "/_simulator/clock/advance")[number % 3]
        return await client.call("POST", how, {"by": "1h"} if "advance" in how else {}, limit=5)

    replies = await asyncio.gather(*(one(number) for number in range(45)))
    allowed = {(200, ""), (201, ""), (409, "clock_busy"), (409, "invalid_state"), (409, "advance_cancelled")}
    expect(
        client,
        "snapshots, resets and advances go together",
        set(statuses(list(replies))) <= allowed,
        statuses(list(replies)),
    )
    clock = await client.call("POST", "/_simulator/clock/advance", {"by": "1s"})
    expect(client, "the clock moves afterwards", clock.status == 200, clock.body)


async def waits_left_behind(client: Client, rng: Random) -> None:
    async def leave(number: int) -> None:
        await client.call("GET", f"/_simulator/events/wait?timeout=600&object_id=x{number}", limit=3, timeout=0.3)

    await asyncio.gather(*(leave(number) for number in range(300)))
    watch = [await client.act("emit", type="kyc.approved") for _ in range(20)]
    mean = sum(reply.seconds for reply in watch) / len(watch)
    expect(client, "waits whose clients are gone cost nothing", mean < 0.05, f"{mean:.3f} s per action")


async def events_for_all_who_wait(client: Client, rng: Random) -> None:
    waits = [
        asyncio.ensure_future(client.call("GET", "/_simulator/events/wait?timeout=10&type=kyc.approved", limit=10))
        for _ in range(50)
    ]
    await client.call("GET", "/_simulator/clock")
    await client.act("emit", type="kyc.approved")
    replies = await asyncio.gather(*waits)
    expect(
        client,
        "everybody who waits gets the event",
        statuses(list(replies)) == {(200, ""): 50},
        statuses(list(replies)),
    )


async def a_world_ends_under_those_who_wait(client: Client, rng: Random) -> None:
    name = client.world["id"]
    paths = ("/events/wait?timeout=30&type=kyc.approved", "/inbox/nobody/wait?timeout=30&count=9")
    waits = [
        asyncio.ensure_future(client.call("GET", f"/_simulator{paths[number % 2]}", limit=30)) for number in range(40)
    ]
    await client.call("GET", "/_simulator/clock")
    how = rng.choice((("DELETE", f"/worlds/{name}"), ("POST", "/reset"), ("PUT", "/state")))
    state = (await client.call("GET", "/_simulator/state")).body if how[1] == "/state" else None
    await client.call(how[0], f"/_simulator{how[1]}", state)
    gone = how[0] == "DELETE"
    if not gone:
        await client.act("emit", type="kyc.approved")  # who waits goes on waiting in what took the world's place
    done, _ = await asyncio.wait(waits[::2], timeout=3)
    found = statuses([wait.result() for wait in done])
    wanted = (404, "not_found") if gone else (200, "")
    expect(client, f"who waits for an event of a world hears of it after a {how[0]}", found == {wanted: 20}, found)
    for wait in waits:
        wait.cancel()
    await asyncio.gather(*waits, return_exceptions=True)


async def streams_left_behind(client: Client, rng: Random) -> None:
    async def leave(number: int) -> None:
        await client.call("GET", "/_simulator/stream", limit=3, timeout=rng.uniform(0.05, 0.4))

    streams = asyncio.gather(*(leave(number) for number in range(100)))
    watch = [await client.act("emit", type="kyc.approved") for _ in range(20)]
    await streams
    watch += [await client.act("emit", type="kyc.approved") for _ in range(20)]
    mean = sum(reply.seconds for reply in watch[20:]) / 20
    expect(client, "streams whose clients are gone cost nothing", mean < 0.05, f"{mean:.3f} s per action")
    expect(client, "events are taken while streams come and go", statuses(watch) == {(200, ""): 40}, statuses(watch))


async def states_read_and_written(client: Client, rng: Random) -> None:
    state = (await client.call("GET", "/_simulator/state")).body

    async def one(number: int) -> Reply:
        if number % 3 == 0:
            return await client.call("PUT", "/_simulator/state", state, limit=5)
        if number % 3 == 1:
            return await client.call("GET", "/_simulator/state", limit=5)
        return await client.call("POST", "/v1/wallet/send", SEND, limit=5)

    replies = await asyncio.gather(*(one(number) for number in range(45)))
    allowed = {(200, ""), (201, ""), (409, "clock_busy"), (409, "invalid_state"), (503, "service_unavailable")}
    expect(
        client,
        "states are read and written side by side",
        set(statuses(list(replies))) <= allowed,
        statuses(list(replies)),
    )
    await client.call("PUT", "/_simulator/state", state)
    again = (await client.call("GET", "/_simulator/state")).body
    expect(client, "a state that was put is the state", again == state, sorted(state.keys() ^ again.keys()))


async def a_slow_receiver_and_many_ends(client: Client, rng: Random) -> None:
    inbox = f"{client.subject.origin}/_simulator/inbox/{client.world['id']}"
    await client.call("POST", "/_simulator/faults", {"webhook": {}, "deliver": {"slow": "300ms"}})
    await client.call("POST", "/v1/webhooks", {"url": inbox, "events": ["*"]}, limit=3)
    ends = [("POST", "/_simulator/reset"), ("POST", "/_simulator/settle"), ("POST", "/_simulator/clock/advance")]
    replies = []
    for number in range(12):
        await client.act("emit", type="kyc.approved")
        method, path = ends[number % 3]
        replies.append(
            asyncio.ensure_future(client.call(method, path, {"by": "1m"} if "advance" in path else {}, limit=5))
        )
    found = statuses(list(await asyncio.gather(*replies)))
    allowed = {(200, ""), (409, "clock_busy"), (409, "invalid_state"), (409, "advance_cancelled")}
    expect(client, "resets, settling and advances meet slow deliveries", set(found) <= allowed, found)


SCENES: tuple[Scene, ...] = (
    one_key_a_hundred_times, one_key_two_bodies, one_quote_many_confirms, a_balance_is_spent_once, clients_cut_off,
    two_advances,
    calls_during_an_advance, ended("reset"), ended("restore"), ended("deletion"), worlds_come_and_go,
    snapshots_and_resets,
    waits_left_behind, events_for_all_who_wait, a_world_ends_under_those_who_wait, streams_left_behind,
    states_read_and_written, a_slow_receiver_and_many_ends,
)  # fmt: skip


async def episode(subject: Apart, rng: Random, number: int) -> int:
    for scene in SCENES:
        name = scene.__name__
        subject.begin(name)
        async with client_of(subject, settings={"rate_limit": None}) as client:
            await scene(client, rng)
        subject.judge(name)
    return len(SCENES)


CAMPAIGN = Campaign("scenes", len(SCENES) * 4, len(SCENES), episode, apart=True)
