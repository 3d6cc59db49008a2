"""What changed between two contracts, each change with a verdict: does it break who relies on the older one?

A promise that is removed or weakened in an answer breaks clients. What is added or loosened does not. What concerns a
guess does not either, because nobody was promised it, unless a client that was built from the older contract fails by
it in any case: requests that were good are refused or mean something else, a success has another status, a closed list
of an answer has a new value.
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
from simulator.kernel.dataclass import dataclass

Verdict: TypeAlias = Literal[
    "removed", "weakened", "tightened", "changed", "widened", "added", "loosened", "strengthened"
]
BREAKING: frozenset[Verdict] = frozenset(("removed", "weakened", "tightened", "changed", "widened"))
_ALWAYS: frozenset[Verdict] = frozenset(("tightened", "changed", "widened"))
"""What breaks clients whether it was promised or guessed."""

_PLACES = ("operation", "status", "event", "field", "variant")
"""What other facts lie in. Variants only sort facts: how the variants of a union are named is no statement."""
_WHOLE = (*_PLACES, "code")
"""What is there or not, whoever sends it."""
_RULES: dict[tuple[Side, str], tuple[Verdict, Verdict]] = {
    **{(side, keyword): ("removed", "added") for side in ("request", "answer") for keyword in _WHOLE},
    ("answer", "required"): ("weakened", "strengthened"),
    ("answer", "type"): ("weakened", "weakened"),
    ("answer", "nullable"): ("strengthened", "weakened"),
    # Clients are told to survive new values; one that never comes again is waited for in vain.
    ("answer", "enum"): ("removed", "added"),
    ("request", "required"): ("loosened", "tightened"),
    ("request", "type"): ("tightened", "loosened"),
    ("request", "nullable"): ("tightened", "loosened"),
    ("request", "enum"): ("tightened", "loosened"),
    ("request", DEFAULT): ("removed", "added"),
    ("request", SECURITY): ("tightened", "loosened"),
}
"""By side and keyword the verdict on a fact that is gone, and on one that is new; else what binds is a restriction."""
_RESTRICTION: dict[Side, tuple[Verdict, Verdict]] = {
    "request": ("loosened", "tightened"),
    "answer": ("weakened", "strengthened"),
}


@dataclass(frozen=True)
class Change:
    """One difference: where, of which keyword, what it was and is, the verdict, and whether it was a promise."""

    place: str
    keyword: str
    old: str | float | None
    new: str | float | None
    verdict: Verdict
    promised: bool
    basis: str

    @property
    def breaks(self) -> bool:
        """Return True if a client that was built from the older contract can fail."""
        return self.verdict in BREAKING and (self.promised or self._fails_clients)

    @property
    def _fails_clients(self) -> bool:
        is_success = self.keyword == "status" and str(self.old).startswith("2")
        return self.verdict in _ALWAYS or self.keyword == DEFAULT or is_success

    def readable(self) -> str:
        """`get_quote 200 /rate: field removed (was rate; promise: Ramp quote)`."""
        was = [f"{name} {value}" for name, value in (("was", self.old), ("is", self.new)) if value is not None]
        kind = "promise" if self.promised else "guess"
        basis = f"{kind}: {self.basis}" if self.basis else kind
        return f"{self.place.strip()}: {self.keyword} {self.verdict} ({', '.join(was)}; {basis})"


def changes(old: Schema, new: Schema) -> list[Change]:
    """Every difference of two OpenAPI documents, what breaks first; a thing that is gone whole is one change."""
    before, after = facts_of(old), facts_of(new)
    found = [
        *_one_sided(before, after, gone=True),
        *_one_sided(after, before, gone=False, older=before),
        *_moved(before, after),
    ]
    # What holds for a union as a whole is told once, not again for each variant.
    whole = {(change.place, change.keyword, change.verdict) for change in found}
    found = [
        change
        for change in found
        if (outer := without_variants(change.place)) == change.place
        or (outer, change.keyword, change.verdict) not in whole
    ]
    return sorted(found, key=lambda change: (not change.breaks, not change.promised, change.place, change.keyword))


def readable(found: Sequence[Change]) -> str:
    """All changes for people: the breaking ones first, then the rest, then what that comes to."""
    broken = [change.readable() for change in found if change.breaks]
    rest = [change.readable() for change in found if not change.breaks]
    lines = []
    for title, rows in (("Breaking changes", broken), ("Other changes", rest)):
        if rows:
            lines += [f"{title}:", *(f"  {row}" for row in rows), ""]
    if not found:
        return "the contracts say the same"
    clients = f"{len(broken) or 'none'} of them break{'s' * (len(broken) < 2)} clients"
    return "\n".join([*lines, f"{len(found)} {'change' if len(found) == 1 else 'changes'}, {clients}"])


def unnamed(found: Iterable[Change], changelog: str) -> list[Change]:
    """The breaking changes whose place the text does not name between backticks; `*` stands for anything."""
    named = [re.escape(name).replace(r"\*", ".*") for name in re.findall(r"`([^`\n]+)`", changelog)]
    return [one for one in found if one.breaks and not any(re.fullmatch(name, one.place.strip()) for name in named)]


def _one_sided(facts: Facts, others: Facts, *, gone: bool, older: Facts | None = None) -> list[Change]:
    """The facts that the other contract lacks, but for those inside of something that it lacks as a whole."""
    lacking = {fact.place for key, fact in facts.items() if key not in others and fact.keyword in _PLACES}
    listing = {fact.place for fact in others.values() if fact.keyword == "enum"}
    closed = {fact.place for fact in others.values() if fact.is_closed}
    result = []
    for key, fact in facts.items():
        if (
            key in others
            or fact.keyword == "variant"
            or _inside(fact, lacking, but_required=not gone and fact.side == "request")
        ):
            continue
        removed, added = _RULES.get((fact.side, fact.keyword), _RESTRICTION[fact.side])
        if fact.keyword == "enum" and fact.place not in listing:  # the list as a whole is what came or went
            removed, added = _RESTRICTION[fact.side]
        elif fact.keyword == "enum" and fact.side == "answer" and fact.place in closed:
            added = "widened"
        elif fact.keyword == SECURITY and _is_admitted(fact, others):
            removed = "loosened"
        promised = fact.promised if older is None else _was_promised(fact, older)
        if gone:
            result.append(Change(fact.place, fact.keyword, fact.value, None, removed, promised, fact.basis))
        else:
            result.append(Change(fact.place, fact.keyword, None, fact.value, added, promised, fact.basis))
    return result


def _is_admitted(requirement: Fact, others: Facts) -> bool:
    """Return True if a caller that signs in this way is still let in: another way needs no more than it."""
    brought = _schemes(requirement)
    ways = (fact for fact in others.values() if (fact.place, fact.keyword) == (requirement.place, SECURITY))
    return any(_schemes(way) <= brought for way in ways)


def _schemes(requirement: Fact) -> set[str]:
    value = str(requirement.value)
    return set() if value == NO_SECURITY else set(value.split(" and "))


def _inside(fact: Fact, lacking: set[str], *, but_required: bool) -> bool:
    """Whether the fact belongs to something that is lacking as a whole, and is not that itself.

    `but_required`: that a new field of a request must be sent is told beside the field.
    """
    own = fact.keyword in _PLACES or (but_required and fact.keyword == "required")
    return (not own and fact.place in lacking) or any(place in lacking for place in _around(fact.place))


def _around(place: str) -> Iterator[str]:
    """The places that a place lies in, innermost first."""
    while place:
        cut = max(place.rfind("/"), place.rfind(" "), place.rfind("<"))
        place = place[:cut].rstrip() if cut > 0 else ""
        if place:
            yield place


def _was_promised(fact: Fact, older: Facts) -> bool:
    """Whether what is new falls on something that was promised without it."""
    for place in (fact.place, *_around(fact.place)):
        name = place.rpartition("/" if "/" in place else " ")[2]
        for keyword in _PLACES:
            if (place, keyword, name) in older:
                return older[place, keyword, name].promised
    return fact.promised


def _moved(before: Facts, after: Facts) -> list[Change]:
    """Bounds and defaults that have another value, and forms that are other ones, which may refuse what was good."""
    result = []
    for key, fact in before.items():
        other = after.get(key)
        if other is None or other.value == fact.value or fact.keyword not in (*BOUNDS, *FORMS, DEFAULT):
            continue
        loosened, tightened = _RESTRICTION[fact.side]
        verdict: Verdict
        if fact.keyword == DEFAULT:
            verdict = "changed"
        elif fact.keyword in FORMS:
            verdict = "tightened" if fact.side == "request" else "weakened"
        else:
            narrower = (float(other.value) > float(fact.value)) == (BOUNDS[fact.keyword] == "lower")
            verdict = tightened if narrower else loosened
        result.append(Change(fact.place, fact.keyword, fact.value, other.value, verdict, fact.promised, fact.basis))
    return result
