"""What follows a test: the fault is lifted, the integrator's job runs, days pass, and the books are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from simulator.certification.application import Unusable
from simulator.certification.sources import Line, called, function, is_function, read_books, returned, settle, told
from simulator.exploration import evidence
from simulator.exploration.sites import Document
from simulator.kernel.dataclass import dataclass
from simulator.testing.errors import SimulatorError
from simulator.wire.json import JsonObject

if TYPE_CHECKING:
    from simulator.testing.worlds import World

SCENARIO = "what-goes-wrong"
"""The scenario by which the outside world behaves otherwise."""
_DAYS = "4d"


class HookFailed(Exception):
    """What the integrator gave does not do what it is for, even without faults; the text says what it said."""


@dataclass(frozen=True)
class Hooks:
    """What the integrator gives to explore: as it is written for `--settle` and `--books`, or what is to be called.

    `here`: a function is called in this process, that of the tests.
    """

    settle: str | Callable[[], object] | None = None
    books: str | Callable[[], object] | None = None
    here: bool = False


class ArmedWorld:
    """A world in which something is to go wrong. `plan`: an `Arming` as JSON, None for nothing.

    `name`: which of the worlds of a run it is, "" for the first; the plan is for one of them.
    """

    def __init__(self, world: World, plan: Document | None, name: str = "") -> None:
        self.world = world
        self.name = name
        is_meant = (plan or {}).get("world", "") == name
        self.plan = {key: value for key, value in (plan or {}).items() if is_meant or key == "assumptions"}
        self._faults: list[str] = []
        self._hits = 0
        self._swapped = 0

    def has_been_armed(self, faults: Sequence[str], hits: int, swapped: int) -> None:
        """Somebody else has put these faults in force, and counted what has happened so far."""
        self._faults, self._hits, self._swapped = list(faults), hits, swapped

    def arm(self) -> None:
        """Put the faults in force and the scenario above all others."""
        for number, fault in enumerate(self.plan.get("faults", ())):
            with suppress(SimulatorError):  # it cannot be in this world: then it is never hit
                made = self.world.control("POST", "/faults", fault)
                if number >= self.plan["counted"]:
                    self._faults.append(made["id"])
        if self.plan.get("rules"):
            document = {"name": SCENARIO, "description": "What goes wrong in this run.", "rules": self.plan["rules"]}
            self.world.control("POST", "/scenarios", document)
            self.activate(self._active())

    def activate(self, names: Sequence[str]) -> None:
        """Make scenarios active, and what goes wrong above them."""
        mine = [SCENARIO] if self.plan.get("rules") else []
        self.world.control("PUT", "/scenarios/active", {"names": [*names, *mine]})

    def _active(self) -> list[str]:
        rows = self.world.control("GET", "/scenarios")["data"]
        shown = self.world.control("GET", f"/worlds/{self.world.id}")["scenarios"]
        return [name for name in shown if name != SCENARIO and any(row["name"] == name for row in rows)]

    def instead_of(self, action: str, target: str | None) -> Sequence[Document] | None:
        """What is done in place of an action that the test asks for; None for the action itself."""
        if target is None or target != self.plan.get("target"):
            return None
        steps: Sequence[Document] | None = (self.plan.get("instead") or {}).get(action)
        if steps is not None:
            self._swapped += 1
        return steps

    @property
    def hits(self) -> int:
        """How often it has happened, once the faults are lifted."""
        if not self.plan.get("rules"):
            return self._hits
        return self._hits + self._swapped + len(self.world.control("GET", f"/scenarios/{SCENARIO}")["rules_fired"])

    def lift(self) -> None:
        """End what was to go wrong, and put right what an integrator cannot; what payers and banks did stays done."""
        rows = self.world.control("GET", "/faults")["data"]
        self._hits += sum(int(row["hits"]) for row in rows if row["id"] in self._faults)
        if rows:
            self.world.control("DELETE", "/faults")
        for step in (*self.plan.get("mend", ()), *self._refill()):
            with suppress(SimulatorError):
                self.world.control(
                    "POST", f"/actions/{step['action']}", {k: v for k, v in step.items() if k != "action"}
                )

    def _refill(self) -> list[Document]:
        """Mending of what the faults that act have done, where it depends on how the world is."""
        steps: list[Document] = []
        for fault in self.plan.get("faults", ()):
            act = fault.get("act", {})
            given = act.get("parameters", {})
            if act.get("action") == "set_network":
                steps.append({"action": "set_network", "network": given["network"], "status": "operational"})
            if act.get("action") == "set_balance":
                place = f"{given['symbol'].upper()}.{given['network'].lower()}"
                taken = sum(
                    -row["amount"]
                    for entry in self.world.ledger().entries
                    if entry["resource_id"] is None and entry["purpose"] != "opening"
                    for row in entry["postings"]
                    if row["account"] == "available" and row["currency"] == place
                )
                now = self.world.balance(given["symbol"], given["network"])
                steps.append({"action": "set_balance", **given, "amount": f"{now + taken:f}"})
        return steps


def beginning(plan: Document | None, body: Document) -> JsonObject:
    """The body that makes a world of a run; what the test itself lets it assume stays."""
    flipped = (plan or {}).get("assumptions")
    if not flipped or "from_snapshot" in body:  # a snapshot has it already
        return dict(body)
    settings = body.get("settings") or {}
    return {**body, "settings": {**settings, "assumptions": {**flipped, **settings.get("assumptions", {})}}}


def follow(
    armed: Sequence[ArmedWorld], hooks: Hooks, environments: Sequence[Mapping[str, str]], *, story: bool
) -> JsonObject:
    """What comes after a test, in this order; gives the evidence, `hits`, `books`, `unread`, `not_genuine`.

    `environments`: those in which the integrator's commands run, one after another. `story`: with all that happened.
    Nothing comes after a test where the simulator assumes otherwise: other money is no mistake then, and the test alone
    tells.
    """
    if any("assumptions" in one.plan for one in armed):
        return {}
    worlds = [one.world for one in armed]
    for world in worlds:
        world.settle()  # what is under way is still the test's own, and nothing that follows races with it
    marks = [evidence.Mark.of(world) for world in worlds] if story else []
    faultless = not any(one.plan for one in armed)
    for one in armed:
        one.lift()
        one.world.settle()
    _settle(hooks, environments, must_work=faultless)
    for world in worlds:
        world.advance(_DAYS, wait=True)
        if _finish(world):
            world.advance("1h", wait=True)
    _settle(hooks, environments, must_work=faultless)
    found = evidence.evidence_of(armed)
    if story:
        found |= evidence.story_of(armed, marks)
    found |= _books(hooks, environments, must_work=faultless)
    found["hits"] = sum(one.hits for one in armed)
    found["not_genuine"] = [name for one in worlds for name in evidence.not_genuine(one)] if _forges(armed) else []
    return found


def _forges(armed: Sequence[ArmedWorld]) -> bool:
    return any(
        {"corrupt_signature", "stale_timestamp"} & set(fault.get("deliver", {}))
        for one in armed
        for fault in one.plan.get("faults", ())
    )


def _finish(world: World) -> bool:
    """Let the outside world end what it has begun, where a test has played it and left: nothing stays half done."""
    acted = False
    for row in world.control("GET", "/resources")["data"]:
        if row["kind"] in evidence.TYPES and row["status"] in ("processing", "pending"):
            allowed = world.resource(row["id"])["allowed"]
            for action in ("broadcast", "complete"):
                if action in allowed:
                    with suppress(SimulatorError):
                        world.act(action, row["id"])
                        acted = True
    return acted


def _settle(hooks: Hooks, environments: Sequence[Mapping[str, str]], *, must_work: bool) -> None:
    """The integrator's own job. One that fails after a fault is run again the next time, as in life."""
    try:
        if callable(hooks.settle):
            hooks.settle()
        elif hooks.settle is not None and hooks.here and is_function(hooks.settle):
            function("--settle", hooks.settle)()
        elif hooks.settle is not None:
            for environment in environments:
                settle(hooks.settle, environment)
    except Exception as error:
        if must_work:
            raise HookFailed(str(error) if isinstance(error, Unusable) else f"--settle raised {told(error)}") from None


def _books(hooks: Hooks, environments: Sequence[Mapping[str, str]], *, must_work: bool) -> JsonObject:
    """The partner's books: `order`, `state`, `amount`, `currency` of each line; None where there are none.

    Books that say the same in each environment are those of all, and count once. `unread` says why they cannot be read
    after a fault.
    """
    try:
        read = [_lines(hooks, environment) for environment in environments]
    except Unusable as error:
        if must_work:
            raise HookFailed(str(error)) from None
        return {"books": None, "unread": str(error)}
    books = dict.fromkeys(tuple(lines) for lines in read if lines is not None)
    if not books:
        return {"books": None}
    rows = [
        {"order": one.order, "state": one.state, "amount": f"{one.amount:f}", "currency": one.currency}
        for lines in books
        for one in lines
    ]
    return {"books": rows}


def _lines(hooks: Hooks, environment: Mapping[str, str]) -> list[Line] | None:
    if hooks.books is None:
        return None
    if callable(hooks.books):
        return called("pytest_rampsim_books", hooks.books)
    return returned(hooks.books) if hooks.here and is_function(hooks.books) else read_books(hooks.books, environment)


def variables(world: World) -> dict[str, str]:
    """The environment by which anything finds a world: its own base, and its keys."""
    return {
        "SIMULATOR_URL": f"{world.link.url}/_worlds/{world.id}",
        "SIMULATOR_PUBLIC_KEY": world.keys.public_key,
        "SIMULATOR_SECRET_KEY": world.keys.secret_key,
        "SIMULATOR_WEBHOOK_KEY": world.keys.webhook_key,
    }


def assumed(plan: Document | None) -> dict[str, str]:
    """The environment by which worlds that a command makes with the test kit assume what its own world does."""
    flipped = (plan or {}).get("assumptions")
    return (
        {"SIMULATOR_ASSUME": " ".join(f"{name}={alternative}" for name, alternative in flipped.items())}
        if flipped
        else {}
    )
