"""Settings files on the command line: the option `--config`, and the source of a value in messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from simulator.cli import output
from simulator.cli.server import settings_file
from simulator.cli.server.settings import CONFIG, Setting

_FILE = "rampsim.settings-file"


def settings_file_option(rows: Sequence[Setting]) -> Callable[[Any], Any]:
    """Return the option `--config`. The settings file is read before other options and provides their defaults."""
    names = {row.name for row in rows}

    def obey(context: click.Context, parameter: click.Parameter, given: str | None) -> None:
        if context.resilient_parsing:
            return
        known = context.meta.get(_FILE)
        if known is None or given is not None:
            if given is None and context.params.get("end_with_stdin"):
                return  # with --end-with-stdin, the parent process passes all settings as flags
            with output.exits(settings_file.WrongSettings):
                known = context.meta[_FILE] = settings_file.read(given)
        context.default_map = {name: value for name, value in known.values.items() if name in names}

    return CONFIG.option(is_eager=True, expose_value=False, callback=obey)


def file_of(context: click.Context) -> settings_file.SettingsFile:
    """Return a command's settings file, or an empty one if there is no file."""
    found: settings_file.SettingsFile = context.meta.get(_FILE, settings_file.NOTHING)
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
