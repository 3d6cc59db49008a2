"""The shop's own flows, tested with the test kit as its owner would."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from tests.tools.integrators.rig import Rig

pytestmark = pytest.mark.scenario("autopilot")


def made(shop: Rig, path: str) -> int:
    """How many calls of a path have made something."""
    return len(shop.world.requests(method="POST", path=path, status=201))


def test_an_onramp_is_paid_delivered_and_booked(shop: Rig) -> None:
    assert shop.onramp("A-1").json()["state"] == "awaiting_payment"
    shop.world.advance("1m")
    assert shop.customer.get("/orders/A-1").json() == {
        "order": "A-1",
        "state": "completed",
        "amount": "37.892536",
        "currency": "USDC",
    }
    assert shop.judged() == []


def test_an_offramp_is_deposited_paid_out_and_booked(shop: Rig) -> None:
    assert shop.offramp("A-1", "2048.18", "KES").json()["state"] == "awaiting_deposit"
    shop.world.advance("2m")
    assert shop.customer.get("/orders/A-1").json()["amount"] == "2048.18"
    assert shop.judged() == []


def test_a_standing_payout_is_booked_run_by_run(shop: Rig) -> None:
    assert shop.standing_payout("rent", times=3).json()["state"] == "active"
    shop.world.advance("70d")
    assert [(order.reference, order.state) for order in shop.books.orders()] == [
        (f"rent-{number}", "completed") for number in (1, 2, 3)
    ]
    assert shop.world.balance("USDC", "CELO") == Decimal(1000) - 3 * 20
    assert shop.judged() == []


def test_reconcile_activates_a_draft_after_lost_calls(shop: Rig) -> None:
    with shop.world.fault(
        match={"method": "POST", "path": "/recurring-payments/*/activate"},
        respond={"status": 503, "code": "service_unavailable"},
    ):
        assert shop.standing_payout("rent").status_code >= 500
    shop.shop.reconcile()
    assert [payout.state for payout in shop.books.payouts()] == ["active"]


def test_a_draft_with_a_refused_schedule_is_deleted(shop: Rig) -> None:
    refused = {"status": 400, "code": "invalid_parameter"}
    with shop.world.fault(match={"method": "PUT", "path": "/recurring-payments/*/schedule"}, respond=refused):
        shop.standing_payout("rent")
    assert [payout.state for payout in shop.books.payouts()] == ["deleted"]
    assert shop.shop.recurring("rent") is None


def test_an_order_that_is_sent_twice_is_one_order(shop: Rig) -> None:
    assert shop.onramp("A-1").json() == shop.onramp("A-1").json()
    assert shop.standing_payout("rent").json() == shop.standing_payout("rent").json()
    assert (made(shop, "/v1/quotes"), made(shop, "/v1/recurring-payments")) == (1, 1)


def test_an_order_that_is_sent_four_times_at_once_is_one_order(shop: Rig) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(shop.onramp, ["A-1"] * 4))
    shop.world.advance("1h")
    assert shop.judged() == []


def test_a_payout_that_bounced_is_paid_again_when_the_customer_asks_and_only_then(shop: Rig) -> None:
    shop.offramp("A-1")
    shop.world.advance("10m")
    shop.world.act("refund", shop.books.order("A-1").transaction_id)
    shop.world.settle()
    assert shop.customer.get("/orders/A-1").json()["amount"] == "0"
    shop.try_again("A-1")
    shop.try_again("A-1")
    shop.world.advance("10m")
    shop.try_again("A-1")
    assert shop.customer.get("/orders/A-1").json()["state"] == "completed"
    assert made(shop, "/v1/quotes") == 2
    assert shop.judged() == []


def test_an_order_under_way_is_not_tried_again(shop: Rig) -> None:
    shop.offramp("A-1")
    assert shop.try_again("A-1").json()["state"] == "awaiting_deposit"
    assert made(shop, "/v1/quotes") == 1


def test_an_event_about_an_order_that_is_not_in_the_books_yet_waits_for_it(shop: Rig) -> None:
    """Another till of the same shop has taken the order: these books learn of it later."""
    shop.onramp("A-1")
    (order,) = shop.books.orders()
    shop.books._do("DELETE FROM orders")
    shop.world.advance("1m")
    waiting = {event["type"] for event in shop.books.waiting_events()}
    assert waiting == {"transaction.processing", "transaction.completed"}
    shop.books.open_order("A-1", "onramp", order.wanted)
    shop.books.note("A-1", quote_id=order.quote_id or "")
    shop.shop.reconcile()
    assert shop.state("A-1") == "completed"
    assert shop.books.waiting_events() == []
    assert shop.judged() == []


def test_what_cannot_be_looked_up_now_is_acknowledged_kept_and_looked_up_later(shop: Rig) -> None:
    shop.onramp("A-1")
    with shop.world.fault("GET /transactions/*", respond={"status": 503, "code": "service_unavailable"}) as fault:
        shop.world.advance("1m")
        assert fault.hits == 2  # one try for each event, while the service waits for the acknowledgement
    assert {delivery.status for delivery in shop.webhooks.received} == {200}
    assert shop.state("A-1") == "awaiting_payment"
    assert shop.shop.reconcile() == []
    assert shop.state("A-1") == "completed"
    assert shop.books.waiting_events() == []


def test_an_unreconcilable_order_is_reported_and_others_continue(shop: Rig) -> None:
    shop.onramp("A-1")
    shop.onramp("B-2")
    first = shop.books.order("A-1").transaction_id
    with shop.world.fault(webhook={}, deliver={"drop": True}):
        shop.world.advance("1m")
    with shop.world.fault(f"GET /transactions/{first}", respond={"status": 500, "code": "internal_error"}):
        (trouble,) = shop.shop.reconcile()
    assert trouble.startswith(f"GET /transactions/{first} has no answer after 5 tries; the last: 500 internal_error")
    assert (shop.state("A-1"), shop.state("B-2")) == ("awaiting_payment", "completed")


def test_a_token_that_lapses_is_renewed_once(shop: Rig) -> None:
    shop.onramp("A-1")
    shop.world.advance("61m")
    shop.onramp("B-2")
    assert len(shop.world.requests(status=401)) == 1
    assert shop.judged() == []


def test_a_webhook_is_acknowledged_while_the_shop_waits_to_sign_in(shop: Rig) -> None:
    shop.onramp("A-1")
    shop.world.advance("14s")
    shop.world.act("revoke_key", public_key=shop.world.keys.public_key)
    shop.renew_keys(shop.world.act("create_key")["resource"])
    with shop.world.fault("POST /auth/token", respond={"status": 503, "code": "service_unavailable"}, times=3) as fault:
        shop.onramp("B-2")
    assert fault.hits == 3
    assert {(delivery["status"], delivery["attempt"]) for delivery in shop.world.deliveries()} == {("succeeded", 1)}
    assert shop.judged() == []


def test_a_key_pair_that_is_revoked_is_tried_once_more_and_no_longer(shop: Rig) -> None:
    shop.onramp("A-1")
    shop.world.act("revoke_key", public_key=shop.world.keys.public_key)
    answer = shop.onramp("B-2")
    assert (answer.status_code, answer.json()["error"][:23]) == (422, "401 invalid_credentials")
    assert len(shop.world.requests(path="/v1/auth/token", status=401)) == 1


def test_a_client_waits_as_long_as_retry_after_says(shop: Rig) -> None:
    limited = {"status": 429, "code": "rate_limited", "retry_after": 40}
    with shop.world.fault("POST /quotes", respond=limited, times=1):
        before = shop.world.now
        shop.onramp("A-1")
    assert (shop.world.now - before).total_seconds() == 40


def test_tries_come_after_1_2_4_and_8_seconds_under_one_key(shop: Rig) -> None:
    with shop.world.fault("POST /quotes", respond={"status": 503, "code": "service_unavailable"}):
        begin = shop.world.now
        answer = shop.onramp("A-1")
    calls = shop.world.requests(path="/v1/quotes")
    assert answer.status_code == 503
    assert (shop.world.now - begin).total_seconds() == 1 + 2 + 4 + 8
    assert {call["headers"]["idempotency-key"] for call in calls} == {"A-1/quote/1"}
    assert (len(calls), shop.state("A-1")) == (5, "new")


def test_an_order_without_a_call_is_dropped_when_its_quote_expires(shop: Rig) -> None:
    with shop.world.fault("POST /quotes/*/confirm", drop=True):
        assert shop.onramp("A-1").status_code == 503
    shop.shop.reconcile()
    assert shop.state("A-1") == "new"
    shop.world.advance("31m")
    shop.shop.reconcile()
    assert shop.state("A-1") == "not_placed"
    assert shop.try_again("A-1").json()["state"] == "awaiting_payment"
    assert shop.judged() == []


def test_a_refusal_is_reported_to_the_customer(shop: Rig) -> None:
    answer = shop.onramp("A-1", amount="1")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("422 amount_too_low: ")
    assert shop.state("A-1") == "not_placed"


def test_a_delivery_that_is_not_genuine_is_refused(shop: Rig) -> None:
    body, now_ms = b'{"id": "evt_1"}', shop.settings.now() * 1000
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"X-Timestamp": f"{now_ms:.0f}"},
        {"X-Timestamp": "soon", "X-Signature": "é"},
    )
    for headers in wrong:
        raw = {name.encode(): value.encode() for name, value in headers.items()}
        assert shop.customer.post("/webhooks", content=body, headers=raw).status_code == 401
    assert shop.books.waiting_events() == []


def test_omitted_parts_are_named(shop: Rig) -> None:
    answer = shop.customer.post("/orders", json={"reference": "A-1", "amount": "5"})
    assert answer.status_code == 400
    assert answer.text == ("Say amount_currency, asset, fiat_currency, name, phone_number, kind, wallet_address.")
    assert shop.onramp("A").status_code == 400
    assert shop.customer.get("/orders/nobody").json() == {"error": "There is no 'nobody'."}
