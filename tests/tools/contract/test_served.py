"""The contract from a server contains that server's address: host, port, scheme and mount prefix."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from simulator.contract.serving import CONTRACT_ROWS
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.clients.asynchronous import HttpClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app

PATHS = [
    *(row.path for row in CONTRACT_ROWS if row.path != "/webhook-vectors.json"),  # which name no server
    "/collection.json",
    "/flows.arazzo.yaml",
]
MACHINE_READABLE = [path for path in PATHS if not path.endswith((".html", "/collection.json", "/flows.arazzo.yaml"))]


def served(path: str, prefix: str = "", **headers: str) -> tuple[str, str]:
    """A file of a real server, and the origin of that server; `prefix` is where another application has mounted it."""
    application = create_app(Config())

    async def over_http() -> tuple[str, str]:
        async with serving(application) as origin:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            reply = await HttpClient(origin).request("GET", f"/_simulator{path}", headers=named)
            assert reply.status == 200
            return reply.raw.decode(), origin

    async def mounted() -> tuple[str, str]:
        origin, outer = "http://127.0.0.1:9000", Starlette(routes=[Mount(prefix, application)])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url=origin) as inner:
            answer = await inner.get(f"{prefix}/_simulator{path}")
            assert answer.status_code == 200
            return answer.text, f"{origin}{prefix}"

    return asyncio.run(mounted() if prefix else over_http())


def servers(text: str) -> list[str]:
    """The addresses under `servers`, which stands before the paths; read as text, which is quick."""
    head, *_ = re.split(r'^ *"?paths"?:', text, maxsplit=1, flags=re.MULTILINE)
    found = re.findall(r'"?url"?: "(.*?)"', head)
    assert found
    return found


@pytest.mark.parametrize("path", PATHS)
def test_served_contract_names_its_server(path: str) -> None:
    text, origin = served(path)
    assert origin in text
    assert DEFAULT_URL not in text


@pytest.mark.parametrize("path", MACHINE_READABLE)
def test_servers_have_the_scheme_of_the_proxy(path: str) -> None:
    text, origin = served(path, x_forwarded_proto="https")
    assert all(url.startswith(origin.replace("http://", "https://")) for url in servers(text))


@pytest.mark.parametrize("path", MACHINE_READABLE)
def test_servers_have_the_prefix_of_a_mount(path: str) -> None:
    text, origin = served(path, prefix="/bank")
    assert all(url == origin or url.startswith(f"{origin}/") for url in servers(text))
    assert DEFAULT_URL not in text


@pytest.mark.parametrize("prefix", ["", "/bank"])
@pytest.mark.parametrize("path", PATHS)
def test_contract_below_a_world_names_its_base(path: str, prefix: str) -> None:
    text, origin = below_the_default_world(path, prefix)
    named = set(re.findall(re.escape(origin) + r"[^\s\"'<>]*", text))
    assert named
    assert [url for url in named if not url.startswith(f"{origin}/_worlds/default")] == []
    assert DEFAULT_URL not in text


def test_mounted_world_accepts_calls_at_its_address() -> None:
    outer = Starlette(routes=[Mount("/bank", create_app(Config()))])

    async def go() -> tuple[int, int]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url="http://127.0.0.1:9000") as client:
            document = (await client.get("/bank/_worlds/default/_simulator/openapi.json")).json()
            interface = document["servers"][0]["url"]
            keys = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
            token = await client.post(f"{interface}/auth/token", json=keys)
            control = (await client.get("/bank/_worlds/default/_simulator/control.json")).json()["servers"][0]["url"]
            clock = await client.get(f"{control}/_simulator/clock")
            return token.status_code, clock.status_code

    assert asyncio.run(go()) == (200, 200)


def below_the_default_world(path: str, prefix: str) -> tuple[str, str]:
    """A file asked below the base of a world, and the address at which the server is mounted."""
    application = create_app(Config())
    outer = Starlette(routes=[Mount(prefix, application)]) if prefix else application
    origin = "http://127.0.0.1:9000"

    async def go() -> str:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url=origin) as client:
            answer = await client.get(f"{prefix}/_worlds/default/_simulator{path}")
            assert answer.status_code == 200
            return answer.text

    return asyncio.run(go()), f"{origin}{prefix}"
