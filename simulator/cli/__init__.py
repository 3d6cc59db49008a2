"""The command line: `rampsim` (also `python -m simulator`).

Modules of this package run at their first use (`engine/lazy`). Commands import slow modules of other packages inside
the functions that need them. This makes `rampsim --help` fast.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

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

SECTIONS: Mapping[str, Mapping[str, Callable[[], click.Command]]] = {
    "Run": {
        "serve": lambda: serve.serve,
        "stop": lambda: detaching.stop,
        "wait": lambda: waiting.wait,
        "open": lambda: waiting.open_dashboard,
        "env": lambda: calling.env,
        "doctor": lambda: doctor.doctor,
        "mcp": lambda: agents.mcp,
    },
    "Inspect": {
        "tail": lambda: tailing.tail,
        "find": lambda: inspecting.find,
        "resources": lambda: inspecting.resources,
        "requests": lambda: inspecting.requests,
        "events": lambda: inspecting.events,
        "deliveries": lambda: inspecting.deliveries,
        "inbox": lambda: inboxes.inbox,
    },
    "Control": {
        "call": lambda: calling.call,
        "clock": lambda: steering.clock,
        "action": lambda: steering.action,
        "actions": lambda: steering.actions,
        "trigger": lambda: steering.trigger,
        "seed": lambda: steering.seed,
        "faults": lambda: faults.faults,
        "scenario": lambda: scenarios.scenario,
        "record": lambda: inspecting.record,
    },
    "Worlds": {
        "worlds": lambda: worlds.worlds,
        "snapshots": lambda: snapshots.snapshots,
        "reset": lambda: steering.reset,
    },
    "Check": {
        "advice": lambda: advising.advice,
        "coverage": lambda: inspecting.coverage,
        "certify": lambda: certifying.certify,
        "explore": lambda: exploring.explore,
        "conform": lambda: conforming.conform,
        "compare": lambda: comparing.compare,
        "probe": lambda: probing.probe,
        "capture": lambda: capturing.capture,
        "infer": lambda: inferring.infer,
    },
    "Help": {
        "docs": lambda: docs.docs,
        "recipe": lambda: recipes.recipe,
        "assumptions": lambda: assuming.assumptions,
        "completion": lambda: completing.completion,
    },
}
"""The commands by name, in the sections of the help. A command's module runs when the command runs or is listed."""

COMMANDS: Mapping[str, Callable[[], click.Command]] = {
    name: command for commands in SECTIONS.values() for name, command in commands.items()
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
        for section, commands in SECTIONS.items():
            rows = [
                (name.ljust(widest), command().get_short_help_str(formatter.width - widest - _AROUND_NAME))
                for name, command in commands.items()
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
