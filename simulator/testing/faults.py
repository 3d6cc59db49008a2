"""Faults of the wire as a test holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from simulator.testing.errors import SimulatorError, is_told

if TYPE_CHECKING:
    from simulator.engine.control.scenarios.faults import MadeFault
    from simulator.testing.reading import SeenWorld

__tracebackhide__ = is_told


class Fault:
    """A fault in force. As a context manager it goes at the end of the block; `hits` may still be asked then.

    `info` is the fault as the control interface shows it, `warnings` says why it may never be hit as the world is now.
    """

    def __init__(self, world: SeenWorld, info: MadeFault) -> None:
        self._world = world
        self._hits: int | None = None
        self.info = info
        self.id = info["id"]
        self.warnings = tuple(info.get("warnings", ()))

    @property
    def hits(self) -> int:
        """How often it has acted. After it was removed: how often it had.

        SimulatorError when it went otherwise: the world was put back, or somebody ended all faults.
        """
        if self._hits is not None:
            return self._hits
        hits = self._hits_now()
        if hits is None:
            raise SimulatorError(f"The fault {self.id} is not in force: the world was put back, or others ended it.")
        return hits

    def _hits_now(self) -> int | None:
        """How often it has acted, None when it is not in force."""
        rows = self._world.control("GET", "/faults")["data"]
        return next((int(row["hits"]) for row in rows if row["id"] == self.id), None)

    def remove(self) -> None:
        """End it; nothing when it has gone."""
        if self._hits is not None:
            return
        hits = self._hits_now()
        self._hits = hits or 0
        if hits is not None:
            self._world.control("DELETE", f"/faults/{self.id}")

    def __enter__(self) -> Fault:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<Fault {self.id}>"


def make_fault(
    world: SeenWorld,
    what: str | Mapping[str, object] | None,
    match: str | Mapping[str, object] | None,
    members: Mapping[str, object],
) -> Fault:
    """Put a fault in force: about calls (`what` or `match`), by the name of a preset (`what`), or by its members alone.

    SimulatorError with `param` when it is not written right.
    """
    preset = isinstance(what, str) and _is_a_name(what)
    if what is not None and not preset:
        if match is not None:
            raise ValueError(f"fault: the calls are given twice, as {what!r} and as match={match!r}")
        match = what
    body: dict[str, object] = {} if match is None else {"match": _calls(match)}
    body |= members
    if preset:
        body["preset"] = what
    try:
        return Fault(world, world.control("POST", "/faults", body))
    except SimulatorError as error:
        if error.param == "preset":
            error.args = (f'{error.args[0]} Calls are written like "POST /quotes", "/quotes/*" or "POST".',)
        raise


_CALLS = re.compile(r"(?P<method>[A-Za-z]+)?(?:(?:^|\s+)(?P<path>[/*]\S*))?")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _is_a_name(what: str) -> bool:
    """Whether a text is the name of a preset, known or not; other texts are about calls."""
    return re.fullmatch(r"\w+(-\w+)*", what) is not None and what.upper() not in _METHODS


def _calls(match: str | Mapping[str, object]) -> Mapping[str, object]:
    """`"POST /quotes"`, `"POST"` or `"/quotes"` as the object that it stands for."""
    if not isinstance(match, str):
        return match
    found = _CALLS.fullmatch(match.strip())
    named = {} if found is None else {name: text for name, text in found.groupdict().items() if text}
    if not named:
        raise ValueError(f'{match!r} names no calls; write it like "POST /quotes", "/quotes/*" or "POST"')
    return {**named, "method": named["method"].upper()} if "method" in named else named
