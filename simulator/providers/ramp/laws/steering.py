"""What laws bring about in the world under test: funds, rates, networks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from simulator.conformance.world import ControlledWorld
from simulator.engine.text.json import Shown

FUNDS = {
    ("USDC", "STELLAR"): "1000", ("XLM", "STELLAR"): "5000", ("CELO", "CELO"): "1000", ("CUSD", "CELO"): "1000",
    ("USDC", "CELO"): "1000", ("USDT", "CELO"): "1000", ("BTC", "BITCOIN"): "0.5",
}  # fmt: skip
"""What the account has before each law: spent funds of one law are no lack in the next."""


def provide(world: ControlledWorld) -> None:
    """Give back to the account what an earlier law spent."""
    for (symbol, network), amount in FUNDS.items():
        world.act("set_balance", symbol=symbol, network=network, amount=amount)


def platform_user(world: ControlledWorld) -> Shown:
    """Another user of the service."""
    found: Shown = world.shown["platform_users"][0]
    return found


@contextmanager
def moved_rates(world: ControlledWorld, percent: int) -> Iterator[None]:
    """All rates moved for the length of a block."""
    world.act("move_rates", percent=percent)
    try:
        yield
    finally:
        world.act("move_rates", percent=100 * (100 / (100 + percent) - 1))


@contextmanager
def network_status(world: ControlledWorld, network: str, status: str) -> Iterator[None]:
    """A network in this status for the length of a block."""
    world.act("set_network", network=network, status=status)
    try:
        yield
    finally:
        world.act("set_network", network=network, status="operational")
