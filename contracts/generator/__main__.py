"""`python -m contracts.generator write [DIRECTORY]` updates the contract files; `check` lists differences.

`coverage` runs the included scenarios and writes their coverage. `release` releases a contract.
"""

from __future__ import annotations

from pathlib import Path

import click

from contracts.generator import coverage_page, docs_pages, releases, scenarios_page, writer
from contracts.generator.evidence import collect
from simulator.contract.changes import readable
from simulator.contract.files import contracts_directory, read_document
from simulator.engine.scenario.files.shipped import shipped_directory

_DIRECTORY = click.argument("directory", type=click.Path(path_type=Path, file_okay=False), required=False)


@click.group()
def main() -> None:
    """The contract files of the simulator."""


@main.command()
@_DIRECTORY
def write(directory: Path | None) -> None:
    """Update the files, and the generated pages of the documentation."""
    changed = writer.write(directory or contracts_directory()) + (docs_pages.write() if directory is None else [])
    click.echo("\n".join(changed) or "nothing has changed")


@main.command()
@_DIRECTORY
def check(directory: Path | None) -> None:
    """Exit with 1 if a file is out of date."""
    lines = writer.differences(directory or contracts_directory(), writer.generate())
    lines += docs_pages.differences(docs_pages.pages()) if directory is None else []
    click.echo("\n".join(lines) or "up to date")
    raise SystemExit(1 if lines else 0)


@main.command()
@click.argument("name", type=click.Choice(list(releases.CONTRACTS)), default=releases.INTERFACE.name)
def release(name: str) -> None:
    """Release a contract as it is now under its version, or say why it cannot be: `openapi` or `control`."""
    directory, contract = contracts_directory(), releases.CONTRACTS[name]
    document = read_document(directory / contract.file)
    if releases.releases(directory, contract):
        found, wrong = releases.problems(releases.released(directory, contract), document, releases.changelog(contract))
        click.echo(readable(found))
        if wrong:
            raise click.ClickException("\n".join(wrong))
    try:
        path = releases.release(directory, contract, document)
    except releases.Published as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"released: {path.relative_to(directory)}")


@main.command()
def coverage() -> None:
    """Run the scenarios that ship, and write what they show: contracts/coverage.md and scenarios/README.md."""
    found = list(collect().values())
    failed = [one.name for one in found if not one.result.passed]
    if failed:
        raise click.ClickException(f"these scenarios fail, `rampsim scenario run NAME` says why: {', '.join(failed)}")
    (contracts_directory() / "coverage.md").write_text(coverage_page.page(found), "utf-8")
    (shipped_directory() / "README.md").write_text(scenarios_page.page(found), "utf-8")
    gaps = coverage_page.Coverage(found).gaps()
    click.echo("\n".join(f"nothing shows {gap}" for gap in gaps) or f"{len(found)} scenarios show everything")
    raise SystemExit(1 if gaps else 0)


if __name__ == "__main__":
    main(prog_name="python -m contracts.generator")
