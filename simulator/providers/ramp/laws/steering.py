"""Functions that cause outside events in the world under test, such as rate changes and network failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from simulator.conformance.world import ControlledWorld
from simulator.engine.text.json import JsonObject

FUNDS = {
    ("USDC", "STELLAR"): "1000", ("XLM", "STELLAR"): "5000", ("CELO", "CELO"): "1000", ("CUSD", "CELO"): "1000",
    ("USDC", "CELO"): "1000", ("USDT", "CELO"): "1000", ("BTC", "BITCOIN"): "0.5",
}  # fmt: skip
"""The balances that are set before each rule, so that one rule cannot use up the funds of another."""


def provide(world: ControlledWorld) -> None:
    """Set the account's balances to the amounts in `FUNDS`."""
    for (symbol, network), amount in FUNDS.items():
        set_balance(world, amount, symbol, network)


def set_balance(world: ControlledWorld, amount: str, symbol: str = "USDC", network: str = "CELO") -> None:
    world.act("set_balance", symbol=symbol, network=network, amount=amount)


@contextmanager
def meanwhile(
    world: ControlledWorld, action: str, change: JsonObject, back: JsonObject, target: str | None = None
) -> Iterator[None]:
    """Perform an action with `change` when the `with` block starts, and again with `back` when the block ends."""
    world.act(action, target, **change)
    try:
        yield
    finally:
        world.act(action, target, **back)


def moved_rates(world: ControlledWorld, percent: int) -> AbstractContextManager[None]:
    """Change all rates by a percentage for the duration of a `with` block."""
    return meanwhile(world, "move_rates", {"percent": percent}, {"percent": 100 * (100 / (100 + percent) - 1)})


def network_status(world: ControlledWorld, network: str, status: str) -> AbstractContextManager[None]:
    """Set a network's status for the duration of a `with` block. After the block, the status is operational."""
    operational = {"network": network, "status": "operational"}
    return meanwhile(world, "set_network", {**operational, "status": status}, operational)
