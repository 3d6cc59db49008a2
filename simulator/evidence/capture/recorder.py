"""The recorder: appends each complete exchange to a recording file."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from simulator.evidence.capture.messages import MOST_RECORDED_BYTES
from simulator.evidence.corpus import Pseudonyms, Traffic, sanitise

_ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS
_UNNAMED = "recording"


class Refused(ValueError):
    """Raised if the recording cannot be created. The message is one line."""


class Recorder:
    """Writes one file. The file is complete after each line, even if the process is killed."""

    def __init__(self, directory: Path, name: str = "", *, hide_amounts: bool = False) -> None:
        """Create the file. Raise `Refused` if the file exists. An existing recording cannot be continued, because each
        recording uses its own pseudonyms.

        Without a name, the file gets the first unused name of `recording-1.jsonl`, `recording-2.jsonl`, …
        """
        self._pseudonyms = Pseudonyms(hide_amounts=hide_amounts)
        self._begun = 0
        self.written = 0
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self.path = self._created(directory, name)
        except FileExistsError:
            raise Refused(f"{directory / name}.jsonl: exists already. Choose another --name") from None
        except OSError as error:
            raise Refused(f"{directory}: cannot be written ({error.strerror or error})") from None

    def _created(self, directory: Path, name: str) -> Path:
        for number in count(1):
            path = directory / f"{name or f'{_UNNAMED}-{number}'}.jsonl"
            try:
                self._file = path.open("xb", buffering=0)
            except FileExistsError:
                if name:
                    raise
            else:
                break
        return path

    def begin(self, at_ms: int) -> int:
        """Register an exchange that starts at this time, and return its number in the recording."""
        self._pseudonyms.begin(at_ms)
        self._begun += 1
        return self._begun

    def write(self, *traffic: Traffic) -> None:
        self._file.write(b"".join([sanitise(one, self._pseudonyms).line() for one in traffic]))
        self.written += len(traffic)

    def close(self) -> None:
        self._file.close()

    def discard(self) -> None:
        """Delete the file, which is still empty."""
        self.close()
        self.path.unlink()


def decoded(body: bytes | None, headers: Sequence[tuple[str, str]]) -> bytes | None:
    """Return a body without its content coding, or None if the result is too long. Bodies with unknown codings are
    unchanged.
    """
    codings = [value.strip().lower() for name, value in headers if name.lower() == "content-encoding"]
    if body is None or codings not in (["gzip"], ["deflate"], ["x-gzip"]):
        return body
    unpacker = zlib.decompressobj(_ZLIB_OR_GZIP)
    try:
        plain = unpacker.decompress(body, MOST_RECORDED_BYTES)
    except zlib.error:
        return body
    return None if unpacker.unconsumed_tail else plain
