"""`reference/settings.md`: the one table of settings, from the rows that all else of them comes from."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.generator.reference.text import table
from simulator.cli.server.settings import CLIENT, CONFIG, SERVE, Setting

_HEAD = """\
# Settings

Each setting is a flag, an environment variable and a key of the settings file. A flag goes before its variable, a
variable before the file, and the file before the default. All that is wrong is named at once, with the line of the file
or the name of the variable, and the command ends with exit code 2.

## The settings file

It is `rampsim.toml`, or the table `[tool.rampsim]` of `pyproject.toml`. The nearest one counts: that of the working
directory, else of a directory above, up to the root of the repository. `--config FILE` or `SIMULATOR_CONFIG` names
another, `--config none` none.

<!-- not run: a file to write -->
```toml
clock = "manual"
strict = true
scenario = ["autopilot", "tests/scenarios/late-payer.yaml"]
webhook-urls = "any"
rate-limit = "100/60"
```

Files that it names (`scenario`, `state`, `store`, `control-tokens`) are found from where it lies, wherever the command
is called. A server that another program starts for itself (`--end-with-stdin`), and those of the test kit, obey no file
that happens to lie there.

## Of the server

Flags of `rampsim serve`. New worlds inherit what stands from `--strict` on, and `--now`, `--rate` and `--scenario`;
`rampsim worlds` shows what a world has.

"""

_CLIENTS = """

A rate limit counts simulated time: under a manual clock its window ends only when the clock is moved. Let the `sleep`
of your client advance the clock by what `Retry-After` says.

## Of commands that speak to a server

"""

_FOUND = """

Without `--url`, a server is looked for where `SIMULATOR_HOST` and `SIMULATOR_PORT` make one listen, then at the
`url` of the settings file, then where one was started from here: `rampsim serve` keeps a note in `.rampsim/servers`
while it listens, beside the settings file, else at the root of the repository. Of several that run here, the one at
the default address is taken, or you are asked to name one. When nothing answers, the error says where it has looked.

Clients speak to this machine alone; another host that a simulator stands on is named by `SIMULATOR_ALLOW_HOSTS`.

## Of all commands

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
