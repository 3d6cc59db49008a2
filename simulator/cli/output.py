"""Printing, exit codes and files for all commands.

Only this module writes to a terminal (`tests/tools/cli/test_output.py` checks this). Terminal control characters are
therefore always removed from strings that come from servers and files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import click

from simulator.engine.text import reports
from simulator.engine.text.terminal import plain

Row: TypeAlias = Mapping[str, Any]
"""An object in a response or a file."""
Fields: TypeAlias = dict[str, Any]
_CLEAR = "\r\x1b[K"


def say(text: str = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a string without terminal control characters. `style` is passed to `click.style`."""
    shown = plain(text)
    click.echo(click.style(shown, **style) if style else shown, nl=nl, err=err)


def say_painted(*parts: tuple[str, Fields]) -> None:
    """Print one line that consists of strings with different styles. The line is coloured even if the output is not a
    terminal.
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


class Exit(IntEnum):
    """Exit codes."""

    REFUSED = 1
    USAGE = 2
    UNREACHABLE = 3
    BY_SIGNAL = 128
    """Added to the number of a signal, as in shells."""


def fail(*lines: str, code: int = Exit.USAGE) -> NoReturn:
    """Print lines on standard error, and exit with `code`."""
    for line in lines:
        say(f"rampsim: {line}", err=True)
    sys.exit(code)


@contextmanager
def exits(*errors: type[Exception], code: int = Exit.USAGE) -> Iterator[None]:
    """Print each of these errors as a message on standard error, and exit with `code`."""
    try:
        yield
    except errors as error:
        fail(*(str(error).splitlines() or [""]), code=code)


def require_writable(*paths: Path | None) -> None:
    """Check whether files can be written, without changing them. Exit with code 2 if one cannot be written."""
    for path in filter(None, paths):
        if path.is_fifo():  # opening it would wait for a reader
            continue
        if not path.absolute().parent.is_dir():
            fail(f"{path}: the directory does not exist; create it first")
        existed = path.exists()
        try:
            with path.open("ab", buffering=0) as file:
                file.write(b"")  # /dev/full refuses this, too
            if not existed:
                path.unlink()
        except OSError as error:
            fail(f"cannot write {path}: {error.strerror or error}")


def write_file(path: Path | None, text: str) -> None:
    """Write a file, if there is a path. Exit with code 2 if the file cannot be written."""
    try:
        if path is not None:
            path.write_text(text, "utf-8")
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror or error}")


def write_json(path: Path | None, value: object) -> None:
    """Write a JSON document to a file, if there is a path. Exit with code 2 if the file cannot be written."""
    write_file(path, reports.json_report(value))


def read_file(path: Path) -> bytes:
    """Return a file's content. Exit with code 2 if the file cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror or error}")
