"""Facts about the simulated service that clients need: the form of live keys, webhook signatures, tooling.

Unlike `simulator.host`, this module loads no rooms, so the command line and the tools start quickly.
"""

from __future__ import annotations

from simulator.providers.ramp.key_forms import LIVE_KEYS as LIVE_KEYS
from simulator.providers.ramp.signatures import SIGNATURE as SIGNATURE
from simulator.providers.ramp.tooling import TOOLING as TOOLING
