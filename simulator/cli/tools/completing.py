"""`rampsim completion`: prints scripts for shell completion, and finds the names for them.

Names come from the running server, or from the package if no server is running. Errors are ignored, because messages
and delays would disturb users while they type.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click

from simulator import host
from simulator.cli.output import say
from simulator.cli.server import running
from simulator.engine.clients import address
from simulator.engine.clients import control as clients
from simulator.engine.faults import presets as faults
from simulator.engine.scenario.files import shipped

_SECONDS = 0.5
"""The time limit for a response from the server."""

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script for shell completion.

    It completes commands, options, and names of worlds, scenarios, actions and events.

    \b
    eval "$(rampsim completion bash)"     # in ~/.bashrc
    eval "$(rampsim completion zsh)"      # in ~/.zshrc
    rampsim completion fish > ~/.config/fish/completions/rampsim.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    say(made(context.find_root().command, {}, "rampsim", "_RAMPSIM_COMPLETE").source())


def _completer(names: Callable[[click.Context], Iterable[str]]) -> Completer:
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        try:
            return [name for name in names(context) if name.startswith(incomplete) and name.isprintable()]
        except Exception:  # see the docstring of the module
            return []

    return complete


def _told(context: click.Context, path: str, *fields: str) -> list[str]:
    """Return a field of each item of a list on the server: the first of `fields` that is not empty. Return an empty
    list if the server does not respond quickly.
    """
    given = {name: value for one in _with_parents(context) for name, value in one.params.items() if value}
    url = given.get("url") or os.environ.get("SIMULATOR_URL")
    if not url:
        here = running.here()
        url = here[0].url if here else address.listening(os.environ)
    world = given.get("world") or os.environ.get("SIMULATOR_WORLD")
    token = given.get("control_token") or os.environ.get("SIMULATOR_CONTROL_TOKEN")
    client = clients.ControlClient(url, world, token=token, timeout_seconds=_SECONDS)
    try:
        rows = client.get(path)["data"]
    except (clients.Unreachable, clients.CallRefused):
        return []
    return [str(next(filter(None, map(row.get, fields)))) for row in rows]


def _with_parents(context: click.Context) -> list[click.Context]:
    """Return a context and its parents, outermost first."""
    return [*([] if context.parent is None else _with_parents(context.parent)), context]


def _actions(context: click.Context) -> Iterable[str]:
    return _told(context, "/actions", "name") or sorted(host.Simulator().actions.rows)


def _scenarios(context: click.Context) -> Iterable[str]:
    files = (path.stem for path in shipped.shipped_directory().glob("*.yaml"))
    return sorted({*files, *_told(context, "/scenarios", "name")})


worlds = _completer(lambda context: _told(context, "/worlds", "id"))
resources = _completer(lambda context: _told(context, "/resources", "id"))
snapshots = _completer(lambda context: _told(context, "/snapshots", "name", "id"))
fault_ids = _completer(lambda context: _told(context, "/faults", "id"))
inboxes = _completer(lambda context: _told(context, "/inbox", "name"))
actions = _completer(_actions)
events = _completer(lambda context: host.vocabulary().events)
scenarios = _completer(_scenarios)
presets = _completer(lambda context: faults.PRESETS)
