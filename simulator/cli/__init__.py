"""The command line: `rampsim` (also `python -m simulator`).

Modules that take time to load (pydantic, the rooms, uvicorn) are imported inside the commands that need them, so that
`rampsim --help` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import click

from simulator import live_keys, trusted_hosts
from simulator.cli import (
    advising,
    agents,
    assuming,
    certifying,
    comparing,
    completing,
    conforming,
    docs,
    exploring,
    faults,
    finding,
    inboxes,
    insight,
    opening,
    recipes,
    recording,
    scenarios,
    seeing,
    serve,
    snapshots,
    steering,
    tailing,
    waiting,
    worlds,
)
from simulator.cli.ending import EXIT_USAGE, fail
from simulator.version import __version__

__all__ = ["main"]

COMMANDS: Mapping[str, Callable[[], click.Command]] = {
    "serve": lambda: serve.serve,
    "wait": lambda: waiting.wait,
    "clock": lambda: steering.clock,
    "action": lambda: steering.action,
    "actions": lambda: steering.actions,
    "trigger": lambda: steering.trigger,
    "events": lambda: seeing.events,
    "tail": lambda: tailing.tail,
    "resources": lambda: seeing.resources,
    "deliveries": lambda: seeing.deliveries,
    "requests": lambda: seeing.requests,
    "scenario": lambda: scenarios.scenario,
    "faults": lambda: faults.faults,
    "find": lambda: finding.find,
    "record": lambda: recording.record,
    "recipe": lambda: recipes.recipe,
    "worlds": lambda: worlds.worlds,
    "snapshots": lambda: snapshots.snapshots,
    "inbox": lambda: inboxes.inbox,
    "open": lambda: opening.open_dashboard,
    "reset": lambda: steering.reset,
    "advice": lambda: advising.advice,
    "assumptions": lambda: assuming.assumptions,
    "coverage": lambda: insight.coverage,
    "compare": lambda: comparing.compare,
    "certify": lambda: certifying.certify,
    "conform": lambda: conforming.conform,
    "explore": lambda: exploring.explore,
    "docs": lambda: docs.docs,
    "completion": lambda: completing.completion,
    "mcp": lambda: agents.mcp,
}
"""Each command by its name; it is loaded when it is called, or shown in the help."""

_EPILOG = """\b
Exit codes:
  0  done
  1  refused by the server, not valid, or an expectation was not met
  2  wrong usage or configuration
  3  no server answers at the address
"""


class _Commands(click.Group):
    """The commands, each of which is loaded when it is asked for, and none with a real key."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            live_keys.refuse_given(args, os.environ)
        except live_keys.LiveKey as error:
            fail([str(error)], EXIT_USAGE)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = COMMANDS.get(cmd_name)
        return None if command is None else command()


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

    `rampsim serve` starts it; every other command steers or looks at a server that runs (or, for scenarios,
    needs none). `rampsim docs` has the documentation.
    """
    trusted_hosts.allow(allowed)
