"""A request is split without the parser only if its header block was seen twice and changes nothing else."""

from __future__ import annotations

import pytest

from simulator.engine.server.http.known_heads import KnownHeads, Whole
from tests.raw import request

RAW = [(b"x-one", b"1"), (b"host", b"127.0.0.1")]
READ = request("GET", "/v1/orders?page=2", "X-One: 1")
MAKE = request("POST", "/v1/orders", "X-One: 1", body=b"{}")
LENGTH = (b"content-length", b"2")


def knowing(*learned: tuple[bytes, list[tuple[bytes, bytes]]]) -> KnownHeads:
    """Return a table that has seen each head twice."""
    heads = KnownHeads()
    for data, raw in (*learned, *learned):
        heads.learn(data, raw)
    return heads


def split(heads: KnownHeads, data: bytes) -> Whole:
    whole = heads.split(data)
    assert whole is not None
    return whole


def test_a_known_head_is_split_with_any_path_and_query() -> None:
    heads = knowing((READ, RAW))
    whole = split(heads, request("DELETE", "/v1/lamps/l-1.a_b~?a=%20&b=1,2", "X-One: 1"))
    assert whole[:3] == ("DELETE", "/v1/lamps/l-1.a_b~", b"a=%20&b=1,2")
    assert (whole.head.raw, whole.body) == (RAW, b"")
    assert whole.head.headers == {"x-one": "1", "host": "127.0.0.1"}


def test_a_body_of_the_known_length_is_split() -> None:
    heads = knowing((MAKE, [*RAW, LENGTH]))
    assert split(heads, request("POST", "/v1/orders", "X-One: 1", body=b"[]")).body == b"[]"


def test_a_head_that_was_seen_once_is_not_known() -> None:
    heads = KnownHeads()
    heads.learn(READ, RAW)
    assert heads.split(READ) is None


@pytest.mark.parametrize(
    "data",
    [
        READ.replace(b"HTTP/1.1", b"HTTP/1.0"),
        READ.replace(b"GET", b"BREW"),
        READ.replace(b"/v1/orders", b"//v1/orders"),
        READ.replace(b"/v1/orders", b"/v1/%6frders"),
        READ.replace(b"/v1/orders", b"http://h/v1/orders"),
        READ.replace(b"page=2", b"page=" + b"2" * 9_000),
        READ.replace(b"X-One", b"X-Two"),
        READ[:-1],
        READ + READ,
        READ + b"GET",
    ],
)
def test_a_request_that_needs_the_parser_is_not_split(data: bytes) -> None:
    assert knowing((READ, RAW)).split(data) is None


@pytest.mark.parametrize("data", [MAKE[:-1], MAKE + b" "])
def test_a_body_of_another_length_is_not_split(data: bytes) -> None:
    assert knowing((MAKE, [*RAW, LENGTH])).split(data) is None


@pytest.mark.parametrize(
    "line",
    ["Connection: close", "Expect: 100-continue", "Transfer-Encoding: chunked", "Upgrade: h2c", "X-Forwarded-Proto: a"],
)
def test_a_header_that_changes_more_is_not_known(line: str) -> None:
    data, (header, _, value) = request("GET", "/v1/orders", "X-One: 1", line), line.lower().partition(": ")
    heads = knowing((data, [RAW[0], (header.encode(), value.encode()), RAW[1]]))
    assert heads.split(data) is None


def test_keep_alive_changes_nothing() -> None:
    data = request("GET", "/v1/orders", "X-One: 1", "Connection: Keep-Alive")
    assert knowing((data, [RAW[0], (b"connection", b"Keep-Alive"), RAW[1]])).split(data) is not None


@pytest.mark.parametrize(
    "block",
    [
        b"X-One: 1\nHost: 127.0.0.1\r\nX-Two: 2",  # the parser ended a line earlier
        b"X-One: 1\r\n folded\r\nHost: 127.0.0.1",
        b"X-One: 1\r\nHost: 127.0.0.1\r\nX-Two: 2",
        b"X-One: 1\r\nHost: " + b"a" * 2_100,
    ],
)
def test_a_block_with_other_lines_than_headers_is_not_known(block: bytes) -> None:
    data = b"GET /v1/orders HTTP/1.1\r\n" + block + b"\r\n\r\n"
    assert knowing((data, RAW)).split(data) is None


def test_repeated_lengths_are_not_known() -> None:
    data = request("POST", "/v1/orders", "Content-Length: 2", "Content-Length: 2", host=None, body=b"{}")
    assert knowing((data, [LENGTH, LENGTH])).split(data) is None


def test_heads_are_bounded() -> None:
    heads = KnownHeads()
    datas = [request("GET", "/v1/orders", f"X-One: {number}") for number in range(300)]
    for data in datas:
        for _ in range(2):
            heads.learn(data, RAW)
    known = [data for data in datas if heads.split(data) is not None]
    assert datas[-1] in known
    assert len(known) < 257
