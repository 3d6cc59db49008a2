"""Compares two observed files of the same service, and lists the verdicts and facts that have changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal

from simulator.compare.accepting import Accepted, excused
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.reports import counted
from simulator.engine.worlds.observations import Observed
from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING

_COMPARED = TOOLING.compared()
_LABELS = ("id", "name")
_NOT_FACTS = "unfit"
_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?", re.ASCII)


@dataclass(frozen=True)
class Change:
    """The verdict on an assumption, or another observed value (a fact), that differs in the newer file."""

    kind: str
    """`verdict` or `fact`."""
    pointer: str
    """The id of the assumption, or the path of the fact, such as `facts.limits.daily`."""
    recorded: object
    now: object

    def __str__(self) -> str:
        return f"{self.pointer}: {self.recorded}, now {self.now}"


@dataclass
class Changes:
    """The result of comparing two observed files."""

    verdicts: int
    """The number of verdicts compared."""
    facts: int
    """The number of values in the facts compared."""
    changed: list[Change]
    left_out: list[str]
    """The verdicts and facts that were not compared, with the reason."""
    accepted: Sequence[Accepted] = field(default_factory=tuple)

    def readable(self) -> str:
        left_out = [f"not compared: {one}" for one in self.left_out]
        compared = f"{counted(self.verdicts, 'verdict')} and {counted(self.facts, 'fact')} compared"
        total = f"{compared}, {len(self.changed)} changed"
        return "\n".join([*excused(self.accepted), *map(str, self.changed), *left_out, total])

    def as_json(self) -> JsonObject:
        return {
            "compared": self.verdicts,
            "facts": self.facts,
            "changed": [vars(one) for one in self.changed],
            "left_out": self.left_out,
            "accepted": [{"reason": one.reason, "excused": one.excused} for one in self.accepted],
        }


def changes(old: Observed, new: Observed, accepted: Sequence[Accepted] = ()) -> Changes:
    """Compare two observed files. Accepted changes are counted in `accepted` and are not in the result."""
    before, after = _decided(old.verdicts), _decided(new.verdicts)
    both = [one for one in before if one in after]
    found = [Change("verdict", one, before[one], after[one]) for one in both if before[one] != after[one]]
    left_out = [f"{one} is decided in one file only" for one in sorted(before.keys() ^ after.keys())]
    counts = Counter[str]()
    for name in [*old.facts, *(name for name in new.facts if name not in old.facts)]:
        if name in old.facts and name in new.facts and name != _NOT_FACTS:
            is_partial = name in _COMPARED.partial
            found += _compared(f"facts.{name}", old.facts[name], new.facts[name], counts, is_partial=is_partial)
        elif name != _NOT_FACTS:
            left_out.append(f"facts.{name} is in one file only")
    if counts["moved"]:
        left_out.append(f"{counted(counts['moved'], 'rate or price', 'rates and prices')} moved with the market")
    changed = [one for one in found if not any(entry.excuses(vars(one)) for entry in accepted)]
    return Changes(len(both), counts["compared"], changed, left_out, accepted)


def _decided(verdicts: Mapping[str, Shown]) -> dict[str, str]:
    return {
        one: str(row.get("alternative") or ("as assumed" if row["verdict"] == "holds" else row["verdict"]))
        for one, row in verdicts.items()
        if row["verdict"] != "undecided"
    }


def _compared(
    place: str, old: object, new: object, counts: Counter[str], *, is_partial: bool = False
) -> Iterator[Change]:
    """Yield the changes of a fact about the service, such as a limit or a rate. Count in `counts` the values that are
    `compared`, and the changed ones that have `moved` with the market.
    """
    before, after = _entries(old), _entries(new)
    if before is None or after is None:
        counts["compared"] += 1
        if _number(old) != _number(new):
            yield Change("fact", place, _said(old), _said(new))
        return
    for name in [*before, *(name for name in after if name not in before)]:
        here = f"{place}.{name}"
        if name in before and name in after:
            if name in _COMPARED.market:
                counts["moved"] += before[name] != after[name]
            else:
                yield from _compared(here, before[name], after[name], counts)
        elif not is_partial:
            counts["compared"] += 1
            yield Change("fact", here, *("present" if name in side else "absent" for side in (before, after)))


def _entries(value: object) -> dict[str, object] | None:
    """Return the values of an object or the items of a list, by name (for items: identifying fields), or None for any
    other value.
    """
    if isinstance(value, Mapping):
        return {str(name): one for name, one in value.items() if name not in _LABELS}
    if not isinstance(value, list):
        return None
    names = [_name(one) for one in value]
    return {
        name if name and names.count(name) == 1 else f"{name}[{names[:at].count(name)}]": one
        for at, (name, one) in enumerate(zip(names, value, strict=True))
    }


def _name(row: object) -> str:
    if not isinstance(row, Mapping):
        return str(row) if isinstance(row, str) else ""
    return "/".join(str(row[name]) for name in _COMPARED.identity if row.get(name) is not None)


def _number(value: object) -> object:
    return Decimal(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else value


def _said(value: object) -> object:
    return "present" if isinstance(value, Mapping | list) else value
