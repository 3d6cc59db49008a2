"""`rampsim mcp` as an MCP client uses it: started by the client, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

mcp = pytest.importorskip("mcp")

from tests.support import BENEFICIARY  # noqa: E402
from tests.tools.agents.conftest import QUOTE, REFUND_ADDRESS  # noqa: E402

pytestmark = pytest.mark.usefixtures("elsewhere")

Use = Callable[..., Awaitable[tuple[bool, Any]]]


def in_session(play: Callable[[Use], Awaitable[None]]) -> None:
    """Play against a fresh `rampsim mcp`, with the library's own client."""

    async def run() -> None:
        program = mcp.StdioServerParameters(command=sys.executable, args=["-m", "simulator", "mcp"])
        async with mcp.Client(mcp.stdio_client(program)) as client:
            tools = (await client.list_tools()).tools
            assert len(tools) == 8

            async def use(name: str, **arguments: object) -> tuple[bool, Any]:
                result = await client.call_tool(name, arguments)
                text = result.content[0].text
                assert len(text) <= 2_000
                return not result.is_error, json.loads(text)

            await play(use)

    asyncio.run(run())


@pytest.mark.farm  # the library takes a second on either side
def test_from_nothing_to_a_completed_verified_offramp_past_a_mistake() -> None:
    async def play(use: Use) -> None:
        async def done(name: str, **arguments: object) -> Any:
            succeeded, answer = await use(name, **arguments)
            assert succeeded, answer
            return answer

        async def refused(name: str, **arguments: object) -> Any:
            succeeded, answer = await use(name, **arguments)
            assert not succeeded, answer
            return answer["error"]

        world = await done("world", do="make")
        hook = {"url": world["inbox"], "events": ["*"]}
        await done("call", method="POST", path="/webhooks", body=hook)
        payee = await done("call", method="POST", path="/beneficiaries", body=BENEFICIARY)

        # It forgets the asset, learns it from the refusal, and asks again.
        careless = {name: value for name, value in QUOTE.items() if name != "asset"}
        error = await refused("call", method="POST", path="/quotes", body=careless)
        mended = {**careless, error["param"]: "USDC"}
        quote = await done("call", method="POST", path="/quotes", body=mended)

        confirmed = {"beneficiary_id": payee["id"], "refund_address": REFUND_ADDRESS}
        offramp = await done("call", method="POST", path=f"/quotes/{quote['id']}/confirm", body=confirmed)

        # It wants too much at once, and does what is possible instead.
        error = await refused("act", target=offramp["id"], action="complete")
        await done("act", target=offramp["id"], action=error["allowed"][0])
        await done("act", target=offramp["id"], action="complete")

        judged = await done(
            "verdict",
            outcomes=[{"id": offramp["id"], "status": "completed"}],
            inbox=world["made"],
            advice_from="error",
        )
        assert judged["ok"] is True
        assert f"a verified webhook reports that {offramp['id']} is completed" in judged["held"]

    in_session(play)


def test_mcp_without_library_says_what_to_install() -> None:
    program = "import sys; sys.modules['mcp'] = None; from simulator.cli import main; main(['mcp'])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "pip install './rampsim-0.1.0-py3-none-any.whl[mcp]'" in ended.stderr


def test_no_other_command_loads_the_library() -> None:
    program = (
        "import sys\nfrom simulator.cli import COMMANDS\nfor make in COMMANDS.values(): make()\n"
        "sys.exit('mcp' in sys.modules or 'simulator.agents.serving' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], timeout=60)
    assert ended.returncode == 0
