"""HTTP messages: parsing requests, limits on reading a body, and responses without content."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from simulator.engine.rows.error import ApiError
from simulator.engine.server.http.messages import (
    CUT,
    Incoming,
    NoCut,
    Outgoing,
    body_of,
    head_of,
    header_lines,
    public_key_of,
    raw_headers,
    read_body,
    token_of,
    write,
)
from tests.raw import connected, ends, read_answer, request
from tests.remote import Remote


def test_a_body_that_breaks_off_is_not_carried_out(world: Remote) -> None:
    body = b"name: half\ndescription: this half came"
    host = {"X-Simulator-World": world.world["id"]}
    upload = request("POST", "/_simulator/scenarios", f"X-Simulator-World: {host['X-Simulator-World']}",
                     "Content-Length: 1000", body=body)  # fmt: skip
    rename = request("PATCH", "/v1/profile", f"Authorization: Bearer {world.token()}", "Content-Length: 30")
    before = len(world.control("GET", "/requests").body["data"])
    for raw in (upload, rename):
        with connected(world.origin) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            assert ends(connection)
    assert world.control("GET", "/scenarios/half").status == 404
    assert len(world.control("GET", "/requests").body["data"]) == before


@pytest.mark.parametrize("status", [204, 205, 304])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_answers_without_a_body_leave_the_connection_usable(world: Remote, status: int, method: str) -> None:
    fault = {"match": {"path": "/profile"}, "respond": {"status": status, "code": "odd"}, "times": 1}
    assert world.control("POST", "/faults", fault).status == 201
    world.control("PUT", f"/inbox/odd{status}", {"respond": [status]})
    own = f"Authorization: Bearer {world.token()}"
    with connected(world.origin) as connection:
        connection.sendall(request(method, "/v1/profile", own))
        answer = read_answer(connection, head=method == "HEAD")
        assert (answer[0], answer[2], answer[1].get("content-length", "0")) == (status, b"", "0")
        connection.sendall(request("GET", "/v1/profile", own))
        assert read_answer(connection)[0] == 200
        connection.sendall(request("POST", f"/_simulator/inbox/odd{status}", body=b"x"))
        assert read_answer(connection)[0::2] == (status, b"")
        connection.sendall(request("GET", "/v1/profile", own))
        assert read_answer(connection)[0] == 200


def incoming(body: bytes | None = b"", **headers: str) -> Incoming:
    return Incoming("POST", "/v1/quotes", b"", {name.replace("_", "-"): value for name, value in headers.items()}, body)


@pytest.mark.parametrize(
    ("prefix", "path", "rest"),
    [
        ("", "/v1/quotes", "/v1/quotes"),
        ("/rails", "/rails/v1/quotes", "/v1/quotes"),
        ("/rails", "/railside/v1", "/railside/v1"),
        ("/rails", "/v1/quotes", "/v1/quotes"),
    ],
)
def test_the_head_of_a_request_is_read_below_the_prefix_of_the_application(prefix: str, path: str, rest: str) -> None:
    scope = {
        "method": "GET",
        "path": path,
        "root_path": prefix,
        "query_string": b"page=1",
        "headers": [(b"X-Name", b"J\xf6rg"), (b"x-NAME", b"last")],
    }
    assert head_of(scope) == Incoming("GET", rest, b"page=1", {"x-name": "last"})


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer tok_1", "tok_1"),
        ("bearer  tok_1 ", "tok_1"),
        ("Bearer ", None),
        ("Bearer", None),
        ("Basic tok_1", None),
        ("", None),
    ],
)
def test_a_token_is_what_a_bearer_header_brings(header: str, token: str | None) -> None:
    assert token_of(incoming(authorization=header)) == token
    assert token_of(incoming()) is None


@pytest.mark.parametrize("body", [None, b"", b"[]", b"not json", b'{"public_key": 5}', b'{"other": "pk_1"}'])
def test_a_body_without_a_public_key_names_none(body: bytes | None) -> None:
    assert public_key_of(incoming(body)) is None
    assert public_key_of(incoming(b'{"public_key": "pk_1"}')) == "pk_1"


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (None, "application/json", "larger than 1048576 bytes"),
        (b"{}", "", "Content-Type"),
        (b"{}", "text/json", "Content-Type"),
        (b"{}", "application/jsonx", "Content-Type"),
        (b"{", "application/json", "not valid JSON"),
        (b"[1]", "application/json", "must be a JSON object"),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(body: bytes | None, kind: str, message: str) -> None:
    """Decisions H4, H12 and H13."""
    with pytest.raises(ApiError, match=message) as refused:
        body_of(incoming(body, content_type=kind))
    assert (refused.value.status, refused.value.code) == (400, "invalid_request")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
def test_a_json_object_is_read_by_any_of_its_names(kind: str) -> None:
    assert body_of(incoming(b'{"a": 1}', content_type=kind)) == {"a": 1}
    assert body_of(incoming(b"", content_type="text/plain")) == {}


def coming(*chunks: bytes, whole: bool = True) -> Receive:
    """The messages of a body that comes in chunks; one that is not whole breaks off."""
    messages: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if whole:
        messages[-1]["more_body"] = False
    left = iter([*messages, {"type": "http.disconnect"}])

    async def receive() -> Message:
        return next(left)

    return receive


def test_a_body_is_read_whole_and_kept_to_its_limit() -> None:
    for limit, kept in ((6, (b"abcdef", True)), (5, (b"abcde", False)), (3, (b"abc", False)), (0, (b"", False))):
        assert asyncio.run(read_body(coming(b"abc", b"", b"def"), limit)) == kept
    with pytest.raises(ClientDisconnect):
        asyncio.run(read_body(coming(b"abc", whole=False), 10))


async def written(outgoing: Outgoing, method: str = "GET", cut: Callable[[], None] | None = None) -> list[Message]:
    """What is sent of an answer. `cut`: what drops the connection, where the server has that."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "extensions": {} if cut is None else {CUT: cut}}
    await write(scope, coming(b""), send, outgoing)
    return sent


@pytest.mark.parametrize(
    ("status", "method", "length", "body"),
    [
        (200, "GET", b"2", b"{}"),
        (200, "HEAD", b"2", b""),
        (204, "GET", None, b""),
        (205, "GET", b"0", b""),
        (304, "GET", None, b""),
    ],
)
def test_a_response_with_content_has_a_content_length(
    status: int, method: str, length: bytes | None, body: bytes
) -> None:
    start, *rest = asyncio.run(written(Outgoing(status, b"{}", {"X-Request-Id": "req_1"}), method))
    headers = dict(start["headers"])
    assert (start["status"], headers[b"x-request-id"], headers.get(b"content-length")) == (status, b"req_1", length)
    assert b"".join(message["body"] for message in rest) == body


def test_an_answer_that_is_cut_drops_the_connection_without_a_byte() -> None:
    cuts: list[str] = []
    assert asyncio.run(written(Outgoing(0, b"", cut=True), cut=lambda: cuts.append("cut"))) == []
    assert cuts == ["cut"]
    with pytest.raises(NoCut):
        asyncio.run(written(Outgoing(0, b"", cut=True)))


@pytest.mark.parametrize("status", [200, 204, 205, 404])
def test_lines_of_an_answer_say_what_its_headers_do(status: int) -> None:
    outgoing = Outgoing(status, b"{}", {"X-Request-Id": "req_1", "Retry-After": "5"})
    lines = "".join(f"{name.decode()}: {value.decode()}\r\n" for name, value in raw_headers(outgoing))
    assert header_lines(outgoing) == lines


@pytest.mark.parametrize("value", ["a\r\nset-cookie: b", "a\n", "\x7f", "caf\xe9"])
def test_a_value_that_may_not_stand_in_a_line_makes_none(value: str) -> None:
    assert header_lines(Outgoing(405, b"{}", {"Allow": value})) is None
