"""How a command ends that could not do what it was asked: its exit code, and a line of why."""

from __future__ import annotations

import sys
from collections.abc import Iterable
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
