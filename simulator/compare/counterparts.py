"""Tells which strings of a replay correspond to which pseudonyms of a recording.

Both sides are sanitised with different keys, so equal strings have different pseudonyms. A string of the replay and a
pseudonym become a pair when both occur for the first time, at the same location of a request or response. From then on,
each of them corresponds only to the other.
"""

from __future__ import annotations

from simulator.evidence.corpus import Exchange
from simulator.evidence.corpus.known import known
from simulator.evidence.replay.schedule import pairs_of


class Counterparts:
    """The ids and other values of a recording, each with the value that replaces it in the replay."""

    def __init__(self) -> None:
        self._ours: dict[object, object] = {}
        self._theirs: dict[object, object] = {}
        self._hides_amounts = False

    def learn(self, recorded: Exchange, played: Exchange) -> None:
        """Pair the strings and numbers in the recorded request with those at the same paths in the replayed request.
        Call this before the responses are compared.
        """
        self._hides_amounts = recorded.hides_amounts
        if recorded.direction == "call":
            for theirs, ours in pairs_of(recorded.request, played.request):
                self._is_pair(theirs, ours)

    def agree(self, pointer: str, recorded: object, simulated: object) -> bool:
        """Return True if two different values at this path are pseudonyms that correspond."""
        name = pointer.rpartition("/")[2] if not pointer[-1:].isdecimal() else pointer.split("/")[-2]
        if name in known().numeric:
            return self._hides_amounts and name in known().amounts
        return _is_replaced(recorded) and _is_replaced(simulated) and self._is_pair(recorded, simulated)

    def _is_pair(self, theirs: object, ours: object) -> bool:
        if theirs not in self._ours and ours not in self._theirs:
            self._ours[theirs], self._theirs[ours] = ours, theirs
        return self._ours.get(theirs) == ours and self._theirs.get(ours) == theirs


def _is_replaced(value: object) -> bool:
    """Return True if sanitising a recording replaces this value with a pseudonym."""
    if isinstance(value, str):
        return value not in known().values and not known().prefix_of(value)
    return value is not None and not isinstance(value, bool)
