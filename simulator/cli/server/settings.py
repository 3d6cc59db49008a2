"""The settings for the command line. Flag, environment variable, key and documentation are derived from one
`Setting`.

A flag overrides its variable, the variable overrides the settings file, and the file overrides the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import click

Sort = Literal["text", "number", "switch", "list"]


class Setting(NamedTuple):
    """One setting."""

    flag: str
    meaning: str
    default: str | None = None
    otherwise: str = ""
    """A description of the default value, used if `default` is None."""
    sort: Sort = "text"
    metavar: str | None = None
    place: bool = False
    """Whether the value is a file path. In a settings file, it is relative to the file's directory."""
    keyed: bool = True
    """Whether a settings file may contain this setting."""

    @property
    def key(self) -> str:
        """The key in a settings file: the flag without dashes."""
        return self.flag.partition("/")[0].removeprefix("--")

    @property
    def name(self) -> str:
        """The name of the Python parameter."""
        return self.key.replace("-", "_")

    @property
    def variable(self) -> str:
        """The environment variable, for example SIMULATOR_RATE_LIMIT for --rate-limit."""
        return f"SIMULATOR_{self.name.upper()}"

    def option(self, **more: Any) -> Callable[[Any], Any]:
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
    Setting("--host", "Address to listen on; an address other than loopback needs a control token.", "127.0.0.1"),
    Setting("--port", "Port; 0 picks a free one.", "8642", sort="number"),
    Setting("--clock", "real, manual (moves only by control calls) or scaled.", "real"),
    Setting("--rate", "Speed of a scaled clock, as a multiple of real time.", "1", sort="number"),
    Setting("--now", "Start time.", otherwise="now; with a manual clock 2026-01-05T08:00:00Z"),
    Setting("--seed", "Seed of everything random.", "1", sort="number"),
    Setting(
        "--scenario",
        "Active scenario, by name or file; repeatable, later ones have priority; none for no scenario.",
        otherwise="autopilot and test-values",
        sort="list",
        place=True,
    ),
    Setting(
        "--scenarios",
        "Directory of scenario files, available by name and reloaded when they change; repeatable.",
        otherwise="none",
        sort="list",
        metavar="DIR",
        place=True,
    ),
    Setting(
        "--state",
        "File with the initial world: a document from GET /_simulator/state, or one that pytest saved.",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--store",
        "Database for worlds: sqlite:///FILE, or postgresql://… for several servers.",
        otherwise="none; worlds are in memory",
        metavar="URL",
        place=True,
    ),
    Setting(
        "--advertise",
        "URL at which other servers with the same PostgreSQL database reach this one.",
        otherwise="http://HOST:PORT of this server",
        metavar="URL",
    ),
    Setting(
        "--idle-worlds",
        "Seconds after its last call at which a saved world is unloaded from memory, until a call or timer needs it.",
        "60",
        sort="number",
    ),
    Setting("--control-token", "Token for the control interface; required on addresses other than loopback."),
    Setting(
        "--control-tokens",
        "File of control tokens, each with a name and its worlds; required even on loopback.",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--allowed-host",
        "Additional host name of a server on loopback, for example host.docker.internal; repeatable.",
        sort="list",
    ),
    Setting(
        "--allow-origin",
        "Origin of a web page that may call the API of a server on loopback, for example http://localhost:5173; "
        "repeatable.",
        otherwise="only the server's own origin",
        sort="list",
        metavar="ORIGIN",
    ),
    Setting("--idle-timeout", "Seconds that a connection may wait for its next request.", "60", sort="number"),
    Setting("--request-timeout", "Seconds that receiving a whole request may take.", "30", sort="number"),
    Setting("--strict/--no-strict", "Refuse unknown fields and query parameters.", sort="switch"),
    Setting("--rate-limit", "N/SECONDS: at most N calls in this many seconds per key pair.", otherwise="none"),
    Setting("--rate-limit-clock", "Clock of the rate limit: simulated or wall.", "simulated"),
    Setting(
        "--webhook-urls",
        "Allowed webhook URLs: public (HTTPS only), local (also this machine) or any.",
        "local",
    ),
    Setting("--webhook-timestamp", "Clock of X-Timestamp: wall or simulated.", "wall"),
    Setting(
        "--journal-limit",
        "Number of API calls in the journal, and of control calls.",
        "10000",
        sort="number",
    ),
    Setting("--journal-bytes", "Size of each journal in bytes.", "67108864", sort="number"),
    Setting(
        "--timers-per-instant",
        "Number of steps without delay that a scenario may run at one instant before it is stopped.",
        "10000",
        sort="number",
    ),
    Setting(
        "--quota-calls-per-second",
        "API calls of a world per second of real time.",
        otherwise="any",
        sort="number",
    ),
    Setting(
        "--quota-objects",
        "Resources of a world, including keys and deleted resources.",
        otherwise="any",
        sort="number",
    ),
    Setting(
        "--quota-journal-bytes",
        "Largest --journal-bytes of a world.",
        otherwise="any",
        sort="number",
    ),
    Setting("--quota-snapshots", "Snapshots of a world.", otherwise="unlimited", sort="number"),
    Setting("--quota-scenarios", "Uploaded scenarios of a world.", otherwise="unlimited", sort="number"),
    Setting(
        "--quota-events", "Events of a world up to which the action emit works.", otherwise="unlimited", sort="number"
    ),
    Setting(
        "--quota-bytes",
        "Bytes of a world's snapshots, uploaded scenarios and events together.",
        otherwise="any",
        sort="number",
    ),
    Setting(
        "--assume",
        "ID=ALTERNATIVE: switch an assumption; repeatable.  `rampsim assumptions` lists them.",
        sort="list",
    ),
    Setting(
        "--observed",
        "Observed file of `rampsim probe`, on which worlds are based; repeatable. --assume takes precedence.",
        otherwise="none",
        sort="list",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--end-with-stdin",
        "Stop when standard input ends, for example because the parent process ended.",
        sort="switch",
        keyed=False,
    ),
)
"""The settings for `rampsim serve`."""

CLIENT = (
    Setting(
        "--url",
        "Address of the running server.",
        otherwise="the server that was started here, else http://127.0.0.1:8642",
    ),
    Setting("--world", "World to use.", otherwise="default"),
    Setting("--environment", "Environment to use, sandbox or production.", otherwise="sandbox"),
    Setting("--control-token", "Control token, if the server requires one."),
)
"""The settings for commands that use a running server."""

CONFIG = Setting(
    "--config",
    "Settings file; none for no file.",
    otherwise="the nearest rampsim.toml, or [tool.rampsim] of pyproject.toml",
    metavar="FILE",
    keyed=False,
)
