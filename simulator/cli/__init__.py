"""The command line: `rampsim` (also `python -m simulator`).

Modules that take time to load (pydantic, the rooms, uvicorn) are imported inside the commands that need them, so that
`rampsim --help` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module

import click

from simulator.cli.output import EXIT_USAGE, fail
from simulator.engine.clients import trusted_hosts
from simulator.engine.clients.live_keys import LiveKey
from simulator.service import LIVE_KEYS
from simulator.version import __version__

__all__ = ["main"]

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Run": {
        "serve": "server.serve.serve",
        "wait": "server.waiting.wait",
        "open": "server.waiting.open_dashboard",
        "mcp": "tools.agents.mcp",
    },
    "Look": {
        "tail": "worlds.tailing.tail",
        "find": "worlds.seeing.find",
        "resources": "worlds.seeing.resources",
        "requests": "worlds.seeing.requests",
        "events": "worlds.seeing.events",
        "deliveries": "worlds.seeing.deliveries",
        "inbox": "worlds.inboxes.inbox",
    },
    "Steer": {
        "clock": "worlds.steering.clock",
        "action": "worlds.steering.action",
        "actions": "worlds.steering.actions",
        "trigger": "worlds.steering.trigger",
        "faults": "worlds.faults.faults",
        "scenario": "tools.scenarios.scenario",
        "record": "worlds.seeing.record",
    },
    "Worlds": {
        "worlds": "worlds.worlds.worlds",
        "snapshots": "worlds.snapshots.snapshots",
        "reset": "worlds.steering.reset",
    },
    "Judge": {
        "advice": "worlds.advising.advice",
        "coverage": "worlds.seeing.coverage",
        "certify": "tools.certifying.certify",
        "explore": "tools.exploring.explore",
        "conform": "tools.conforming.conform",
        "compare": "tools.comparing.compare",
    },
    "Help": {
        "docs": "tools.docs.docs",
        "recipe": "tools.recipes.recipe",
        "assumptions": "tools.assuming.assumptions",
        "completion": "tools.completing.completion",
    },
}
"""The sections of the help, and in each its commands by name, with the place of each in this package."""

COMMANDS: Mapping[str, str] = {name: place for commands in SECTIONS.values() for name, place in commands.items()}


def command_of(name: str) -> click.Command:
    """A command by its name; its module is loaded when it is called, or shown in the help."""
    module, _, attribute = COMMANDS[name].rpartition(".")
    command: click.Command = getattr(import_module(f"simulator.cli.{module}"), attribute)
    return command


_EPILOG = """\b
Exit codes:
  0  done
  1  refused by the server, not valid, or an expectation was not met
  2  wrong usage or configuration
  3  no server answers at the address
"""


_AROUND_NAME = 4
"""Columns left of a name and between it and what it is for."""


class _Commands(click.Group):
    """The commands, each of which is loaded when it is asked for, and none with a real key."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            LIVE_KEYS.refuse_given(args, os.environ)
        except LiveKey as error:
            fail([str(error)], EXIT_USAGE)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:  # it looks for near ones among commands that are loaded already
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for section, commands in SECTIONS.items():
            rows = [
                (name.ljust(widest), command_of(name).get_short_help_str(formatter.width - widest - _AROUND_NAME))
                for name in commands
            ]
            with formatter.section(section):
                formatter.write_dl(rows)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EPILOG
)
@click.version_option(__version__, prog_name="rampsim")
@click.option(
    "--allow-host", "allowed", multiple=True, metavar="NAME",
    help="Speak to a simulator on this host, too; repeatable.  [env var: SIMULATOR_ALLOW_HOSTS; default: loopback, "
    "host.docker.internal]",
)  # fmt: skip
def main(allowed: tuple[str, ...]) -> None:
    """A simulator of a stablecoin ramp and wallet service.

    `rampsim serve` starts it; most other commands steer a server that runs, or look at it.
    `rampsim docs` has the documentation, `rampsim COMMAND --help` what a command takes.
    """
    trusted_hosts.allow(allowed)
