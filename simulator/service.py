"""Parts of the simulated service that its clients know: the form of live keys, how webhooks are signed, tooling.

Unlike `simulator.host`, this module loads no rooms, so that the command line and the tools check keys and signatures
at once.
"""

from __future__ import annotations

from simulator.providers.ramp.key_forms import LIVE_KEYS as LIVE_KEYS
from simulator.providers.ramp.signatures import SIGNATURE as SIGNATURE
from simulator.providers.ramp.tooling import TOOLING as TOOLING
