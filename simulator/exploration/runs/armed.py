"""The worlds of runs: injects the fault into a world, and identifies the world to tests by environment variables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.tasks import Document
from simulator.testing.errors import SimulatorError
from simulator.testing.worlds import World

SCENARIO = "what-goes-wrong"
"""The scenario that changes outside events."""


class ArmedWorld:
    """A world with a fault. `plan`: an `Arming` as JSON, or None. It applies to only one world of a run. `name`:
    identifies the world within a run. The name of the first world is "".
    """

    def __init__(self, world: World, plan: Document | None, name: str = "") -> None:
        self.world = world
        self.name = name
        is_meant = (plan or {}).get("world", "") == name
        self.plan = {key: value for key, value in (plan or {}).items() if is_meant or key == "assumptions"}
        self._faults: list[str] = []
        self._hits = 0
        self._missing = False
        """True if one of two faults at once did not happen."""
        self._swapped = 0

    def has_been_armed(self, faults: Sequence[str], hits: int, swapped: int) -> None:
        """Record the faults that another process has added, their hits, and how many actions it replaced."""
        self._faults, self._hits, self._swapped = list(faults), hits, swapped

    def arm(self) -> None:
        """Add the plan's faults and its scenario, which takes precedence over all other scenarios."""
        for number, fault in enumerate(self.plan.get("faults", ())):
            with suppress(SimulatorError):  # a fault that this world refuses never applies
                made = self.world.control("POST", "/faults", fault)
                if number >= self.plan["counted"]:
                    self._faults.append(made["id"])
        if self.plan.get("rules"):
            document = {"name": SCENARIO, "description": "What goes wrong in this run.", "rules": self.plan["rules"]}
            self.world.control("POST", "/scenarios", document)
            self.world.control("PUT", "/scenarios/active", {"names": [*self.scenarios(), SCENARIO]})

    def scenarios(self) -> list[str]:
        """Return the names of the test's active scenarios."""
        rows = self.world.control("GET", "/scenarios")["data"]
        shown = self.world.control("GET", f"/worlds/{self.world.id}")["scenarios"]
        return [name for name in shown if name != SCENARIO and any(row["name"] == name for row in rows)]

    def instead_of(self, action: str, target: str | None) -> Sequence[Document] | None:
        """Return the replacement for an action that the test requests, or None to perform the requested action."""
        if target is None or target != self.plan.get("target"):
            return None
        steps: Sequence[Document] | None = (self.plan.get("instead") or {}).get(action)
        if steps is not None:
            self._swapped += 1
        return steps

    @property
    def hits(self) -> int:
        """Return how often the fault has happened. The number is complete only after a call of `lift`."""
        if self.plan.get("clock"):
            return int(any(not row["path"].startswith("/_simulator") for row in self.world.requests()))
        if self._missing:
            return 0
        if not self.plan.get("rules"):
            return self._hits
        if self.plan.get("parts") and not self._swapped and not self._fired:
            return 0
        return self._hits + self._swapped + self._fired

    @property
    def _fired(self) -> int:
        return len(self.world.control("GET", f"/scenarios/{SCENARIO}")["rules_fired"])

    def lift(self) -> None:
        """Remove all faults, including the test's own, and repair effects that an integrator cannot repair. If the plan
        `stays`, its own faults are not removed. Actions of payers and banks are not undone.
        """
        rows = self.world.control("GET", "/faults")["data"]
        hits = {row["id"]: int(row["hits"]) for row in rows}
        self._hits += sum(hits.get(name, 0) for name in self._faults)
        parts = self.plan.get("parts", ())
        self._missing = any(not any(hits.get(name) for name in self._faults[begin:end]) for begin, end in parts)
        kept = self._faults if self.plan.get("stays") else []
        for row in rows:
            if row["id"] not in kept:
                self.world.control("DELETE", f"/faults/{row['id']}")
        for step in (*self.plan.get("mend", ()), *self._refill()):
            parameters = {name: value for name, value in step.items() if name != "action"}
            with suppress(SimulatorError):
                self.world.control("POST", f"/actions/{step['action']}", parameters)

    def _refill(self) -> list[Document]:
        """Return the repairs that depend on the current state."""
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
    """Return the request body that creates a world for a run. Assumptions of the test take precedence. A fault can
    change the start time of the world, but not the mode of its clock.
    """
    flipped, begins = (plan or {}).get("assumptions"), (plan or {}).get("clock")
    if "from_snapshot" in body:  # a snapshot contains the assumptions and the clock
        return dict(body)
    if begins:
        clock = body.get("clock")
        body = {**body, "clock": {"mode": "manual", **(clock if isinstance(clock, dict) else {}), "now": begins}}
    if not flipped:
        return dict(body)
    settings = body.get("settings") or {}
    return {**body, "settings": {**settings, "assumptions": {**flipped, **settings.get("assumptions", {})}}}


def variables(world: World) -> dict[str, str]:
    """Return the environment variables that identify a world: its base URL and its keys."""
    return {
        "SIMULATOR_URL": f"{world.link.url}/_worlds/{world.id}",
        "SIMULATOR_PUBLIC_KEY": world.keys.public_key,
        "SIMULATOR_SECRET_KEY": world.keys.secret_key,
        "SIMULATOR_WEBHOOK_KEY": world.keys.webhook_key,
    }


def assumed(plan: Document | None) -> dict[str, str]:
    """Return variables that make the test kit create worlds with the same assumptions as the run's own world."""
    flipped = (plan or {}).get("assumptions")
    text = " ".join(f"{name}={alternative}" for name, alternative in (flipped or {}).items())
    return {"SIMULATOR_ASSUME": text} if text else {}
