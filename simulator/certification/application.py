"""Commands of the application whose receiver is examined: what its books say, and how it makes an order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

_SECONDS = 60


class Unusable(Exception):
    """What an option names does not give what it should; the text says what it gave."""


def printed(option: str, command: str, variables: Mapping[str, str]) -> str:
    """What a command of the shell prints that runs with these variables besides those of its surroundings. Unusable."""
    return _output(option, command, command, variables)


def run_python(option: str, script: str, name: str, variables: Mapping[str, str]) -> str:
    """What a script prints that Python runs with a name as its only word. Unusable, in the last words that it said."""
    return _output(option, [sys.executable, "-c", script, name], name, variables)


def _output(option: str, command: str | list[str], name: str, variables: Mapping[str, str]) -> str:
    environment = {**os.environ, **variables}
    try:
        ran = subprocess.run(
            command, shell=isinstance(command, str), capture_output=True, env=environment, timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unusable(f"{option}: `{name}` did not end within {_SECONDS} s") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip()[-500:]
        raise Unusable(f"{option}: `{name}` ended with {ran.returncode}: {said}")
    return ran.stdout.decode(errors="replace")
