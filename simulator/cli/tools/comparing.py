"""`rampsim compare`: compares recorded traffic with the simulator, or one contract with another."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from simulator.cli.output import EXIT_REFUSED, EXIT_USAGE, fail, say

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=_FILE)
@click.argument("newer", type=_FILE, required=False)
@click.option(
    "--base", metavar="URL", default=None, help="Base URL of the recorded calls.  [default: the part up to /v1]"
)
@click.option(
    "--scenario",
    "scenarios",
    metavar="NAME|FILE",
    multiple=True,
    default=("autopilot",),
    show_default=True,
    help="Scenario to activate for the replay; repeatable.",
)
@click.option("--values", is_flag=True, help="Also compare amounts, rates and strings.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def compare(
    file: Path, newer: Path | None, base: str | None, scenarios: tuple[str, ...], values: bool, as_json: bool
) -> None:
    """Compare a recording with the simulator, or two contracts.

    If you give only FILE, it is a HAR recording. Its calls are replayed against a new simulator with the recording's
    clock. Differences in status, code, shape or state are reported with their meaning: a broken rule of the contract, a
    wrong assumption, an addition, or an outside event. Ids, tokens and times are replaced. Exits with 1 if there are
    differences.

    FILE and NEWER are OpenAPI documents (YAML or JSON). Everything that was removed, weakened, tightened or added is
    listed. Exits with 1 if clients of the older document can break. This is the case if something specified was
    removed or weakened, a request was tightened, a default changed, authentication was added, a success status was
    removed, or a closed enum in a response was extended.
    """
    if newer is not None:
        _contracts(file, newer, as_json)
        return
    import asyncio

    from simulator.compare import HarError, read_har
    from simulator.compare import compare as replay

    try:
        entries = read_har(file.read_bytes(), base)
    except HarError as error:
        fail([f"{file}: {error}"], EXIT_USAGE)
    result = asyncio.run(replay(entries, scenarios=scenarios, values=values))
    say(json.dumps(result.as_json(), indent=2) if as_json else result.readable())
    sys.exit(EXIT_REFUSED if result.differences else 0)


def _contracts(file: Path, newer: Path, as_json: bool) -> None:
    from simulator.contract.changes import changes, readable
    from simulator.contract.files import ContractError, read_document

    try:
        found = changes(read_document(file), read_document(newer))
    except ContractError as error:
        fail([str(error)], EXIT_USAGE)
    except (KeyError, TypeError, AttributeError) as error:
        fail([f"one of the two files is not a valid OpenAPI document: cannot resolve {error!r}"], EXIT_USAGE)
    say(json.dumps([asdict(one) | {"breaks": one.breaks} for one in found], indent=2) if as_json else readable(found))
    sys.exit(EXIT_REFUSED if any(one.breaks for one in found) else 0)
