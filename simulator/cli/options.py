"""Options of commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import click

from simulator.cli.output import fail

Command: TypeAlias = Callable[..., None]


def option(*names: str, help: str, **more: Any) -> Callable[[Command], Command]:
    """Return an option that shows its default and its environment variable, if it has them."""
    more.setdefault("show_default", more.get("default") not in (None, ""))
    return click.option(*names, help=help, show_envvar="envvar" in more, **more)


def target_keys(command: Command) -> Command:
    """Give a command the options for the key pair of a target."""
    for side in ("secret", "public"):
        variable, words = f"RAMPSIM_{side.upper()}_KEY", f"{side.capitalize()} key for the target."
        command = option(f"--{side}-key", help=words, metavar="KEY", envvar=variable)(command)
    return command


def key_pair(public_key: str | None, secret_key: str | None) -> tuple[str, str]:
    """Return the key pair. Exit with code 2 if a key is missing."""
    if not (public_key and secret_key):
        fail("--target needs a key pair: --public-key and --secret-key")
    return public_key, secret_key


control_token = option(
    "--control-token", help="Control token of that simulator.", metavar="TOKEN", envvar="SIMULATOR_CONTROL_TOKEN"
)


def is_given(name: str) -> bool:
    """Return True if the command line contains the parameter."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
