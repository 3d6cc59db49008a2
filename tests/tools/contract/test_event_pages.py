"""The event pages are complete, their links work, and their receiver works with real requests."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from contracts.generator.openapi import operations
from simulator.contract.files import contracts_directory
from simulator.engine.clients.asynchronous import HttpClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.engine.text.json import JsonObject, loads
from simulator.host import create_app, vocabulary
from simulator.kernel.clock import parse_timestamp
from tests.support import KEYS

NAMES = list(vocabulary().events)


def page(files: dict[str, bytes], name: str) -> str:
    return files[f"events/{name}.md"].decode()


def run(text: str) -> dict[str, Any]:
    """The names that the code of a page leaves when it has run."""
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "page", "exec"), names)
    return names


@pytest.mark.parametrize("name", NAMES)
def test_receiver_of_a_page_accepts_its_example(name: str, files: dict[str, bytes]) -> None:
    ran = run(page(files, name))
    (shown,) = re.findall(r"```json\n(.*?)```", page(files, name), re.DOTALL)
    assert ran["event"] == loads(shown)
    assert ran["event"]["type"] == name


@pytest.mark.parametrize("name", NAMES)
def test_a_page_explains_every_field_of_its_example(name: str, files: dict[str, bytes]) -> None:
    shown = run(page(files, name))["event"]["data"]["object"]
    missing = [field for field in shown if f"| `{field}` |" not in page(files, name)]
    assert missing == []


def test_links_of_the_pages_resolve(files: dict[str, bytes]) -> None:
    root = contracts_directory()
    for name in (*NAMES, "README"):
        for target in re.findall(r"\]\(([^)]+)\)", page(files, name)):
            path, _, anchor = target.partition("#")
            assert (root / "events" / path).resolve().is_file() or f"events/{path}" in files, (name, target)
            assert f'<a id="{anchor}"></a>' in files["assumptions.md"].decode() or not anchor, (name, target)


def test_page_names_the_operation_that_reads_the_object(files: dict[str, bytes]) -> None:
    known = {f"{row.method} {re.sub(r'{.*?}', '{}', row.path)}" for row in operations()}
    for name in NAMES:
        (found,) = re.findall(r"Current state of the object: `(.*?)`", page(files, name))
        assert re.sub(r"{.*?}", "{}", found) in known, name


def test_the_index_names_every_event_and_its_schema(files: dict[str, bytes]) -> None:
    for name in NAMES:
        assert f"| [{name}]({name}.md) |" in page(files, "README")
        assert f"({name}.schema.json)" in page(files, "README")


@pytest.fixture(scope="module")
def received() -> list[JsonObject]:
    """The requests in a real inbox: the registration test, and an event."""

    async def go() -> list[JsonObject]:
        async with serving(create_app(Config())) as origin:
            client = HttpClient(origin)
            token = (await client.request("POST", "/v1/auth/token", KEYS)).body["access_token"]
            mine = {"Authorization": f"Bearer {token}"}
            hook = {"url": f"{origin}/_simulator/inbox/shop", "events": ["*"]}
            assert (await client.request("POST", "/v1/webhooks", hook, mine)).status == 201
            assert (await client.request("POST", "/v1/wallets", {"network": "celo"}, mine)).status == 201
            await client.request("POST", "/_simulator/settle?wait=true")
            messages: list[JsonObject] = (await client.request("GET", "/_simulator/inbox/shop")).body["data"]
            return messages

    return asyncio.run(go())


def test_the_check_of_a_page_accepts_only_real_requests(files: dict[str, bytes], received: list[JsonObject]) -> None:
    ran = run(page(files, "wallet.created"))
    is_genuine: Callable[..., bool] = ran["is_genuine"]
    message = received[-1]
    key, headers, body = ran["key"], message["headers"], message["body"].encode()
    now_ms = parse_timestamp(message["at"])
    assert is_genuine(key, headers, body, now_ms)
    assert not is_genuine(key, headers, body.replace(b"celo", b"stellar"), now_ms)
    assert not is_genuine("whk_test_another", headers, body, now_ms)
    assert not is_genuine(key, headers, body, now_ms + 301_000)
    assert not is_genuine(key, {}, body, now_ms)
