"""Known differences with a reason: the file of `rampsim compare --accept`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from simulator.engine.text.json import Shown
from simulator.engine.text.strict import did_you_mean
from simulator.kernel.dataclass import dataclass

_MATCHED = ("operation", "kind", "pointer", "recorded", "simulated", "now")


class BadAccepted(ValueError):
    """A file of accepted differences is invalid. The message contains the file and the path of the entry."""


@dataclass
class Accepted:
    """A known difference, and the reason why it is accepted."""

    reason: str
    matches: Shown
    """A pattern for each field of the difference that must match. `*` matches any characters. Brackets are literal."""
    place: str
    excused: int = 0

    def excuses(self, difference: Shown) -> bool:
        """Return True if all patterns of this entry match the difference. Count the differences that match."""
        shown = {name: str(value) for name, value in difference.items()}
        shown["pointer"] = re.sub(r"/[0-9]+(?=/|$)", "/[]", shown["pointer"])
        is_known = all(
            name in shown and fnmatchcase(shown[name], str(pattern).replace("[", "[[]"))
            for name, pattern in self.matches.items()
        )
        self.excused += is_known
        return is_known


def excused(accepted: Iterable[Accepted]) -> list[str]:
    """Return a line for each entry that matched a difference."""
    return [f"accepted {one.excused}×: {one.reason}" for one in accepted if one.excused]


def unused(accepted: Iterable[Accepted]) -> list[str]:
    """Return a message for each entry that matched no difference."""
    words = "no difference matches this entry"
    return [f"{one.place}: {words} ({one.reason}). Delete it" for one in accepted if not one.excused]


def read_accepted(path: Path) -> list[Accepted]:
    """Return the accepted differences in a file. Raise `BadAccepted` if the file is invalid."""
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadAccepted(f"{path}: cannot be read ({error})") from None
    except yaml.YAMLError as error:
        raise BadAccepted(f"{path} is not valid YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(rows, list):
        raise BadAccepted(f"{path}: is not a list of differences, each with a `reason`")
    return [_entry(row, f"{path}: [{index}]") for index, row in enumerate(rows)]


def _entry(row: object, place: str) -> Accepted:
    if not isinstance(row, dict) or not isinstance(row.get("reason"), str) or not row["reason"].strip():
        raise BadAccepted(f"{place}: has no `reason`")
    matches = {name: value for name, value in row.items() if name != "reason"}
    for name in matches:
        if name not in _MATCHED:
            raise BadAccepted(f"{place}.{name}: is not a field{did_you_mean(str(name), _MATCHED)}")
    if not matches:
        words = "does not say which differences are accepted. Add one of the fields"
        raise BadAccepted(f"{place}: {words} {', '.join(_MATCHED)}")
    return Accepted(row["reason"], matches, place)
