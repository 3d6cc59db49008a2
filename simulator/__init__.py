"""A simulator of a stablecoin ramp and wallet service. The package name on the command line is `rampsim`.

`__all__` lists the public names. Everything else is internal and may change.
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

# These register hooks, or report a missing library (hypothesis), when they are imported.
import_late(__name__, at_once=("simulator.conformance", "simulator.exploration", "simulator.testing"))

__all__ = ["Config", "ConfigError", "Simulator", "__version__", "create_app"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that the command line starts without these modules.

    `dir()` does not list them, because freezegun reads every listed name of every module and would import everything.
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
