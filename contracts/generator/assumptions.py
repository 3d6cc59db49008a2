"""`contracts/assumptions.md`: every point the specification leaves open, what is assumed, why, and how to find out.

The decisions of the interface as a whole stand in `decisions.yaml`; what a single module assumes stands in the module
(`ASSUMPTIONS`) and is collected from those named here. One table, one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from contracts.generator.decisions import DECISIONS
from simulator.resources import ORDER

WIRE = ("simulator.wire.listing",)
SERVER = ("simulator.server.app", "simulator.server.endpoint")
CONTROL = tuple(
    f"simulator.control.{name}"
    for name in (
        "app",
        "clock",
        "inbox",
        "insight",
        "journal",
        "recording",
        "scenarios",
        "queries",
        "snapshots",
        "stream",
        "reach",
        "worlds",
    )
)
"""The modules besides the rooms that keep a tuple `ASSUMPTIONS`."""


def collected() -> tuple[str, ...]:
    """Every module whose assumptions are on the page."""
    return (*WIRE, *(f"simulator.resources.{name}" for name in ORDER), *SERVER, *CONTROL)


@dataclass(frozen=True)
class Assumption:
    """One assumed point: its id (as `x-basis` names it), what is assumed, why, and how to find out."""

    id: str
    chapter: str
    assumed: str
    why: str
    find_out: str


_ROOM_WHY = "Neither the specification nor a decision on the whole interface says; integrators would expect this."

_FIND_OUT: Mapping[str, str] = {
    "reference": "Read the network, rates and currency listings of the real sandbox and compare field by field.",
    "profile": "Read the profile, KYC and limits of a real sandbox account before and after a change in its dashboard.",
    "auth": "Exchange wrong, mixed and revoked keys at the real token operation and look at status and code.",
    "beneficiaries": "Save, list, sort and delete recipients in the real sandbox, with one thing wrong at a time.",
    "fees": "Call the real fee calculator with the same inputs and compare the breakdown.",
    "transactions": "Compare the order number of a real transaction.",
    "ramps": "Confirm a quote of each kind in the real sandbox and read its transaction and order.",
    "deposit_wallets": "Create wallets and Lightning entries in the real sandbox and deposit to them.",
    "balance": "Make the call in the real sandbox and compare its answer, its events and the balances.",
    "recurring": "Let a recurring payment run for some days in the real sandbox and follow its events.",
    "history": "Read the order of a known transaction in the real sandbox, field by field.",
    "webhooks": "Register an endpoint with the real sandbox and compare requests, retries and delivery records.",
    "wire": "Make the call against the real sandbox and read status, headers and body.",
    "server": "Nothing to find out: the real service is no server on your machine.",
    "control": "Nothing to find out: the control interface is the simulator's own.",
}


def all_assumptions() -> tuple[Assumption, ...]:
    """Every assumption, in the order of the page."""
    return (*_of_decisions(), *_of_wire(), *_of_rooms(), *_of_server(), *_of_control())


def _of_decisions() -> Iterator[Assumption]:
    for chapter, rows in DECISIONS.items():
        for identifier, assumed, why, find_out in rows:
            yield Assumption(identifier, chapter, assumed, why, find_out)


def _of_wire() -> Iterator[Assumption]:
    for module in WIRE:
        for identifier, text in _assumed(module):
            yield Assumption(identifier, "Shared by all rooms", _sentence(text), _ROOM_WHY, _FIND_OUT["wire"])


def _of_rooms() -> Iterator[Assumption]:
    for name in ORDER:
        for identifier, text in _assumed(f"simulator.resources.{name}"):
            yield Assumption(identifier, f"Room {name}", _sentence(text), _ROOM_WHY, _FIND_OUT[name])


def _of_server() -> Iterator[Assumption]:
    why = "Only a simulator can be reached, or its worlds ended, in such ways."
    for module in SERVER:
        for identifier, text in _assumed(module):
            yield Assumption(identifier, "Server", _sentence(text), why, _FIND_OUT["server"])


def _of_control() -> Iterator[Assumption]:
    why = "The page of the control interface leaves it open."
    for module in CONTROL:
        for identifier, text in _assumed(module):
            yield Assumption(identifier, "Control interface", _sentence(text), why, _FIND_OUT["control"])


def _assumed(module: str) -> tuple[tuple[str, str], ...]:
    found: tuple[tuple[str, str], ...] = import_module(module).ASSUMPTIONS
    return found


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# What the simulator assumes",
        "",
        "The specification promises much and leaves some points open. Where it is silent, the simulator had to choose. "
        "Whatever rests on such a choice is marked `x-provenance: assumed` in the contract, and `x-basis` names the "
        "entry on this page. Do not build on an assumed point without asking the real service; each entry says how.",
    ]
    chapter = ""
    for entry in all_assumptions():
        if entry.chapter != chapter:
            chapter = entry.chapter
            lines += ["", f"## {chapter}", "", "| id | assumed | why | how to find out |", "| - | - | - | - |"]
        cells = (f'<a id="{entry.id}"></a>{entry.id}', entry.assumed, entry.why, entry.find_out)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
