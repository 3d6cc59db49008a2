"""The settings of a server: one frozen object made from flags and environment, validated once, every error named."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from simulator.kernel.clock import LAST_MS, MODES, parse_timestamp
from simulator.wire.errors import ApiError
from simulator.wire.fields import parse
from simulator.wire.settings import Settings, shown

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8642
DEFAULT_SEED = 1


class ConfigError(Exception):
    """What is wrong with the settings of a server, one line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Config:
    """A validated configuration. `now_ms` None means: the wall clock, or the usual start of a manual clock."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    clock: str = "real"
    rate: Decimal = Decimal(1)
    now_ms: int | None = None
    seed: int = DEFAULT_SEED
    scenarios: tuple[str, ...] | None = None
    control_token: str | None = None
    settings: dict[str, Any] = field(default_factory=lambda: shown(Settings()))


def make_config(
    *,
    host: str,
    port: int,
    clock: str,
    rate: str,
    now: str | None,
    seed: int,
    scenarios: tuple[str, ...],
    control_token: str | None,
    settings: dict[str, Any],
    is_loopback: bool,
) -> Config:
    """Validate everything at once; ConfigError with every problem."""
    problems: list[str] = []
    if not 0 <= port <= 65535:
        problems.append(f"--port: {port} is not a port; use 0 to 65535")
    if clock not in MODES:
        problems.append(f"--clock: {clock!r} is none of {', '.join(MODES)}")
    if not 0 <= seed < 2**63:
        problems.append(f"--seed: {seed} is not a whole number from 0 to 2^63 - 1")
    speed = _rate(rate, problems)
    now_ms = _now(now, problems)
    if not is_loopback and not control_token:
        problems.append(
            f"--host {host} is reachable from other machines, so the control interface needs a token: "
            "set --control-token or SIMULATOR_CONTROL_TOKEN, or listen on 127.0.0.1"
        )
    try:
        validated = shown(parse(Settings, settings))
    except ApiError as error:
        problems.append(f"--{(error.param or '').replace('_', '-')}: {error.message}")
        validated = {}
    if problems:
        raise ConfigError(problems)
    return Config(host, port, clock, speed, now_ms, seed, scenarios or None, control_token or None, validated)


def _rate(text: str, problems: list[str]) -> Decimal:
    try:
        rate = Decimal(text)
    except InvalidOperation:
        rate = Decimal(0)
    if not (rate.is_finite() and 0 < rate <= 1_000_000):
        problems.append(f"--rate: {text!r} is not a number above 0 and up to 1000000")
        return Decimal(1)
    return rate


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
