"""The handle of an injected fault, for tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from simulator.testing.errors import SimulatorError, hides_traceback

if TYPE_CHECKING:
    from simulator.engine.control.scenarios.faults import MadeFault
    from simulator.testing.reading import SeenWorld

__tracebackhide__ = hides_traceback


class Fault:
    """An active fault. In a `with` statement, it is removed at the end of the block. `info` is the fault as the control
    API returns it. `warnings`: the reasons why it may never apply in this world.
    """

    def __init__(self, world: SeenWorld, info: MadeFault) -> None:
        self._world = world
        self._hits: int | None = None
        self.info = info
        self.id = info["id"]
        self.warnings = tuple(info.get("warnings", ()))

    @property
    def hits(self) -> int:
        """Return how often the fault has applied, even after its removal. Raises SimulatorError if the fault no longer
        exists because the world was restored or all faults were deleted.
        """
        if self._hits is not None:
            return self._hits
        hits = self._hits_now()
        if hits is None:
            why = "because the world was restored or the fault was deleted elsewhere"
            raise SimulatorError(f"The fault {self.id} is no longer active, {why}.")
        return hits

    def _hits_now(self) -> int | None:
        rows = self._world.control("GET", "/faults")["data"]
        return next((int(row["hits"]) for row in rows if row["id"] == self.id), None)

    def remove(self) -> None:
        """Remove the fault. Does nothing if the fault no longer exists."""
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
    """Inject a fault. `what` is the name of a preset or describes API requests, as `match` does. `members`: other
    fields. Raises SimulatorError with `param` if the fault is malformed.
    """
    preset = isinstance(what, str) and re.fullmatch(r"\w+(-\w+)*", what) and what.upper() not in _METHODS
    if what is not None and not preset:
        if match is not None:
            twice = f"as {what!r} and as match={match!r}"
            raise ValueError(f"fault: the calls are described twice, {twice}; give them once")
        match = what
    body: dict[str, object] = {} if match is None else {"match": _calls(match)}
    body |= members
    if preset:
        body["preset"] = what
    try:
        return Fault(world, world.control("POST", "/faults", body))
    except SimulatorError as error:
        if error.param == "preset":
            error.args = (f'{error.args[0]} Write calls like "POST /quotes", "/quotes/*" or "POST".',)
        raise


_CALLS = re.compile(r"(?P<method>[A-Za-z]+)?(?:(?:^|\s+)(?P<path>[/*]\S*))?")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _calls(match: str | Mapping[str, object]) -> Mapping[str, object]:
    """Convert a string such as `"POST /quotes"`, `"POST"` or `"/quotes"` to the `match` object of a fault."""
    if not isinstance(match, str):
        return match
    found = _CALLS.fullmatch(match.strip())
    named = {} if found is None else {name: text for name, text in found.groupdict().items() if text}
    if not named:
        raise ValueError(f'{match!r} does not describe calls; write it like "POST /quotes", "/quotes/*" or "POST"')
    return {**named, "method": named["method"].upper()} if "method" in named else named
