"""`rampsim compare`: compares recorded traffic from the real service with the simulator, to correct assumptions."""

from __future__ import annotations

from simulator.compare.differences import Difference
from simulator.compare.replay import Comparison, compare
from simulator.evidence.corpus.har import HarError, RecordedCall, read_har

__all__ = ["Comparison", "Difference", "HarError", "RecordedCall", "compare", "read_har"]
