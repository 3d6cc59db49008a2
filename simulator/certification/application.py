"""Commands of the application under test: they print its books, create an order, or run a job."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

_SECONDS = 60


class Unusable(Exception):
    """The value of an option does not work, for the reason in the message."""


def printed(option: str, command: str, variables: Mapping[str, str]) -> str:
    """Return the output of a shell command with more environment variables. Raise `Unusable` if it fails."""
    return _output(option, command, command, variables)


def run_python(option: str, script: str, name: str, variables: Mapping[str, str]) -> str:
    """Return the output of a Python script whose only argument is a name. Raise `Unusable` if it fails."""
    return _output(option, [sys.executable, "-c", script, name], name, variables)


def _output(option: str, command: str | list[str], name: str, variables: Mapping[str, str]) -> str:
    try:
        ran = subprocess.run(
            command, shell=isinstance(command, str), capture_output=True, timeout=_SECONDS,
            env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unusable(f"{option}: `{name}` did not finish within {_SECONDS} s") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip()[-500:]
        raise Unusable(f"{option}: `{name}` failed with exit code {ran.returncode}: {said}")
    return ran.stdout.decode(errors="replace")
