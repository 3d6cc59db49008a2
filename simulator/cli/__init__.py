"""The command line: `rampsim` (also `python -m simulator`).

Modules that take time to load (pydantic, the rooms, uvicorn) are imported inside the commands that need them, so that
`rampsim --help` answers at once.
"""

from __future__ import annotations

import click

from simulator.cli.comparing import compare
from simulator.cli.conforming import conform
from simulator.cli.insight import advice, coverage
from simulator.cli.recording import record
from simulator.cli.scenarios import scenario
from simulator.cli.seeing import deliveries, events, requests, resources
from simulator.cli.serve import serve
from simulator.cli.steering import action, actions, clock, reset, trigger, worlds
from simulator.version import __version__

__all__ = ["main"]

COMMANDS = (
    serve, clock, action, actions, trigger, events, resources, deliveries, requests, scenario, record, worlds, reset,
    advice, coverage, compare, conform,
)  # fmt: skip

_EPILOG = """\b
Exit codes:
  0  done
  1  refused by the server, not valid, or an expectation was not met
  2  wrong usage or configuration
  3  no server answers at the address
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="rampsim")
def main() -> None:
    """A simulator of a stablecoin ramp and wallet service.

    `rampsim serve` starts it; every other command steers or looks at a server that runs (or, for scenarios,
    needs none).
    """


for _command in COMMANDS:
    main.add_command(_command)
