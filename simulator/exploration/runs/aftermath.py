"""What follows a test: the fault is lifted, the integrator's job runs, days pass, and the books are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from simulator.certification.sources import (
    Line,
    Unusable,
    called,
    describe_error,
    function,
    is_function,
    read_books,
    returned,
    settle,
)
from simulator.engine.text.json import JsonObject
from simulator.exploration.judgement import evidence
from simulator.exploration.runs.armed import ArmedWorld
from simulator.host import vocabulary
from simulator.kernel.dataclass import dataclass
from simulator.testing.errors import SimulatorError

if TYPE_CHECKING:
    from simulator.testing.worlds import World

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


def follow(
    armed: Sequence[ArmedWorld],
    hooks: Hooks,
    environments: Sequence[Mapping[str, str]],
    *,
    story: bool,
    effects: bool,
) -> JsonObject:
    """What comes after a test, in this order; gives the evidence, `hits`, `books`, `unread`, `not_genuine`.

    `environments`: those in which the integrator's commands run, one after another. `story`: with all that happened.
    `effects`: with a digest of all that a fault may have changed.
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
    paid = [name for one in armed if _learns(one.world, hooks) for name in _paid(one)]
    for world in worlds:
        world.advance(_DAYS, wait=True)
        if _finish(world):
            world.advance("1h", wait=True)
    _settle(hooks, environments, must_work=faultless)
    found = evidence.evidence_of(armed, paid)
    if story:
        found |= evidence.story_of(armed, marks)
    if story or effects:
        found["effects"] = evidence.effects_of(armed)
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


def _learns(world: World, hooks: Hooks) -> bool:
    """Return whether an application can learn after its test that somebody has paid, so that its books can say so."""
    if hooks.books is None or hooks.settle is not None:
        return True
    rows = world.control("GET", "/resources")["data"] if hooks.here else ()
    return any(row["kind"] == "webhook" and row["status"] == "enabled" for row in rows)


def _paid(armed: ArmedWorld) -> list[str]:
    """Let everybody pay who was asked to and has not, where no scenario decides; return the ids of the transactions.

    A test pays the orders that it knows of. An order that was placed twice has a second payer prompt, which a customer
    may approve as well: only then does it cost money. The order that a fault is about is left to the fault.
    """
    world = armed.world
    rows = world.control("GET", "/resources")["data"]
    orders, actions = vocabulary().provider.money.orders, vocabulary().order_payments
    waiting = [row for row in rows if row["kind"] in orders and row["status"] in actions]
    if not waiting or armed.scenarios():
        return []
    paid = []
    for row in waiting:
        if row["id"] != armed.plan.get("target"):
            with suppress(SimulatorError):
                world.act(actions[row["status"]], row["id"])
                paid.append(row["id"])
    return paid


def _finish(world: World) -> bool:
    """Let the outside world end what it has begun, where a test has played it and left: nothing stays half done."""
    acted = False
    for row in world.control("GET", "/resources")["data"]:
        if row["kind"] in vocabulary().provider.money.orders and row["status"] in ("processing", "pending"):
            for action in ("broadcast", "complete"):
                if action in world.resource(row["id"])["allowed"]:  # a send is completed once it is broadcast
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
            said = str(error) if isinstance(error, Unusable) else f"--settle raised {describe_error(error)}"
            raise HookFailed(said) from None


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
