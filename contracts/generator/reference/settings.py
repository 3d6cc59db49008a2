"""`reference/settings.md`: the table of settings, from their rows."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.generator.reference.text import table
from simulator.cli.server.settings import CLIENT, CONFIG, SERVE, Setting

_HEAD = """\
# Settings

Each setting is a flag, an environment variable and a key of the settings file. A flag overrides the variable, the
variable overrides the file, and the file overrides the default. Invalid settings are all reported together, with the
line of the file or the name of the variable, and the command exits with 2.

## The settings file

The file is `rampsim.toml`, or the table `[tool.rampsim]` of `pyproject.toml`. rampsim looks in the working directory,
then in each parent up to the root of the repository, and uses the first file that it finds. `--config FILE` or
`SIMULATOR_CONFIG` selects another file. `--config none` disables settings files.

<!-- not run: a file to write -->
```toml
clock = "manual"
strict = true
scenario = ["autopilot", "tests/scenarios/late-payer.yaml"]
webhook-urls = "any"
rate-limit = "100/60"
```

Paths in the file (`scenario`, `state`, `store`, `control-tokens`) are relative to the file's directory. Servers
started by another program (`--end-with-stdin`), such as the test kit, ignore settings files.

## Server settings

Flags of `rampsim serve`. New worlds inherit `--now`, `--rate`, `--scenario`, `--strict` and every flag listed after it.
`rampsim worlds` shows the settings of a world.

"""

_CLIENTS = """

A rate limit uses simulated time. With a manual clock, its window ends only when you advance the clock. Replace your
client's `sleep` with a function that advances the clock by `Retry-After`.

## Settings of commands that use a server

"""

_FOUND = """

Without `--url`, a command tries the address in `SIMULATOR_HOST` and `SIMULATOR_PORT`, then the `url` of the settings
file, then a server that was started in this project. While it listens, `rampsim serve` has an entry in
`.rampsim/servers`, next to the settings file or at the root of the repository. If several servers are running,
commands use the one at the default address. If no server uses the default address, they fail and ask for `--url`. If
no server responds, the error lists the addresses that were tried.

By default, commands and test clients refuse to connect to other machines. To allow another host, set
`SIMULATOR_ALLOW_HOSTS`.

## Settings of all commands

"""


def page() -> str:
    """The page as Markdown."""
    parts = (_HEAD, SERVE, _CLIENTS, CLIENT, _FOUND, (CONFIG,))
    lines = [part.strip("\n") if isinstance(part, str) else "\n".join(_table(part)) for part in parts]
    return "\n\n".join(lines) + "\n"


def _table(rows: Iterable[Setting]) -> list[str]:
    return table(
        ("flag", "variable", "key of the file", "default", "meaning"),
        (
            (
                f"`{row.flag.partition('/')[0]}`",
                f"`{row.variable}`",
                f"`{row.key}`" if row.keyed else "",
                _default(row),
                row.meaning.replace("  ", " "),
            )
            for row in rows
        ),
    )


def _default(row: Setting) -> str:
    if row.default is not None:
        return f"`{row.default}`"
    return "off" if row.sort == "switch" else row.otherwise or "none"
