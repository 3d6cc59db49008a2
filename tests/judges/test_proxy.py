"""The tour of the whole interface through a validating proxy (Prism), which sees no answer that breaks the contract.

The simulator is a real server on a port of its own with a manual clock; Prism stands before it and holds every call
and answer against the contract. Calls that are wrong on purpose break it on the side of the request, which is what they
are for; no answer may.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from contracts.generator.route import whole_interface
from contracts.generator.tour import Guide, Tour
from simulator.contract.files import operations_of
from simulator.server.process import serving
from tests.contract_judge import Judge
from tests.judges import tools
from tests.judges.conftest import Broken

BASE = "/v1"
STARTED = "Prism is listening"
START_SECONDS = 60.0


@dataclass
class Walk:
    """A tour of which the calls go through the proxy."""

    tour: Tour = field(default_factory=Tour)
    passed: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    refused: int = 0
    """Calls that the proxy found to break the contract on the side of the request."""
    violations: list[str] = field(default_factory=list)
    """What the proxy found in answers, from its header and from its log."""


def goes_around(document: dict[str, Any], method: str, path: str, content: bytes) -> str:
    """Why a call cannot go through the proxy, "" when it can."""
    if not path.startswith(f"{BASE}/"):
        return "the proxy stands before the sandbox only"
    found = Judge(document).find(method, path.removeprefix(BASE))
    if found is None or method == "HEAD":
        return "Prism itself answers paths and methods that the contract does not write down, HEAD among them"
    try:
        json.loads(content or b"null")
    except ValueError:
        return "Prism 5 leaves a call whose body is no JSON without an answer"
    return ""


@asynccontextmanager
async def proxy(contract: Path, upstream: str, log: Path) -> AsyncIterator[str]:
    """Prism before a server; gives its origin, and has ended it afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            str(tools.node_directory() / "node"),
            str(tools.tool("prism").resolve()),
            *("proxy", str(contract), upstream + BASE, "--host", "127.0.0.1", "--port", str(port)),
            env=tools.environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        async with asyncio.timeout(START_SECONDS):
            while STARTED not in log.read_text("utf-8"):
                assert process.returncode is None, log.read_text("utf-8")
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def walk(contract: Path, log: Path, route: Callable[[Guide], Any]) -> Walk:
    """Go along a route through a proxy that holds the calls against this contract."""
    document: dict[str, Any] = orjson.loads((tools.CONTRACTS / "openapi.json").read_bytes())
    result = Walk()

    async def go() -> None:
        guide = Guide(seed=3)
        async with (
            serving(guide.application) as upstream,
            proxy(contract, upstream, log) as before,
            # A connection for each call: Node closes idle ones, at times just when the next call is sent.
            httpx.AsyncClient(trust_env=False, timeout=30, limits=httpx.Limits(max_keepalive_connections=0)) as http,
        ):

            async def ask(
                method: str, path: str, query: dict[str, str], headers: dict[str, str], content: bytes
            ) -> tuple[int, dict[str, str], Any]:
                around = goes_around(document, method, path, content)
                name = f"{method} {path}"
                (result.around if around else result.passed).append(name)
                url = upstream + path if around else before + path.removeprefix(BASE)
                sent = [(key.encode(), value.encode("latin-1")) for key, value in headers.items()]
                response = await http.request(method, url, params=query, headers=sent, content=content)
                found = response.headers.get("sl-violations", "")
                result.refused += '"location":["request"' in found
                if '"location":["response"' in found:
                    result.violations.append(f"{name} {response.status_code}: {found}")
                kind = response.headers.get("content-type", "")
                assert "problem" not in kind, f"the proxy itself answers {name}: {response.text}"
                return response.status_code, dict(response.headers), response.json() if response.content else None

            guide._ask = ask  # type: ignore[method-assign]
            await route(guide)
            result.tour = guide.tour

    asyncio.run(go())
    # The header is cut when it is long; the log is not.
    result.violations += [line for line in log.read_text("utf-8").splitlines() if "Violation: response" in line]
    return result


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    log = tmp_path_factory.mktemp("proxy") / "prism.log"
    return walk(tools.CONTRACTS / "openapi.yaml", log, whole_interface)


def test_no_answer_breaks_the_contract(whole: Walk) -> None:
    assert whole.violations == []


def test_every_operation_went_through_the_proxy_with_good_and_with_bad_calls(
    whole: Walk, document: dict[str, Any]
) -> None:
    judge = Judge(document)
    seen = set()
    for name in whole.passed:
        method, _, path = name.partition(" ")
        found = judge.find(method, path.removeprefix(BASE))
        assert found is not None
        seen.add(found[1]["operationId"])
    assert seen == {operation["operationId"] for _, _, operation in operations_of(document)}
    assert {call.status for call in whole.tour.exchanges} >= {
        200,
        201,
        204,
        400,
        401,
        403,
        404,
        409,
        422,
        429,
        500,
        503,
    }
    assert len(whole.passed) > 350
    assert whole.refused > 50


def test_only_these_calls_went_around_the_proxy(whole: Walk) -> None:
    assert [name for name in whole.around if name.partition(" ")[2].startswith(f"{BASE}/")] == [
        "POST /v1/quotes",  # the body is no JSON
        "DELETE /v1/quotes",
        "HEAD /v1/profile",
        "GET /v1/nowhere",
    ]
    assert {name.split("/")[1] for name in whole.around} == {"v1", "production"}


async def look_at_the_profile(guide: Guide) -> None:
    await guide.call("GET", "/profile")
    await guide.call("GET", "/profile", token=False)


def another_type(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["Profile"]["properties"]["two_factor_enabled"] = {"type": "string"}


def a_field_less(document: dict[str, Any]) -> None:
    del document["components"]["schemas"]["Profile"]["properties"]["email"]
    document["components"]["schemas"]["Profile"]["required"].remove("email")


def a_status_less(document: dict[str, Any]) -> None:
    del document["paths"]["/profile"]["get"]["responses"]["401"]


@pytest.mark.parametrize("spoil", [another_type, a_field_less, a_status_less])
def test_the_proxy_sees_what_a_broken_contract_does_not_allow(
    spoil: Callable[[dict[str, Any]], None], broken: Broken, tmp_path: Path
) -> None:
    found = walk(broken(spoil), tmp_path / "prism.log", look_at_the_profile)
    assert found.violations
