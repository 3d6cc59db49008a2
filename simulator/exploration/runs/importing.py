"""Where a suite reads, while it is imported, what each run has of its own: its world's URL and keys."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from sys import _getframe
from types import FrameType
from unittest.mock import patch

VARIABLES = ("SIMULATOR_URL", "SIMULATOR_PUBLIC_KEY", "SIMULATOR_SECRET_KEY", "SIMULATOR_WEBHOOK_KEY")
_THROUGH = ("os", "collections.abc", "_collections_abc")
"""Modules by which whoever reads a variable gets to it."""


class Reading:
    """Looks on while a suite is imported, from `begin` to `end`. `place`: the first who reads one, as `FILE:LINE`."""

    def __init__(self) -> None:
        self.place = ""
        kind = type(os.environ)
        read = kind.__getitem__

        def seen(environ: os._Environ[str], name: str) -> str:
            if name in VARIABLES and not self.place:
                self.place = _reader(_getframe(1))
            return read(environ, name)

        self._patch = patch.object(kind, "__getitem__", seen)

    def begin(self) -> None:
        self._patch.start()

    def end(self) -> None:
        self._patch.stop()


def _reader(frame: FrameType | None) -> str:
    """Who reads, unless it is the test kit, pytest, or somebody who copies all variables."""
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
