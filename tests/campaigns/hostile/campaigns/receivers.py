"""Malicious webhook receivers that hang, drip, flood, redirect, disconnect, or call back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from tests.campaigns.hostile.apart import Apart
from tests.campaigns.hostile.apart_client import Client, Reply, client_of
from tests.campaigns.hostile.campaign import Campaign

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Client], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
EVERY_BYTE = bytes(byte for byte in range(1, 256) if byte not in b"\r\n")
LIMIT_SECONDS = 12.0
"""A delivery may take ten seconds, as the interface promises to wait; and a little."""


def says(raw: bytes) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
        writer.write(raw)

    return behave


async def hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    await asyncio.sleep(LIMIT_SECONDS + 5)


async def drips(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def floods(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3000000000\r\n\r\n")
    for _ in range(3000):
        writer.write(bytes(1 << 16))
        await writer.drain()


async def floods_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(2000):
        writer.write(b"X: " + b"y" * 8000 + b"\r\n")
        await writer.drain()


async def goes_on_and_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    for _ in range(20_000):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()


async def breaks_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


async def closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    writer.close()


async def call_back(client: Client, method: str, path: str, body: object = None) -> Reply:
    """A call of a receiver that is to be answered at once, whatever the answer."""
    reply = await client.call(method, path, body, limit=1.0, timeout=15)
    if reply.status == 0:
        client.subject.fail("no answer", f"{method} {path} by a receiver", f"{method} {path}", str(reply.body))
    return reply


def calls(method: str, path: str, body: object = None) -> Behaviour:
    """Calls the simulator while its delivery waits for the answer."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
        await call_back(client, method, path, body)
        writer.write(OK)

    return behave


async def removes_its_webhook(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    listed = await call_back(client, "GET", "/v1/webhooks")
    for row in listed.body["data"]:
        await call_back(client, "DELETE", f"/v1/webhooks/{row['id']}")
    writer.write(OK)


async def resends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    listed = await call_back(client, "GET", "/_simulator/deliveries?limit=1")
    for row in listed.body["data"]:
        await call_back(client, "POST", f"/_simulator/events/{row['event_id']}/resend", {})
    writer.write(OK)


async def takes_the_world_along(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: Client) -> None:
    """The world is restored, and replaced by a new one with the same id, while the delivery is in flight."""
    for snapshot in (await call_back(client, "GET", "/_simulator/snapshots")).body["data"]:
        await call_back(client, "POST", f"/_simulator/snapshots/{snapshot['id']}/restore", {})
    await call_back(client, "POST", "/_simulator/worlds", {"id": client.world["id"], "replace": True})
    writer.write(OK)


BEHAVIOURS: dict[str, Behaviour] = {
    "hangs": hangs,
    "drips": drips,
    "floods": floods,
    "floods headers": floods_headers,
    "100 Continue for ever": goes_on_and_on,
    "breaks off": breaks_off,
    "closes at once": closes,
    "speaks no HTTP": says(b"SSH-2.0-OpenSSH\r\n"),
    "redirects": says(b"HTTP/1.1 302 Found\r\nLocation: /hook\r\nContent-Length: 0\r\n\r\n"),
    "redirects to the control interface": says(
        b"HTTP/1.1 307 Found\r\nLocation: http://127.0.0.1/_simulator/reset\r\nContent-Length: 0\r\n\r\n"
    ),
    "status 999": says(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
    "status 204": says(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "latin-1": says(b"HTTP/1.1 200 \xe9\r\nX: \xff\xfe\r\nContent-Length: 2\r\n\r\n\xff\xff"),
    "tab in a header": says(b"HTTP/1.1 200 OK\r\nX-A: a\tb\r\nContent-Length: 0\r\n\r\n"),
    "controls in a header": says(b"HTTP/1.1 500 No\r\nX-A: a\x01b\x1b[31m\x7f\r\nContent-Length: 0\r\n\r\n"),
    "folded header": says(b"HTTP/1.1 500 No\r\nX-A: a\r\n b\r\n\tc\r\nContent-Length: 0\r\n\r\n"),
    "every byte": says(b"HTTP/1.1 500 No\r\nX-A: " + EVERY_BYTE + b"\r\nContent-Length: 253\r\n\r\n" + EVERY_BYTE),
    "no gzip": says(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"),
    "two lengths": says(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 9\r\n\r\nnope"),
    "broken chunks": says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "advances": calls("POST", "/_simulator/clock/advance", {"by": "1s"}),
    "advances until": calls(
        "POST", "/_simulator/clock/advance", {"until": {"event": "quote.expired"}, "horizon": "1d"}
    ),
    "settles": calls("POST", "/_simulator/settle", {}),
    "takes a snapshot": calls("POST", "/_simulator/snapshots", {}),
    "reads the state": calls("GET", "/_simulator/state"),
    "resets": calls("POST", "/_simulator/reset", {}),
    "emits": calls("POST", "/_simulator/actions/emit", {"type": "kyc.rejected"}),
    "makes a wallet": calls("POST", "/v1/wallets", {"network": "celo"}),
    "removes its webhook": removes_its_webhook,
    "resends its event": resends,
    "takes its world along": takes_the_world_along,
    "reads it all": calls("GET", "/_simulator/recording"),
    "calls off the advance": calls("DELETE", "/_simulator/clock/advance"),
    "sets the clock": calls("PUT", "/_simulator/clock", {"now": "2026-01-06T00:00:00Z"}),
}


SLOW = {"hangs", "drips"}
MAY_BE_CALLED_OFF = {"takes its world along": {"invalid_state", "advance_cancelled"},
    "calls off the advance": {"advance_cancelled"}, "resets": {"advance_cancelled"}}  # fmt: skip
"""The error codes with which calls may fail because of the receiver's effect on the world."""


async def scene(subject: Apart, name: str, *, retried: bool) -> None:
    """One receiver, one event, and what the clock does about it."""
    behave = BEHAVIOURS[name]
    async with client_of(subject) as client:

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.lower().split(b"\r\n")
                        if line.startswith(b"content-length")
                    ),
                    0,
                )
                body = await reader.readexactly(length)
                if b"webhook.test" in body:
                    writer.write(OK)
                else:
                    await behave(reader, writer, client)
                await writer.drain()
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        try:
            url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/hook"
            made = await client.call("POST", "/v1/webhooks", {"url": url, "events": ["kyc.approved"]})
            if made.status != 201:
                subject.fail("registration", f"a receiver that {name} was not registered", name, str(made.body))
                return
            await client.call("POST", "/_simulator/snapshots", {}, limit=LIMIT_SECONDS)
            await client.act("emit", type="kyc.approved")
            settled = await client.call("POST", "/_simulator/settle", {}, limit=LIMIT_SECONDS)
            allowed = MAY_BE_CALLED_OFF.get(name, set())
            if settled.status != 200 and settled.code not in allowed:
                subject.fail("settle", f"{name}: {settled.status} {settled.code}", name, str(settled.body))
            if name in SLOW and not retried:
                return
            moved = await client.call(
                "POST", "/_simulator/clock/advance", {"by": "90s"}, limit=LIMIT_SECONDS * 2, timeout=40
            )
            if moved.status != 200 and moved.code not in allowed:
                subject.fail("advance", f"{name}: {moved.status} {moved.code}", name, str(moved.body))
            await client.call("GET", "/_simulator/deliveries")
        finally:
            listener.close()


async def episode(subject: Apart, rng: Random, number: int) -> int:
    """All of them, side by side, each in a world of its own. Every other time the slow ones are tried once more."""
    subject.begin(", ".join(BEHAVIOURS))

    async def told(name: str) -> None:
        try:
            await asyncio.wait_for(scene(subject, name, retried=number % 2 == 1), 60)
        except TimeoutError:
            subject.fail("hang", f"a receiver that {name}: no end within 60 s", name)

    await asyncio.gather(*(told(name) for name in BEHAVIOURS))
    subject.judge("the receivers")
    return len(BEHAVIOURS)


CAMPAIGN = Campaign("receivers", len(BEHAVIOURS) * 6, len(BEHAVIOURS), episode, apart=True, patience_seconds=90)
