"""Keys that would move real money, told from those of the simulator by their looks alone.

The simulated production has keys of the service's form, `sk_live_…`. Those that a world derives end with a mark that is
made of the rest, so that a client knows them without asking anybody; a real key has it once in sixteen million times.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

_KEY = re.compile(r"(?<![A-Za-z0-9])((?:pk|sk|whk)_live_)([A-Za-z0-9_-]+)")
_OWN = "simulator"
"""How the keys of the world `default` go on, and whatever somebody makes up from them."""
_MARK_LENGTH = 6
_FIRST_SHOWN = 4


class LiveKey(ValueError):
    """A live key that no world of the simulator has made; the text says where it stood, why it stops here, what to do.

    It shows no more of the key than its first characters.
    """

    def __init__(self, where: str, key: str) -> None:
        shown = f"{key[: key.index('_live_') + 6 + _FIRST_SHOWN]}…"
        super().__init__(
            f"{where} has the live key {shown}, which no world of the simulator has made. Nothing was sent: real keys "
            "move real money, and have no business here. Use the keys of a world (`rampsim worlds` shows them), in the "
            "simulated production `sk_live_simulator`; for a key that is to be wrong write `sk_live_simulator_wrong`. "
            "If the key is real, take it out of this place."
        )


def marked(text: str) -> str:
    """The text of a key with the mark in place of its last characters."""
    rest = text[:-_MARK_LENGTH]
    return rest + _mark(rest)


def _mark(rest: str) -> str:
    return hashlib.sha256(b"a key of the simulator\x00" + rest.encode()).hexdigest()[:_MARK_LENGTH]


def is_real(key: str) -> bool:
    """Whether a text is a live key that the simulator has not made."""
    found = _KEY.fullmatch(key)
    return found is not None and not _is_own(found[2])


def _is_own(text: str) -> bool:
    return text.startswith(_OWN) or text[-_MARK_LENGTH:] == _mark(text[:-_MARK_LENGTH])


def refuse_in(text: str, where: str) -> None:
    """LiveKey for the first one in a text; `where` begins the sentence that says so."""
    if "_live_" not in text:
        return
    for found in _KEY.finditer(text):
        if not _is_own(found[2]):
            raise LiveKey(where, found[0])


def refuse_given(arguments: Iterable[str], variables: Mapping[str, str]) -> None:
    """The same for what a program was given: its arguments, and those variables that speak of a simulator."""
    for argument in arguments:
        refuse_in(argument, "The command line")
    for name, value in variables.items():
        if name.startswith(("SIMULATOR_", "RAMPSIM_")):
            refuse_in(value, f"The variable {name}")
