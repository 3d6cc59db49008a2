"""The server as a Starlette application: run by any ASGI server, mounted in another application, or called without a
socket.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from simulator import Config, create_app
from tests.raw import ask, refusal, request
from tests.remote import EMPTY, Remote, new_client, running
from tests.support import KEYS


def signed_in(client: Any, base: str = "") -> dict[str, str]:
    answer = client.post(f"{base}/v1/auth/token", json=KEYS)
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def test_the_test_client_of_starlette_calls_both_interfaces() -> None:
    with TestClient(create_app(EMPTY)) as client:
        assert client.get("/v1/transactions", headers=signed_in(client)).status_code == 200
        assert client.get("/_simulator/health").json()["status"] == "ok"
        assert client.get("/nowhere").json()["error"]["code"] == "not_found"


def test_without_its_lifespan_it_works_anyway() -> None:
    """A running clock then runs from its first call on."""

    async def scenario() -> None:
        application = create_app(Config(clock="scaled", scenarios=()))
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://simulator.test") as client:
            token = (await client.post("/v1/auth/token", json=KEYS)).json()["access_token"]
            answer = await client.get("/v1/transactions", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 200
            worlds = (await client.get("/_simulator/worlds")).json()["data"]
            assert [world["id"] for world in worlds] == ["default"]
        await application.runtime.close()

    asyncio.run(scenario())


def test_a_name_by_which_the_server_was_not_reached_is_refused() -> None:
    """In process the name is the caller's choice; behind a socket the server knows only its address."""
    client = TestClient(create_app(EMPTY), base_url="http://partner.test")
    assert client.get("/_simulator/worlds").status_code == 200
    assert client.get("/_simulator/worlds", headers={"Host": "rebound.test"}).status_code == 403
    assert client.get("/v1/transactions", headers={"Host": "rebound.test"}).json()["error"]["code"] == "forbidden"


@pytest.fixture
def mounted() -> TestClient:
    """A partner's own application with the simulator at /rails."""

    async def own(request: Request) -> PlainTextResponse:
        return PlainTextResponse("the partner's own page")

    return TestClient(Starlette(routes=[Mount("/rails", create_app(EMPTY)), Route("/", own)]))


def test_mounted_under_a_prefix_it_answers_there_and_nowhere_else(mounted: TestClient) -> None:
    assert mounted.get("/").text == "the partner's own page"
    assert mounted.get("/v1/transactions").status_code == 404
    headers = signed_in(mounted, "/rails")
    assert mounted.get("/rails/v1/transactions", headers=headers).status_code == 200
    refused = mounted.get("/rails/v1/nothing", headers=headers)
    assert refused.json()["error"]["message"] == "There is no path /v1/nothing."
    assert (
        mounted.get("/rails/_simulator/nothing").json()["error"]["message"]
        == "There is no path /_simulator/nothing. List all paths with GET /_simulator/control.json."
    )
    journalled = mounted.get("/rails/_simulator/requests").json()["data"]
    assert [row["path"] for row in journalled] == ["/v1/auth/token", "/v1/transactions", "/v1/nothing"]


def test_mounted_under_a_prefix_all_its_links_lead_there(mounted: TestClient) -> None:
    shown = mounted.get("/rails/_simulator/worlds/default").json()["credentials"]["sandbox"]
    assert shown["base_url"] == "http://testserver/rails/v1"
    first = mounted.get("/rails/", follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (307, "/rails/_simulator/dashboard")
    assert mounted.get("/rails/_simulator/dashboard/js/main.js").status_code == 200
    servers = mounted.get("/rails/_simulator/openapi.json").json()["servers"]
    assert [server["url"] for server in servers] == [
        "http://testserver/rails/v1",
        "http://testserver/rails/production/v1",
    ]


def test_an_added_route_is_found_and_unknown_paths_stay_the_apis() -> None:
    async def extra(request: Request) -> PlainTextResponse:
        return PlainTextResponse("more")

    application = create_app(EMPTY)
    application.router.routes.append(Route("/extra", extra))
    client = TestClient(application)
    assert client.get("/extra").text == "more"
    assert (
        client.get("/_simulator").json()["error"]["message"]
        == "There is no path /_simulator. List all paths with GET /_simulator/control.json."
    )
    assert client.get("/other").headers["x-request-id"].startswith("req_")


def test_a_websocket_is_closed() -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), TestClient(create_app(EMPTY)).websocket_connect("/v1/transactions"):
        pass


def test_a_defect_is_a_500_envelope_with_its_details_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "sk_test_" + "a1" * 12
    with running(EMPTY) as (origin, application):

        def broken(*_: Any) -> Any:
            raise RuntimeError(f"no such luck with {secret}")

        monkeypatch.setattr(application.runtime.driver, "catch_up", broken)
        with caplog.at_level(logging.ERROR):
            for path in ("/v1/profile", "/_simulator/clock"):
                status, _, body = ask(origin, request("GET", path))
                message = json.loads(body)["error"]["message"]
                assert (status, json.loads(body)["error"]["code"]) == (500, "internal_error")
                assert "defect of the simulator" in message
                assert "luck" not in message
    assert caplog.text.count("RuntimeError: no such luck with ***") >= 2
    assert secret not in caplog.text


def test_a_failure_after_a_call_does_not_change_its_response(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with running(EMPTY) as (origin, application), new_client() as client:
        remote = Remote(origin, client)
        remote.world = remote.control("GET", "/worlds/default").body
        remote.token()

        def broken(*_: Any) -> Any:
            raise RuntimeError("the courier fell off its bicycle")

        monkeypatch.setattr(application.runtime.courier, "pump", broken)
        with caplog.at_level(logging.ERROR):
            assert remote.api("POST", "/wallets", {"network": "stellar"}).status == 201
    assert "bicycle" in caplog.text


def test_any_failure_in_the_application_has_an_envelope(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with running(EMPTY) as (origin, application):

        def broken(*_: Any) -> Any:
            raise RuntimeError("nobody expects it")

        monkeypatch.setattr(application.endpoint, "begin", broken)
        with caplog.at_level(logging.ERROR):
            assert refusal(ask(origin, request("GET", "/v1/networks"))) == (500, "internal_error")
    assert "nobody expects it" in caplog.text
