"""The phase after each test: remove the fault, run the integrator's job, let days pass, and read the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from simulator.certification import sources
from simulator.engine.text.json import JsonObject
from simulator.exploration.judgement import evidence
from simulator.exploration.runs.armed import ArmedWorld
from simulator.exploration.runs.ordering import play
from simulator.host import vocabulary
from simulator.kernel.clock import format_timestamp, parse_duration, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.testing.errors import SimulatorError
from simulator.testing.quiescence import wait_until_quiet
from simulator.testing.worlds import World

_DAYS = "4d"
_FIRST_STEP_MS = 60_000
_STEPS = 200
"""The largest number of steps in which these days pass, so that a world with many timers does not take minutes."""
_FOLLOW_UPS = 3
"""How often orders made by the integrator's job or queue can lead to further orders that get their own days."""


MODES = {
    "none": "The job never runs.",
    "before": "The money and the books are also read before the job runs. The simulated days pass before and after it.",
    "after": "The money and the books are read after the job. The default.",
}
"""The values of `--settle` that are not commands."""


Environments: TypeAlias = Sequence[Mapping[str, str]]
"""Sets of environment variables. Each of the integrator's commands runs once with each set."""


class HookFailed(Exception):
    """Raised if an integrator's hook fails even without faults. The message contains the hook's output."""


@dataclass(frozen=True)
class Hooks:
    """The integrator's hooks, as shell commands (from options such as `--settle` and `--books`) or as functions.
    `here`: True if hooks that name a function are called in this process, which also runs the tests. `mode`: one of
    `MODES`.
    """

    settle: str | Callable[[], object] | None = None
    books: str | Callable[[], object] | None = None
    here: bool = False
    mode: str = "after"
    quiesce: str | Callable[[], object] | None = None
    """Checks whether the application's own queue is empty."""
    app: str | None = None
    """The command that starts the application for each run."""
    tolerated_ms: int | None = None
    """How long books may disagree during a test, in simulated milliseconds. None: they are not read during the test."""


def follow(
    armed: Sequence[ArmedWorld], hooks: Hooks, environments: Environments, *, story: bool, effects: bool
) -> JsonObject:
    """Run everything that happens after a test. Return the evidence, with `hits`, `books`, `unread` and `not_genuine`.

    `story`: True if the evidence includes the history. `effects`: True if it includes a digest of everything that a
    fault can change. Under an alternative assumption, nothing runs and the result is empty, because different amounts
    of money are not errors.
    """
    if any("assumptions" in one.plan for one in armed):
        return {}
    worlds = [one.world for one in armed]
    for world in worlds:
        world.settle()  # deliveries in flight still belong to the test, and must not race with the next steps
    ends = [(len(world.requests()), len(world.deliveries())) for world in worlds] if story else []
    faultless = not any(one.plan for one in armed)
    for one in armed:
        if one.plan.get("lasts"):
            _last(one, hooks, environments)
        one.lift()
        one.world.settle()
    _wait(hooks, environments, must_work=faultless)
    books = partial(books_of, hooks, environments)
    ordered = [play(one, partial(books, must_work=False)) for one in armed if one.plan.get("orders")]
    if hooks.mode == "none":
        hooks = replace(hooks, settle=None)
    settle_once = partial(_settle, hooks, environments, must_work=faultless)
    wait = partial(_wait, hooks, environments, must_work=faultless)
    if hooks.mode != "before":
        settle_once()
    learning = [one for one in armed if _learns(one.world, hooks)]
    paid: list[str] = []
    before: JsonObject = {}
    live_on = partial(_live_on, worlds, learning, paid, wait, hooks)
    live_on()
    if hooks.mode == "before":
        before = {"before": evidence.evidence_of(armed, paid) | books(must_work=faultless)}
        settle_once()
        live_on()
    for _ in range(_FOLLOW_UPS):
        known = _orders(worlds)
        settle_once()
        wait()
        if _orders(worlds) == known:
            break
        live_on()
    found = evidence.evidence_of(armed, paid) | before
    if story:
        found |= evidence.history_of(armed, ends)
    if story or effects:
        found["effects"] = evidence.effects_of(armed)
    found |= books(must_work=faultless)
    found["hits"] = sum(one.hits for one in armed)
    if ordered:
        found |= {"hits": 1, "ordered": ordered[0], "settles": hooks.settle is not None}
    faults = (fault for one in armed for fault in one.plan.get("faults", ()))
    forges = any({"corrupt_signature", "stale_timestamp"} & set(fault.get("deliver", {})) for fault in faults)
    found["not_genuine"] = [name for one in worlds for name in evidence.not_genuine(one)] if forges else []
    return found


def _last(armed: ArmedWorld, hooks: Hooks, environments: Environments) -> None:
    """Let the time pass for which the fault stays after the test. Then run the integrator's job."""
    armed.world.advance(armed.plan["lasts"], wait=True)
    _wait(hooks, environments, must_work=False)
    if hooks.mode == "after":
        _settle(hooks, environments, must_work=False)
        _wait(hooks, environments, must_work=False)


def _live_on(
    worlds: Sequence[World], learning: Sequence[ArmedWorld], paid: list[str], wait: Callable[[], None], hooks: Hooks
) -> None:
    """Let four simulated days pass, and four more while the application creates orders in them. `learning`: the worlds
    in which customers first pay all orders that wait for a payment. The ids are added to `paid`.
    """
    for _ in range(1 + _FOLLOW_UPS):
        known = _orders(worlds)
        paid += [name for one in learning for name in _paid(one)]
        _pass_days(worlds, wait, hooks)
        if _orders(worlds) == known:
            break


def _orders(worlds: Sequence[World]) -> set[str]:
    kinds = vocabulary().provider.money.orders
    return {row["id"] for world in worlds for row in world.control("GET", "/resources")["data"] if row["kind"] in kinds}


def _pass_days(worlds: Sequence[World], wait: Callable[[], None], hooks: Hooks) -> None:
    """Let four simulated days pass, including deliveries, and complete everything that a test left unfinished."""
    for world in worlds:
        if hooks.quiesce is None:
            world.advance(_DAYS, wait=True)
        else:
            _advance_in_steps(world, wait)
        if _finish(world):
            world.advance("1h", wait=True)
            wait()


def _advance_in_steps(world: World, wait: Callable[[], None]) -> None:
    """Let four simulated days pass. Stop at each timer, and at growing intervals between timers, so that the
    application processes its queue before the end.
    """
    clock = world.control("GET", "/clock")
    now = parse_timestamp(clock["now"])
    end, step = now + parse_duration(_DAYS), _FIRST_STEP_MS
    for left in range(_STEPS, 0, -1):
        timer = clock["next_timer_at"]
        to = end if left == 1 else min(end, now + step)
        if left > 1 and timer is not None and now < parse_timestamp(timer) < to:
            to = parse_timestamp(timer)
        else:
            step *= 2
        world.advance(to=format_timestamp(to), wait=True)
        wait()
        if to >= end:
            return
        clock = world.control("GET", "/clock")
        now = parse_timestamp(clock["now"])


def _learns(world: World, hooks: Hooks) -> bool:
    """Return True if the application can find out about a payment after the test and add it to its records."""
    if hooks.books is None or hooks.settle is not None:
        return True
    rows = world.control("GET", "/resources")["data"] if hooks.here else ()
    return any(row["kind"] == "webhook" and row["status"] == "enabled" for row in rows)


def _paid(armed: ArmedWorld) -> list[str]:
    """Approve every open payer prompt, unless a scenario controls the payer. Return the ids of the paid transactions.
    If an application places an order twice, the second order costs money only if a customer approves its prompt too.
    The order that the fault targets is not paid.
    """
    world = armed.world
    rows = world.control("GET", "/resources")["data"]
    orders, actions = vocabulary().provider.money.orders, vocabulary().order_payments
    waiting = [row for row in rows if row["kind"] in orders and row["status"] in actions]
    if not waiting or armed.scenarios():
        return []
    others = [row for row in waiting if row["id"] != armed.plan.get("target")]
    return [row["id"] for row in others if _acted(world, actions[row["status"]], row["id"])]


def _acted(world: World, action: str, target: str) -> bool:
    """Perform an action. Return False if it is refused."""
    with suppress(SimulatorError):
        world.act(action, target)
        return True
    return False


def _finish(world: World) -> bool:
    """Perform `broadcast` and `complete` on orders that a test left in progress. Return True if one was legal."""
    acted = False
    for row in world.control("GET", "/resources")["data"]:
        if row["kind"] in vocabulary().provider.money.orders and row["status"] in ("processing", "pending"):
            for action in ("broadcast", "complete"):
                if action in world.resource(row["id"])["allowed"]:  # a send is completed once it is broadcast
                    acted |= _acted(world, action, row["id"])
    return acted


def _settle(hooks: Hooks, environments: Environments, *, must_work: bool) -> None:
    """Run the integrator's job (`--settle`). Unless `must_work`, ignore a failure, because the job runs again later."""
    try:
        if callable(hooks.settle):
            hooks.settle()
        elif hooks.settle is not None and hooks.here and sources.is_function(hooks.settle):
            sources.function("--settle", hooks.settle)()
        elif hooks.settle is not None:
            for environment in environments:
                sources.settle(hooks.settle, environment)
    except Exception as error:
        if must_work:
            raised = f"--settle raised {sources.describe_error(error)}"
            said = str(error) if isinstance(error, sources.Unusable) else raised
            raise HookFailed(said) from None


def _wait(hooks: Hooks, environments: Environments, *, must_work: bool) -> None:
    given = hooks.quiesce
    if given is None:
        return
    for environment in environments:
        quiet = given if callable(given) else partial(sources.is_quiet, given, environment)
        try:
            if wait_until_quiet(quiet) or not must_work:
                continue
        except Exception as error:
            if not must_work:
                continue
            raise HookFailed(f"the quiesce hook raised {sources.describe_error(error)}") from None
        raise HookFailed("--quiesce: the application's queue is not empty after ten seconds, without any fault")


def books_of(hooks: Hooks, environments: Environments, *, must_work: bool) -> JsonObject:
    """Return `books`: the integrator's records (each with `order`, `state`, `amount`, `currency`) without repetitions,
    or None if there are none. If records cannot be read after a fault, `unread` contains the reason.
    """
    try:
        read = [_lines(hooks, environment) for environment in environments]
    except sources.Unusable as error:
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


def _lines(hooks: Hooks, environment: Mapping[str, str]) -> list[sources.Line] | None:
    if hooks.books is None:
        return None
    if callable(hooks.books):
        return sources.called("pytest_rampsim_books", hooks.books)
    if hooks.here and sources.is_function(hooks.books):
        return sources.returned(hooks.books)
    return sources.read_books(hooks.books, environment)
