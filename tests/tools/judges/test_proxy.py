"""The included scenarios, run through a validating proxy (Prism) that finds no response that violates the contract.

The simulator is a real server on its own port with a manual clock. Prism checks every call and response against the
contract. Intentionally wrong calls violate it in the request. No response may violate it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
import yaml

from simulator.contract.files import operations_of
from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.asynchronous import Reply
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.engine.scenario.run.runner import run
from simulator.engine.server.process import serving
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, application_of
from simulator.kernel.world import DEFAULT_WORLD
from simulator.service import TOKEN_EXCHANGE
from tests.contract_judge import ContractJudge
from tests.tools.judges import tools

pytestmark = pytest.mark.xdist_group("proxy")

BASE = "/v1"
STRICT = tools.CONTRACTS / "openapi.strict.yaml"
STARTED = "Prism is listening"
START_SECONDS = 60.0
LIMIT = aiohttp.ClientTimeout(30)
SPOILED = {"answer-garbled", "answer-lost", "answer-unexpected", "connection-cut"}
"""Scenarios whose faults break responses on purpose. These violations are not findings."""


@dataclass
class Passage:
    """What went through the proxy, and what it found."""

    passed: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    refused: int = 0
    """Calls that the proxy found to break the contract on the side of the request."""
    violations: list[str] = field(default_factory=list)
    """What the proxy found in answers, from its header and from its log."""


def goes_around(judge: ContractJudge, method: str, path: str) -> bool:
    """Whether a call cannot go through the proxy, which stands before the sandbox and answers itself what the contract
    does not write down."""
    return not path.startswith(f"{BASE}/") or judge.find(method, path.removeprefix(BASE)) is None


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


class ThroughProxy:
    """Plays scenarios: calls of the sandbox go through the proxy, all others straight to the simulator."""

    def __init__(
        self,
        upstream: str,
        before: str,
        straight: aiohttp.ClientSession,
        through: aiohttp.ClientSession,
        judge: ContractJudge,
        found: Passage,
    ) -> None:
        self.origin = upstream
        self._before = before
        self._straight = straight
        self._through = through
        self._judge = judge
        self._found = found

    async def request(
        self, method: str, path: str, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        if path.startswith(CONTROL_BASE):
            return await self._send(self._straight, self.origin + path, method, json, headers)
        around = goes_around(self._judge, method, path)
        name = f"{method} {path}"
        (self._found.around if around else self._found.passed).append(name)
        if around:
            reply = await self._send(self._straight, self.origin + path, method, json, headers)
        else:
            reply = await self._send(self._through, self._before + path.removeprefix(BASE), method, json, headers)
        violations = reply.headers.get("sl-violations", "")
        self._found.statuses.add(reply.status)
        self._found.refused += '"location":["request"' in violations
        if '"location":["response"' in violations:
            self._found.violations.append(f"{name} {reply.status}: {violations}")
        kind = reply.headers.get("content-type", "")
        assert "problem" not in kind, f"the proxy itself answers {name}: {reply.body}"
        return reply

    async def _send(
        self, http: aiohttp.ClientSession, url: str, method: str, body: Any, headers: Mapping[str, str] | None
    ) -> Reply:
        async with http.request(method, url, json=body, headers=headers) as response:
            content = await response.read()
            named = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status, orjson.loads(content) if content else None, named)


def play(contract: Path, log: Path, names: Iterable[str]) -> Passage:
    """Play scenarios that ship through a proxy that holds the calls against this contract."""
    document: dict[str, Any] = orjson.loads((tools.CONTRACTS / "openapi.json").read_bytes())
    found = Passage()

    async def go() -> None:
        simulator = Simulator()
        simulator.create_world(Blueprint(DEFAULT_WORLD, 3))
        application = application_of(Runtime(simulator))
        async with (
            serving(application) as upstream,
            proxy(contract, upstream, log) as before,
            aiohttp.ClientSession(timeout=LIMIT) as straight,
            # A connection for each call: Node closes idle ones, at times just when the next call is sent.
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True), timeout=LIMIT) as through,
        ):
            client = ThroughProxy(upstream, before, straight, through, ContractJudge(document), found)
            for name in names:
                result = await run(simulator.library[name], client, TOKEN_EXCHANGE, seed=3)
                assert result.passed, (name, [check for check in result.checks if not check.passed])

    asyncio.run(go())
    # The header is cut when it is long; the log is not.
    found.violations += [line for line in log.read_text("utf-8").splitlines() if "Violation: response" in line]
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Passage:
    log = tmp_path_factory.mktemp("proxy") / "prism.log"
    names = sorted({path.stem for path in shipped_directory().glob("*.yaml")} - SPOILED)
    return play(STRICT, log, names)


def test_no_answer_breaks_the_contract(whole: Passage) -> None:
    assert whole.violations == []


def test_every_operation_went_through_the_proxy_with_good_and_with_bad_calls(
    whole: Passage, document: dict[str, Any]
) -> None:
    judge = ContractJudge(document)
    seen = set()
    for name in whole.passed:
        method, _, path = name.partition(" ")
        found = judge.find(method, path.removeprefix(BASE))
        assert found is not None
        seen.add(found[1]["operationId"])
    assert seen == {operation["operationId"] for _, _, operation in operations_of(document)}
    assert whole.statuses >= {200, 201, 204, 400, 401, 403, 404, 409, 422, 429, 500, 503}
    assert len(whole.passed) > 650
    assert whole.refused > 25


def test_only_these_calls_went_around_the_proxy(whole: Passage) -> None:
    assert [name for name in whole.around if name.partition(" ")[2].startswith(f"{BASE}/")] == [
        "GET /v1/nowhere",
        "DELETE /v1/profile",
    ]
    assert {name.split("/")[1] for name in whole.around} == {"v1", "production"}


def test_the_proxy_sees_what_a_broken_contract_does_not_allow(tmp_path: Path) -> None:
    """A type that is another, a field and a status that are not written down."""
    broken = yaml.load(STRICT.read_bytes(), yaml.CSafeLoader)
    profile = broken["components"]["schemas"]["Profile"]
    profile["properties"]["two_factor_enabled"] = {"type": "string"}
    del profile["properties"]["email"]
    profile["required"].remove("email")
    del broken["paths"]["/profile"]["get"]["responses"]["401"]
    (tmp_path / "broken.json").write_bytes(orjson.dumps(broken))
    found = play(tmp_path / "broken.json", tmp_path / "prism.log", ["keys-rotated"])
    said = "\n".join(found.violations)
    for wrong in ("two_factor_enabled must be string", "'email'", "401"):
        assert wrong in said, said
