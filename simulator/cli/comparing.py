"""`rampsim compare`: recorded traffic of the real service against the simulator."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click

from simulator.cli.remote import EXIT_REFUSED, EXIT_USAGE, fail


@click.command()
@click.argument("har", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--base", default=None, help="Base address of the recorded calls; by default what ends with /v1.")
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    default=("autopilot",),
    show_default=True,
    help="Scenario active in the replay; repeatable.",
)
@click.option("--values", is_flag=True, help="Compare amounts, rates and texts too.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def compare(har: Path, base: str | None, scenarios: tuple[str, ...], values: bool, as_json: bool) -> None:
    """Replay the calls of a HAR file and report where status, code, shape or state differ from the recording.

    No server is needed: a simulator of its own is started with the recording's clock. Ids, tokens and times are put in
    place of the recorded ones. Exit code 1 when there are differences.
    """
    from simulator.compare import HarError, read_har
    from simulator.compare import compare as replay

    try:
        entries = read_har(har.read_bytes(), base)
    except HarError as error:
        fail([f"{har}: {error}"], EXIT_USAGE)
    result = asyncio.run(replay(entries, scenarios=scenarios, values=values))
    click.echo(json.dumps(result.as_json(), indent=2) if as_json else result.readable())
    sys.exit(EXIT_REFUSED if result.differences else 0)
