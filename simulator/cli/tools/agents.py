"""`rampsim mcp`: serves tools for coding agents over the Model Context Protocol."""

from __future__ import annotations

import os

import click

from simulator.cli.output import fail
from simulator.cli.remote import address_of
from simulator.cli.server import settings, settings_file
from simulator.version import wheel

_URL, _TOKEN = (next(one for one in settings.CLIENT if one.name == name) for name in ("url", "control_token"))


@click.command()
@_URL._replace(otherwise="the server that was started here, else a new one that ends with this command").option()
@_TOKEN.option()
@settings_file.config_option(settings.CLIENT)
def mcp(url: str | None, control_token: str | None) -> None:
    """Serve tools for coding agents (Model Context Protocol).

    The tools use standard input and output. An MCP client starts this command itself. Add it to the client's
    configuration:

    \b
    {"mcpServers": {"rampsim": {"command": "rampsim", "args": ["mcp"]}}}

    The tools are world, call, act, advance, inspect, fault, scenario and verdict. If no server is running, the command
    starts one.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        import anyio
        import mcp as _library  # noqa: F401  checked here for a clear error message
    except ImportError:
        fail(f"`rampsim mcp` needs the library mcp: pip install '{wheel('mcp')}'")
    from simulator.agents import serving

    address = address_of(url)
    anyio.run(serving.serve_stdio, address.url if address.by else None, control_token)
