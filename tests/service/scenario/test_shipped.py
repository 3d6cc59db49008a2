"""The shipped scenarios: each is valid, described, and passes. Test values select outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from contracts.generator.scenario_schema import json_schema
from simulator.engine.clients.asynchronous import AsgiClient, Reply
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.host import Simulator, create_app
from simulator.kernel.clock import HOUR_MS, MINUTE_MS, SECOND_MS
from simulator.kernel.world import World
from tests.shipped import shown
from tests.support import CELO, KEYS, advance

NAMES = [path.stem for path in sorted(shipped_directory().glob("*.yaml"))]


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator()


def test_shipped_scenarios_are_the_listed_ones(simulator: Simulator) -> None:
    assert {"autopilot", "test-values"} <= set(simulator.library)
    assert list(simulator.library) == [simulator.library[name].name for name in simulator.library]
    assert sorted(simulator.library) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_shipped_file_is_valid_by_its_schema(simulator: Simulator, name: str) -> None:
    text = (shipped_directory() / f"{name}.yaml").read_text()
    assert text.splitlines()[0] == "# yaml-language-server: $schema=../contracts/scenario.schema.json"
    file = Loader(simulator.vocabulary).load(text, known=simulator.library)
    assert file.description
    assert file.scenario.drive
    assert file.scenario.expect
    assert list(jsonschema_rs.validator_for(json_schema(simulator.actions)).iter_errors(file.document)) == []


def test_the_schema_knows_the_actions(simulator: Simulator) -> None:
    schema = jsonschema_rs.validator_for(json_schema(simulator.actions))
    assert schema.is_valid({"name": "x", "rules": [{"on": "created", "do": [{"action": "complete"}]}]})
    assert not schema.is_valid({"name": "x", "rules": [{"on": "created", "do": [{"action": "payout_fail"}]}]})
    assert not schema.is_valid({"name": "x", "rules": [{"on": "creatd", "do": []}]})


@pytest.mark.parametrize("name", NAMES)
def test_shipped_scenario_passes(name: str) -> None:
    """Run it against a real server with a webhook receiver."""
    result = shown()[name].result
    assert result.passed, result.readable()
    assert shown()[name].unbalanced == ()


@pytest.mark.parametrize("name", NAMES)
def test_shipped_scenario_has_a_short_description(simulator: Simulator, name: str) -> None:
    description = simulator.library[name].scenario.description
    assert description[0].isupper()
    assert description.endswith(".")
    assert len(description) <= 110
    assert not {"`", "_", "{"} & set(description)


SERVING_ANYBODY = {
    "autopilot",
    "deposit-arrives",
    "payer-never-pays",
    "payment-arrives",
    "payment-declined",
    "payout-fails",
    "payout-fails-and-refunds",
    "stuck-in-processing",
    "test-values",
}
"""Scenarios that objects are bound to. Their rules cover every kind of object; their drive has one."""


@pytest.mark.parametrize("name", sorted(set(NAMES) - SERVING_ANYBODY))
def test_every_rule_of_a_shipped_scenario_fires(name: str) -> None:
    evidence = shown()[name]
    rules = enumerate(evidence.file.scenario.rules)
    assert [index for index, rule in rules if rule.do and index not in evidence.fired] == []


class Service:
    """An integrator's calls in a world with the usual scenarios, in process."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.client = AsgiClient(application)
        self.world: World = application.runtime.simulator.default
        self._token = ""
        self._enter()

    def _enter(self) -> None:
        """Get a new token, because one expires after an hour."""
        self._token = self.post("/auth/token", KEYS).body["access_token"]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        sent = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return asyncio.run(self.client.request(method, f"/v1{path}", body, sent))

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        return self.call("POST", path, body, **headers)

    def status(self, resource: Any) -> tuple[str, str | None]:
        shown = self.call("GET", f"/transactions/{resource['id']}").body
        return shown["status"], shown.get("failure_code")

    def pass_(self, span_ms: int) -> None:
        advance(self.world, self.world.now_ms + span_ms)
        self._enter()

    def act(self, action: str, target: str | None = None, **parameters: Any) -> Any:
        body = parameters if target is None else {"target": target, **parameters}
        reply = asyncio.run(self.client.request("POST", f"/_simulator/actions/{action}", body))
        assert reply.status == 200, reply.body
        return reply.body

    def beneficiary(self, ending: str = "0000", *, bank: bool = False) -> Reply:
        details: dict[str, Any] = {
            "type": "phone_number",
            "phone_number": {"phone_number": f"+25472200{ending}", "provider": "mpesa"},
        }
        if bank:
            account = {"bank_code": "01", "account_number": f"123456{ending}", "account_name": "W"}
            details = {"type": "bank_account", "bank_account": account}
        return self.post("/beneficiaries", {"name": "W", "country": "KE", "fiat_currency": "KES", **details})

    def onramp(self, ending: str = "0000", reference: str | None = None, **headers: str) -> Reply:
        quote = self._quote("onramp", "5000", "KES", "mobile_money")
        body = {"wallet_address": CELO, "payer": {"phone_number": f"+25472200{ending}"}, "reference": reference}
        return self.post(f"/quotes/{quote}/confirm", body, **headers)

    def offramp(self, ending: str = "0000", *, bank: bool = False, **more: str) -> Reply:
        quote = self._quote("offramp", "30", "USDC", "bank_transfer" if bank else "mobile_money")
        beneficiary = self.beneficiary(ending, bank=bank).body["id"]
        body = {"beneficiary_id": beneficiary, "refund_address": CELO, **more}
        return self.post(f"/quotes/{quote}/confirm", body)

    def _quote(self, type_: str, amount: str, currency: str, method: str) -> str:
        body = {"type": type_, "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": method}
        quote: str = self.post("/quotes", {**body, "amount": amount, "amount_currency": currency}).body["id"]
        return quote

    def buy(self, ending: str = "0000", **more: str) -> Reply:
        body = {"symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": "5000"}
        quote = self.post("/wallet/buy/quote", {**body, "amount_currency": "fiat", "method": "mobile_money"}).body
        payer = {"phone_number": f"+25472200{ending}"}
        return self.post("/wallet/buy", {"quote_id": quote["id"], "payer": payer, **more})

    def withdraw(self, ending: str = "0000", *, bank: bool = False, **more: str) -> Reply:
        beneficiary = self.beneficiary(ending, bank=bank).body["id"]
        body = {"symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": "25", "amount_currency": "USDC"}
        quote = self.post("/wallet/withdraw/quote", {**body, "beneficiary_id": beneficiary}).body
        return self.post("/wallet/withdraw", {"quote_id": quote["id"], **more})


@pytest.fixture
def service() -> Iterator[Service]:
    application = create_app(Config(clock="manual"))
    yield Service(application)
    asyncio.run(application.runtime.close())


def test_the_autopilot_completes_every_kind_of_transaction(service: Service) -> None:
    send = {"symbol": "USDC", "network": "CELO", "amount": "20"}
    swap = {"from": {"symbol": "USDC", "network": "CELO"}, "to": {"symbol": "CUSD", "network": "CELO"}}
    quote = service.post("/wallet/swap/quote", {**swap, "amount": "25", "amount_side": "from"}).body
    made = [
        service.onramp(),
        service.offramp(),
        service.buy(),
        service.withdraw(),
        service.post("/wallet/send", {**send, "destination": {"type": "address", "address": CELO}}),
        service.post("/wallet/send", {**send, "destination": {"type": "platform_user", "email": "amina@example.test"}}),
        service.post("/wallet/swap", {"quote_id": quote["id"]}),
    ]
    assert [reply.status for reply in made] == [201] * 7
    service.pass_(2 * MINUTE_MS)
    assert [service.status(reply.body) for reply in made] == [("completed", None)] * 7
    assert service.application.runtime.simulator.engine.progress(service.world, "autopilot")["skipped"] == []


def test_the_autopilot_confirms_deposits(service: Service) -> None:
    stellar = service.post("/wallets", {"network": "stellar"}).body["id"]
    bitcoin = service.post("/wallets", {"network": "bitcoin"}).body["id"]
    service.act("deposit_arrives", stellar, asset="USDC", amount="5")
    service.act("deposit_arrives", bitcoin, asset="BTC", amount="0.01")
    service.pass_(MINUTE_MS)
    assert service.call("GET", f"/wallets/{stellar}/deposits").body["data"][0]["status"] == "confirmed"
    assert service.call("GET", f"/wallets/{bitcoin}/deposits").body["data"][0]["status"] == "detected"
    service.pass_(30 * MINUTE_MS)
    assert service.call("GET", f"/wallets/{bitcoin}/deposits").body["data"][0]["status"] == "confirmed"


def test_the_autopilot_refunds_what_failed_with_funds_received(service: Service) -> None:
    onramp, offramp, withdraw = service.onramp().body, service.offramp().body, service.withdraw().body
    declined = service.onramp().body
    service.act("payment_declined", declined["id"])
    service.pass_(25 * SECOND_MS)
    for ramp in (onramp, offramp, withdraw):
        service.act("fail", ramp["id"], failure_code="internal_error")
    service.pass_(2 * MINUTE_MS)
    assert {service.status(one) for one in (onramp, offramp, withdraw)} == {("refunded", "internal_error")}
    assert service.status(declined) == ("failed", "payment_failed")


def test_a_degraded_network_makes_the_autopilot_five_times_slower(service: Service) -> None:
    service.act("set_network", network="celo", status="degraded")
    onramp = service.onramp().body
    service.pass_(224 * SECOND_MS)
    assert service.status(onramp)[0] == "processing"
    service.pass_(SECOND_MS)
    assert service.status(onramp)[0] == "completed"


@pytest.mark.parametrize("make", ["onramp", "buy"])
def test_payer_phones_choose_the_outcome(service: Service, make: str) -> None:
    declined, ignored = getattr(service, make)("0001").body, getattr(service, make)("0002").body
    refused = getattr(service, make)("0009")
    assert (refused.status, refused.body["error"]["code"]) == (422, "payment_failed")
    service.pass_(MINUTE_MS)
    assert service.status(declined) == ("failed", "payment_failed")
    service.pass_(HOUR_MS)
    assert service.status(ignored)[0] == ("expired" if make == "onramp" else "pending")


def test_payer_phone_0003_lacks_funds_for_a_buy(service: Service) -> None:
    refused = service.buy("0003")
    assert (refused.status, refused.body["error"]["code"]) == (422, "insufficient_balance")
    assert service.onramp("0003").status == 201


@pytest.mark.parametrize("bank", [False, True])
@pytest.mark.parametrize("make", ["offramp", "withdraw"])
def test_beneficiaries_choose_the_outcome(service: Service, make: str, bank: bool) -> None:
    rejected, stuck, broken = (getattr(service, make)(ending, bank=bank).body for ending in ("0001", "0002", "0003"))
    service.pass_(55 * SECOND_MS)
    assert service.status(rejected) == ("failed", "payout_failed")
    assert service.status(broken) == ("failed", "network_unavailable")
    service.pass_(2 * MINUTE_MS)
    assert service.status(rejected) == ("refunded", "payout_failed")
    assert service.status(broken) == ("refunded", "network_unavailable")
    service.pass_(55 * MINUTE_MS)
    assert service.status(stuck) == ("processing", None)
    service.pass_(10 * MINUTE_MS)
    assert service.status(stuck) == ("completed", None)


def test_a_bank_account_ending_9999_is_unknown(service: Service) -> None:
    refused = service.beneficiary("9999", bank=True)
    error = refused.body["error"]
    assert (refused.status, error["code"]) == (422, "invalid_bank_account")
    assert service.beneficiary("9999").status == 201


def test_a_reference_chooses_a_scenario(service: Service) -> None:
    onramp = service.onramp(reference="simulator:payment-declined").body
    offramp = service.offramp(reference="simulator:payout-fails").body
    withdraw = service.withdraw(reference="simulator:stuck-in-processing").body
    buy = service.buy(reference="simulator:payer-never-pays").body
    service.pass_(HOUR_MS)
    assert service.status(onramp) == ("failed", "payment_failed")
    assert service.status(offramp) == ("failed", "payout_failed")
    assert service.status(withdraw) == ("processing", None)
    assert service.status(buy) == ("pending", None)


@pytest.mark.parametrize("make", ["onramp", "offramp", "buy", "withdraw"])
def test_a_reference_to_an_unknown_scenario_is_refused(service: Service, make: str) -> None:
    refused = getattr(service, make)(reference="simulator:nobody")
    error = refused.body["error"]
    assert (refused.status, error["code"], error["param"]) == (400, "invalid_parameter", "reference")


def test_the_header_chooses_a_scenario(service: Service) -> None:
    onramp = service.onramp(X_Simulator_Scenario="stuck-in-processing").body
    service.pass_(HOUR_MS)
    assert service.status(onramp) == ("processing", None)
    assert service.onramp(X_Simulator_Scenario="nobody").status == 400


def test_the_run_of_a_recurring_withdrawal_finds_its_recipients_values(service: Service) -> None:
    beneficiary = service.beneficiary("0001").body["id"]
    source = {"symbol": "USDC", "network": "CELO"}
    body = {"name": "rent", "type": "withdraw", "source": source, "amount": "25", "amount_currency": "USDC"}
    recurring = service.post("/recurring-payments", {**body, "recipient": {"beneficiary_id": beneficiary}}).body["id"]
    schedule = {"frequency": "daily", "start_date": "2026-01-06", "time": "09:00", "end": {"type": "never"}}
    assert service.call("PUT", f"/recurring-payments/{recurring}/schedule", schedule).status == 200
    assert service.call("GET", f"/recurring-payments/{recurring}/review").status == 200
    assert service.post(f"/recurring-payments/{recurring}/activate", {}).status == 200
    service.pass_(24 * HOUR_MS)
    (transaction,) = service.call("GET", f"/recurring-payments/{recurring}/transactions").body["data"]
    assert service.status(transaction) == ("refunded", "payout_failed")
