"""The test kit: worlds, receivers and Hypothesis strategies for integrators' own tests.

The simulator itself does not need the test kit. Under pytest, the fixtures `world`, `webhooks` and `simulator` are
available without an import. Without pytest, use:

    from simulator.testing import world

    with world() as w:
        w.client.post("/quotes", json={...})
        w.advance("31m")

The extra `testing` installs the dependencies: `pip install "./rampsim-0.1.0-py3-none-any.whl[testing]"`.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.testing import strategies as strategies
    from simulator.testing.errors import ActionRefused as ActionRefused
    from simulator.testing.errors import NotReached as NotReached
    from simulator.testing.errors import SimulatorError as SimulatorError
    from simulator.testing.receiving.deliveries import Delivery as Delivery
    from simulator.testing.receiving.receivers import Receiver as Receiver
    from simulator.testing.receiving.receivers import receiver as receiver
    from simulator.testing.servers.server import Server as Server
    from simulator.testing.servers.server import serve as serve
    from simulator.testing.servers.shared import world as world
    from simulator.testing.worlds import World as World

__all__ = [
    "ActionRefused",
    "Delivery",
    "NotReached",
    "Receiver",
    "Server",
    "SimulatorError",
    "World",
    "receiver",
    "serve",
    "strategies",
    "world",
]


def _home_of(name: str) -> ModuleType:
    """Return the module that defines a public name. Raises AttributeError for an unknown name."""
    if name in ("ActionRefused", "NotReached", "SimulatorError"):
        from simulator.testing import errors

        return errors
    if name == "Delivery":
        from simulator.testing.receiving import deliveries

        return deliveries
    if name in ("Receiver", "receiver"):
        from simulator.testing.receiving import receivers

        return receivers
    if name in ("Server", "serve"):
        from simulator.testing.servers import server

        return server
    if name == "World":
        from simulator.testing import worlds

        return worlds
    if name == "world":
        from simulator.testing.servers import shared

        return shared
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name == "strategies":
        return import_module("simulator.testing.strategies")
    value = globals()[name] = getattr(_home_of(name), name)
    return value
