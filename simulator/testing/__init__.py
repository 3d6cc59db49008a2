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
    from simulator.testing.servers.server import world as world
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


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    match name:
        case "strategies":
            return import_module("simulator.testing.strategies")
        case "ActionRefused" | "NotReached" | "SimulatorError":
            home = import_module("simulator.testing.errors")
        case "Delivery":
            home = import_module("simulator.testing.receiving.deliveries")
        case "Receiver" | "receiver":
            home = import_module("simulator.testing.receiving.receivers")
        case "Server" | "serve" | "world":
            home = import_module("simulator.testing.servers.server")
        case "World":
            home = import_module("simulator.testing.worlds")
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(home, name)
    return value
