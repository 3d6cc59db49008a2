"""Keys that would move real money, told from those of the simulator by their looks alone.

The simulated production has keys of the service's form. Those that a world derives end with a mark that is made of the
rest, so that a client knows them without asking anybody; a real key has it once in sixteen million times.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

_MARK_LENGTH = 6
_FIRST_SHOWN = 4


class LiveKey(ValueError):
    """A live key that no world of the simulator has made; the text says where it stood, why it stops here, what to do.

    It shows no more of the key than its first characters.
    """


class LiveKeys:
    """The live keys of one service, and the check that every client makes before it sends anything.

    This module needs the standard library alone: the command line makes the check before it loads anything else.
    """

    def __init__(self, prefixes: Iterable[str], *, own: str, place: str, example: str) -> None:
        self._key = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, prefixes))})([A-Za-z0-9_-]+)")
        self._own = own
        """What follows the prefix in the keys of the world `default`, and in keys made up from them."""
        self._place = place
        """Where such keys are used."""
        self._example = example
        """A live key of the world `default`."""

    def is_real(self, key: str) -> bool:
        """Whether a string is a live key that the simulator has not made."""
        found = self._key.fullmatch(key)
        return found is not None and not self._is_own(found[2])

    def _is_own(self, text: str) -> bool:
        return text.startswith(self._own) or text[-_MARK_LENGTH:] == _mark(text[:-_MARK_LENGTH])

    def refuse_in(self, text: str, where: str) -> None:
        """Raise `LiveKey` for the first real key in a text; `where` begins the sentence that says so."""
        for found in self._key.finditer(text):
            if not self._is_own(found[2]):
                raise self._refusal(where, found)

    def refuse_given(self, arguments: Iterable[str], variables: Mapping[str, str]) -> None:
        """Check what a program was given: its arguments, and those variables that configure a simulator."""
        for argument in arguments:
            self.refuse_in(argument, "The command line")
        for name, value in variables.items():
            if name.startswith(("SIMULATOR_", "RAMPSIM_")):
                self.refuse_in(value, f"The variable {name}")

    def _refusal(self, where: str, found: re.Match[str]) -> LiveKey:
        shown = f"{found[1]}{found[2][:_FIRST_SHOWN]}…"
        return LiveKey(
            f"{where} has the live key {shown}, which no world of the simulator has made. Nothing was sent: real keys "
            "move real money, and have no business here. Use the keys of a world (`rampsim worlds` shows them), in the "
            f"{self._place} `{self._example}`; for a key that is to be wrong write `{self._example}_wrong`. "
            "If the key is real, take it out of this place."
        )


def marked(text: str) -> str:
    """The text of a key with the mark in place of its last characters."""
    rest = text[:-_MARK_LENGTH]
    return rest + _mark(rest)


def _mark(rest: str) -> str:
    return hashlib.sha256(b"a key of the simulator\x00" + rest.encode()).hexdigest()[:_MARK_LENGTH]
