"""What commands print, how they end, and how they read and write files.

Nothing else in the command line writes to a terminal (`tests/tools/cli/test_output.py`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import click

from simulator.engine.text.terminal import plain

_CLEAR = "\r\x1b[K"


def say(text: str = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a text without what steers terminals; `style` is that of `click.style`, for the text as a whole."""
    shown = plain(text)
    click.echo(click.style(shown, **style) if style else shown, nl=nl, err=err)


def say_painted(*parts: tuple[str, dict[str, Any]]) -> None:
    """Print a line of texts, each in a style of its own, in colour wherever it goes."""
    click.echo("".join(click.style(plain(text), **style) for text, style in parts), color=True)


def show(value: Any, *, indent: int | None = 2) -> None:
    """Print JSON for people; for programs on one line, with `indent` None."""
    say(json.dumps(value, indent=indent, ensure_ascii=False))


def say_page(text: str) -> None:
    """Show a long text in the pager of the terminal."""
    click.echo_via_pager(plain(text))


def say_passing(text: str = "") -> None:
    """Write over the present line of standard error; without a text, clear it."""
    click.echo(f"{_CLEAR}{plain(text)}", nl=False, err=True)


EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_INTERRUPTED = 130
"""What a shell says of a program that ended by SIGINT."""


def fail(lines: Iterable[str], code: int) -> NoReturn:
    """Say what is wrong on the error stream, and end."""
    for line in lines:
        say(f"rampsim: {line}", err=True)
    sys.exit(code)


def write_file(path: Path, text: str) -> None:
    """Write a file; ends with code 2 where it cannot be written."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        fail([f"cannot write {path}: {error.strerror or error}"], EXIT_USAGE)


def read_file(path: Path) -> bytes:
    """The content of a file; ends with code 2 where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        fail([f"{path} cannot be read: {error.strerror or error}"], EXIT_USAGE)
