"""Any data that requests can store can be read again: journal, deliveries, inboxes, and their export."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.raw import address_of, ask, connected, read_answer, request
from tests.remote import EMPTY, Remote, new_client, running
from tests.service.durable.stores import StoreServer, play
from tests.support import whole

EVERY_BYTE = bytes(range(1, 256))
LINE = EVERY_BYTE.replace(b"\r", b"").replace(b"\n", b"")
"""The bytes that a header value may contain on a socket."""
PASSES = bytes(byte for byte in LINE if byte == 9 or (byte >= 32 and byte != 127))
"""The bytes that this server's parser accepts."""

ODD_UTF8 = "\u009b31m \u202e \u2028 \U0001f600 \ud7ff \ufffe".encode()
VALUES = st.binary(max_size=24).map(lambda raw: bytes(byte for byte in raw if byte in PASSES)) | st.sampled_from(
    [PASSES, b"a\tb", b"\t", b"\xff\xfe", ODD_UTF8, b"\xc3", b"\\x01", b"text/html;\tq=1"]
)
NAMES = st.sampled_from([b"X-A", b"Accept", b"Cookie", b"Idempotency-Key", b"Traceparent", b"X-Api-Key", b"X~|^"])
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([b"X-A", b"Content-Type", b"Set-Cookie", b"X~|"]),
        st.binary(max_size=24) | st.sampled_from([b"a\tb", b"a\x01b", b"folded\r\n line", LINE, ODD_UTF8, b"\x7f"]),
    ),
    max_size=3,
)
BODIES = st.binary(max_size=40) | st.sampled_from(
    [b"\x00" + EVERY_BYTE, b'{"name": "a\\u0000\\u009b\\ud83d\\ude00"}', b'{"name": "\\ud800"}', b'{"\\u0001": 1e999}']
)
TEXTS = st.text(max_size=12) | st.sampled_from(["a\tb", "\x01", "\x7f\x80\x9f", "\u202e", "\ufffe", "\\t"])


GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Answering:
    """A receiver that answers with the bytes it was given, whatever they are."""

    def __init__(self) -> None:
        self.answer = GOOD
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/hooks"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection, contextlib.suppress(OSError):
                    head = b""
                    while b"\r\n\r\n" not in head:
                        head += connection.recv(65_536)
                    connection.sendall(self.answer)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def receiver() -> Iterator[Answering]:
    receiver = Answering()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def own() -> Iterator[Remote]:
    """A server of this module alone, so that worlds of other tests neither slow it nor see its odd texts."""
    with running(EMPTY) as (origin, _), new_client() as http:
        yield Remote(origin, http)


def raw_call(path: str, headers: list[tuple[bytes, bytes]], body: bytes, *more: str) -> bytes:
    head, _, _ = request("POST", path, *more, f"Content-Length: {len(body)}").partition(b"\r\n\r\n")
    return head + b"".join(b"\r\n" + name + b": " + value for name, value in headers) + b"\r\n\r\n" + body


def document_of(world: Remote) -> bytes:
    answer = world.control("GET", "/state")
    assert answer.status == 200, answer.body
    return answer.raw


def is_read_again(world: Remote) -> None:
    """What a world exports is taken, and exported again it is the same but for its moment on the wall clock."""
    document = document_of(world)
    taken = world.control("PUT", "/state", content=document)
    assert taken.status == 200, taken.body
    world.tokens.clear()
    assert json.loads(document_of(world))["tables"] == json.loads(document)["tables"]
    assert json.loads(document_of(world))["requests"] == json.loads(document)["requests"]


@pytest.mark.long
@settings(max_examples=whole(40, short=20), suppress_health_check=list(HealthCheck))
@given(
    headers=st.lists(st.tuples(NAMES, VALUES), max_size=4),
    body=BODIES,
    answer=ANSWERS,
    answered=st.binary(max_size=30),
    text=TEXTS,
    tail=VALUES,
)
@example(headers=[(b"X-A", b"a\tb")], body=b"{}", answer=[(b"X-A", b"a\tb")], answered=b"", text="a", tail=b"")
@example(headers=[], body=b"\x00", answer=[(b"X-A", b"a\x01b")], answered=EVERY_BYTE, text="\x01", tail=PASSES)
@example(headers=[], body=b"", answer=[(b"X-A", b"a\r\n b")], answered=b"", text="\ud7ff", tail=b"")
def test_written_anything_sockets_let_through_is_read(
    own: Remote,
    receiver: Answering,
    headers: list[tuple[bytes, bytes]],
    body: bytes,
    answer: list[tuple[bytes, bytes]],
    answered: bytes,
    text: str,
    tail: bytes,
) -> None:
    world = own.another(seed=1, scenarios=[])
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in answer)
    receiver.answer = GOOD
    assert world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]}).status == 201
    world.api("POST", "/webhooks", {"url": f"{receiver.url}?{text}", "events": ["quote.created"], "description": text})
    receiver.answer = b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n%b\r\n%b" % (len(answered), lines, answered)
    token = f"Authorization: Bearer {world.token()}"
    named = f"X-Simulator-World: {world.world['id']}"
    path = world.base().removeprefix(world.origin)
    odd = "/odd/%01%7f%ff%09?" + "".join(f"%{byte:02x}" for byte in tail)
    for where in (f"{path}/quotes", f"{path}/beneficiaries", f"{path}{odd}"):
        with connected(own.origin) as connection:
            connection.sendall(raw_call(where, headers, body, token, "Content-Type: application/json"))
            assert read_answer(connection)[0] != 500
    ask(own.origin, raw_call("/_simulator/inbox/odd", headers, body, named))
    world.control("POST", "/actions/emit", {"type": "kyc.approved", "object": {text: text}})
    world.api("POST", "/beneficiaries", {text: text, "name": text, "type": text})
    world.control("POST", "/settle", {})
    inbox = world.control("GET", "/inbox/odd").body["data"]
    assert inbox
    assert not [value for one in inbox for value in one["headers"].values() if has_controls(value)]
    is_read_again(world)
    world.control("DELETE", f"/worlds/{world.world['id']}")


def has_controls(text: str) -> bool:
    return any(character < " " or character == "\x7f" for character in text)


def deliver(world: Remote, receiver: Answering, lines: bytes) -> dict[str, Any]:
    """The headers that a delivery shows of an answer with these lines."""
    receiver.answer = GOOD
    world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
    receiver.answer = b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n" + lines + b"\r\n"
    world.control("POST", "/actions/emit", {"type": "kyc.approved"})
    world.control("POST", "/settle", {})
    shown: dict[str, Any] = world.control("GET", "/deliveries").body["data"][0]["response_headers"]
    return shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [(b"X-A: a\tb", "a\\tb"), (b"X-A: a\x01b\x7f", "a\\x01b\\x7f"), (b"X-A: \xff\t", "\xff"), (b"X-A: a\\tb", "a\\tb")],
)
def test_delivery_shows_control_characters_escaped(world: Remote, receiver: Answering, line: bytes, shown: str) -> None:
    assert deliver(world, receiver, line + b"\r\n")["X-A"] == shown


def test_journal_shows_a_tab_in_a_header_escaped(world: Remote) -> None:
    path = world.base().removeprefix(world.origin)
    raw = request("GET", f"{path}/profile", f"Authorization: Bearer {world.token()}", "X-A: a\tb")
    assert ask(world.origin, raw)[0] == 200
    entry = world.control("GET", "/requests").body["data"][-1]
    assert entry["headers"]["x-a"] == "a\\tb"
    is_read_again(world)


def test_store_with_odd_headers_opens_again_equal(tmp_path: Path, receiver: Answering) -> None:
    """The default world is the same after a restart, including calls without a token and answers of a receiver."""
    path, before = tmp_path / "w.db", list[bytes]()
    odd = b"X-A: a\tb\r\nX-B: a\x01b\r\nX-C: a\r\n b\r\nX-D: " + LINE
    receiver.answer = GOOD

    async def write(server: StoreServer) -> None:
        assert (await server.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})).status_code == 201
        receiver.answer = b"HTTP/1.1 500 No\r\n" + odd + b"\r\n\r\n" + EVERY_BYTE
        reader, writer = await asyncio.open_connection(*address_of(server.origin))
        for body in (b"", EVERY_BYTE, b"\x00"):
            writer.write(raw_call("/v1/profile?%01%ff", [(b"X-A", PASSES), (b"Accept", b"a;\tq=1")], body))
        writer.write(request("GET", "/v1/none", "Connection: close"))
        await reader.read()
        writer.close()
        await server.control("POST", "/actions/emit", {"type": "kyc.approved", "object": {"\x01": "\x7f\u202e"}})
        await server.control("POST", "/settle", {})
        before.append((await server.control("GET", "/state")).content)

    async def read(server: StoreServer) -> None:
        answer = await server.control("GET", "/state")
        assert answer.status_code == 200
        assert rows_of(answer.content) == rows_of(before[0])

    play(path, write)
    play(path, read)


def rows_of(document: bytes) -> tuple[Any, Any]:
    read = json.loads(document)
    return read["tables"], read["requests"]
