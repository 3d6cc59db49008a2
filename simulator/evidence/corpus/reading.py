"""Reads a corpus: a directory of recordings, as `.jsonl` files from `capture` or as `.har` files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from simulator.engine.text.json import JsonObject
from simulator.evidence.corpus.exchange import MEMBERS, BodyForm, Direction, Exchange, SignatureVerdict, sealed
from simulator.evidence.corpus.har import HarError, RecordedCall, read_har
from simulator.evidence.corpus.pseudonyms import Pseudonyms, key_of
from simulator.evidence.corpus.sanitising import sanitise
from simulator.kernel.dataclass import dataclass, replace

_DEFAULTS: JsonObject = {
    "query": {}, "headers": {}, "authenticated": False, "request": None, "request_body": "json", "response": None,
    "response_headers": {}, "response_body": "json", "signature": "absent", "attempt": 1, "operation": None, "at": "",
    "hides_amounts": False,
}  # fmt: skip
"""The optional fields of a line."""


class BadCorpus(ValueError):
    """Raised if a directory is not a corpus. The message is one line."""


@dataclass(frozen=True)
class Damaged:
    """A line that cannot be used."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


@dataclass(frozen=True)
class Recording:
    """One file of a corpus. A value has the same pseudonym everywhere in this file, but not in other files."""

    name: str
    exchanges: Sequence[Exchange]
    """Ordered by number."""


@dataclass(frozen=True)
class Corpus:
    """All recordings of a directory, ordered by name."""

    recordings: Sequence[Recording]
    damaged: Sequence[Damaged]
    """The lines that cannot be used."""

    @property
    def exchanges(self) -> list[Exchange]:
        return [one for recording in self.recordings for one in recording.exchanges]


def read_corpus(directory: Path, base: str | None = None) -> Corpus:
    """Read one file or all recordings in a directory. `base`: the base URL of the calls in HAR files. Raise `BadCorpus`
    if there are no recordings, or if a HAR file is invalid.
    """
    files = [directory] if directory.is_file() else sorted([*directory.glob("*.jsonl"), *directory.glob("*.har")])
    if not files:
        raise BadCorpus(f"{directory}: has no recordings (.jsonl or .har). `rampsim capture --out` writes them")
    recordings: list[Recording] = []
    damaged: list[Damaged] = []
    for path in files:
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise BadCorpus(f"{path}: cannot be read ({error.strerror or error})") from None
        if path.suffix == ".har":
            try:
                calls = read_har(raw, base)
            except HarError as error:
                raise BadCorpus(f"{path}: {error}") from None
            recordings.append(Recording(path.stem, sanitised_har(calls, raw)))
            continue
        found: list[Exchange] = []
        for number, line in enumerate(raw.split(b"\n"), 1):
            if not line.strip():
                continue
            read = read_line(line)
            if isinstance(read, Exchange):
                found.append(read)
            else:
                damaged.append(Damaged(str(path), number, read))
        recordings.append(Recording(path.stem, sorted(found, key=lambda one: one.n)))
    return Corpus(recordings, damaged)


def read_line(line: bytes) -> Exchange | str:
    """Return the exchange on a line, or the reason why the line is not an exchange."""
    try:
        row = json.loads(line)  # orjson refuses numbers beyond the range of a double
    except (ValueError, RecursionError):
        return "is not JSON: the line is damaged or incomplete"
    if not isinstance(row, dict):
        return "is not an object"
    values = {**_DEFAULTS, **{name: row[name] for name in MEMBERS if name in row}}
    if missing := [name for name in MEMBERS if name not in values]:
        return f"{missing[0]}: is missing"
    for name, is_valid in _CHECKS.items():
        if not is_valid(values[name]):
            return f"{name}: {str(values[name])[:40]!r} is not valid"
    return sealed(values)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_CHECKS: dict[str, Callable[[object], bool]] = {
    "n": _is_count,
    "after_ms": _is_count,
    "attempt": _is_count,
    "direction": get_args(Direction).__contains__,
    "method": lambda value: isinstance(value, str),
    "path": lambda value: isinstance(value, str) and value.startswith("/"),
    "at": lambda value: isinstance(value, str),
    "operation": lambda value: isinstance(value, str | None),
    **dict.fromkeys(("query", "headers", "response_headers"), lambda value: isinstance(value, Mapping)),
    **dict.fromkeys(("authenticated", "hides_amounts"), lambda value: isinstance(value, bool)),
    "status": lambda value: value is None or (isinstance(value, int) and 100 <= value <= 999),
    "signature": get_args(SignatureVerdict).__contains__,
    **dict.fromkeys(("request_body", "response_body"), get_args(BodyForm).__contains__),
}


def sanitised_har(calls: Sequence[RecordedCall], raw: bytes) -> list[Exchange]:
    """Sanitise the calls in a HAR file as in a recording, and return them. `raw` is the content of the file."""
    pseudonyms = Pseudonyms(key_of(raw))
    return [sanitise(replace(call, n=number), pseudonyms) for number, call in enumerate(calls, 1)]
