"""The command line: `rampsim` (also `python -m simulator`).

Modules of this package run at their first use (`engine/lazy`). Commands import slow modules of other packages inside
the functions that need them. This makes `rampsim --help` fast.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType

import click

from simulator.cli.output import exits
from simulator.cli.server import detaching, doctor, serve, waiting
from simulator.cli.tools import (
    agents,
    assuming,
    capturing,
    certifying,
    comparing,
    completing,
    conforming,
    docs,
    exploring,
    inferring,
    probing,
    recipes,
    scenarios,
)
from simulator.cli.worlds import advising, calling, faults, inboxes, inspecting, snapshots, steering, tailing, worlds
from simulator.engine.clients import guard
from simulator.service import LIVE_KEYS
from simulator.version import __version__

__all__ = ["main"]

_HOMES: Mapping[str, Sequence[tuple[ModuleType, Sequence[str]]]] = {
    "Run": (
        (serve, ["serve"]), (detaching, ["stop"]), (waiting, ["wait", "open"]), (calling, ["env"]),
        (doctor, ["doctor"]), (agents, ["mcp"]),
    ),
    "Inspect": (
        (tailing, ["tail"]), (inspecting, ["find", "resources", "requests", "events", "deliveries"]),
        (inboxes, ["inbox"]),
    ),
    "Control": (
        (calling, ["call"]), (steering, ["clock", "action", "actions", "trigger", "seed"]), (faults, ["faults"]),
        (scenarios, ["scenario"]), (inspecting, ["record"]),
    ),
    "Worlds": ((worlds, ["worlds"]), (snapshots, ["snapshots"]), (steering, ["reset"])),
    "Check": (
        (advising, ["advice"]), (inspecting, ["coverage"]), (certifying, ["certify"]), (exploring, ["explore"]),
        (conforming, ["conform"]), (comparing, ["compare"]), (probing, ["probe"]), (capturing, ["capture"]),
        (inferring, ["infer"]),
    ),
    "Help": ((docs, ["docs"]), (recipes, ["recipe"]), (assuming, ["assumptions"]), (completing, ["completion"])),
}  # fmt: skip
"""The modules of the commands, in the sections of the help. A command is the function with its name. A module runs when
one of its commands runs or is listed.
"""
SECTIONS = {section: [name for _, names in homes for name in names] for section, homes in _HOMES.items()}
COMMANDS: Mapping[str, Callable[[], click.Command]] = {
    name: partial(getattr, module, name) for homes in _HOMES.values() for module, names in homes for name in names
}

_EPILOG = """\b
Exit codes:
  0  done
  1  refused by the server, invalid input, or a failed expectation
  2  wrong usage or configuration
  3  no server responds at the address
"""


_AROUND_NAME = 4
"""The number of columns to the left of a name, and between the name and its help."""


def _checked_inputs(args: list[str], variables: Mapping[str, str]) -> tuple[list[str], Mapping[str, str]]:
    """Return the arguments and variables that must not contain live keys. `probe --allow-live` may have a key pair."""
    if not {"probe", "--allow-live"} <= set(args):
        return args, variables
    kept = [
        argument
        for before, argument in zip(["", *args], args, strict=False)
        if before not in probing.KEY_OPTIONS and argument.partition("=")[0] not in probing.KEY_OPTIONS
    ]
    return kept, {name: value for name, value in variables.items() if name not in probing.KEY_OPTIONS.values()}


class _Commands(click.Group):
    """The commands, imported on demand. Arguments and environment variables that contain real live keys are refused."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with exits(guard.LiveKey):
            LIVE_KEYS.check_inputs(*_checked_inputs(args, os.environ))
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = COMMANDS.get(cmd_name)
        return None if command is None else command()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:  # click itself would suggest only commands that are already imported
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for section, names in SECTIONS.items():
            rows = [
                (name.ljust(widest), COMMANDS[name]().get_short_help_str(formatter.width - widest - _AROUND_NAME))
                for name in names
            ]
            with formatter.section(section):
                formatter.write_dl(rows)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EPILOG
)
@click.version_option(__version__, prog_name="rampsim")
@click.option(
    "--allow-host", "allowed", multiple=True, metavar="NAME",
    help="Allow a simulator on this host; repeatable.  [env var: SIMULATOR_ALLOW_HOSTS; default: loopback, "
    "host.docker.internal]",
)  # fmt: skip
def main(allowed: tuple[str, ...]) -> None:
    """A simulator of a stablecoin ramp and wallet API.

    `rampsim serve` starts a server. Most other commands control or inspect a running server.
    `rampsim docs` shows the documentation, `rampsim COMMAND --help` the options of a command.
    """
    guard.allow_hosts(allowed)
