"""The configuration of a server. All values are validated together, so that every problem is reported at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from simulator.engine.clients.address import DEFAULT_HOST, DEFAULT_PORT
from simulator.engine.text.fields import dotted, in_words
from simulator.engine.worlds import alternatives, setting_model
from simulator.engine.worlds.settings import DEFAULTS, shown
from simulator.kernel.clock import FASTEST, LAST_MS, MODES, SLOWEST, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late

if TYPE_CHECKING:
    from simulator.engine.worlds.observations import Observed

_STORES = compile_late(r"sqlite:///(?!/*$).+|postgres(ql)?://.+", re.DOTALL)
_IN_MEMORY = compile_late(r"sqlite:///(:memory:|file:.*)", re.DOTALL)
"""Names that SQLite interprets as a database in memory, or as a database name with options."""
_LONGEST_NUMBER = 20
_PASSWORD = compile_late(r"(?<=:)[^:]*(?=@)")
_ORIGIN = compile_late(r"https?://[^/?#@\s]+")
_PAGE_ORIGIN = compile_late(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#@\s]+")
"""The origin of a web page. Pages inside applications have their own schemes, such as `capacitor://localhost`."""
_COUNTS = (
    *("journal_limit", "journal_bytes", "timers_per_instant"),
    *("quota_calls_per_second", "quota_objects", "quota_journal_bytes"),
    *("quota_snapshots", "quota_scenarios", "quota_events", "quota_bytes"),
)
_HOST_NAME = compile_late(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?")


class ConfigError(Exception):
    """The configuration of a server is invalid. `problems` contains one line for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Config:
    """A validated configuration."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    clock: str = "real"
    rate: Decimal = Decimal(1)
    now_ms: int | None = None
    """The start time. None means the current time or, for a manual clock, its default start time."""
    seed: int = 1
    scenarios: tuple[str, ...] | None = None
    control_token: str | None = None
    control_tokens: Path | None = None
    allowed_hosts: tuple[str, ...] = ()
    idle_seconds: float = 60.0
    request_seconds: float = 30.0
    state: Path | None = None
    """The file with the world that replaces the default one."""
    settings: Mapping[str, Any] = field(default_factory=lambda: {**DEFAULTS})
    store: str | None = None
    """The URL of the database in which worlds are saved, or None if worlds are only in memory."""
    advertise: str | None = None
    """The origin at which other servers of the database reach this one, or None for the address it listens on."""
    idle_worlds_seconds: float = 60.0
    """The number of seconds after its last call at which a saved world is removed from memory."""
    scenario_directories: tuple[Path, ...] = ()
    """The directories that scenario files are read from. Changed files are read again."""
    allowed_origins: tuple[str, ...] = ()
    observed: tuple[Observed, ...] = ()
    """The files of observations of the real service that worlds are based on."""


def make_config(
    given: Mapping[str, Any], switches: alternatives.Alternatives, observed: tuple[Observed, ...], *, is_loopback: bool
) -> Config:
    """Validate the options of a server, and return the configuration.

    `given` contains the values of the options by parameter name. Values from the command line are strings. The option
    `scenario` is None for the default scenarios. The option `assume` contains strings of the form `ID=ALTERNATIVE`.
    Raise `ConfigError` with all problems if a value is invalid.
    """
    problems: list[str] = []
    host, store, advertise, state = given["host"], given["store"], given["advertise"], given["state"]
    token, control_tokens = (given["control_token"] or "").strip(), given["control_tokens"]
    port = _whole("--port", given["port"], 65535, problems)
    clock = given["clock"]
    if clock not in MODES:
        problems.append(f"--clock: {clock!r} is not one of {', '.join(MODES)}")
    seed = _whole("--seed", given["seed"], 2**63 - 1, problems)
    rate = _number("--rate", given["rate"], SLOWEST, FASTEST, problems)
    now_ms = _now(given["now"], problems)
    if not is_loopback and not token and not control_tokens:
        problems.append(
            f"--host {host} is reachable from other machines, so the control API needs a token. "
            "Set --control-token or SIMULATOR_CONTROL_TOKEN, or listen on 127.0.0.1."
        )
    for name in given["allowed_host"]:
        if _HOST_NAME.fullmatch(name) is None:
            problems.append(f"--allowed-host: {name!r} is not a host name or address. Leave out the port.")
    for origin in given["allow_origin"]:
        if _PAGE_ORIGIN.fullmatch(origin) is None:
            problems.append(f"--allow-origin: {origin!r} is not the origin of a web page. Write http://HOST:PORT.")
    idle_seconds = _seconds("--idle-timeout", given["idle_timeout"], problems)
    request_seconds = _seconds("--request-timeout", given["request_timeout"], problems)
    if store == "":
        problems.append(
            "--store: the value is empty. Name a database. To use none, leave out the flag and SIMULATOR_STORE."
        )
    if store and _STORES.fullmatch(store) is None:
        problems.append(
            f"--store: {_PASSWORD.sub('***', store)!r} is not a store. Write sqlite:///FILE for a file in this "
            "directory, sqlite:////DIRECTORY/FILE for another file, or postgresql://USER:PASSWORD@HOST/DATABASE."
        )
    if store and _IN_MEMORY.fullmatch(store) is not None:
        name = store.removeprefix("sqlite:///")[:100]
        problems.append(
            f"--store: {name!r} is an in-memory database, which saves nothing. Name a file, or leave out --store."
        )
    idle_worlds_seconds = _seconds("--idle-worlds", given["idle_worlds"], problems)
    is_shared = (store or "").startswith("postgres")
    if advertise and _ORIGIN.fullmatch(advertise) is None:
        problems.append(f"--advertise: {advertise!r} is not the origin of a server. Write http://HOST:PORT.")
    elif is_shared and not advertise and host in ("0.0.0.0", "::"):
        problems.append(
            f"--host {host} is not an address at which other servers of this database can reach this one. "
            "Add --advertise http://HOST:PORT."
        )
    settings = _settings({name: given[name] for name in DEFAULTS}, problems)
    if given["assume"]:
        assumptions, found = alternatives.chosen(switches(), given["assume"])
        problems += [f"--assume: {problem}" for problem in found]
        settings = {**settings, "assumptions": assumptions}
    if problems:
        raise ConfigError(problems)
    return Config(
        host, port, clock, rate, now_ms, seed, given["scenario"], token or None,
        Path(control_tokens) if control_tokens else None, given["allowed_host"], idle_seconds, request_seconds,
        Path(state) if state else None, settings, store or None, advertise or None,
        idle_worlds_seconds, tuple(map(Path, given["scenarios"])), given["allow_origin"], observed,
    )  # fmt: skip


def _whole(name: str, value: int | str, highest: int, problems: list[str]) -> int:
    text = str(value).strip()
    if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= highest:
        return int(text)
    problems.append(f"{name}: {text[:100]!r} is not a whole number from 0 to {highest}")
    return 0


def _number(name: str, text: str, least: Decimal, most: Decimal, problems: list[str], unit: str = "") -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and least <= number <= most:
        return number
    problems.append(f"{name}: {text!r} is not a number{unit} from {least} to {most}")
    return least


def _seconds(name: str, text: str, problems: list[str]) -> float:
    return float(_number(name, text, Decimal("0.1"), Decimal(86_400), problems, " of seconds"))


def _settings(given: dict[str, Any], problems: list[str]) -> Mapping[str, Any]:
    """Return the settings of the default world. Numbers may be strings, as in flags and environment variables."""
    values = {name: _count(value) if name in _COUNTS else value for name, value in given.items()}
    if values == DEFAULTS:
        return {**DEFAULTS}
    try:
        return shown(setting_model.Settings.model_validate(values))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            flag = "--" + dotted(detail["loc"]).replace("_", "-")
            value = given[str(detail["loc"][0])]
            shortened = value[:100] if isinstance(value, str) else value
            problems.append(f"{flag}: {shortened!r}: {_plain(detail)}")
        return {**DEFAULTS}


def _count(value: Any) -> Any:
    """Convert a string that contains an integer. Return any other value unchanged, because validation refuses it."""
    return int(value) if str(value).isdecimal() and len(str(value)) <= _LONGEST_NUMBER else value


def _plain(detail: Any) -> str:
    if detail["loc"][0] == "rate_limit":
        return "write N/SECONDS, such as 100/60 for 100 calls in 60 seconds"
    return in_words(detail)


def _now(text: str | None, problems: list[str]) -> int | None:
    if text is None:
        return None
    try:
        now_ms = parse_timestamp(text)
    except ValueError:
        now_ms = -1
    if not 0 <= now_ms <= LAST_MS:
        problems.append(f"--now: {text!r} is not a timestamp like 2026-01-05T08:00:00Z")
        return None
    return now_ms
