"""The ramp's tooling. The modules are late: each runs when a tool asks for what it has."""

from __future__ import annotations

from simulator.providers.ramp import laws
from simulator.providers.tooling import Tooling

TOOLING = Tooling(
    rulebook=lambda: laws.RULEBOOK,
    request_hooks=lambda: laws.REQUEST_HOOKS,
)
