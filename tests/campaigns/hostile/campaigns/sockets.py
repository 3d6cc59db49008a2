"""Raw bytes on sockets: broken HTTP, odd hosts, partial bodies, pipelining, slow clients, header floods, upgrades."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from random import Random

from tests.campaigns.hostile.apart import Apart
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.mutations import HEADERS, mutated_bytes
from tests.campaigns.hostile.server_under_test import last_frame

REQUESTS = 200
TOGETHER = 10
HOSTS = (
    "127.0.0.1", "localhost", "[::1]", "[", "[x]", "a[b", "evil.com", "127.0.0.1:8642.evil.com", "localhost/evil",
    "localhost#x",
    "evil.com@127.0.0.1", "", " ", "localhost:", "localhost:99999999", "localhost:abc", "\x00", "é", "a" * 5000,
    "127.0.0.1\t",
    "[::1]:1:1", "127.1", "http://127.0.0.1", "127.0.0.1, evil.com", "[::ffff:127.0.0.1%25eth0]", "xn--", "％31",
    "localhost\\@x", "]", "[]", "[:]",
)  # fmt: skip
TARGETS = (
    "/_simulator/health", "/_simulator/clock", "/_simulator/scenarios", "/v1/rates", "/v1/quotes", "/v1/auth/token",
    "/", "*", "//", "/_simulator",
    "http://127.0.0.1/_simulator/clock", "/%", "/%00", "/%zz", "/v1/%2e%2e/%2e%2e/_simulator/clock",
    "/v1/" + "a" * 70_000, "/\xff", "", "x",
    "/_simulator/worlds?limit=%", "/_simulator/inbox/a", "/v1//quotes", "/v1/quotes#x", "/_simulator/dashboard",
    "/_simulator/stream",
)  # fmt: skip
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")


@dataclass
class Wire:
    """The pieces to send, the pause between them, and whether the client then closes immediately."""

    pieces: list[bytes]
    pause: float = 0.0
    hasty: bool = False


def head(rng: Random, method: str | None = None, target: str | None = None, host: str | None = None) -> bytes:
    method = method or rng.choice(
        (
            "GET",
            "GET",
            "POST",
            "PUT",
            "DELETE",
            "PATCH",
            "HEAD",
            "OPTIONS",
            "CONNECT",
            "TRACE",
            "PRI",
            "\x16\x03\x01",
            "get",
            "",
        )
    )
    target = target if target is not None else rng.choice(TARGETS)
    version = rng.choice(
        ("HTTP/1.1",) * 8
        + ("HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/9.9", "", "ICY", "http/1.1", "HTTP/1.1 x")
    )
    host = host if host is not None else rng.choice(HOSTS)
    lines = [f"{method} {target} {version}".rstrip()]
    if rng.random() < 0.93:
        lines.append(f"Host: {host}")
    if rng.random() < 0.1:
        lines.append(f"Host: {rng.choice(HOSTS)}")
    for _ in range(rng.choice((0, 0, 1, 2))):
        name, value = rng.choice(HEADERS)
        lines.append(f"{name}: {value}")
    end = rng.choice(("\r\n",) * 9 + ("\n", "\r", "\r\n ", "\n\r"))
    return end.join(lines).encode("utf-8" if rng.random() < 0.1 else "latin-1", "replace") + b"\r\n"


def wire(rng: Random) -> Wire:
    """One thing that may arrive on a connection."""
    way = rng.randrange(14)
    if way in (0, 1, 2):
        return Wire([head(rng) + b"\r\n"])
    if way == 3:
        return Wire([head(rng, "GET", "/_simulator/clock", rng.choice(HOSTS)) + b"\r\n"])
    body = rng.choice((b"{}", b'{"names":[]}', b"name: a\nrules: []\n" * 3, b"x" * 5000))
    post = head(
        rng,
        "POST",
        rng.choice(("/_simulator/scenarios", "/v1/quotes", "/_simulator/reset", "/_simulator/worlds")),
        "127.0.0.1",
    )
    if way == 4:  # half a body
        return Wire(
            [post + b"Content-Length: %d\r\n\r\n" % len(body) + body[: len(body) // 2]], hasty=rng.random() < 0.7
        )
    if way == 5:  # lengths that are none, or two of them
        odd = rng.choice((b"-1", b"abc", b"1,1", b"99999999999999999999", b"0x10", b"+2", b"2 2", b"", b"\xff", b"1e3"))
        more = b"Content-Length: 2\r\n" if rng.random() < 0.3 else b""
        return Wire([post + b"Content-Length: " + odd + b"\r\n" + more + b"\r\n" + body])
    if way == 6:  # chunks
        size = rng.choice(
            (
                b"2",
                b"2;x=y",
                b"FFFFFFFFFFFFFFFF",
                b"-2",
                b"zz",
                b"",
                b"0x2",
                b"00000000000000002",
                b"2 ",
                b"FFFFFFFFFFFFFFFFF",
            )
        )
        tail = rng.choice(
            (b"0\r\n\r\n", b"", b"0\r\nX: y\r\n\r\n", b"0\n\n", b"zz\r\n", b"0\r\n" + b"A: b\r\n" * 2000 + b"\r\n")
        )
        both = b"Content-Length: 5\r\n" if rng.random() < 0.3 else b""
        return Wire([post + both + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\n{}\r\n" + tail])
    if way == 7:  # a pipeline
        count = rng.choice((2, 5, 50))
        last = rng.choice((b"", b"GET", b"\x00\x01\x02", head(rng) + b"\r\n"))
        return Wire(
            [(head(rng, "GET", rng.choice(TARGETS[:4]), "127.0.0.1") + b"\r\n") * count + last],
            hasty=rng.random() < 0.3,
        )
    if way == 8:  # byte by byte, or in a few pieces
        raw = head(rng, "GET", "/v1/rates", "127.0.0.1") + b"\r\n"
        step = rng.choice((1, 7, 40))
        return Wire([raw[i : i + step] for i in range(0, min(len(raw), 60 * step), step)], pause=0.001)
    if way == 9:  # many or long headers
        flood = rng.choice(
            (
                b"A: b\r\n" * 5000,
                b"A: " + b"x" * 200_000 + b"\r\n",
                b"A" * 100_000,
                b"A:\r\n" * 20_000,
                b" folded\r\n" * 50,
                b": x\r\n",
                b"A b: c\r\n",
            )
        )
        return Wire([b"GET /_simulator/health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + flood + b"\r\n"])
    if way == 10:  # upgrades and expectations
        more = rng.choice((
            b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n",
            b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
            b"Expect: 100-continue\r\nContent-Length: 5\r\n", b"Expect: nothing\r\n",
            b"Connection: close, keep-alive, x\r\n", b"Upgrade: websocket\r\n",
        ))  # fmt: skip
        return Wire([head(rng, None, rng.choice(TARGETS[:6]), "127.0.0.1") + more + b"\r\n"])
    if way == 11:  # HTTP/1.0
        keep = rng.choice((b"", b"Connection: keep-alive\r\n"))
        return Wire([b"GET /_simulator/health HTTP/1.0\r\n" + keep + b"\r\n"] * rng.choice((1, 3)))
    if way == 12:  # noise
        noise = bytes(rng.randrange(256) for _ in range(rng.choice((1, 10, 300))))
        return Wire(
            [
                rng.choice(
                    (
                        noise,
                        b"\r\n" * 200 + noise,
                        b"\x16\x03\x01\x02\x00" + noise,
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                        b"\x00" * 3000,
                        b"",
                    )
                )
            ]
        )
    raw = head(rng) + b"Content-Length: 2\r\n\r\n{}"
    for _ in range(rng.choice((1, 3))):
        raw = mutated_bytes(rng, raw)
    return Wire([raw])


def told_of(sent: Wire) -> str:
    return f"on a connection, {'closed at once' if sent.hasty else 'left open'}: " + " | ".join(
        repr(piece[:1500])[1:] for piece in sent.pieces[:4]
    )


async def send(subject: Apart, sent: Wire) -> None:
    told, answer = told_of(sent), b""
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", subject.server.port), 5)
    except (OSError, TimeoutError) as error:
        subject.fail("no connection", repr(error), told)
        return
    try:
        for piece in sent.pieces:
            writer.write(piece)
            await writer.drain()
            if sent.pause:
                await asyncio.sleep(sent.pause)
        if not sent.hasty:
            while len(answer) < 300_000:
                chunk = await asyncio.wait_for(reader.read(65_536), 0.15)
                if not chunk:
                    break
                answer += chunk
    except (OSError, TimeoutError, RuntimeError):  # uvloop raises the last one on a connection that was closed
        pass
    finally:
        writer.close()
    for status in _STATUS.findall(answer):
        if status == b"500" or status[:1] not in b"12345":
            subject.fail("500", f"status {status.decode()}", told, answer[:600].decode("utf-8", "replace"))
    if answer and not answer.startswith(b"HTTP/1."):
        subject.fail("no HTTP", "an answer that is no HTTP", told, repr(answer[:300]))


async def episode(subject: Apart, rng: Random, number: int) -> int:
    for batch in range(REQUESTS // TOGETHER):
        wires = [wire(rng) for _ in range(TOGETHER)]
        told = f"batch {batch}: " + " || ".join(repr(b"".join(w.pieces)[:200])[1:] for w in wires)
        subject.begin(told)
        await asyncio.gather(*(send(subject, sent) for sent in wires))
        text = subject.server.printed_since()
        if "Traceback" in text:
            await blame(subject, wires, text)
        subject.judge(told)
    return REQUESTS


async def blame(subject: Apart, wires: list[Wire], printed: str) -> None:
    """Send what came together one by one, to see at which of them the server prints a traceback."""
    alone = 0
    for sent in wires:
        await send(subject, sent)
        text = subject.server.printed_since()
        if "Traceback" in text:
            alone += 1
            subject.fail("traceback", last_frame(text), told_of(sent), text)
    if not alone:
        told = "one of: " + " || ".join(told_of(sent)[:700] for sent in wires)
        subject.fail("traceback", f"not seen again: {last_frame(printed)}", told, printed)


CAMPAIGN = Campaign("sockets", 10_000, REQUESTS, episode, apart=True)
