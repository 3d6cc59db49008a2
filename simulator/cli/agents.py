"""`rampsim mcp`: tools for coding agents over the Model Context Protocol."""

from __future__ import annotations

import os

import click

from simulator.cli.remote import EXIT_USAGE, fail, is_address, refuse_foreign


@click.command()
@click.option(
    "--url", envvar="SIMULATOR_URL", show_envvar=True,
    help="A running server to work on.  [default: one that is started for the purpose, and ends with it]",
)  # fmt: skip
@click.option("--control-token", envvar="SIMULATOR_CONTROL_TOKEN", show_envvar=True, help="Token, if it has one.")
def mcp(url: str | None, control_token: str | None) -> None:
    """Serve tools for coding agents over the Model Context Protocol, on standard input and output.

    A client of the protocol starts this command itself; put it into its configuration:

    \b
    {"mcpServers": {"rampsim": {"command": "rampsim", "args": ["mcp"]}}}

    Eight tools: world, call, act, advance, inspect, fault, scenario, verdict. Without --url nothing else needs to run.
    """
    if url is not None and not is_address(url):
        fail([f"--url: {url!r} is not a URL like http://127.0.0.1:8642"], EXIT_USAGE)
    if url is not None:
        refuse_foreign(url)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        import anyio
        import mcp as _library  # noqa: F401  what the command stands on
    except ImportError:
        fail(["`rampsim mcp` needs the library of the Model Context Protocol: pip install 'rampsim[mcp]'"], EXIT_USAGE)
    from simulator.agents import serving

    anyio.run(serving.serve_stdio, url, control_token)
