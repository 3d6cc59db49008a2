"""`python -m simulator.contract write [DIRECTORY]` makes the contract files anew; `check` says what differs."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.contract import writer
from simulator.contract.files import contracts_directory

_DIRECTORY = click.argument("directory", type=click.Path(path_type=Path, file_okay=False), required=False)


@click.group()
def main() -> None:
    """The contract files of the simulator."""


@main.command()
@_DIRECTORY
def write(directory: Path | None) -> None:
    """Make the files anew."""
    changed = writer.write(directory or contracts_directory())
    click.echo("\n".join(changed) or "nothing has changed")


@main.command()
@_DIRECTORY
def check(directory: Path | None) -> None:
    """Exit with 1 when a file differs from what the code says."""
    lines = writer.differences(directory or contracts_directory())
    click.echo("\n".join(lines) or "up to date")
    raise SystemExit(1 if lines else 0)


if __name__ == "__main__":
    main(prog_name="python -m simulator.contract")
