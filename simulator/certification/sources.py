"""Sources of the integrator's records: a command, a URL, a CSV file, an SQLite database, or a Python function. Also
runs the application's other commands.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from decimal import Decimal, InvalidOperation
from pathlib import Path
from pkgutil import resolve_name
from string import Template
from traceback import extract_tb
from urllib.parse import urljoin, urlsplit

from simulator.engine.clients.synchronous import NoResponse, Response, SyncClient
from simulator.kernel.dataclass import dataclass
from simulator.testing.quiescence import wait_until_quiet

_READ_SECONDS = 30
_COMMAND_SECONDS = 60
_MOST_REDIRECTS = 10
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_SQLITE = "sqlite:///"
_NAMES = ("order", "state", "amount", "currency")
_SHAPE = '{"order": "A-17", "state": "completed", "amount": "37.89", "currency": "USDC"}'

Row = Mapping[str, object] | Sequence[object]
"""One record with the keys `order`, `state`, `amount`, `currency`, or a sequence in this order."""
Function = Callable[[], Iterable[Row] | None]


class Unusable(Exception):
    """An option has an invalid value. The message contains the reason."""


@dataclass(frozen=True)
class Line:
    """One order in the integrator's records."""

    order: str
    state: str
    amount: Decimal
    """The amount that the customer received."""
    currency: str
    """The currency, or "" if it is not given."""


def is_function(source: str) -> bool:
    """Return True if a source has the form `MODULE:FUNCTION`."""
    return bool(_FUNCTION.fullmatch(source))


def function(option: str, source: str) -> Callable[[], object]:
    """Import `MODULE:FUNCTION`. The module may be in the current directory. Raise `Unusable` if the import fails."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: object = resolve_name(source)
    except Exception as error:
        raise Unusable(f"{option}: {source} cannot be imported: {describe_error(error)}") from None
    if not callable(found):
        raise Unusable(f"{option}: {source} is not a function")
    return found


def describe_error(error: Exception) -> str:
    """Return a description of an exception in one line, with the file and line that raised it."""
    frames = extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def read_books(source: str, variables: Mapping[str, str]) -> list[Line]:
    """Read the integrator's records from the source given with `--books`. Raise `Unusable` if that fails.

    A source is an HTTP URL, `sqlite:///FILE#SELECT …`, a file `….csv`, `MODULE:FUNCTION` (runs in a subprocess), or a
    shell command whose output is read. Commands and functions get `variables` as environment variables. In a file
    name, `$NAME` is replaced by the value of that variable.
    """
    if source.startswith(("http://", "https://")):
        return parsed(_fetched(source))
    if source.startswith(_SQLITE):
        return _of_database(source, variables)
    if is_function(source):
        return parsed(printed("--books", source, variables, script=_PRINTS))
    if source.endswith(".csv") and (not re.search(r"\s", source) or Path(source).is_file()):
        return _of_file(source, variables)
    return parsed(printed("--books", source, variables))


_PRINTS = """
import contextlib, json, sys
from simulator.certification.sources import Unusable, returned
try:
    with contextlib.redirect_stdout(sys.stderr):
        lines = returned(sys.argv[1])
except Unusable as error:
    sys.exit(str(error))
for one in lines:
    print(json.dumps({"order": one.order, "state": one.state, "amount": str(one.amount), "currency": one.currency}))
"""
"""A script that prints the records that a function returns. Output from the function itself goes to standard error."""


def returned(source: str) -> list[Line]:
    """Run `MODULE:FUNCTION` in this process and return the records. Raise `Unusable` if that fails."""
    lines = called(source, function("--books", source))
    if lines is None:
        raise Unusable(f"--books: {source} returns None. Return a list of dicts like {_SHAPE}")
    return lines


def called(name: str, books: Callable[[], object]) -> list[Line] | None:
    """Return the records from an integrator's function, or None if it returns None. Raise `Unusable` if it fails."""
    try:
        rows = books()
        if rows is None:
            return None
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise Unusable(f"--books: {name} returns {_short(rows)}. Return a list of dicts like {_SHAPE}")
        return _rows(rows, f" of {name}")
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(f"--books: {name} raised {describe_error(error)}") from None


_CALLS = """
import sys
from simulator.certification.sources import Unusable, function
try:
    function("--settle", sys.argv[1])()
except Unusable as error:
    sys.exit(str(error))
"""


def settle(source: str, variables: Mapping[str, str]) -> None:
    """Run the integrator's job: a shell command, or `MODULE:FUNCTION` in a subprocess. Raise `Unusable` if it fails."""
    printed("--settle", source, variables, script=_CALLS if is_function(source) else "")


def is_quiet(source: str, variables: Mapping[str, str]) -> bool:
    """Return True if the application reports an empty queue: a URL with a 2xx response, a command with exit code 0."""
    try:
        if source.startswith(("http://", "https://")):
            return 200 <= _response(source).status < 300
        printed("--quiesce", source, variables)
    except (Unusable, NoResponse, ValueError):
        return False
    return True


def wait_for_queue(source: str, variables: Mapping[str, str], seconds: float) -> None:
    """Wait until the application reports an empty queue. Raise `Unusable` if it is not empty after these seconds."""
    if not wait_until_quiet(lambda: is_quiet(source, variables), seconds):
        raise Unusable(f"--quiesce: `{source}` does not report an empty queue after {seconds:g} seconds")


def parsed(text: str) -> list[Line]:
    """Parse JSON lines, a JSON array, or CSV with a header. Raise `Unusable` if the input has none of these forms."""
    text = text.removeprefix("\ufeff").strip()
    if not text:
        return []
    if text.startswith("["):
        try:
            return _rows(json.loads(text, parse_float=Decimal))
        except ValueError as error:
            raise Unusable(f"--books: the array {_short(text[:40])} is not valid JSON: {error}") from None
    if text.startswith("{"):
        return [_json_line(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    header = [name.strip().lower() for name in reader.fieldnames or ()]
    if not {"order", "state", "amount"} <= set(header):
        first = text.splitlines()[0]
        raise Unusable(
            f"--books: line 1 is {_short(first)}. Write JSON lines like {_SHAPE}, "
            "or CSV with the header order,state,amount,currency"
        )
    reader.fieldnames = header
    return [_line(row, f"--books: line {reader.line_num}") for row in reader]


def _json_line(text: str, number: int) -> Line:
    try:
        return _line(json.loads(text, parse_float=Decimal), f"--books: line {number}")
    except ValueError:
        raise Unusable(f"--books: line {number} is {_short(text)}. Write JSON lines like {_SHAPE}") from None


def _rows(rows: Iterable[object], source: str = "") -> list[Line]:
    return [_line(row, f"--books: row {number}{source}") for number, row in enumerate(rows, 1)]


def _line(row: object, where: str) -> Line:
    if isinstance(row, Sequence) and not isinstance(row, str | bytes):
        row = dict(zip(_NAMES, row, strict=False))
    if not isinstance(row, Mapping):
        raise Unusable(f"{where} is {_short(row)}. Write it like {_SHAPE}")
    missing = [name for name in _NAMES[:3] if name not in row or (row[name] is None and name != "amount")]
    if missing:
        raise Unusable(f"{where} has no {' and no '.join(missing)}: {_short(dict(row))}")
    given = "" if row["amount"] is None else str(row["amount"]).strip()
    try:
        amount = Decimal(given or 0)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise Unusable(f"{where}: amount {given!r} is not a number like 37.89")
    return Line(str(row["order"]), str(row["state"]), amount, str(row.get("currency") or ""))


def _short(value: object) -> str:
    return repr(value)[:120]


def _fetched(url: str) -> str:
    status, following = 0, url
    try:
        for _ in range(_MOST_REDIRECTS):
            status, headers, content = _response(following)
            if not 300 <= status < 400 or "location" not in headers:
                break
            following = urljoin(following, headers["location"])
        if status == 200:
            return content.decode()
    except (NoResponse, ValueError) as error:
        raise Unusable(f"--books: {url} does not respond ({error})") from None
    raise Unusable(f"--books: {url} answers {status}")


def _response(url: str) -> Response:
    parts = urlsplit(url)
    client = SyncClient(origin_of(url), any_host=True)  # the user chose this URL
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    return client.request("GET", path, timeout_seconds=_READ_SECONDS)


def origin_of(url: str) -> str:
    """Return the scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _path(given: str, variables: Mapping[str, str]) -> Path:
    path = Path(Template(given).safe_substitute({**os.environ, **variables}))
    if not path.is_file():
        raise Unusable(f"--books: {path} does not exist")
    return path


def _of_file(given: str, variables: Mapping[str, str]) -> list[Line]:
    path = _path(given, variables)
    try:
        return parsed(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise Unusable(f"--books: {path} cannot be read: {error}") from None


def _of_database(source: str, variables: Mapping[str, str]) -> list[Line]:
    given, _, select = source.removeprefix(_SQLITE).partition("#")
    if not select.strip():
        raise Unusable(
            f"--books: {source} has no query. Write it after a #: {_SQLITE}shop.db#SELECT reference, state, amount, "
            "currency FROM orders"
        )
    path = _path(given, variables)
    try:
        # Opened read-only, so that reading cannot change the records.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            cursor = database.execute(select)
            names = [column[0].lower() for column in cursor.description or ()]
            rows: list[Row] = cursor.fetchall()
    except sqlite3.Error as error:
        raise Unusable(f"--books: {path}: {error}, in `{select}`") from None
    if {"order", "state", "amount"} <= set(names):
        rows = [dict(zip(names, row, strict=True)) for row in rows if isinstance(row, Sequence)]
    return _rows(rows, f" of `{select}`")


def printed(option: str, command: str, variables: Mapping[str, str], *, script: str = "") -> str:
    """Return the output of a shell command, or of a Python script with the command as its only argument. It runs with
    additional environment variables. Raise `Unusable` if it fails.
    """
    try:
        ran = subprocess.run(
            [sys.executable, "-c", script, command] if script else command, shell=not script, capture_output=True,
            timeout=_COMMAND_SECONDS, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Unusable(f"{option}: `{command}` did not finish within {_COMMAND_SECONDS} s") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip()[-500:]
        raise Unusable(f"{option}: `{command}` failed with exit code {ran.returncode}: {said}")
    return ran.stdout.decode(errors="replace")
