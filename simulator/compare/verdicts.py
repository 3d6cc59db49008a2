"""Classifies a difference between a recorded and a simulated response: a broken promise (a rule in the specification),
a wrong guess (an assumption), an addition, or a change in rates, balances and outside events.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias

from simulator.contract.facts import Fact, facts_of, without_variants
from simulator.contract.files import contract_document, operations_of

Meaning: TypeAlias = Literal["promise", "guess", "addition", "world"]
"""The meanings of a difference.

`promise`: the difference breaks a specified rule of the contract. `guess`: a wrong assumption in the simulator.
`addition`: something that the contract does not contain and that clients tolerate. `world`: rates, balances and outside
events, which no contract defines.
"""

MEANINGS: dict[Meaning, str] = {
    "promise": "differ from a specified part of the contract",
    "guess": "differ from an assumption of the simulator",
    "addition": "have more fields than the contract",
    "world": "are due to outside events",
}
"""The words after each count in the summary."""
CHANGES: dict[Meaning, tuple[str, str]] = {
    "promise": ("specified", "in a specified part of the contract"),
    "guess": ("not specified", "in behaviour that is not specified"),
    "addition": ("addition", "with new fields"),
    "world": ("outside event", "due to outside events"),
}
"""The same for a replay at the service, where each difference is a change: the words in a line and after a count."""


def place_of(method: str, path: str, status: int) -> str:
    """Return the location of a response in the contract, or "" if the contract does not contain the operation."""
    operation = _operation(method, path)
    return f"{operation} {status}" if operation is not None else ""


def meaning_of(place: str, kind: str, pointer: str, recorded: object) -> Meaning:
    """Return the meaning of a difference at `pointer` in a response or event. `place` is its location in the contract,
    such as `create_quote 201` (with the simulator's status) or `event transaction.failed`.
    """
    if not place:
        return "world" if kind == "value" else "guess"
    if kind in ("status", "code"):
        return _promise(_facts().get((place, "status")))
    if kind in ("param", "header"):
        return "guess"
    field = _field(place, pointer)
    if kind == "shape":
        return "addition" if recorded != "absent" else _promise(_facts().get((field, "required")))
    if kind in ("state", "value"):
        listed = listed_values(place, pointer)
        return "world" if recorded in listed or not listed else _promise(_facts().get((field, "enum")))
    return _promise(_facts().get((field, "type" if kind == "type" else "field")))


def listed_values(place: str, pointer: str) -> frozenset[str]:
    """Return the values that the contract lists for a field, or an empty set if it lists none."""
    return _enumerations().get(_field(place, pointer), frozenset())


def _field(place: str, pointer: str) -> str:
    return f"{place} {re.sub(r'/[0-9]+(?=/|$)', '/[]', pointer.partition(' ')[0])}"


def _promise(fact: Fact | None) -> Meaning:
    return "promise" if fact is not None and fact.promised else "guess"


def _operation(method: str, path: str) -> str | None:
    """Return a call's operation. If several path templates match, the one with the fewest parameters is used."""
    matching = [
        (template.count("{"), operation["operationId"])
        for of, template, operation in operations_of(contract_document())
        if of == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
    ]
    return min(matching)[1] if matching else None


@cache
def _facts() -> dict[tuple[str, str], Fact]:
    """Return the statements of the contract by field path and keyword. A specified statement takes precedence over an
    assumed one of another variant.
    """
    found: dict[tuple[str, str], Fact] = {}
    for fact in facts_of(contract_document()).values():
        key = (without_variants(fact.place), fact.keyword)
        if key not in found or fact.promised:
            found[key] = fact
    return found


@cache
def _enumerations() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for fact in facts_of(contract_document()).values():
        if fact.keyword == "enum":
            found.setdefault(without_variants(fact.place), set()).add(str(fact.value))
    return {field: frozenset(values) for field, values in found.items()}
