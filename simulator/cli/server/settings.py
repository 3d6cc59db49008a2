"""The settings of the command line: one row each, from which come flag, variable, key of the settings file and table.

A flag goes before its variable, a variable before the settings file, and that before the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import click

Sort = Literal["text", "number", "switch", "list"]


class Setting(NamedTuple):
    """A setting. `default` is its value, or None, and then `otherwise` says in words what holds.

    `place`: whether its value names a file, from the directory of the settings file where it stands in one.
    `keyed`: whether a settings file may have it.
    """

    flag: str
    meaning: str
    default: str | None = None
    otherwise: str = ""
    sort: Sort = "text"
    metavar: str | None = None
    place: bool = False
    keyed: bool = True

    @property
    def key(self) -> str:
        """Its name in a settings file: the flag without its dashes."""
        return self.flag.partition("/")[0].removeprefix("--")

    @property
    def name(self) -> str:
        """Its name as a parameter of a function."""
        return self.key.replace("-", "_")

    @property
    def variable(self) -> str:
        """Its environment variable: --rate-limit is SIMULATOR_RATE_LIMIT."""
        return f"SIMULATOR_{self.name.upper()}"

    def option(self, **more: Any) -> Callable[[Any], Any]:
        """It as an option of a command."""
        if self.sort == "switch":
            more |= {"default": False} if "/" in self.flag else {"is_flag": True}
        elif self.sort == "list":
            more |= {"multiple": True}
        elif self.default is not None:
            more |= {"default": self.default}
        words = f"{self.meaning}  [default: {self.otherwise}]" if self.otherwise else self.meaning
        more |= {"envvar": self.variable, "show_envvar": True, "show_default": True, "metavar": self.metavar}
        return click.option(self.flag, help=words, **more)


SERVE = (
    Setting("--host", "Address to listen on; any but loopback needs a control token.", "127.0.0.1"),
    Setting("--port", "Port; 0 picks a free one.", "8642", sort="number"),
    Setting("--clock", "real, manual (moves only by control calls) or scaled.", "real"),
    Setting("--rate", "How many times as fast as the wall clock a scaled clock runs.", "1", sort="number"),
    Setting("--now", "Start time.", otherwise="the wall clock; of a manual clock 2026-01-05T08:00:00Z"),
    Setting("--seed", "Seed of everything random.", "1", sort="number"),
    Setting(
        "--scenario",
        "Active scenario, by name or file; repeatable, later ones win; none: nothing happens but by timers and calls.",
        otherwise="autopilot and test-values",
        sort="list",
        place=True,
    ),
    Setting(
        "--scenarios",
        "Directory of scenario files, known like those that ship and read again when they change; repeatable.",
        otherwise="none",
        sort="list",
        metavar="DIR",
        place=True,
    ),
    Setting(
        "--state",
        "File with the world to begin with, in place of the default one: what GET /_simulator/state gives, and what "
        "pytest keeps of a test.",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--store",
        "Database in which worlds outlive the server: sqlite:///FILE, or postgresql://… for several servers at once.",
        otherwise="none; they are in memory",
        metavar="URL",
        place=True,
    ),
    Setting(
        "--advertise",
        "Where other servers of the same PostgreSQL reach this one.",
        otherwise="http://HOST:PORT of this one",
        metavar="URL",
    ),
    Setting(
        "--idle-worlds",
        "Seconds after its last call at which a world of a store leaves memory, until it is called or has something "
        "to do.",
        "60",
        sort="number",
    ),
    Setting("--control-token", "Token that the control interface asks for when it listens beyond loopback."),
    Setting(
        "--control-tokens",
        "File of control tokens, each with a name and the worlds that it is for; asked for on loopback too.",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--allowed-host",
        "Further name that a server on a loopback address answers to, for example host.docker.internal; repeatable.",
        sort="list",
    ),
    Setting(
        "--allow-origin",
        "Origin of a web page that may call the API of a server on a loopback address, for example "
        "http://localhost:5173; repeatable.",
        otherwise="that of the server alone",
        sort="list",
        metavar="ORIGIN",
    ),
    Setting("--idle-timeout", "Seconds that a connection may wait for its next request.", "60", sort="number"),
    Setting("--request-timeout", "Seconds that a request may take to come in whole.", "30", sort="number"),
    Setting("--strict/--no-strict", "Refuse unknown fields and query parameters.", sort="switch"),
    Setting("--rate-limit", "N/SECONDS: so many calls in so many seconds per key pair.", otherwise="none"),
    Setting("--rate-limit-clock", "Clock of those seconds: simulated or wall.", "simulated"),
    Setting(
        "--webhook-urls",
        "Where webhooks may go: public (HTTPS only), local (this machine, too) or any.",
        "local",
    ),
    Setting("--webhook-timestamp", "Clock of X-Timestamp: wall or simulated.", "wall"),
    Setting(
        "--journal-limit",
        "How many interface calls the journal keeps, and as many control calls.",
        "10000",
        sort="number",
    ),
    Setting("--journal-bytes", "How many bytes of each it keeps.", "67108864", sort="number"),
    Setting(
        "--timers-per-instant",
        "How many steps without delay a scenario may come to at one instant before it is stopped.",
        "10000",
        sort="number",
    ),
    Setting(
        "--quota-calls-per-second",
        "How many interface calls a second of real time any world may make.",
        otherwise="any",
        sort="number",
    ),
    Setting(
        "--quota-objects",
        "How many resources any world may have, keys and deleted ones too.",
        otherwise="any",
        sort="number",
    ),
    Setting(
        "--quota-journal-bytes",
        "The most that --journal-bytes comes to in any world.",
        otherwise="any",
        sort="number",
    ),
    Setting("--quota-snapshots", "How many snapshots any world may have.", otherwise="any", sort="number"),
    Setting("--quota-scenarios", "How many uploaded scenarios any world may have.", otherwise="any", sort="number"),
    Setting(
        "--quota-events", "How many events any world may have for emit to add one.", otherwise="any", sort="number"
    ),
    Setting(
        "--quota-bytes",
        "How many bytes snapshots, uploaded scenarios and events of any world may take together.",
        otherwise="any",
        sort="number",
    ),
    Setting(
        "--assume",
        "ID=ALTERNATIVE: assume otherwise where the specification is silent; repeatable.  "
        "`rampsim assumptions` lists what there is.",
        sort="list",
    ),
    Setting(
        "--end-with-stdin",
        "End when standard input ends: with the program at its other end, whatever becomes of that.",
        sort="switch",
        keyed=False,
    ),
)
"""Those of `rampsim serve`."""

CLIENT = (
    Setting(
        "--url",
        "Address of the running server.",
        otherwise="that of the server that was started here, else http://127.0.0.1:8642",
    ),
    Setting("--world", "World to act in.", otherwise="default"),
    Setting("--environment", "Environment to act in, sandbox or production.", otherwise="sandbox"),
    Setting("--control-token", "Token, if the server has one."),
)
"""Those of the commands that speak to a running server."""

CONFIG = Setting(
    "--config",
    "Settings file; none for none.",
    otherwise="the nearest rampsim.toml, or [tool.rampsim] of pyproject.toml",
    metavar="FILE",
    keyed=False,
)
