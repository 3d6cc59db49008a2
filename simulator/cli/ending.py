"""How a command ends that could not do what it was asked, by a file or a server: its exit code, and a line of why."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from simulator.cli.output import say

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
