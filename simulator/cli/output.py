"""Printing, exit codes and files for all commands.

Only this module writes to a terminal (`tests/tools/cli/test_output.py` checks this). Terminal control characters are
therefore always removed from strings that come from servers and files.
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
    """Print a string without terminal control characters. `style` is passed to `click.style`."""
    shown = plain(text)
    click.echo(click.style(shown, **style) if style else shown, nl=nl, err=err)


def say_painted(*parts: tuple[str, dict[str, Any]]) -> None:
    """Print one line that consists of strings with different styles.

    The line is coloured even if the output is not a terminal.
    """
    click.echo("".join(click.style(plain(text), **style) for text, style in parts), color=True)


def show(value: Any, *, indent: int | None = 2) -> None:
    """Print JSON, on one line if `indent` is None."""
    say(json.dumps(value, indent=indent, ensure_ascii=False))


def say_page(text: str) -> None:
    """Show a long string in a terminal pager."""
    click.echo_via_pager(plain(text))


def say_passing(text: str = "") -> None:
    """Replace the current line on standard error. An empty `text` clears the line."""
    click.echo(f"{_CLEAR}{plain(text)}", nl=False, err=True)


EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_INTERRUPTED = 130
"""The exit code that shells use for a program ended by SIGINT."""


def fail(lines: Iterable[str], code: int) -> NoReturn:
    """Print lines on standard error, and exit with `code`."""
    for line in lines:
        say(f"rampsim: {line}", err=True)
    sys.exit(code)


def require_writable(*paths: Path | None) -> None:
    """Check whether files can be written, without changing them. Exit with code 2 if one cannot be written."""
    for path in filter(None, paths):
        if path.is_fifo():  # opening it would wait for a reader
            continue
        if not path.absolute().parent.is_dir():
            fail([f"{path}: the directory does not exist"], EXIT_USAGE)
        existed = path.exists()
        try:
            with path.open("ab", buffering=0) as file:
                file.write(b"")  # /dev/full refuses this, too
            if not existed:
                path.unlink()
        except OSError as error:
            fail([f"cannot write {path}: {error.strerror or error}"], EXIT_USAGE)


def write_file(path: Path, text: str) -> None:
    """Write a file. Exit with code 2 if the file cannot be written."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        fail([f"cannot write {path}: {error.strerror or error}"], EXIT_USAGE)


def read_file(path: Path) -> bytes:
    """Return a file's content. Exit with code 2 if the file cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        fail([f"cannot read {path}: {error.strerror or error}"], EXIT_USAGE)
