"""After any steps in a world, its ledger balances and its timeline lists everything in a possible order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.testing import Server, World
from simulator.testing.books import totals
from tests.support import whole
from tests.tools.testing.orders import onramp


def _act(world: World, number: int) -> None:
    """Something that is possible on one of the transactions."""
    found = world.control("GET", "/resources", query={"type": "onramp"})["data"]
    if found:
        ramp = found[number % len(found)]
        allowed = world.resource(ramp)["allowed"]
        if allowed:
            world.act(allowed[number % len(allowed)], ramp)


DOINGS: tuple[Callable[[World, int], object], ...] = (
    lambda world, number: onramp(world),
    lambda world, number: world.scenario(*(("autopilot",) if number % 2 else ())),
    lambda world, number: world.advance(f"{number * 7}s"),
    lambda world, number: world.advance(to_next_timer=True),
    lambda world, number: world.client.get("/fees"),
    lambda world, number: world.trigger(
        ("transaction.completed", "transaction.refunded", "transaction.failed")[number % 3]
    ),
    _act,
)


@settings(max_examples=whole(300, short=25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(range(len(DOINGS))), st.integers(0, 20)), min_size=1, max_size=12))
def test_books_balance_and_the_timeline_is_in_order(server_in_process: Server, doings: list[tuple[int, int]]) -> None:
    with server_in_process.new_world() as world:
        for index, number in doings:
            DOINGS[index](world, number)
        ledger = world.ledger()
        assert set(totals(ledger).values()) == {Decimal(0)}
        assert ledger.amount("available", "USDC.celo") == world.balance("USDC", "CELO") >= 0

        entries = world.control("GET", "/timeline")["data"]
        assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
        places = {entry["id"]: place for place, entry in reversed(list(enumerate(entries))) if entry["what"] == "call"}
        states = defaultdict[str, list[str]](list)
        moves = defaultdict[str, list[int]](list)
        for place, entry in enumerate(entries):
            if entry["what"] == "move":
                states[entry["id"]].append(entry["text"].partition(" → ")[2].partition(",")[0].partition(" (")[0])
                moves[entry["id"]].append(place)
        for ramp in world.control("GET", "/resources", query={"type": "onramp"})["data"]:
            history = world.resource(ramp)["history"]
            assert states[ramp["id"]] == [step["state"] for step in history]
            for place, step in zip(moves[ramp["id"]], history, strict=True):
                if step["cause"]["kind"] == "request":
                    assert places[step["cause"]["reference"]] < place
        told = "\n".join(entry["text"] for entry in entries)
        assert all(event["type"] in told for event in world.events())
        assert [entry["id"] for entry in entries if entry["what"] == "call"] == [row["id"] for row in world.requests()]
