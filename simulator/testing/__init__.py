"""The test kit: worlds, receivers and strategies for partners' own tests. The simulator itself needs none of it.

Under pytest the fixtures `world`, `webhooks` and `simulator` are there by themselves. Elsewhere:

    from simulator.testing import world

    with world() as w:
        w.client.post("/quotes", json={...})
        w.advance("31m")

What it needs beyond the server is the extra: `pip install "./rampsim-0.1.0-py3-none-any.whl[testing]"`.
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


_HOMES = {
    "errors": ("ActionRefused", "NotReached", "SimulatorError"),
    "receiving.deliveries": ("Delivery",),
    "receiving.receivers": ("Receiver", "receiver"),
    "servers.server": ("Server", "serve"),
    "servers.shared": ("world",),
    "worlds": ("World",),
}
"""The modules of the public names."""


def __getattr__(name: str) -> Any:
    """A public name from its module, imported when it is first asked for."""
    if name == "strategies":
        return import_module("simulator.testing.strategies")
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"simulator.testing.{home}"), name)
    return value
