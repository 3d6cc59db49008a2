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
    metavar: str | None
    meaning: str
    default: str | None = None
    otherwise: str = ""
    """A description of the default value, used if `default` is None."""
    sort: Sort = "text"
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


def _number(flag: str, unit: str, meaning: str, default: str | None = None) -> Setting:
    """Return a setting whose value is a number. If `default` is None, there is no limit."""
    return Setting(flag, unit, meaning, default, "" if default else "unlimited", "number")


def _choice(flag: str, choices: str, meaning: str, default: str) -> Setting:
    return Setting(flag, f"[{choices}]", meaning, default)


def _file(flag: str, metavar: str, meaning: str, otherwise: str = "") -> Setting:
    return Setting(flag, metavar, meaning, None, otherwise, place=True)


def _list(flag: str, metavar: str, meaning: str, otherwise: str = "", *, place: bool = False) -> Setting:
    return Setting(flag, metavar, meaning, None, otherwise, "list", place)


def _switch(flag: str, meaning: str, *, keyed: bool = True) -> Setting:
    return Setting(flag, None, meaning, sort="switch", keyed=keyed)


SERVE = (
    Setting(
        "--host", "ADDRESS", "Address to listen on. An address other than loopback needs a control token.", "127.0.0.1"
    ),
    _number("--port", "PORT", "Port to listen on. 0 picks a free port.", "8642"),
    _choice(
        "--clock",
        "real|manual|scaled",
        "How simulated time passes: real, manual (only by control calls) or scaled.",
        "real",
    ),
    _number("--rate", "FACTOR", "Speed of a scaled clock, as a multiple of real time.", "1"),
    Setting(
        "--now",
        "TIMESTAMP",
        "Start of simulated time.",
        otherwise="the current time; 2026-01-05T08:00:00Z with a manual clock",
    ),
    _number("--seed", "N", "Seed for all random values.", "1"),
    _list(
        "--scenario",
        "NAME|FILE",
        "Scenario to activate. Repeatable; later scenarios have priority. `none` activates no scenario.",
        "autopilot and test-values",
        place=True,
    ),
    _list(
        "--scenarios",
        "DIR",
        "Directory of scenario files. They are available by name and reloaded when they change. Repeatable.",
        "no directory",
        place=True,
    ),
    _file(
        "--state",
        "FILE",
        "File with the initial world: a document from GET /_simulator/state, or one saved by the pytest plugin.",
    ),
    _file(
        "--store",
        "URL",
        "Database in which worlds are saved: sqlite:///FILE, or postgresql://… for several servers.",
        "no database; worlds are kept in memory only",
    ),
    Setting(
        "--advertise",
        "URL",
        "URL at which other servers with the same PostgreSQL database reach this one.",
        otherwise="http://HOST:PORT of this server",
    ),
    _number(
        "--idle-worlds",
        "SECONDS",
        "Seconds without calls after which a saved world is unloaded from memory. A call or timer loads it again.",
        "60",
    ),
    Setting("--control-token", "TOKEN", "Token for the control interface. Required on addresses other than loopback."),
    _file(
        "--control-tokens",
        "FILE",
        "File that lists control tokens, each with a name and the worlds it can access. With this file, a "
        "token is required even on loopback.",
    ),
    _list(
        "--allowed-host",
        "HOST",
        "Additional host name that a server on loopback accepts, such as host.docker.internal. Repeatable.",
    ),
    _list(
        "--allow-origin",
        "ORIGIN",
        "Web origin that may call a server on loopback, such as http://localhost:5173. Repeatable.",
        "only the server's own origin",
    ),
    _number("--idle-timeout", "SECONDS", "Seconds after which an idle connection is closed.", "60"),
    _number("--request-timeout", "SECONDS", "Maximum number of seconds for receiving a whole request.", "30"),
    _switch("--strict/--no-strict", "Refuse unknown fields and query parameters."),
    Setting(
        "--rate-limit",
        "N/SECONDS",
        "Limit of API calls per key pair as N/SECONDS: at most N calls in this many seconds.",
        otherwise="unlimited",
    ),
    _choice("--rate-limit-clock", "simulated|wall", "Clock used for the rate limit: simulated or wall.", "simulated"),
    _choice(
        "--webhook-urls",
        "public|local|any",
        "Allowed webhook URLs: public (HTTPS only), local (also URLs of this machine) or any.",
        "local",
    ),
    _choice(
        "--webhook-timestamp",
        "wall|simulated",
        "Clock used for the webhook header X-Timestamp: wall or simulated.",
        "wall",
    ),
    _number("--journal-limit", "N", "Maximum number of calls in each of the two journals (API and control).", "10000"),
    _number("--journal-bytes", "BYTES", "Maximum size of each journal in bytes.", "67108864"),
    _number(
        "--timers-per-instant",
        "N",
        "Number of steps without delay that a scenario can run at one instant before it is stopped.",
        "10000",
    ),
    _number("--quota-calls-per-second", "N", "Maximum number of API calls in a world per second of real time."),
    _number("--quota-objects", "N", "Maximum number of resources in a world, including keys and deleted resources."),
    _number("--quota-journal-bytes", "BYTES", "Maximum value of --journal-bytes for a world, in bytes."),
    _number("--quota-snapshots", "N", "Maximum number of snapshots of a world."),
    _number("--quota-scenarios", "N", "Maximum number of scenarios uploaded to a world."),
    _number("--quota-events", "N", "Number of events in a world after which the action emit is refused."),
    _number(
        "--quota-bytes", "BYTES", "Maximum total size in bytes of a world's snapshots, uploaded scenarios and events."
    ),
    _list(
        "--assume",
        "ID=ALTERNATIVE",
        "Assumption to switch, as ID=ALTERNATIVE. Repeatable. `rampsim assumptions` lists them.",
    ),
    _list(
        "--observed",
        "FILE",
        "Observed file of `rampsim probe`, on which worlds are based; repeatable. --assume takes precedence.",
        "none",
        place=True,
    ),
    _switch(
        "--detach",
        "Start the server in the background, print its address, and exit. End it with `rampsim stop`.",
        keyed=False,
    ),
    _switch(
        "--end-with-stdin", "Stop when standard input ends, for example because the parent process ended.", keyed=False
    ),
)
"""The settings for `rampsim serve`."""

CLIENT = (
    Setting(
        "--url",
        "URL",
        "Address of the running server.",
        otherwise="the server started in this directory or its repository, else http://127.0.0.1:8642",
    ),
    Setting("--world", "ID", "Id of the world to use.", otherwise="default"),
    Setting("--environment", None, "Environment to use.", otherwise="sandbox"),
    Setting("--control-token", "TOKEN", "Control token, if the server requires one."),
)
"""The settings for commands that use a running server."""

CONFIG = Setting(
    "--config",
    "FILE",
    "Settings file. `none` reads no file.",
    otherwise="the nearest rampsim.toml or [tool.rampsim] in pyproject.toml",
    keyed=False,
)
