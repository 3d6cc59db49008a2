"""A worker's current step, in a file that another process can read even if the worker is stuck."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

SIZE = 1 << 17
_HEAD = struct.Struct("<QI")


class Progress:
    """A shared page: how many inputs were begun, and the text of the present one."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(SIZE))
        file = os.open(path, os.O_RDWR)
        self._page = mmap.mmap(file, SIZE)
        os.close(file)
        self._count = _HEAD.unpack_from(self._page)[0]

    def begin(self, text: str) -> None:
        raw = text.encode("utf-8", "backslashreplace")[: SIZE - _HEAD.size]
        self._count += 1
        _HEAD.pack_into(self._page, 0, self._count, len(raw))
        self._page[_HEAD.size : _HEAD.size + len(raw)] = raw

    @property
    def present(self) -> tuple[int, str]:
        count, length = _HEAD.unpack_from(self._page)
        return count, self._page[_HEAD.size : _HEAD.size + length].decode("utf-8", "replace")
