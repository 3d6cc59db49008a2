"""A world works and its ledger balances under any combination of alternative assumptions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from simulator.providers.ramp.alternatives import ALTERNATIVES as SWITCHES
from simulator.testing import ActionRefused, Server, World, receiver
from simulator.testing.links.in_process import InProcessLink
from tests.service.assumptions.cases import BALANCE, PHONE, payee, quote, sending, user, withdraw_quote
from tests.support import CELO, whole

CHOICES = some.fixed_dictionaries(
    {}, optional={switch.id: some.sampled_from(sorted(switch.alternatives)) for switch in SWITCHES.values()}
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(InProcessLink()) as server:
        yield server


def live(world: World) -> None:
    """Something of everything that moves money, whether it goes through or not."""

    def post(path: str, body: object) -> None:
        answer = world.client.post(path, json=body)
        assert answer.status_code < 500, answer.text
        if answer.is_success and "status" in (made := answer.json()):
            what_happens = ("deposit_arrives", "payment_arrives", "broadcast", "complete", "fail", "refund")
            for number, action in enumerate(what_happens):
                if number != len(path) % 7:  # another end for each way
                    _try(world, action, made["id"])

    for _ in range(2):
        onramp, offramp = quote(world), quote(world, type="offramp", amount="20", amount_currency="USDC")
        post(f"/quotes/{onramp['id']}/confirm", {"wallet_address": CELO, "payer": {"phone_number": PHONE}})
        parties = {"beneficiary_id": payee(world)["id"], "refund_address": CELO}
        post(f"/quotes/{offramp['id']}/confirm", parties)
        post("/wallet/send", sending())
        post("/wallet/send", sending(destination=user(world)))
        post("/wallet/withdraw", {"quote_id": withdraw_quote(world)["id"]})
        swap = {"from": BALANCE, "to": {"symbol": "CUSD", "network": "CELO"}, "amount": "20", "amount_side": "from"}
        post("/wallet/swap", {"quote_id": world.client.post("/wallet/swap/quote", json=swap).json()["id"]})
        world.act("move_rates", percent=0.1)
    world.advance("2d")


def _try(world: World, action: str, target: str) -> None:
    with contextlib.suppress(ActionRefused):
        world.act(action, target)


@pytest.mark.long
@settings(max_examples=whole(25, short=12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=CHOICES)
def test_the_books_balance_under_any_assumptions(server: Server, chosen: dict[str, str]) -> None:
    with server.new_world(settings={"assumptions": chosen}) as world:
        with receiver(world) as webhooks:
            assert webhooks.url
            live(world)
            assert all(delivery.genuine for delivery in webhooks.received)
        for path in ("/timeline", "/advice", "/coverage", "/recording", "/resources", "/state", "/requests"):
            world.control("GET", path)
        assert world.timeline()
        totals: dict[str, Decimal] = {}
        for row in world.ledger().accounts:
            totals[row["currency"]] = totals.get(row["currency"], Decimal(0)) + row["amount"]
            assert row["account"] not in ("available", "held") or row["amount"] >= 0
        assert set(totals.values()) == {Decimal(0)}
