"""A simulator of a stablecoin ramp and wallet service. Its command is `rampsim`.

The public names are in `__all__`. Everything else is internal and may change.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from simulator.engine.lazy import import_late
from simulator.version import __version__ as __version__

if TYPE_CHECKING:
    from simulator.engine.server.config import Config as Config
    from simulator.engine.server.config import ConfigError as ConfigError
    from simulator.host import Simulator as Simulator
    from simulator.host import create_app as create_app

# These modules register hooks elsewhere, or may lack a dependency (hypothesis). Such a failure must be visible when
# they are imported.
import_late(__name__, at_once=("simulator.conformance", "simulator.exploration", "simulator.testing"))

__all__ = ["Config", "ConfigError", "Simulator", "__version__", "create_app"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line can start without it.

    `dir()` does not list these names. freezegun reads every name that a module lists, and would import everything.
    """
    home: ModuleType
    if name in ("Config", "ConfigError"):
        from simulator.engine.server import config

        home = config
    elif name in ("Simulator", "create_app"):
        from simulator import host

        home = host
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(home, name)
    return value
