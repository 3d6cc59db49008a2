"""The provenance of each part of the contract: a clause of the specification, or an assumption."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from simulator.engine.rows.room import Room
from simulator.engine.text.citations import links_of
from simulator.engine.text.shapes import Origin, Pagination

TAGS: Mapping[str, str] = {
    "Authentication": "Key pairs are exchanged for Bearer tokens; every other operation needs one.",
    "Reference data": "Network health, indicative rates, the currency listing, the balances by asset.",
    "Fees": "Fee products, and the calculator that prices an amount exactly.",
    "Ramp quotes and ramps": "Onramps turn fiat into crypto at an external wallet, offramps crypto into a fiat payout.",
    "Orders and transactions": "History and detail of everything that moved money.",
    "Beneficiaries": "Saved bank accounts, mobile money numbers and wallet addresses.",
    "Deposit wallets": "Receiving addresses on stellar, celo and bitcoin, Lightning addresses and invoices.",
    "Send": "From the balance to an address, over Lightning, or to another user of the service.",
    "Swap": "One asset of the balance into another.",
    "Buy": "Fiat into the balance.",
    "Withdraw": "From the balance to a beneficiary's fiat.",
    "Recurring payments": "Withdrawals and sends that repeat on a schedule.",
    "Profile": "The account, its KYC status and its limits.",
    "Webhooks": "Endpoints that receive signed events, and what was delivered to them.",
    "Events": "What the service sends to webhook endpoints, signed.",
}


def component_name(model: str) -> str:
    """The name of a shape in the contract: without the word Shape at its end."""
    return model.removesuffix("Shape")


def pascal(name: str) -> str:
    """`list_fees` or `fee.changed` as a name in the contract: ListFees, FeeChanged."""
    return "".join(part.capitalize() for part in name.replace(".", "_").split("_"))


def clauses_of(rooms: Iterable[Room]) -> dict[str, Origin]:
    """The clause of the specification behind each named schema, or the decision, as the rooms say of their shapes."""
    rows: list[tuple[Origin, tuple[type[object], ...]]] = [row for room in rooms for row in room.clauses().items()]
    rows.append(("Pagination envelope and error envelope", (Pagination,)))
    return {component_name(shape.__name__): clause for clause, shapes in rows for shape in shapes}


def unions_of(rooms: Iterable[Room]) -> dict[frozenset[str], str]:
    """The names that the rooms give to unions of shapes, by the names of the shapes in them."""
    shapes = [shape for room in rooms for clause in room.clauses().values() for shape in clause]
    found: dict[frozenset[str], str] = {}
    for module in dict.fromkeys(shape.__module__ for shape in shapes):
        for name, value in vars(sys.modules[module]).items():
            members = _members(value)
            if len(members) > 1 and not name.startswith("_") and all(isinstance(member, type) for member in members):
                found.setdefault(frozenset(component_name(member.__name__) for member in members), component_name(name))
    return found


def _members(value: object) -> list[Any]:
    """The types of a union, also of one that is annotated, or has another in it."""
    if get_origin(value) is Annotated:
        return _members(get_args(value)[0])
    if isinstance(value, UnionType) or get_origin(value) is Union:
        return [member for part in get_args(value) for member in _members(part)]
    return [value]


def basis_of_status(method: str, status: int) -> tuple[str, str]:
    """(provenance, basis) of a success status: only deletes and reads are spelled out, the rest is decision H1."""
    if status == 204 or (method == "GET" and status == 200):
        return "specified", "Errors"
    return "assumed", "H1"


def bases_in(part: object) -> Iterator[str]:
    """Every clause and decision that a part of the contract names, as often as it does."""
    if isinstance(part, dict):
        if isinstance(part.get("x-basis"), str):
            yield part["x-basis"]
        if isinstance(part.get("x-assumed-basis"), dict):
            yield from part["x-assumed-basis"].values()
        if isinstance(part.get("x-assumptions"), list):
            yield from part["x-assumptions"]
        for member in part.values():
            yield from bases_in(member)
    elif isinstance(part, list):
        for member in part:
            yield from bases_in(member)


def basis_links(document: object) -> dict[str, str]:
    """Return the documentation path of each clause and decision that a contract cites."""
    return {basis: links_of(basis)[0] for basis in sorted(set(bases_in(document)))}
