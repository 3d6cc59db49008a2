"""Commands of the application whose receiver is examined: what its books say, and how it makes an order."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

_SECONDS = 30


class Unusable(Exception):
    """What an option names does not give what it should; the text says what it gave."""


def printed(option: str, command: str, variables: Mapping[str, str]) -> str:
    """What a command of the shell prints that runs with these variables besides those of its surroundings. Unusable."""
    environment = {**os.environ, **variables}
    try:
        ran = subprocess.run(command, shell=True, capture_output=True, env=environment, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unusable(f"{option}: `{command}` did not end within {_SECONDS} s") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip()[-500:]
        raise Unusable(f"{option}: `{command}` ended with {ran.returncode}: {said}")
    return ran.stdout.decode(errors="replace")
