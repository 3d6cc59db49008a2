"""Facts about the simulated service that clients need: live keys, the token request, webhook signatures and tooling.

Unlike `simulator.host`, it does not load the provider's resource packages, so the command line and tools start quickly.
"""

from __future__ import annotations

from simulator.providers.ramp.key_forms import LIVE_KEYS as LIVE_KEYS
from simulator.providers.ramp.key_forms import SIGNATURE as SIGNATURE
from simulator.providers.ramp.key_forms import TOKEN_EXCHANGE as TOKEN_EXCHANGE
from simulator.providers.ramp.tooling import TOOLING as TOOLING
