"""Changes between two contracts, and whether each change breaks clients of the older contract. A change breaks clients
if it removes or weakens something that the specification requires of a response. A change to an assumption breaks
clients only if every client is affected: valid requests are refused or change their meaning, a success has a different
status, or a closed enum in a response has a new value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from simulator.contract.facts import (
    BOUNDS,
    DEFAULT,
    FORMS,
    NO_SECURITY,
    SECURITY,
    Fact,
    Facts,
    Schema,
    Side,
    facts_of,
    without_variants,
)
from simulator.engine.text.reports import counted
from simulator.kernel.dataclass import dataclass

Verdict: TypeAlias = Literal[
    "removed", "weakened", "tightened", "changed", "widened", "added", "loosened", "strengthened"
]
BREAKING: frozenset[Verdict] = frozenset(("removed", "weakened", "tightened", "changed", "widened"))
_ALWAYS: frozenset[Verdict] = frozenset(("tightened", "changed", "widened"))
"""Verdicts that break clients even if the older contract only assumed the fact."""

_PLACES = ("operation", "status", "event", "field", "variant")
"""Keywords of facts that contain other facts. The name of a variant is not compared, because it only groups facts."""
_WHOLE = (*_PLACES, "code")
"""Keywords that state that something exists. The verdict is the same for requests and responses."""
_RULES: dict[tuple[Side, str], tuple[Verdict, Verdict]] = {
    **{(side, keyword): ("removed", "added") for side in ("request", "answer") for keyword in _WHOLE},
    ("answer", "required"): ("weakened", "strengthened"),
    ("answer", "type"): ("weakened", "weakened"),
    ("answer", "nullable"): ("strengthened", "weakened"),
    # Clients must accept new values, but a client that waits for a value that was removed waits forever.
    ("answer", "enum"): ("removed", "added"),
    ("request", "required"): ("loosened", "tightened"),
    ("request", "type"): ("tightened", "loosened"),
    ("request", "nullable"): ("tightened", "loosened"),
    ("request", "enum"): ("tightened", "loosened"),
    ("request", DEFAULT): ("removed", "added"),
    ("request", SECURITY): ("tightened", "loosened"),
}
"""The verdicts for a removed fact and for an added fact, by side and keyword. All other keywords are restrictions."""
_RESTRICTION: dict[Side, tuple[Verdict, Verdict]] = {
    "request": ("loosened", "tightened"), "answer": ("weakened", "strengthened"),
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One difference between two contracts. `promised`: the older contract specifies the fact, not assumes it."""

    place: str
    keyword: str
    old: str | float | None
    new: str | float | None
    verdict: Verdict
    promised: bool
    basis: str

    @property
    def breaks(self) -> bool:
        """True if the change can break a client of the older contract."""
        return self.verdict in BREAKING and (self.promised or self._fails_clients)

    @property
    def _fails_clients(self) -> bool:
        is_success = self.keyword == "status" and str(self.old).startswith("2")
        return self.verdict in _ALWAYS or self.keyword == DEFAULT or is_success

    def readable(self) -> str:
        """Return one line: `get_quote 200 /rate: field removed (was rate; promise: Ramp quote)`."""
        was = [f"{name} {value}" for name, value in (("was", self.old), ("is", self.new)) if value is not None]
        kind = "promise" if self.promised else "guess"
        basis = f"{kind}: {self.basis}" if self.basis else kind
        return f"{self.place.strip()}: {self.keyword} {self.verdict} ({', '.join(was)}; {basis})"


def changes(old: Schema, new: Schema) -> list[Change]:
    """Return the differences, breaking changes first. The removal of an object is one change."""
    before, after = facts_of(old), facts_of(new)
    found = [*_one_sided(before, after, gone=True), *_one_sided(after, before, gone=False), *_moved(before, after)]
    # A change of a whole union is reported once, not for each variant.
    whole = {(change.place, change.keyword, change.verdict) for change in found if "<" not in change.place}
    found = [
        change
        for change in found
        if "<" not in change.place or (without_variants(change.place), change.keyword, change.verdict) not in whole
    ]
    return sorted(found, key=lambda change: (not change.breaks, not change.promised, change.place, change.keyword))


def readable(found: Sequence[Change]) -> str:
    """Return all changes as text: breaking changes, other changes, and a summary."""
    if not found:
        return "the contracts are equivalent"
    broken = [change for change in found if change.breaks]
    lines = []
    for title, rows in (("Breaking changes", broken), ("Other changes", [one for one in found if not one.breaks])):
        if rows:
            lines += [f"{title}:", *(f"  {row.readable()}" for row in rows), ""]
    clients = f"{len(broken) or 'none'} of them break{'s' * (len(broken) < 2)} clients"
    return "\n".join([*lines, f"{counted(len(found), 'change')}, {clients}"])


def unnamed(found: Iterable[Change], changelog: str) -> list[Change]:
    """Return the breaking changes that the changelog does not mention in backticks. `*` is a wildcard."""
    named = [re.escape(name).replace(r"\*", ".*") for name in re.findall(r"`([^`\n]+)`", changelog)]
    return [one for one in found if one.breaks and not any(re.fullmatch(name, one.place.strip()) for name in named)]


def _one_sided(facts: Facts, others: Facts, *, gone: bool) -> list[Change]:
    """Return a change for each statement about the contract that is missing in `others`. If an object is missing
    completely, the statements about its fields are not reported separately. `gone`: `others` is the newer contract.
    """
    lacking = {fact.place for key, fact in facts.items() if key not in others and fact.keyword in _PLACES}
    listing = {fact.place for fact in others.values() if fact.keyword == "enum"}
    closed = {fact.place for fact in others.values() if fact.is_closed}
    result = []
    for key, fact in facts.items():
        but_required = not gone and fact.side == "request"
        if key in others or fact.keyword == "variant" or _inside(fact, lacking, but_required=but_required):
            continue
        removed, added = _RULES.get((fact.side, fact.keyword), _RESTRICTION[fact.side])
        if fact.keyword == "enum" and fact.place not in listing:  # the whole enum was added or removed
            removed, added = _RESTRICTION[fact.side]
        elif fact.keyword == "enum" and fact.side == "answer" and fact.place in closed:
            added = "widened"
        elif fact.keyword == SECURITY and _is_admitted(fact, others):
            removed = "loosened"
        old, new, verdict = (fact.value, None, removed) if gone else (None, fact.value, added)
        promised = fact.promised if gone else _was_promised(fact, others)
        result.append(Change(fact.place, fact.keyword, old, new, verdict, promised, fact.basis))
    return result


def _is_admitted(requirement: Fact, others: Facts) -> bool:
    """Return True if every caller that meets this security requirement also meets another accepted requirement."""
    brought = _schemes(requirement)
    ways = (fact for fact in others.values() if (fact.place, fact.keyword) == (requirement.place, SECURITY))
    return any(_schemes(way) <= brought for way in ways)


def _schemes(requirement: Fact) -> set[str]:
    value = str(requirement.value)
    return set() if value == NO_SECURITY else set(value.split(" and "))


def _inside(fact: Fact, lacking: set[str], *, but_required: bool) -> bool:
    """Return True if the fact is about an object that the other contract lacks, or about something in it.
    `but_required`: not if it says that the lacking field itself is required.
    """
    own = fact.keyword in _PLACES or (but_required and fact.keyword == "required")
    return (not own and fact.place in lacking) or any(place in lacking for place in _around(fact.place))


def _around(place: str) -> Iterator[str]:
    """Yield the locations that enclose a location in the contract, innermost first."""
    while place:
        cut = max(place.rfind("/"), place.rfind(" "), place.rfind("<"))
        place = place[:cut].rstrip() if cut > 0 else ""
        if place:
            yield place


def _was_promised(fact: Fact, older: Facts) -> bool:
    """Return True if the older contract specifies, not assumes, the object to which something was added."""
    for place in (fact.place, *_around(fact.place)):
        name = place.rpartition("/" if "/" in place else " ")[2]
        for keyword in _PLACES:
            if (place, keyword, name) in older:
                return older[place, keyword, name].promised
    return fact.promised


def _moved(before: Facts, after: Facts) -> list[Change]:
    """Return changes to bounds, defaults and formats. A changed format may refuse values that were valid before."""
    result = []
    for key, fact in before.items():
        other = after.get(key)
        if other is None or other.value == fact.value or fact.keyword not in (*BOUNDS, *FORMS, DEFAULT):
            continue
        verdict: Verdict = "changed"
        if fact.keyword in FORMS:
            verdict = "tightened" if fact.side == "request" else "weakened"
        elif fact.keyword in BOUNDS:
            narrower = (float(other.value) > float(fact.value)) == (BOUNDS[fact.keyword] == "lower")
            verdict = _RESTRICTION[fact.side][narrower]
        result.append(Change(fact.place, fact.keyword, fact.value, other.value, verdict, fact.promised, fact.basis))
    return result
