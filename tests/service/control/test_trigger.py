"""Triggering events over HTTP: every event in a new world, events about given targets, and refusals."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from simulator.host import vocabulary
from tests.remote import Answer, Remote, new_client
from tests.support import BENEFICIARY, CELO


def trigger(world: Remote, event: Any, target: Any = None, environment: str = "sandbox") -> Answer:
    body = {"event": event} if target is None else {"event": event, "target": target}
    return world.control("POST", "/trigger", body, {"X-Simulator-Environment": environment})


@pytest.mark.parametrize("event", [name for name in vocabulary().events if name != "webhook.test"])
@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_every_event_can_be_triggered_in_a_fresh_world(autopilot_world: Remote, event: str, environment: str) -> None:
    answer = trigger(autopilot_world, event, environment=environment)
    assert answer.status == 200, answer.body
    envelope = answer.body["event"]
    assert envelope["type"] == event
    assert envelope["livemode"] is (environment == "production")
    assert envelope in answer.body["events"]
    assert answer.body["steps"]
    assert event in autopilot_world.event_types(environment=environment)


def test_triggered_event_is_about_a_real_object_in_that_state(autopilot_world: Remote) -> None:
    answer = trigger(autopilot_world, "transaction.awaiting_payment").body
    assert answer["advanced_to"] is None
    autopilot_world.advance(by="10m")
    shown = autopilot_world.api("GET", f"/transactions/{answer['target']}").body
    assert shown == answer["event"]["data"]["object"]


def test_trigger_by_a_timer_advances_the_clock(autopilot_world: Remote) -> None:
    answer = trigger(autopilot_world, "quote.expired").body
    assert answer["advanced_to"] == "2026-01-05T08:30:00.000Z"
    assert autopilot_world.control("GET", "/clock").body["now"] == answer["advanced_to"]
    assert [step["at"] for step in answer["steps"]] == ["2026-01-05T08:00:00.000Z", "2026-01-05T08:30:00.000Z"]


def test_a_running_clock_jumps_ahead(origin: str, http: Any) -> None:
    world = Remote(origin, http).another(seed=1, clock={"mode": "real", "now": "2026-03-01T00:00:00Z"})
    answer = trigger(world, "transaction.expired").body
    assert answer["advanced_to"] >= "2026-03-01T00:30:00.000Z"
    clock = world.control("GET", "/clock").body
    assert (clock["mode"], clock["now"] >= answer["advanced_to"]) == ("real", True)


def test_other_objects_are_left_alone(world: Remote) -> None:
    mine = onramp(world)
    for event in ("transaction.completed", "transaction.refunded", "deposit.confirmed", "kyc.rejected"):
        assert trigger(world, event).status == 200
    assert world.api("GET", f"/transactions/{mine['id']}").body == mine


def test_webhook_test_without_an_endpoint_says_how_to_create_one(world: Remote, origin: str) -> None:
    refused = trigger(world, "webhook.test")
    assert refused.refusal == (409, "invalid_transition", None)
    assert "POST /webhooks" in refused.body["error"]["message"]
    url = f"{origin}/_simulator/inbox/trigger-test"
    endpoint = world.api("POST", "/webhooks", {"url": url, "events": ["beneficiary.created"]}).body
    answer = trigger(world, "webhook.test").body
    assert answer["target"] == endpoint["id"]
    assert answer["event"]["data"]["object"] == endpoint


def test_trigger_enables_a_disabled_endpoint_for_its_test(world: Remote, origin: str) -> None:
    url = f"{origin}/_simulator/inbox/trigger-test"
    endpoint = world.api("POST", "/webhooks", {"url": url, "events": ["*"]}).body
    world.api("PATCH", f"/webhooks/{endpoint['id']}", {"status": "disabled"})
    answer = trigger(world, "webhook.test", endpoint["id"]).body
    assert answer["event"]["data"]["object"]["status"] == "enabled"


# --- own objects -----------------------------------------------------------------------------------------


def quote(world: Remote, kind: str = "onramp") -> dict[str, Any]:
    amount = {"amount": "5000", "amount_currency": "KES"} if kind == "onramp" else {"amount": "30"}
    body = {"type": kind, "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount_currency": "USDC"}
    made: dict[str, Any] = world.api("POST", "/quotes", {**body, **amount, "method": "mobile_money"}).body
    return made


def onramp(world: Remote) -> dict[str, Any]:
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254722000000"}}
    made: dict[str, Any] = world.api("POST", f"/quotes/{quote(world)['id']}/confirm", body).body
    return made


def offramp(world: Remote) -> dict[str, Any]:
    saved = world.api("POST", "/beneficiaries", BENEFICIARY).body
    body = {"beneficiary_id": saved["id"], "refund_address": CELO}
    made: dict[str, Any] = world.api("POST", f"/quotes/{quote(world, 'offramp')['id']}/confirm", body).body
    return made


def recurring(world: Remote, amount: str = "5", starts: str = "2026-01-06", **end: Any) -> dict[str, Any]:
    destination = {"type": "platform_user", "email": "amina@example.test"}
    body = {
        "name": "Rent",
        "type": "send",
        "source": {"symbol": "USDC", "network": "CELO"},
        "amount": amount,
        "amount_currency": "USDC",
        "recipient": {"destination": destination},
    }
    made: dict[str, Any] = world.api("POST", "/recurring-payments", body).body
    schedule = {"frequency": "daily", "start_date": starts, "time": "09:00", "end": end or {"type": "never"}}
    path = f"/recurring-payments/{made['id']}"
    assert world.api("PUT", f"{path}/schedule", schedule).status == 200
    return made


def test_the_shortest_way_is_taken(world: Remote) -> None:
    mine = onramp(world)
    answer = trigger(world, "transaction.completed", mine["id"]).body
    assert answer["target"] == mine["id"]
    assert [step["did"] for step in answer["steps"]] == [f"payment_arrives {mine['id']}", f"complete {mine['id']}"]
    assert [event["type"] for event in answer["events"]] == ["transaction.processing", "transaction.completed"]
    assert world.api("GET", f"/transactions/{mine['id']}").body == answer["event"]["data"]["object"]


@pytest.mark.parametrize(
    ("make", "event", "status"),
    [
        (onramp, "transaction.failed", "failed"),
        (onramp, "transaction.refunded", "refunded"),
        (onramp, "transaction.expired", "expired"),
        (offramp, "transaction.processing", "processing"),
        (offramp, "transaction.failed", "failed"),
        (offramp, "transaction.refunded", "refunded"),
        (offramp, "transaction.expired", "expired"),
        (quote, "quote.expired", "expired"),
    ],
)
def test_own_objects_are_moved_even_under_the_autopilot(
    autopilot_world: Remote, make: Any, event: str, status: str
) -> None:
    mine = make(autopilot_world)
    answer = trigger(autopilot_world, event, mine["id"])
    assert answer.status == 200, answer.body
    assert (answer.body["target"], answer.body["event"]["data"]["object"]["status"]) == (mine["id"], status)


def test_an_invoice_is_paid_or_expires(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin"}).body
    body = {"type": "invoice", "amount_sats": 500}
    first, second = (world.api("POST", f"/wallets/{wallet['id']}/lightning", body).body for _ in range(2))
    paid = trigger(world, "lightning.invoice_paid", first["id"]).body
    assert [event["type"] for event in paid["events"]] == ["lightning.invoice_paid", "deposit.confirmed"]
    expired = trigger(world, "lightning.invoice_expired", second["id"]).body
    assert expired["advanced_to"] == second["expires_at"]


def test_a_deposit_is_confirmed_or_fails(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "bitcoin"}).body
    for event in ("deposit.confirmed", "deposit.failed"):
        deposit = world.act("deposit_arrives", wallet["id"], asset="BTC", amount="0.01").body["resource"]
        answer = trigger(world, event, deposit["id"]).body
        assert (answer["target"], answer["advanced_to"]) == (deposit["id"], None)


@pytest.mark.parametrize("network", ["celo", "stellar", "bitcoin"])
def test_a_deposit_comes_to_the_wallet_that_is_named(autopilot_world: Remote, network: str) -> None:
    wallet = autopilot_world.api("POST", "/wallets", {"network": network}).body
    for event in ("deposit.detected", "deposit.confirmed", "deposit.failed"):
        answer = trigger(autopilot_world, event, wallet["id"])
        assert answer.status == 200, answer.body
        told = answer.body["event"]["data"]["object"]
        assert (told["wallet_id"], told["status"]) == (wallet["id"], event.removeprefix("deposit."))
        assert answer.body["target"] == told["id"]
    assert len(autopilot_world.api("GET", f"/wallets/{wallet['id']}/deposits").body["data"]) == 3


def test_a_deposit_to_a_disabled_wallet_can_only_fail(world: Remote) -> None:
    wallet = world.api("POST", "/wallets", {"network": "celo"}).body
    world.api("PATCH", f"/wallets/{wallet['id']}", {"status": "disabled"})
    failed = trigger(world, "deposit.failed", wallet["id"]).body
    assert [step["did"].split()[0] for step in failed["steps"]] == ["deposit_arrives"]
    assert failed["event"]["data"]["object"]["wallet_id"] == wallet["id"]
    assert trigger(world, "deposit.confirmed", wallet["id"]).refusal == (409, "invalid_transition", None)
    assert world.event_types().count("deposit.failed") == 1, "a walk that is refused leaves nothing"


def test_target_with_steps_held_by_a_network_is_released(autopilot_world: Remote) -> None:
    mine = offramp(autopilot_world)
    autopilot_world.act("set_network", network="celo", status="down")
    answer = trigger(autopilot_world, "transaction.expired", mine["id"])
    assert answer.status == 200, answer.body
    assert answer.body["steps"][0]["did"] == f"released {mine['id']} from the scenario autopilot"
    assert autopilot_world.control("GET", "/scenarios/autopilot").body["pending"] == []


def test_a_beneficiary_is_deleted_once(world: Remote) -> None:
    saved = world.api("POST", "/beneficiaries", BENEFICIARY).body
    assert trigger(world, "beneficiary.deleted", saved["id"]).body["event"]["data"]["object"] == saved
    assert trigger(world, "beneficiary.deleted", saved["id"]).status == 409


def test_wallet_operations_follow_their_own_state_tables(world: Remote) -> None:
    body = {"symbol": "USDC", "network": "CELO", "amount": "20"}
    sent = world.api("POST", "/wallet/send", {**body, "destination": {"type": "address", "address": CELO}}).body
    answer = trigger(world, "transaction.completed", sent["id"]).body
    assert [step["did"].split()[0] for step in answer["steps"]] == ["broadcast", "complete"]
    assert trigger(world, "transaction.refunded", sent["id"]).status == 409


@pytest.mark.parametrize(
    ("event", "steps"),
    [
        ("recurring_payment.activated", ["GET", "POST"]),
        ("recurring_payment.paused", ["GET", "POST", "POST"]),
        ("recurring_payment.restarted", ["GET", "POST", "POST", "POST"]),
        ("recurring_payment.run_upcoming", ["GET", "POST"]),
        ("recurring_payment.run_succeeded", ["GET", "POST", "advanced"]),
        ("recurring_payment.deleted", ["DELETE"]),
    ],
)
def test_a_recurring_payment_is_brought_to_its_events(world: Remote, event: str, steps: list[str]) -> None:
    mine = recurring(world)
    answer = trigger(world, event, mine["id"])
    assert answer.status == 200, answer.body
    assert [step["did"].split()[0] for step in answer.body["steps"]] == steps
    assert answer.body["target"] == mine["id"]


def test_notice_already_sent_comes_again_before_a_later_run(world: Remote) -> None:
    mine = recurring(world)
    trigger(world, "recurring_payment.run_upcoming", mine["id"])
    again = trigger(world, "recurring_payment.run_upcoming", mine["id"]).body
    assert (again["advanced_to"], again["event"]["data"]["object"]["run"]["number"]) == ("2026-01-06T06:00:00.000Z", 2)


def test_failed_run_restores_the_emptied_balance(world: Remote) -> None:
    mine = recurring(world)
    other = recurring(world)
    world.api("GET", f"/recurring-payments/{other['id']}/review")
    world.api("POST", f"/recurring-payments/{other['id']}/activate", {})
    answer = trigger(world, "recurring_payment.run_failed", mine["id"]).body
    assert answer["event"]["data"]["object"]["run"]["failure_code"] == "insufficient_balance"
    assert answer["advanced_to"] == "2026-01-06T06:00:00.000Z"
    world.tokens.clear()
    balances = world.api("GET", "/wallet/assets", params={"search": "USDC"}).body["data"]
    assert next(row["available"] for row in balances if row["network"] == "CELO") == "995.00"
    assert world.event_types(object_id=other["id"])[-1] != "recurring_payment.run_failed"


def test_the_last_run_completes(world: Remote) -> None:
    mine = recurring(world, type="after_occurrences", occurrences=3)
    answer = trigger(world, "recurring_payment.completed", mine["id"]).body
    assert answer["advanced_to"] == "2026-01-08T06:00:00.000Z"
    world.tokens.clear()
    never = recurring(world, starts="2026-01-09")
    refused = trigger(world, "recurring_payment.completed", never["id"])
    assert (refused.status, refused.body["error"]["code"]) == (409, "invalid_transition")


def test_the_account_and_the_networks_have_targets_too(world: Remote) -> None:
    user_id = world.api("GET", "/profile").body["user_id"]
    assert trigger(world, "kyc.rejected", user_id).body["target"] == user_id
    answer = trigger(world, "network.status_changed", "network_production_celo").body
    assert (answer["event"]["livemode"], answer["target"]) == (True, "network_production_celo")


# --- refusals --------------------------------------------------------------------------------------------


def everything(world: Remote) -> list[Any]:
    paths = ("/events", "/resources", "/clock", "/timers", "/controls")
    return [world.control("GET", path).body for path in paths]


def test_unknown_event_is_refused_with_a_suggestion(world: Remote) -> None:
    answer = trigger(world, "transaction.complete")
    assert answer.refusal == (400, "invalid_parameter", "event")
    assert "transaction.completed" in answer.body["error"]["message"]
    assert trigger(world, 7).refusal == (400, "invalid_parameter", "event")
    assert world.control("POST", "/trigger", {}).refusal == (400, "missing_parameter", "event")


def test_an_unknown_target_is_404(world: Remote) -> None:
    assert trigger(world, "transaction.failed", "txn_nothing").refusal[:2] == (404, "not_found")


def test_event_without_a_legal_path_is_refused_without_changes(world: Remote) -> None:
    saved = world.api("POST", "/beneficiaries", BENEFICIARY).body
    expired, created = quote(world), onramp(world)
    world.advance(by="1h")
    cases: list[tuple[str, str, str, list[str]]] = [
        ("transaction.completed", created["id"], "no legal path", []),
        ("transaction.created", created["id"], "is created, but", []),
        ("quote.expired", expired["id"], "no legal path", []),
        ("deposit.confirmed", saved["id"], "is about a deposit", []),
        ("beneficiary.created", saved["id"], "already exists", []),
    ]
    before = everything(world)
    for event, target, reason, allowed in cases:
        answer = trigger(world, event, target)
        assert answer.refusal == (409, "invalid_transition", None)
        assert reason in answer.body["error"]["message"]
        assert answer.body["error"]["allowed"] == allowed
    assert everything(world) == before


def test_allowed_lists_the_legal_actions(world: Remote) -> None:
    answer = trigger(world, "transaction.awaiting_deposit", onramp(world)["id"])
    assert answer.body["error"]["allowed"] == ["payment_arrives", "payment_declined"]


def test_trigger_refused_by_the_service_changes_nothing(world: Remote) -> None:
    for network in ("celo", "stellar"):
        world.act("set_network", network=network, status="down")
    before = everything(world)
    answer = trigger(world, "transaction.refunded")
    assert answer.refusal == (409, "invalid_transition", None)
    assert "network_unavailable" in answer.body["error"]["message"]
    assert answer.body["error"]["refusal"]["code"] == "network_unavailable"
    assert everything(world) == before


def test_the_gates_of_the_account_hold_for_a_walk(world: Remote) -> None:
    world.act("set_kyc", status="rejected")
    assert "kyc_required" in trigger(world, "transaction.created").body["error"]["message"]
    world.act("set_kyc", status="approved")
    world.act("set_production_access", granted=False)
    refused = trigger(world, "transaction.created", environment="production")
    assert "production_access_required" in refused.body["error"]["message"]


def test_a_run_that_would_fail_is_not_waited_for(world: Remote) -> None:
    mine = recurring(world, amount="99999")
    before = everything(world)
    answer = trigger(world, "recurring_payment.run_succeeded", mine["id"])
    assert "insufficient_balance" in answer.body["error"]["message"]
    assert everything(world) == before


def test_trigger_failing_after_time_passed_says_where_it_stopped(world: Remote) -> None:
    """The balance is used up at the second of three runs, so the third failure in a row comes before the last run."""
    mine = recurring(world, amount="600", type="after_occurrences", occurrences=9)
    answer = trigger(world, "recurring_payment.completed", mine["id"])
    error = answer.body["error"]
    assert (answer.status, error["code"], error["advanced_to"]) == (
        409,
        "invalid_transition",
        "2026-01-09T06:00:00.000Z",
    )
    assert len([step for step in error["steps"] if "a run is due" in step["did"]]) == 4


class Slow(BaseHTTPRequestHandler):
    """A receiver that responds to the registration test at once, and later only when released."""

    called, let = threading.Event(), threading.Event()
    calls = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        type(self).calls += 1
        if self.calls > 1:
            self.called.set()
            self.let.wait(10)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_during_an_advance_only_triggers_without_waits_work(world: Remote) -> None:
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{receiver.server_port}/"
    assert world.api("POST", "/webhooks", {"url": url, "events": ["quote.expired"]}).status == 201
    quote(world)
    with new_client() as other, ThreadPoolExecutor() as pool:
        advancing = pool.submit(Remote(world.origin, other, world.world).advance, by="1h")
        assert Slow.called.wait(10)
        before = everything(world)
        assert trigger(world, "transaction.expired").refusal == (409, "clock_busy", None)
        assert everything(world) == before
        assert trigger(world, "transaction.created").status == 200
        Slow.let.set()
        assert advancing.result()["now"] == "2026-01-05T09:00:00.000Z"
    receiver.shutdown()
    receiver.server_close()


def test_objects_of_other_users_are_not_moved(world: Remote) -> None:
    trigger(world, "recurring_payment.run_succeeded")
    amina = world.world["platform_users"][0]["user_id"]
    received = world.control("GET", "/resources", params={"user_id": amina}).body["data"][0]
    answer = trigger(world, "transaction.failed", received["id"])
    assert "another user" in answer.body["error"]["message"]
