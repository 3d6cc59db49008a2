"""The MCP server on standard input and output, with the official library (extra `mcp`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from simulator.agents import toolbox
from simulator.agents.answers import written
from simulator.agents.session import Session
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from simulator.version import __version__


async def serve_stdio(url: str | None, token: str | None) -> None:
    """Serve MCP requests until standard input ends. If `url` is None, start a simulator, and stop it at the end."""
    async with _session(url, token) as session, stdio_server() as (reads, writes):
        server = make_server(session)
        await server.run(reads, writes, server.create_initialization_options())


@asynccontextmanager
async def _session(url: str | None, token: str | None) -> AsyncIterator[Session]:
    if url is not None:
        yield Session(url, token)
        return
    async with serving(create_app(Config(clock="manual"))) as origin:
        yield Session(origin)


def make_server(session: Session) -> Server:
    """Return the server for one session. Tools run in threads, one call at a time, because they share a world."""
    one_by_one = anyio.CapacityLimiter(1)

    async def list_tools(
        context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=types.ToolAnnotations(read_only_hint=tool.reads_only, open_world_hint=False),
            )
            for tool in toolbox.TOOLS
        ]
        return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="public")

    async def call_tool(context: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        done, answer = await anyio.to_thread.run_sync(
            toolbox.use, session, params.name, params.arguments or {}, limiter=one_by_one
        )
        return types.CallToolResult(content=[types.TextContent(text=written(answer))], is_error=not done)

    return Server(
        "rampsim",
        version=__version__,
        title="Stablecoin ramp simulator",
        instructions=toolbox.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
