"""`rampsim recipe`: prints or writes files for CI, containers and other languages. The package includes these files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, fail, say
from simulator.contract import files
from simulator.kernel.dataclass import dataclass

_FOLDER = Path(__file__).parents[2] / "docs" / "recipes"
_SHOWN_LINES = 400
"""A file longer than this, such as generated types, is listed without its content."""
_NAME = click.argument("name")


@dataclass(frozen=True)
class Recipe:
    """A folder of files, with the location of each file in a project."""

    name: str
    about: str
    folder: Path
    files: Mapping[str, str]
    """The location in a project for each path in the folder."""

    def text(self, file: str) -> str:
        return (self.folder / file).read_text("utf-8")


def recipes() -> dict[str, Recipe]:
    """Return the recipes in the package, by name.

    `recipes.json` contains the summary of each recipe and the locations of its files. The files are in the folder with
    the name of the recipe, or in the folder of `contracts/` that `recipes.json` names. Each folder contains a
    README.md.
    """
    found = {}
    for name, row in json.loads((_FOLDER / "recipes.json").read_bytes()).items():
        folder = files.contracts_directory() / row["contracts"] if "contracts" in row else _FOLDER / name
        found[name] = Recipe(name, row["about"], folder, row["files"])
    return found


def _recipe(name: str) -> Recipe:
    known = recipes()
    if name not in known:
        near = [one for one in known if one.startswith(name)] or get_close_matches(name, known, 1)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        fail(f"there is no recipe {name!r}{meant or ';'} `rampsim recipe list` lists all recipes", code=Exit.REFUSED)
    return known[name]


@click.group()
def recipe() -> None:
    """Print or write files for CI, containers and other languages."""


@recipe.command("list")
def list_recipes() -> None:
    """List the recipes."""
    known = recipes()
    width = max(map(len, known))
    for one in known.values():
        say(f"{one.name:{width}}  {one.about}")


@recipe.command()
@_NAME
def show(name: str) -> None:
    """Print a recipe: its description and its files."""
    chosen = _recipe(name)
    say((chosen.folder / "README.md").read_text("utf-8").rstrip())
    for file, place in chosen.files.items():
        text = chosen.text(file).rstrip()
        if text.count("\n") >= _SHOWN_LINES:
            say(f"\n--- {place}\n({text.count(chr(10)) + 1:,} lines)")
        elif file != "README.md":
            say(f"\n--- {place}\n{text}")


@recipe.command()
@_NAME
@option("--to", type=click.Path(file_okay=False, path_type=Path), default=Path(), metavar="DIR", show_default=False,
        help="The project directory.  [default: the working directory]")  # fmt: skip
@option("--force", is_flag=True, help="Replace existing files that differ.")
def write(name: str, to: Path, force: bool) -> None:
    """Write a recipe's files into a project.

    \b
    rampsim recipe write github-action
    rampsim recipe write typescript --to frontend
    """
    chosen = _recipe(name)
    texts = {to / place: chosen.text(file) for file, place in chosen.files.items()}
    in_the_way = [
        *(parent for path in texts for parent in path.parents if parent.exists() and not parent.is_dir()),
        *(path for path in texts if path.is_dir()),
    ]
    if in_the_way:
        what = "a directory" if in_the_way[0].is_dir() else "not a directory"
        fail(f"{in_the_way[0]} is {what}, so nothing was written; choose another directory with --to")
    taken = [path for path, text in texts.items() if path.exists() and path.read_bytes() != text.encode()]
    if taken and not force:
        lines = [f"{path} exists and differs" for path in taken]
        fail(
            *lines,
            "nothing was written; use --force to replace files, or --to for another directory",
            code=Exit.REFUSED,
        )
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            fail(f"cannot write {path}: {error.strerror or error} ({error.filename})")
        say(str(path))
    say(f"Written. Next steps: rampsim recipe show {name}")
