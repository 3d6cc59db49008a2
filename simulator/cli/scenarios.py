"""`rampsim scenario`: check, list, run and begin scenario files. None of it needs a running server."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from simulator.cli.remote import EXIT_REFUSED, EXIT_USAGE, fail


@click.group()
def scenario() -> None:
    """Check, list, run and begin scenario files; needs no running server."""


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
def validate(files: tuple[Path, ...]) -> None:
    """Check scenario files; every problem is printed as FILE:LINE:COLUMN: what is wrong."""
    from simulator.assembly import Simulator
    from simulator.scenario.loader import Library, Loader, ScenarioError, shipped_directory

    loader = Loader(Simulator(library=Library()).triggers)
    known = _names_in([*sorted(shipped_directory().glob("*.yaml")), *files])
    count = 0
    for path in files:
        try:
            loader.load_file(path, known)
        except OSError as error:
            count += 1
            click.echo(f"{path}:1:1: cannot be read: {error.strerror or error}")
        except ScenarioError as error:
            count += len(error.errors)
            for problem in error.errors:
                where = f"{problem['path']}: " if problem["path"] else ""
                click.echo(f"{path}:{problem['line']}:{problem['column']}: {where}{problem['message']}")
    if count:
        fail([f"{count} {'problem' if count == 1 else 'problems'} found"], EXIT_REFUSED)
    click.echo("1 file is valid" if len(files) == 1 else f"{len(files)} files are valid")


def _names_in(paths: Iterable[Path]) -> list[str]:
    """The names that files give to their scenarios, so that they may hand over to each other."""
    from simulator.scenario.document import read

    names = []
    for path in paths:
        try:
            value = read(path.read_text("utf-8-sig")).value
        except (OSError, UnicodeDecodeError):
            continue
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            names.append(value["name"])
    return names


@scenario.command("list")
def list_scenarios() -> None:
    """List the scenarios that ship with the simulator."""
    from simulator.assembly import Simulator

    library = Simulator().library
    width = max(map(len, library), default=0)
    for name, file in library.items():
        click.echo(f"{name:<{width}}  {file.scenario.description}")


@scenario.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
def new(name: str, force: bool) -> None:
    """Begin a scenario: write NAME.yaml, a small one that runs, with comments that explain it."""
    path = Path(name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(_template(path.stem))
    except FileExistsError:
        fail([f"{path} is there already; choose another name, or overwrite it with --force"], EXIT_USAGE)
    except OSError as error:
        fail([f"cannot write {path}: {error.strerror or error}"], EXIT_USAGE)
    click.echo(f"Wrote {path}. Check it with `rampsim scenario validate {path}`, run it with")
    click.echo(f"`rampsim scenario run {path}`, or serve with it: `rampsim serve --scenario {path}`.")


def _template(name: str) -> str:
    return (Path(__file__).parent / "scenario.template.yaml").read_text("utf-8").replace("NAME", name)
