"""The contract as a server gives it away names that server: host, port, scheme and the prefix it is mounted under."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from simulator.address import DEFAULT_URL
from simulator.config import Config
from simulator.contract.serving import CONTRACT_ROWS
from simulator.host import create_app
from simulator.scenario.clients import HttpClient
from simulator.server.process import serving

PATHS = [row.path for row in CONTRACT_ROWS if row.path != "/webhook-vectors.json"]  # which name no server
MACHINE_READABLE = [path for path in PATHS if not path.endswith(".html")]


def served(path: str, prefix: str = "", **headers: str) -> tuple[str, str]:
    """A file of a real server, and the origin of that server; `prefix` is where another application has mounted it."""
    application = create_app(Config())
    outer = Starlette(routes=[Mount(prefix, application)]) if prefix else application

    async def go() -> tuple[str, str]:
        async with serving(application) as origin, HttpClient(origin) as client:
            if not prefix:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                reply = await client.request("GET", f"/_simulator{path}", headers=named)
                assert reply.status == 200
                return reply.raw.decode(), origin
        origin = "http://127.0.0.1:9000"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(outer), base_url=origin) as inner:
            answer = await inner.get(f"{prefix}/_simulator{path}")
            assert answer.status_code == 200
            return answer.text, f"{origin}{prefix}"

    return asyncio.run(go())


def servers(text: str) -> list[str]:
    """The addresses under `servers`, which stands before the paths; read as text, which is quick."""
    head, *_ = re.split(r'^ *"?paths"?:', text, maxsplit=1, flags=re.MULTILINE)
    found = re.findall(r'"?url"?: "(.*?)"', head)
    assert found
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_what_is_served_names_the_server_it_comes_from(path: str) -> None:
    text, origin = served(path)
    assert origin in text
    assert DEFAULT_URL not in text


@pytest.mark.slow
@pytest.mark.parametrize("path", MACHINE_READABLE)
def test_servers_have_the_scheme_that_a_proxy_in_front_tells(path: str) -> None:
    text, origin = served(path, x_forwarded_proto="https")
    assert all(url.startswith(origin.replace("http://", "https://")) for url in servers(text))


@pytest.mark.slow
@pytest.mark.parametrize("path", MACHINE_READABLE)
def test_servers_have_the_prefix_of_a_mount(path: str) -> None:
    text, origin = served(path, prefix="/bank")
    assert all(url == origin or url.startswith(f"{origin}/") for url in servers(text))
    assert DEFAULT_URL not in text
