"""Detects test suites that read the simulator's URL or keys from the environment at import time."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from sys import _getframe
from types import FrameType
from unittest.mock import patch

VARIABLES = ("SIMULATOR_URL", "SIMULATOR_PUBLIC_KEY", "SIMULATOR_SECRET_KEY", "SIMULATOR_WEBHOOK_KEY")
_THROUGH = ("os", "collections.abc", "_collections_abc")
"""Modules that other code uses to read environment variables."""


class Reading:
    """`patch` watches the import of a suite. `place`: the first line that reads one of `VARIABLES`, or ""."""

    def __init__(self) -> None:
        self.place = ""
        kind = type(os.environ)
        read = kind.__getitem__

        def seen(environ: os._Environ[str], name: str) -> str:
            if name in VARIABLES and not self.place:
                self.place = _reader(_getframe(1))
            return read(environ, name)

        self.patch = patch.object(kind, "__getitem__", seen)


def _reader(frame: FrameType | None) -> str:
    """Return the line of the suite that reads an environment variable, except to copy all variables."""
    while frame is not None and frame.f_globals.get("__name__") in _THROUGH:
        if frame.f_code.co_name == "copy":
            return ""
        frame = frame.f_back
    if frame is None or str(frame.f_globals.get("__name__")).startswith(("simulator.", "_pytest.")):
        return ""
    path = Path(frame.f_code.co_filename)
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    return f"{path}:{frame.f_lineno}"
