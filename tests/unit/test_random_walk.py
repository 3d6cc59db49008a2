"""Every operation, every action and the clock, in random order. All invariants hold after each step.

The ledger sums to zero, nothing is negative, balance = available + held, statuses change only as the tables allow,
every event shows its resource at that instant, and an auditor who sees only events and control calls agrees.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import orjson
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from simulator.engine.records.records import INDEX, find, kind_of, render_for_event
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.text.json import dumps
from simulator.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from simulator.kernel.world import World
from simulator.providers.ramp.provider import ROOMS
from tests import support
from tests.auditor import Auditor
from tests.support import BENEFICIARY, CELO

STELLAR = "GBZXN7PIRZGNMHGA7MUUUF4GWPY5AYPV6LY4UV2GL6VJGIQRXFDNMADI"
BITCOIN = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
ADDRESSES = {"STELLAR": STELLAR, "CELO": CELO, "BITCOIN": BITCOIN}
ASSETS = [
    ("USDC", "STELLAR"), ("XLM", "STELLAR"), ("CELO", "CELO"), ("CUSD", "CELO"), ("USDC", "CELO"), ("USDT", "CELO"),
    ("BTC", "BITCOIN"),
]  # fmt: skip
STABLE = [("USDC", "STELLAR"), ("CUSD", "CELO"), ("USDC", "CELO"), ("USDT", "CELO")]
TABLE = ActionTable(row for room in ROOMS for row in room.actions)
TARGETED = sorted({name for name in TABLE.rows if TABLE.kinds(name) and name != "set_fee_product"})


def operation(method: str, path: str) -> Any:
    return support.find_operation(ROOMS, method, path)


class RandomWalk(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world: World = support.make_world(*ROOMS)
        self.auditor = Auditor()
        self.mismatches: list[str] = []
        self.targets: list[str] = []
        wiring = self.world.wiring
        self.world.wiring = replace(wiring, on_event=(self.observe, *wiring.on_event))

    def observe(self, world: World, event: Any, subject: dict[str, Any]) -> None:
        """Listens to every event inside the change that emitted it."""
        if event.environment != "sandbox":
            return
        self.auditor.saw(event.type, subject)
        record = find(world, event.object_id)
        if record is None:
            return
        shown = {name: value for name, value in subject.items() if name != "run"}
        if orjson.loads(event.raw)["data"]["object"] != orjson.loads(dumps(subject)):
            self.mismatches.append(f"{event.type}: the raw body differs from its object")
        if shown != render_for_event(world, record):
            self.mismatches.append(f"{event.type} of {event.object_id} is not the resource at that instant")

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, **variables: Any) -> Any:
        """An operation; a refusal must be catalogued and must change nothing."""
        before = self.fingerprint()
        try:
            answer = support.invoke(self.world, operation(method, path), body, **variables)
        except ApiError as refused:
            self.was_refused(refused, before, legal=refused.status < 500 or refused.code == "network_unavailable")
            return None
        if isinstance(answer, dict) and "id" in answer:
            self.targets.append(answer["id"])
        return answer

    def fingerprint(self) -> Any:
        return {name: dict(rows) for name, rows in self.world.store.tables().items()}

    def was_refused(self, refusal: Exception, before: Any, *, legal: bool) -> None:
        assert legal, refusal
        assert self.fingerprint() == before, f"a refused call changed something: {refusal}"

    # Setting out

    @initialize()
    def beneficiaries(self) -> None:
        phone = {"phone_number": "+254722000000", "provider": "mpesa"}
        body = {**BENEFICIARY, "phone_number": phone}
        self.phone = self.call("POST", "/beneficiaries", body)["id"]
        account = {"bank_code": "01", "account_number": "1234567890", "account_name": "Wanjiru Otieno"}
        body = {
            "type": "bank_account",
            "name": "Wanjiru Otieno",
            "country": "KE",
            "fiat_currency": "KES",
            "bank_account": account,
        }
        self.bank = self.call("POST", "/beneficiaries", body)["id"]

    # Operations

    @rule(
        direction=st.sampled_from(["onramp", "offramp"]),
        pair=st.sampled_from([("stellar", "USDC"), ("celo", "CUSD"), ("celo", "CELO")]),
        method=st.sampled_from(["mobile_money", "bank_transfer"]),
        units=st.integers(1, 40_000),
        backwards=st.booleans(),
        confirmed=st.booleans(),
    )
    def ramp(
        self, direction: str, pair: tuple[str, str], method: str, units: int, backwards: bool, confirmed: bool
    ) -> None:
        network, asset = pair
        in_fiat = (direction == "onramp") != backwards
        body = {
            "type": direction, "network": network, "asset": asset, "fiat_currency": "KES", "method": method,
            "amount": str(units) if in_fiat else f"{units / 100:.2f}", "amount_currency": "KES" if in_fiat else asset,
        }  # fmt: skip
        quote = self.call("POST", "/quotes", body)
        if quote is None or not confirmed:
            return
        address = STELLAR if network == "stellar" else CELO
        if direction == "offramp":
            confirm: dict[str, Any] = {
                "beneficiary_id": self.phone if method == "mobile_money" else self.bank,
                "refund_address": address,
            }
        else:
            payer = {"phone_number": "+254712345678"} if method == "mobile_money" else {"account_name": "W. Otieno"}
            confirm = {"wallet_address": address, "payer": payer}
        self.call("POST", "/quotes/{id}/confirm", confirm, id=quote["id"])

    @rule(
        asset=st.sampled_from(ASSETS),
        units=st.integers(0, 3000),
        way=st.sampled_from(["address", "email", "lightning", "nobody"]),
    )
    def send(self, asset: tuple[str, str], units: int, way: str) -> None:
        symbol, network = asset
        amount = f"{Decimal(units) / (100_000 if symbol == 'BTC' else 10):f}"
        destination: dict[str, Any] = {"type": "platform_user", "email": "amina@example.test"}
        if way == "address":
            destination = {"type": "address", "address": ADDRESSES[network]}
        elif way == "lightning":
            destination = {"type": "lightning", "lightning_address": "amina@pay.example.test"}
        elif way == "nobody":
            destination = {"type": "platform_user", "email": "nobody@example.test"}
        self.call(
            "POST", "/wallet/send", {"symbol": symbol, "network": network, "amount": amount, "destination": destination}
        )

    @rule(
        source=st.sampled_from(ASSETS), into=st.sampled_from(ASSETS), units=st.integers(0, 4000),
        side=st.sampled_from(["from", "to"]), moved=st.sampled_from([None, -30, -1, 5]),
    )  # fmt: skip
    def swap(self, source: tuple[str, str], into: tuple[str, str], units: int, side: str, moved: int | None) -> None:
        counted = source if side == "from" else into
        body = {
            "from": {"symbol": source[0], "network": source[1]}, "to": {"symbol": into[0], "network": into[1]},
            "amount": f"{Decimal(units) / (1_000_000 if counted[0] == 'BTC' else 10):f}", "amount_side": side,
        }  # fmt: skip
        quote = self.call("POST", "/wallet/swap/quote", body)
        if moved is not None:
            self.act_on_world("move_rates", percent=moved)
        if quote is not None:
            self.call("POST", "/wallet/swap", {"quote_id": quote["id"]})
        if moved is not None:
            self.act_on_world("move_rates", percent=0)

    @rule(asset=st.sampled_from(ASSETS), units=st.integers(0, 60_000), side=st.sampled_from(["fiat", "crypto"]))
    def buy(self, asset: tuple[str, str], units: int, side: str) -> None:
        crypto = Decimal(units) / (100_000_000 if asset[0] == "BTC" else 1000)
        body = {
            "symbol": asset[0], "network": asset[1], "fiat_currency": "KES", "method": "mobile_money",
            "amount": str(units) if side == "fiat" else f"{crypto:f}", "amount_currency": side,
        }  # fmt: skip
        quote = self.call("POST", "/wallet/buy/quote", body)
        if quote is not None:
            payer = {"phone_number": "+254712345678"}
            self.call("POST", "/wallet/buy", {"quote_id": quote["id"], "payer": payer, "reference": "r"})

    @rule(asset=st.sampled_from(STABLE), units=st.integers(0, 30_000), in_fiat=st.booleans(), later=st.booleans())
    def withdraw(self, asset: tuple[str, str], units: int, in_fiat: bool, later: bool) -> None:
        body = {
            "symbol": asset[0], "network": asset[1], "fiat_currency": "KES", "beneficiary_id": self.phone,
            "amount": str(units) if in_fiat else f"{Decimal(units) / 100:f}",
            "amount_currency": "KES" if in_fiat else asset[0],
        }  # fmt: skip
        quote = self.call("POST", "/wallet/withdraw/quote", body)
        if quote is not None:
            if later:
                self.wait(31 * MINUTE_MS)
            self.call("POST", "/wallet/withdraw", {"quote_id": quote["id"]})

    @rule(network=st.sampled_from(["stellar", "celo", "bitcoin"]), lightning=st.booleans())
    def wallet(self, network: str, lightning: bool) -> None:
        wallet = self.call("POST", "/wallets", {"network": network, "lightning": lightning and network == "bitcoin"})
        if wallet is not None and network == "bitcoin":
            for entry in wallet["lightning_addresses"]:
                self.targets.append(entry["id"])
            body = {"type": "invoice", "amount_sats": 1500, "expires_in": 3600}
            self.call("POST", "/wallets/{id}/lightning", body, id=wallet["id"])

    @rule(
        kind=st.sampled_from(["withdraw", "send"]),
        frequency=st.sampled_from(["daily", "weekly", "monthly"]),
        units=st.integers(1, 60_000),
        end=st.sampled_from([{"type": "never"}, {"type": "after_occurrences", "occurrences": 2}]),
        reviewed=st.booleans(),
    )
    def recurring(self, kind: str, frequency: str, units: int, end: dict[str, Any], reviewed: bool) -> None:
        recipient: dict[str, Any] = {"beneficiary_id": self.phone}
        if kind == "send":
            recipient = {"destination": {"type": "platform_user", "phone_number": "+2348031000222"}}
        body = {
            "name": "Rent", "type": kind, "source": {"symbol": "USDC", "network": "CELO"},
            "amount": f"{Decimal(units) / 100:f}", "amount_currency": "USDC", "recipient": recipient,
            "reference": "rent",
        }  # fmt: skip
        payment = self.call("POST", "/recurring-payments", body)
        if payment is None:
            return
        days: dict[str, dict[str, Any]] = {
            "daily": {},
            "weekly": {"day_of_week": "friday"},
            "monthly": {"day_of_month": 31},
        }
        schedule = {"frequency": frequency, "start_date": "2026-03-01", "end": end, **days[frequency]}
        self.call("PUT", "/recurring-payments/{id}/schedule", schedule, id=payment["id"])
        if reviewed:
            self.call("GET", "/recurring-payments/{id}/review", id=payment["id"])
        self.call("POST", "/recurring-payments/{id}/activate", id=payment["id"])

    @precondition(lambda self: any(target.startswith("rp_") for target in self.targets))
    @rule(what=st.sampled_from(["pause", "restart", "delete"]), data=st.data())
    def steer_recurring(self, what: str, data: st.DataObject) -> None:
        payment = data.draw(st.sampled_from([target for target in self.targets if target.startswith("rp_")]))
        if what == "delete":
            self.call("DELETE", "/recurring-payments/{id}", id=payment)
        else:
            self.call("POST", f"/recurring-payments/{{id}}/{what}", {}, id=payment)

    # The outside world

    @precondition(lambda self: self.targets)
    @rule(data=st.data(), short=st.booleans())
    def act(self, data: st.DataObject, short: bool) -> None:
        """Any action on any resource: legal ones move it as the table says, others change nothing."""
        target = data.draw(st.sampled_from(self.targets))
        record = find(self.world, target)
        if record is None:
            return
        action = data.draw(st.sampled_from(TABLE.allowed(self.world, record) or TARGETED))
        self.perform(action, target, **self.parameters(action, record, short))

    @precondition(lambda self: self.targets)
    @rule(data=st.data(), action=st.sampled_from(TARGETED))
    def act_illegally(self, data: st.DataObject, action: str) -> None:
        target = data.draw(st.sampled_from(self.targets))
        record = find(self.world, target)
        if record is None or action in TABLE.allowed(self.world, record):
            return
        before = self.fingerprint()
        try:
            support.act(self.world, ROOMS, action, target, **self.parameters(action, record, False))
        except ControlError as refused:
            self.was_refused(refused, before, legal=refused.status in (400, 409))
        else:
            raise AssertionError(f"{action} on {record.kind} in {record.status} was not refused")

    @staticmethod
    def parameters(action: str, record: Any, short: bool) -> dict[str, Any]:
        if action == "deposit_arrives" and record.kind == "wallet":
            asset = {"stellar": "USDC", "celo": "CUSD", "bitcoin": "BTC"}[record.network]
            return {"asset": "XLM" if short and asset == "BTC" else asset, "amount": "0.5"}
        if action == "lightning_payment_arrives":
            return {"amount_sats": 700}
        if action in ("payment_arrives", "deposit_arrives") and short:
            return {"amount": "0.01"}
        return {}

    def perform(self, action: str, target: str | None, **parameters: Any) -> None:
        before = self.fingerprint()
        try:
            done = support.act(self.world, ROOMS, action, target, **parameters)
        except ControlError as refused:
            self.was_refused(refused, before, legal=refused.status in (400, 409))
            return
        if done.resource is not None and action in ("deposit_arrives",) and done.resource["id"] not in self.targets:
            self.targets.append(done.resource["id"])
        if action == "set_balance" and done.resource is not None:
            self.auditor.set_balance({**done.resource})

    def act_on_world(self, action: str, **parameters: Any) -> None:
        self.perform(action, None, **parameters)

    @rule(asset=st.sampled_from(ASSETS), units=st.integers(0, 2000))
    def set_balance(self, asset: tuple[str, str], units: int) -> None:
        self.act_on_world("set_balance", symbol=asset[0], network=asset[1], amount=str(units))

    @rule(
        network=st.sampled_from(["stellar", "celo", "bitcoin"]),
        status=st.sampled_from(["operational", "down", "operational"]),
    )
    def set_network(self, network: str, status: str) -> None:
        self.act_on_world("set_network", network=network, status=status)

    @rule(status=st.sampled_from(["approved", "rejected", "approved"]))
    def set_kyc(self, status: str) -> None:
        self.act_on_world("set_kyc", status=status)

    @rule(rate=st.sampled_from(["120.5", "131.25", "140"]))
    def set_rate(self, rate: str) -> None:
        self.act_on_world("set_rate", asset="USDC", fiat_currency="KES", rate=rate)

    @rule(span_ms=st.sampled_from([1, MINUTE_MS, 30 * MINUTE_MS, 5 * HOUR_MS, DAY_MS, 40 * DAY_MS]))
    def wait(self, span_ms: int) -> None:
        support.advance(self.world, self.world.now_ms + span_ms)

    # What must hold

    @invariant()
    def the_books_balance(self) -> None:
        assert not any(self.world.ledger.totals().values())

    @invariant()
    def nothing_is_negative_and_balances_add_up(self) -> None:
        shown = support.invoke(self.world, operation("GET", "/wallet/assets"))["data"]
        assert len(shown) == len(ASSETS)
        for row in shown:
            available, held, balance = (Decimal(row[name]) for name in ("available", "held", "balance"))
            assert available >= 0
            assert held >= 0
            assert balance == available + held
            assert balance == self.auditor.balances[row["symbol"], row["network"]], row

    @invariant()
    def statuses_moved_as_the_tables_allow(self) -> None:
        for resource_id in self.world.store[INDEX].rows:
            record = find(self.world, resource_id)
            machine = kind_of(self.world, record).machine if record is not None else None
            history = self.world.journal.history(resource_id)
            if machine is None or not history:
                continue
            assert any(move.target == history[0].state for move in machine.initial)
            for before, after in pairwise(history):
                cells = machine.rows[before.state]
                assert any((move.on, move.target) == (after.on, after.state) for move in cells)
            assert record is not None
            assert history[-1].state == record.status

    @invariant()
    def every_event_showed_its_resource(self) -> None:
        assert not self.mismatches


TestRandomWalk = RandomWalk.TestCase
TestRandomWalk.settings = settings(max_examples=40, stateful_step_count=40, suppress_health_check=list(HealthCheck))
