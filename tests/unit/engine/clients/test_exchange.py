"""One HTTP exchange, received in pieces: complete parts are used, even if the connection fails later."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.clients.exchange import (
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    ConnectionClosed,
    Exchange,
    NoHttp,
)

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LOOP = asyncio.new_event_loop()


@pytest.fixture(scope="module", autouse=True)
def closed_loop() -> Iterator[None]:
    yield
    LOOP.close()


def exchange_of(*pieces: bytes) -> Exchange:
    exchange = Exchange(b"", LOOP.create_future())
    for piece in pieces:
        exchange.data_received(piece)
    return exchange


def test_a_status_counts_as_soon_as_the_headers_are_there() -> None:
    exchange = exchange_of(b"HTTP/1.1 200 OK\r\nX-Mine: ", b"1\r\n")
    assert (exchange.status, exchange.headers) == (None, ())
    exchange.data_received(b"\r\n")
    assert (exchange.status, exchange.headers) == (200, (("X-Mine", "1"),))
    assert not exchange.ended.done()
    exchange.connection_lost(None)
    assert exchange.ended.result() is None


def test_an_error_after_the_status_does_not_undo_it() -> None:
    exchange = exchange_of(CHUNKED, b"2\r\nto\r\n", b"no chunk\r\n")
    assert (exchange.status, exchange.body, exchange.ended.result()) == (200, b"to", None)


def test_an_error_along_with_the_status_is_not_a_response() -> None:
    exchange = exchange_of(CHUNKED + b"2\r\nto\r\nno chunk\r\n")
    assert exchange.status is None
    assert isinstance(exchange.ended.result(), NoHttp)


def test_a_connection_that_ends_before_the_status_raises() -> None:
    exchange = exchange_of(b"HTTP/1.1 200")
    exchange.connection_lost(ConnectionResetError())
    assert isinstance(exchange.ended.result(), ConnectionClosed)


def test_endless_headers_are_cut_off() -> None:
    exchange = exchange_of(b"HTTP/1.1 200 OK\r\nX-Mine: ")
    sent = 0
    while not exchange.ended.done():
        exchange.data_received(b"a" * MAX_HEADER_BYTES)
        sent += 1
    assert isinstance(exchange.ended.result(), NoHttp)
    assert sent <= MAX_HEADERS


def test_an_endless_body_is_cut_off() -> None:
    exchange = exchange_of(b"HTTP/1.1 200 OK\r\n\r\n")
    while not exchange.ended.done():
        exchange.data_received(b"x" * 1000)
    exchange.data_received(b"more")
    assert exchange.body == b"x" * MAX_BODY_BYTES


@given(st.sets(st.integers(1, 150)))
def test_a_response_does_not_depend_on_its_pieces(cuts: set[int]) -> None:
    answer = b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + CHUNKED.replace(b"\r\n\r\n", b"\r\nX-Mine: \xe9 \r\n\r\n")
    answer += b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-End: 1\r\n\r\n"
    places = [0, *sorted(cut for cut in cuts if cut < len(answer)), len(answer)]
    exchange = exchange_of(*(answer[start:end] for start, end in itertools.pairwise(places)))
    assert (exchange.status, exchange.body) == (200, b"abcde")
    assert exchange.headers == (("Transfer-Encoding", "chunked"), ("X-Mine", "é"))
    assert exchange.ended.result() is None


def test_only_short_headers_are_cached() -> None:
    raw = b"HTTP/1.1 200 OK\r\nX-Short: 1\r\nX-Long: %b\r\nContent-Length: 0\r\n\r\n" % (b"1" * 4096)
    first, second = (exchange_of(raw).headers for _ in range(2))
    assert first == second == (("X-Short", "1"), ("X-Long", "1" * 4096), ("Content-Length", "0"))
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, False, True]
