"""The settings file: `rampsim.toml`, or `[tool.rampsim]` in a `pyproject.toml`. Errors include line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from simulator.cli.output import Fields, Row, exits
from simulator.cli.server.settings import CLIENT, CONFIG, SERVE, Setting
from simulator.engine.clients.guard import LiveKey
from simulator.service import LIVE_KEYS

NAME = "rampsim.toml"
PROJECT = "pyproject.toml"
_FILE = "rampsim.settings-file"
"""The key of the settings file in the data of a click context."""
_TABLE = re.compile(rb"tool\s*\.\s*[\"']?rampsim")
_HEADER = re.compile(r"\s*\[+([^\]]*)\]+")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*=")
_AT = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_ROWS = {row.key: row for row in (*SERVE, *CLIENT)}
_WANTED = {
    "text": "a string in quotes",
    "number": "a number",
    "switch": "true or false",
    "list": 'a list like ["one", "two"]',
}


class WrongSettings(Exception):
    """The settings file is invalid. `problems` has one line for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class SettingsFile(NamedTuple):
    """The values in a settings file and their line numbers, by parameter name."""

    path: Path | None
    values: Row
    lines: Mapping[str, int]

    def place_of(self, name: str) -> str:
        """Return `FILE:LINE` for a parameter, or "" if there is no settings file."""
        return f"{_shown(self.path)}:{self.lines.get(name, 1)}" if self.path else ""


NOTHING = SettingsFile(None, {}, {})


def upwards(start: Path) -> Iterator[Path]:
    """Yield a directory and its parents, up to the root of the repository."""
    for directory in (start, *start.parents):
        yield directory
        if (directory / ".git").exists():
            return


_LONGEST_SHOWN = 100
_HIGHEST = 10**30
"""The largest accepted number. Python refuses to print numbers that are much larger."""


def find(start: Path) -> Path | None:
    """Return the nearest settings file, or None. In the same directory, rampsim.toml takes precedence over
    pyproject.toml.
    """
    for directory in upwards(start):
        if (directory / NAME).is_file():
            return directory / NAME
        try:
            if _TABLE.search((directory / PROJECT).read_bytes()):
                return directory / PROJECT
        except OSError:
            continue
    return None


def read(given: str | None) -> SettingsFile:
    """Return the settings file with this name, or the nearest one. Return NOTHING if there is no settings file or the
    name is `none`.
    """
    if given == "none":
        return NOTHING
    path = find(Path.cwd()) if given is None else Path(given)
    if path is None:
        return NOTHING
    import tomllib

    shown = _shown(path)
    try:
        raw = path.read_bytes()
        document = tomllib.loads(raw.decode("utf-8-sig"))
    except OSError as error:
        raise WrongSettings([f"--config: cannot read {shown}: {error.strerror or error}"]) from None
    except UnicodeDecodeError:
        raise WrongSettings([f"{shown}:1: the file is not UTF-8"]) from None
    except tomllib.TOMLDecodeError as error:
        found = _AT.fullmatch(str(error))
        place, why = (f"{shown}:{found[2]}:{found[3]}", found[1]) if found else (shown, str(error))
        raise WrongSettings([f"{place}: the file is not valid TOML: {why}"]) from None
    except (ValueError, RecursionError):  # a number with thousands of digits, an invalid date
        raise WrongSettings([f"{shown}: a value is too long, is nested too deeply, or is an invalid date"]) from None
    is_project = path.name == PROJECT
    table: Any = document
    for name in ("tool", "rampsim") if is_project else ():
        table = table.get(name, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise WrongSettings([f"{shown}: [tool.rampsim] must be a table"])
    lines = _lines(raw.decode("utf-8-sig"), is_project)
    problems: list[str] = []
    values: Fields = {}
    for key, value in table.items():
        row = _ROWS.get(key)
        place = f"{shown}:{lines.get(key, 1)}"
        if isinstance(value, dict) and (row is None or not row.keyed):
            above = "[tool.rampsim]" if is_project else "the file"
            why = f"settings are keys of {above} itself, such as `port = 9000`"
            problems.append(f"{place}: unknown table [{key}]: {why}")
        elif row is None or not row.keyed:
            problems.append(f"{place}: unknown setting {key!r}{_meant(key)}")
        elif (wanted := _as_option(row, value, path.absolute().parent)) is None:
            problems.append(f"{place}: {key}: {_brief(value)} is not {_WANTED[row.sort]}")
        else:
            values[row.name] = wanted
            try:
                LIVE_KEYS.check(str(value), f"{place}: {key}")
            except LiveKey as error:
                problems.append(str(error))
    if problems:
        raise WrongSettings(problems)
    return SettingsFile(path, values, {key.replace("-", "_"): line for key, line in lines.items()})


def _brief(value: object) -> str:
    """Format a value for a message. Return "the value" if Python cannot format it, such as a very long integer."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):
        return "the value"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _as_option(row: Setting, value: Any, directory: Path) -> Any:
    """Return a value in the form that the option expects, or None if it has the wrong type."""
    if row.sort == "switch":
        return value if isinstance(value, bool) else None
    if row.sort == "list":
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return None
        return [_placed(text, directory) if row.place else text for text in texts]
    if row.sort == "number":
        is_number = isinstance(value, float | str) or (isinstance(value, int) and -_HIGHEST <= value <= _HIGHEST)
        return str(value) if is_number and not isinstance(value, bool) else None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if not isinstance(value, str):
        return None
    return _placed(value, directory) if row.place else value


def _placed(text: str, directory: Path) -> str:
    """Return a path from a settings file, resolved relative to that file's directory."""
    if directory == Path.cwd():
        return text
    if text.startswith("sqlite:///"):
        return f"sqlite:///{directory / text.removeprefix('sqlite:///')}"
    is_path = "://" not in text and ("/" in text or (directory / text).is_file())
    return str(directory / text) if is_path else text


def _lines(text: str, is_project: bool) -> dict[str, int]:
    lines: dict[str, int] = {}
    is_inside = not is_project
    for number, line in enumerate(text.splitlines(), 1):
        if (header := _HEADER.match(line)) is not None:
            name = header[1].replace(" ", "").replace('"', "")
            is_inside = is_project and name == "tool.rampsim"
            lines.setdefault(name.removeprefix("tool.rampsim.").partition(".")[0], number)
        elif is_inside and (key := _KEY.match(line)) is not None:
            lines.setdefault(key[1], number)
    return lines


def _meant(key: str) -> str:
    from difflib import get_close_matches

    keyed = [row.key for row in _ROWS.values() if row.keyed]
    close = get_close_matches(key.replace("_", "-").lower(), keyed, n=1)
    listed = f"; the settings are {', '.join(keyed)} (`rampsim docs reference/settings` explains them)"
    return f"; did you mean {close[0]!r}?" if close else listed


def _shown(path: Path | None) -> str:
    """Return the path, relative to the working directory if possible."""
    try:
        return str(Path() if path is None else path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def config_option(rows: Sequence[Setting]) -> Callable[[Any], Any]:
    """Return the option `--config`. The settings file is read before other options and provides their defaults."""
    names = {row.name for row in rows}

    def obey(context: click.Context, parameter: click.Parameter, given: str | None) -> None:
        if context.resilient_parsing:
            return
        known = context.meta.get(_FILE)
        if known is None or given is not None:
            if given is None and context.params.get("end_with_stdin"):
                return  # with --end-with-stdin, the parent process passes all settings as flags
            with exits(WrongSettings):
                known = context.meta[_FILE] = read(given)
        context.default_map = {name: value for name, value in known.values.items() if name in names}

    return CONFIG.option(is_eager=True, expose_value=False, callback=obey)


def file_of(context: click.Context) -> SettingsFile:
    """Return a command's settings file, or an empty one if there is no file."""
    found: SettingsFile = context.meta.get(_FILE, NOTHING)
    return found


def with_source(context: click.Context, problem: str) -> str:
    """Return a problem message in which the source of the value (file and line, or variable) replaces the flag."""
    flag = problem.partition(" ")[0].rstrip(":")
    name = flag.removeprefix("--").replace("-", "_")
    source = context.get_parameter_source(name) if flag.startswith("--") else None
    if source is click.core.ParameterSource.ENVIRONMENT:
        return f"SIMULATOR_{name.upper()}{problem.removeprefix(flag)}"
    if source is click.core.ParameterSource.DEFAULT_MAP:
        return f"{file_of(context).place_of(name)}: {flag.removeprefix('--')}{problem.removeprefix(flag)}"
    return problem
