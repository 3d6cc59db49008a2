"""The settings of a server. The flag, environment variable, key and documentation of a setting are derived from one
`Setting`. A flag overrides its variable, the variable overrides the settings file, and the file overrides the default.
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
        """The key in a settings file: the flag without its leading dashes."""
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


def _number(flag: str, meaning: str, default: str | None = None, unit: str = "N") -> Setting:
    """Return a setting whose value is a number. If `default` is None, there is no limit."""
    return Setting(flag, meaning, default, "" if default else "unlimited", "number", unit)


def _choice(flag: str, meaning: str, default: str, choices: str) -> Setting:
    return Setting(flag, meaning, default, metavar=f"[{choices}]")


SERVE = (
    Setting(
        "--host",
        "Address to listen on. An address other than loopback needs a control token.",
        "127.0.0.1",
        metavar="ADDRESS",
    ),
    _number("--port", "Port to listen on. 0 picks a free port.", "8642", unit="PORT"),
    _choice(
        "--clock",
        "How simulated time passes: real, manual (only by control calls) or scaled.",
        "real",
        "real|manual|scaled",
    ),
    _number("--rate", "Speed of a scaled clock, as a multiple of real time.", "1", unit="FACTOR"),
    Setting(
        "--now",
        "Start of simulated time.",
        otherwise="the current time; 2026-01-05T08:00:00Z with a manual clock",
        metavar="TIMESTAMP",
    ),
    _number("--seed", "Seed for all random values.", "1"),
    Setting(
        "--scenario",
        "Scenario to activate. Repeatable; later scenarios have priority. `none` activates no scenario.",
        otherwise="autopilot and test-values",
        sort="list",
        place=True,
        metavar="NAME|FILE",
    ),
    Setting(
        "--scenarios",
        "Directory of scenario files. They are available by name and reloaded when they change. Repeatable.",
        otherwise="no directory",
        sort="list",
        metavar="DIR",
        place=True,
    ),
    Setting(
        "--state",
        "File with the initial world: a document from GET /_simulator/state, or one saved by the pytest plugin.",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--store",
        "Database in which worlds are saved: sqlite:///FILE, or postgresql://… for several servers.",
        otherwise="no database; worlds are kept in memory only",
        metavar="URL",
        place=True,
    ),
    Setting(
        "--advertise",
        "URL at which other servers with the same PostgreSQL database reach this one.",
        otherwise="http://HOST:PORT of this server",
        metavar="URL",
    ),
    _number(
        "--idle-worlds",
        "Seconds without calls after which a saved world is unloaded from memory. A call or timer loads it again.",
        "60",
        unit="SECONDS",
    ),
    Setting(
        "--control-token",
        "Token for the control interface. Required on addresses other than loopback.",
        metavar="TOKEN",
    ),
    Setting(
        "--control-tokens",
        "File that lists control tokens, each with a name and the worlds it can access. With this file, a "
        "token is required even on loopback.",
        metavar="FILE",
        place=True,
    ),
    Setting(
        "--allowed-host",
        "Additional host name that a server on loopback accepts, such as host.docker.internal. Repeatable.",
        sort="list",
        metavar="HOST",
    ),
    Setting(
        "--allow-origin",
        "Web origin that may call a server on loopback, such as http://localhost:5173. Repeatable.",
        otherwise="only the server's own origin",
        sort="list",
        metavar="ORIGIN",
    ),
    _number("--idle-timeout", "Seconds after which an idle connection is closed.", "60", unit="SECONDS"),
    _number("--request-timeout", "Maximum number of seconds for receiving a whole request.", "30", unit="SECONDS"),
    Setting("--strict/--no-strict", "Refuse unknown fields and query parameters.", sort="switch"),
    Setting(
        "--rate-limit",
        "Limit of API calls per key pair as N/SECONDS: at most N calls in this many seconds.",
        otherwise="unlimited",
        metavar="N/SECONDS",
    ),
    _choice("--rate-limit-clock", "Clock used for the rate limit: simulated or wall.", "simulated", "simulated|wall"),
    _choice(
        "--webhook-urls",
        "Allowed webhook URLs: public (HTTPS only), local (also URLs of this machine) or any.",
        "local",
        "public|local|any",
    ),
    _choice(
        "--webhook-timestamp",
        "Clock used for the webhook header X-Timestamp: wall or simulated.",
        "wall",
        "wall|simulated",
    ),
    _number("--journal-limit", "Maximum number of calls in each of the two journals (API and control).", "10000"),
    _number("--journal-bytes", "Maximum size of each journal in bytes.", "67108864", unit="BYTES"),
    _number(
        "--timers-per-instant",
        "Number of steps without delay that a scenario can run at one instant before it is stopped.",
        "10000",
    ),
    _number("--quota-calls-per-second", "Maximum number of API calls in a world per second of real time."),
    _number("--quota-objects", "Maximum number of resources in a world, including keys and deleted resources."),
    _number("--quota-journal-bytes", "Maximum value of --journal-bytes for a world, in bytes.", unit="BYTES"),
    _number("--quota-snapshots", "Maximum number of snapshots of a world."),
    _number("--quota-scenarios", "Maximum number of scenarios uploaded to a world."),
    _number("--quota-events", "Number of events in a world after which the action emit is refused."),
    _number(
        "--quota-bytes",
        "Maximum total size in bytes of a world's snapshots, uploaded scenarios and events.",
        unit="BYTES",
    ),
    Setting(
        "--assume",
        "Assumption to switch, as ID=ALTERNATIVE. Repeatable. `rampsim assumptions` lists them.",
        sort="list",
        metavar="ID=ALTERNATIVE",
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
        "--detach",
        "Start the server in the background, print its address, and exit. End it with `rampsim stop`.",
        sort="switch",
        keyed=False,
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
        otherwise="the server started in this directory or its repository, else http://127.0.0.1:8642",
        metavar="URL",
    ),
    Setting("--world", "Id of the world to use.", otherwise="default", metavar="ID"),
    Setting("--environment", "Environment to use.", otherwise="sandbox"),
    Setting("--control-token", "Control token, if the server requires one.", metavar="TOKEN"),
)
"""The settings for commands that use a running server."""

CONFIG = Setting(
    "--config",
    "Settings file. `none` reads no file.",
    otherwise="the nearest rampsim.toml or [tool.rampsim] in pyproject.toml",
    metavar="FILE",
    keyed=False,
)
