"""The host names and web origins that a server accepts, in isolation and as bytes on a socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.engine.server.http.hosts import Hosts, host_name, is_loopback
from tests.raw import ask, refusal, request
from tests.remote import EMPTY, Remote, running

MALFORMED = (
    "[",
    "[x]",
    "a[b",
    "127.0.0.1:8642.evil.com",
    "localhost/evil",
    "evil.com@127.0.0.1",
    "localhost#x",
    "localhost:99999",
    "localhost:8a",
    "localhost:",
    "[::1",
    "[:::1]",
    "127.0.0.1 evil.com",
    "",
)


FOREIGN = (
    "evil.com",
    "evil.com:8642",
    "host.docker.internal",
    "0.0.0.0",
    "10.0.0.1",
    "127.0.0.1.evil.com",
    "localhost.evil.com",
)


OWN = ("127.0.0.1", "127.0.0.1:1", "localhost", "LocalHost:8642", "[::1]", "[::1]:8642", "127.9.9.9")


@pytest.mark.parametrize("host", [*MALFORMED, *FOREIGN])
@pytest.mark.parametrize("path", ["/v1/networks", "/production/v1/networks", "/_simulator/worlds", "/_simulator/none"])
def test_a_server_on_loopback_answers_to_no_other_name(origin: str, path: str, host: str) -> None:
    assert refusal(ask(origin, request("GET", path, host=host))) == (403, "forbidden")


@pytest.mark.parametrize("host", OWN)
@pytest.mark.parametrize("path", ["/v1/profile", "/_simulator/worlds"])
def test_a_server_on_loopback_answers_to_loopback_names(origin: str, path: str, host: str) -> None:
    assert ask(origin, request("GET", path, host=host))[0] == (401 if path == "/v1/profile" else 200)


def test_a_request_names_one_host(origin: str) -> None:
    for path in ("/v1/networks", "/_simulator/worlds"):
        assert refusal(ask(origin, request("GET", path, host=None))) == (403, "forbidden")
        assert refusal(ask(origin, request("GET", path, "Host: evil.com"))) == (403, "forbidden")
        old = f"GET {path} HTTP/1.0\r\n\r\n".encode()
        assert ask(origin, old)[0] != 403


def test_a_refused_host_gets_a_request_id_and_says_what_to_do(origin: str) -> None:
    status, headers, body = ask(origin, request("GET", "/v1/networks", host="simulator.test"))
    error = json.loads(body)["error"]
    assert (status, error["request_id"]) == (403, headers["x-request-id"])
    assert "simulator.test" in error["message"]
    assert "--allowed-host" in error["message"]


def test_an_allowed_host_is_answered_by_both_interfaces() -> None:
    with running(replace(EMPTY, allowed_hosts=("host.docker.internal",))) as (origin, _):
        for path, status in (("/v1/profile", 401), ("/_simulator/worlds", 200)):
            assert ask(origin, request("GET", path, host="Host.Docker.Internal:8642"))[0] == status
            assert ask(origin, request("GET", path, host="evil.com"))[0] == 403


def test_beyond_loopback_only_the_control_token_counts() -> None:
    with running(replace(EMPTY, host="0.0.0.0", control_token="sesame")) as (origin, _):
        assert ask(origin, request("GET", "/v1/profile", host="anything.example"))[0] == 401
        assert ask(origin, request("GET", "/_simulator/worlds", host="anything.example"))[0] == 401
        own = request("GET", "/_simulator/worlds", "Authorization: Bearer sesame", host="anything.example")
        assert ask(origin, own)[0] == 200


@pytest.mark.parametrize(
    "own_origin",
    ["null", "http://evil.com", "https://127.0.0.1", "http://127.0.0.1:1", "http://127.0.0.1/", "127.0.0.1"],
)
def test_control_calls_come_from_the_servers_own_pages_only(origin: str, own_origin: str) -> None:
    answer = ask(origin, request("GET", "/_simulator/worlds", f"Origin: {own_origin}"))
    assert refusal(answer) == (403, "forbidden")
    assert ask(origin, request("GET", "/_simulator/worlds", "Origin: http://127.0.0.1"))[0] == 200


FOREIGN_PAGES = (
    "Origin: null",
    "Origin: http://evil.com",
    "Origin: https://127.0.0.1",
    "Origin: http://127.0.0.1:1",
    "Origin: http://127.0.0.1/",
    "Origin:",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site",
)
OWN_PAGES = (
    "Origin: http://127.0.0.1",
    "Origin: HTTP://127.0.0.1",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Site: none",
)


class Layer:
    """A middleware that does nothing; with it every call goes by ASGI."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


@pytest.fixture(scope="module", params=["fast path", "asgi"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server of its own, and one that answers by ASGI alone."""
    config, layers = replace(EMPTY, allowed_origins=("http://localhost:5173",)), [Layer] * (request.param == "asgi")
    with running(config, *layers) as (own, _):
        yield own


@pytest.mark.parametrize("path", ["/v1/networks", "/production/v1/networks", "/_worlds/default/v1/x", "/none"])
@pytest.mark.parametrize("page", FOREIGN_PAGES)
def test_api_refuses_pages_of_other_origins(server: str, path: str, page: str) -> None:
    status, headers, body = ask(server, request("POST", path, page, "Content-Type: text/plain", body=b"x"))
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (403, "forbidden")
    assert headers["x-request-id"] == error["request_id"]
    assert "other origins" in error["message"]


@pytest.mark.parametrize("page", [*OWN_PAGES, "Origin: http://localhost:5173", "Origin: HTTP://LOCALHOST:5173"])
def test_api_answers_pages_of_known_origins(server: str, page: str) -> None:
    assert ask(server, request("GET", "/v1/profile", page))[0] == 401


def test_api_refuses_one_foreign_of_two_origins(server: str) -> None:
    both = request("GET", "/v1/profile", "Origin: http://127.0.0.1", "Origin: http://evil.com")
    assert refusal(ask(server, both)) == (403, "forbidden")


def test_api_behind_a_tls_proxy_answers_its_own_page(server: str) -> None:
    proxied = ("Origin: https://127.0.0.1", "X-Forwarded-Proto: https")
    assert ask(server, request("GET", "/v1/profile", *proxied))[0] == 401
    plain = ("Origin: http://127.0.0.1", "X-Forwarded-Proto: https")
    assert refusal(ask(server, request("GET", "/v1/profile", *plain))) == (403, "forbidden")


def test_api_refusing_a_page_leaves_no_trace(server: str) -> None:
    def left() -> list[bytes]:
        paths = ("state", "requests", "coverage", "worlds/default")
        return [ask(server, request("GET", f"/_simulator/{path}"))[2] for path in paths]

    before = left()
    for page in FOREIGN_PAGES:
        for path in ("/v1/auth/token", "/v1/none", "/none"):
            assert ask(server, request("POST", path, page, "X-A: a\tb", body=b"{}"))[0] == 403
    for host in FOREIGN:
        assert ask(server, request("GET", "/v1/networks", host=host))[0] == 403
    assert left() == before


def test_api_refusing_a_page_reads_no_body(server: str) -> None:
    unfinished = request("POST", "/v1/quotes", "Origin: http://evil.com", "Content-Length: 60000000", body=b"{")
    assert refusal(ask(server, unfinished)) == (403, "forbidden")


def test_api_beyond_loopback_answers_pages_of_any_origin() -> None:
    with running(replace(EMPTY, host="0.0.0.0", control_token="sesame")) as (origin, _):
        for page in FOREIGN_PAGES:
            assert ask(origin, request("GET", "/v1/profile", page))[0] == 401


def test_a_webhook_cannot_steer_the_simulator(world: Remote) -> None:
    made = world.api("GET", "/profile")
    assert made.status == 200
    for method, path in (("POST", "/reset"), ("GET", "/worlds"), ("POST", "/clock/advance"), ("GET", "/dashboard")):
        refused = world.control(method, path, {"by": "1s"} if method == "POST" else None, {"X-Signature": "00"})
        assert refused.refusal == (403, "forbidden", None)
    assert world.control("GET", "/health", headers={"X-Signature": "00"}).status == 200
    assert world.control("POST", "/inbox/signed", headers={"X-Signature": "00"}).status == 200
    refused = world.api("POST", "/webhooks", {"url": f"{world.origin}/_simulator/reset", "events": ["*"]})
    assert (refused.status, refused.code) == (422, "invalid_webhook_url")
    assert world.api("GET", "/profile").status == 200, "the world was not reset"


def test_a_stranger_is_refused_before_the_body_is_read() -> None:
    with running(replace(EMPTY, host="0.0.0.0", control_token="sesame")) as (origin, _):
        unfinished = request("PUT", "/_simulator/state", "Content-Length: 60000000", body=b"{")
        assert refusal(ask(origin, unfinished)) == (401, "unauthorized")
    with running(EMPTY) as (origin, _):
        for path in ("/_simulator/state", "/v1/auth/token"):
            unfinished = request("PUT", path, "Content-Length: 60000000", host="evil.com", body=b"{")
            assert refusal(ask(origin, unfinished)) == (403, "forbidden")


def scope(*hosts: str, version: str = "1.1", server: tuple[str, int | None] | None = ("127.0.0.1", 8642)) -> Scope:
    """The scope of a request with these Host headers, reached at an address."""
    return {"headers": [(b"Host", host.encode()) for host in hosts], "http_version": version, "server": server}


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Partner.Test:80", "partner.test"),
        ("[::1]:65535", "[::1]"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
        ("a_b-c.d", "a_b-c.d"),
        ("x" * 253, "x" * 253),
        ("x" * 254, None),
        ("-x", None),
        ("x.", None),
        ("localhost:65536", None),
        ("[1::2::3]", None),
        ("user@host", None),
        ("host/path", None),
    ],
)
def test_a_host_header_is_a_name_with_an_optional_port(header: str, name: str | None) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("name", "is_own"),
    [("LOCALHOST", True), ("127.8.9.10", True), ("[::1]", True), ("::1", True), ("0.0.0.0", False), ("my.host", False)],
)
def test_loopback_is_this_machine_only(name: str, is_own: bool) -> None:
    assert is_loopback(name) is is_own


def test_the_host_name_that_an_in_process_caller_chose_is_accepted() -> None:
    """In process there is no socket, and the address in the scope is what the caller called the server."""
    hosts = Hosts()
    assert hosts.refusal(scope("simulator.test", server=("Simulator.Test", 80))) is None
    assert "not 'other.test'" in str(hosts.refusal(scope("other.test", server=("simulator.test", 80))))
    assert hosts.refusal(scope("other.test", server=None)) is not None


def test_an_accepted_host_is_cached_and_no_other_is() -> None:
    hosts = Hosts(("Partner.Test",))
    for _ in range(2):
        assert hosts.refusal(scope("partner.test:1")) is None
        assert hosts.refusal(scope("127.0.0.1", "partner.test:1")) is not None
        assert hosts.refusal(scope("partner.test.evil")) is not None
    for port in range(100):
        assert hosts.refusal(scope(f"partner.test:{port}")) is None
        assert hosts.refusal(scope(f"partner.evil:{port}")) is not None


def test_only_the_oldest_http_may_leave_the_host_out() -> None:
    assert Hosts().refusal(scope(version="1.0")) is None
    assert Hosts().refusal(scope(version="1.1")) is not None
    assert Hosts(open_to_all=True).refusal(scope(version="1.1")) is None
