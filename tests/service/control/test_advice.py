"""Advice over HTTP: each kind from traffic that causes it, and a model client that causes none."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from tests.remote import Answer, Remote
from tests.support import CELO, QUOTE

_keys = count(1)
PAYER = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
FINDING = {
    "id", "kind", "severity", "subject", "message", "what_to_do", "clause", "count", "requests", "evidence",
    "first_at", "last_at", "why", "changes", "clause_links", "request_links",
}  # fmt: skip


def key() -> dict[str, str]:
    return {"Idempotency-Key": f"key-{next(_keys)}"}


def advice(world: Remote, **query: str) -> list[dict[str, Any]]:
    answer = world.control("GET", "/advice", params=query)
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.body["data"]
    return found


def only(world: Remote, kind: str) -> dict[str, Any]:
    """Return the only finding of a kind, and check that it is complete."""
    found = [row for row in advice(world) if row["kind"] == kind]
    assert len(found) == 1, advice(world)
    finding = found[0]
    assert set(finding) == FINDING
    assert finding["severity"] in ("info", "warning", "error")
    assert finding["what_to_do"]
    assert finding["clause"]
    assert finding["why"]
    assert finding["clause_links"]
    return finding


def kinds(world: Remote) -> list[str]:
    return [row["kind"] for row in advice(world)]


def quote(world: Remote, **changes: Any) -> Answer:
    return world.api("POST", "/quotes", json=QUOTE | changes, headers=key())


def confirmed(world: Remote) -> dict[str, Any]:
    made = quote(world).body["id"]
    answer = world.api("POST", f"/quotes/{made}/confirm", json=PAYER, headers=key())
    assert answer.status == 201, answer.body
    transaction: dict[str, Any] = answer.body
    return transaction


def webhook(world: Remote, name: str, respond: list[int] | None = None) -> dict[str, Any]:
    """Register a built-in inbox that responds with these statuses."""
    inbox = f"{world.world['id']}-{name}"
    body = {"url": f"{world.origin}/_simulator/inbox/{inbox}", "events": ["*"]}
    endpoint = world.api("POST", "/webhooks", json=body, headers=key())
    assert endpoint.status == 201, endpoint.body
    if respond is not None:
        world.control("PUT", f"/inbox/{inbox}", {"respond": respond})
    made: dict[str, Any] = endpoint.body
    return made


def fault(world: Remote, **members: Any) -> str:
    answer = world.control("POST", "/faults", members)
    assert answer.status == 201, answer.body
    identifier: str = answer.body["id"]
    return identifier


def paid(world: Remote) -> dict[str, Any]:
    """An onramp whose webhooks are all delivered."""
    transaction = confirmed(world)
    world.act("payment_arrives", transaction["id"])
    world.act("complete", transaction["id"])
    world.control("POST", "/settle")
    return transaction


# The model client


class ModelClient:
    """A client that follows the specification. It waits by advancing the clock."""

    def __init__(self, world: Remote) -> None:
        self.world = world

    def call(self, method: str, path: str, json: Any = None) -> Answer:
        headers = key() if method == "POST" else {}
        for wait_seconds in (1, 2, 4, 8, 16):
            answer = self.world.api(method, path, json=json, headers=headers)
            if answer.status == 401:
                self.world.tokens.clear()
                continue
            if answer.status not in (429, 500, 503):
                break
            self.world.advance(by=float(answer.headers.get("retry-after", wait_seconds)))
        return answer


@pytest.fixture
def client(world: Remote) -> ModelClient:
    return ModelClient(world)


def test_a_clean_integration_gives_no_cause_for_advice(client: ModelClient) -> None:
    world = client.world
    inbox = {"url": f"{world.origin}/_simulator/inbox/{world.world['id']}-clean", "events": ["*"]}
    assert client.call("POST", "/webhooks", inbox).status == 201
    fault(world, match={"path": "/quotes"}, respond={"status": 503, "code": "service_unavailable"}, times=3)
    assert client.call("POST", "/quotes", QUOTE | {"amount": "1"}).code == "amount_too_low"
    made = client.call("POST", "/quotes", QUOTE).body
    slow_down = {"status": 429, "code": "rate_limited", "retry_after": 7}
    fault(world, match={"path": "/quotes/*/confirm"}, respond=slow_down, times=1)
    transaction = client.call("POST", f"/quotes/{made['id']}/confirm", PAYER).body
    world.act("payment_arrives", transaction["id"])
    world.act("complete", transaction["id"])
    world.control("POST", "/settle")
    assert client.call("GET", f"/transactions/{transaction['id']}").body["status"] == "completed"
    world.advance(by="1h")
    assert client.call("GET", "/transactions?page=1&size=5").status == 200
    assert client.call("GET", "/profile").status == 200
    assert advice(world) == []


def test_polling_a_transaction_slowly_gives_no_advice(client: ModelClient) -> None:
    transaction = confirmed(client.world)
    for _ in range(10):
        assert client.call("GET", f"/transactions/{transaction['id']}").status == 200
        client.world.advance(by="1s")
    assert advice(client.world) == []


def test_reads_with_changes_in_between_are_not_polling(client: ModelClient) -> None:
    world = client.world
    for _ in range(5):
        assert quote(world).status == 201
        assert world.api("GET", "/profile").status == 200
        transaction = confirmed(world)
        assert world.api("GET", f"/transactions/{transaction['id']}").status == 200
        world.act("payment_arrives", transaction["id"])
        assert world.api("GET", f"/transactions/{transaction['id']}").status == 200
    assert [row for row in advice(world) if row["subject"] != "/v1/profile"] == []


# Calls


def test_unknown_field_is_listed_with_its_request(world: Remote) -> None:
    answers = [quote(world, colour="red") for _ in range(2)]
    finding = only(world, "unknown_field")
    assert finding["requests"] == [answer.headers["x-request-id"] for answer in answers]
    assert (finding["count"], finding["severity"]) == (2, "warning")
    assert "colour" in finding["message"]
    assert finding["first_at"] == finding["last_at"] == world.world["clock"]["now"]


def test_one_finding_for_each_unknown_field(world: Remote) -> None:
    quote(world, colour="red", taste="sour")
    assert kinds(world) == ["unknown_field", "unknown_field"]


def test_a_post_without_an_idempotency_key(world: Remote) -> None:
    answer = world.api("POST", "/quotes", json=QUOTE)
    finding = only(world, "post_without_key")
    assert (finding["severity"], finding["requests"]) == ("warning", [answer.headers["x-request-id"]])
    world.advance(by="1s")
    world.api("POST", "/wallets", json={"network": "celo"})
    assert [row["severity"] for row in advice(world)] == ["warning", "info"]


def test_a_post_that_creates_nothing_needs_no_key(world: Remote) -> None:
    body = {"product": "deposit", "amount": "10", "currency": "USDC", "network": "celo"}
    world.api("POST", "/fees/calculate", json=body)
    assert advice(world) == []


def test_a_refused_call_repeated_unchanged(world: Remote) -> None:
    headers = key()
    answers = [world.api("POST", "/quotes", json=QUOTE | {"asset": "XLM"}, headers=headers) for _ in range(2)]
    assert answers[0].code == "unsupported_pair"
    finding = only(world, "unchanged_retry")
    assert finding["requests"][0] == answers[0].headers["x-request-id"]
    assert "422 unsupported_pair" in finding["message"]


def test_a_refused_call_with_another_key_is_another_attempt(world: Remote) -> None:
    for _ in range(2):
        quote(world, asset="XLM")
    assert advice(world) == []


def test_a_changed_call_after_a_refusal_is_not_a_retry(world: Remote) -> None:
    quote(world, amount="1")
    quote(world, amount="5000")
    assert advice(world) == []


def test_retry_after_a_possible_state_change_gives_no_advice(world: Remote) -> None:
    world.act("set_kyc", status="pending")
    for _ in range(2):
        assert world.api("POST", "/quotes", json=QUOTE, headers={"Idempotency-Key": "kyc"}).code == "kyc_required"
    assert advice(world) == []
    assert world.api("POST", "/quotes", json=QUOTE, headers={"Idempotency-Key": "kyc"}).code == "kyc_required"
    assert "403 kyc_required" in only(world, "unchanged_retry")["message"]


def test_a_retry_without_backoff(world: Remote) -> None:
    fault(world, match={"path": "/quotes"}, respond={"status": 503, "code": "service_unavailable"}, times=1)
    headers = key()
    for _ in range(2):
        world.api("POST", "/quotes", json=QUOTE, headers=headers)
    assert kinds(world) == ["retry_without_backoff"]
    assert len(only(world, "retry_without_backoff")["requests"]) == 2


def test_retries_whose_waits_do_not_grow(world: Remote) -> None:
    fault(world, match={"path": "/profile"}, respond={"status": 500, "code": "internal_error"}, times=3)
    for _ in range(4):
        world.api("GET", "/profile")
        world.advance(by="1s")
    assert only(world, "retry_without_backoff")["count"] == 1


def test_a_retry_before_the_time_of_retry_after(world: Remote) -> None:
    slow_down = {"status": 429, "code": "rate_limited", "retry_after": 30}
    fault(world, match={"path": "/profile"}, respond=slow_down, times=1)
    world.api("GET", "/profile")
    world.advance(by="10s")
    world.api("GET", "/profile")
    assert kinds(world) == ["retry_before_retry_after"]


def test_a_server_error_that_was_never_retried(world: Remote) -> None:
    fault(world, match={"path": "/quotes"}, respond={"status": 500, "code": "internal_error"}, times=1)
    failed = quote(world)
    assert advice(world) == [], "the retry may still come"
    world.api("GET", "/profile")
    assert only(world, "not_retried")["requests"] == [failed.headers["x-request-id"]]


def test_not_retrying_while_a_network_is_down_gives_no_advice(world: Remote) -> None:
    world.act("set_network", network="celo", status="down")
    assert quote(world).code == "network_unavailable"
    world.api("GET", "/profile")
    assert advice(world) == []


def test_a_dead_token_that_is_not_renewed(world: Remote) -> None:
    world.token()
    world.advance(by="1h")
    refused = [world.api("GET", "/profile") for _ in range(2)]
    assert refused[0].status == 401
    finding = only(world, "not_reauthenticated")
    assert (finding["severity"], finding["requests"]) == ("error", [refused[0].headers["x-request-id"]])
    world.tokens.clear()
    world.api("GET", "/profile")
    assert advice(world) == []


def test_a_token_for_every_request(world: Remote) -> None:
    for _ in range(4):
        world.tokens.clear()
        world.api("GET", "/profile")
    assert advice(world) == []
    world.tokens.clear()
    world.api("GET", "/profile")
    finding = only(world, "token_per_request")
    assert (finding["subject"], len(finding["requests"])) == (world.world["credentials"]["sandbox"]["public_key"], 5)


def test_a_token_that_has_run_out_may_be_replaced(world: Remote) -> None:
    for _ in range(7):
        world.tokens.clear()
        world.api("GET", "/profile")
        world.advance(by="1h")
    assert advice(world) == []


def test_polling_faster_than_once_a_second(world: Remote) -> None:
    transaction = confirmed(world)
    for _ in range(7):
        world.api("GET", f"/transactions/{transaction['id']}")
    finding = only(world, "fast_polling")
    assert (finding["subject"], len(finding["requests"])) == (f"/v1/transactions/{transaction['id']}", 7)


def test_an_amount_as_a_json_number(world: Remote) -> None:
    assert quote(world, amount=5000).refusal == (400, "invalid_parameter", "amount")
    assert only(world, "amount_as_number")["severity"] == "error"
    quote(world, amount="five")
    assert only(world, "amount_as_number")["count"] == 1


TO_AMINA = {"type": "platform_user", "email": "amina@example.test"}


def test_two_payments_under_one_reference(world: Remote) -> None:
    def send(reference: str) -> str:
        body = {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": TO_AMINA, "reference": reference}
        made = world.api("POST", "/wallet/send", json=body, headers=key())
        assert made.status == 201, made.body
        return str(made.body["id"])

    send("order-1")
    send("order-2")
    assert "reference_paid_twice" not in kinds(world)
    send("order-1")
    finding = only(world, "reference_paid_twice")
    assert (finding["severity"], finding["count"], len(finding["requests"])) == ("warning", 1, 2)
    assert "with the same reference, order-1" in finding["message"]


def test_new_order_after_a_failure_gives_no_advice(world: Remote) -> None:
    def confirmed_as(reference: str) -> str:
        made = quote(world).body["id"]
        answer = world.api("POST", f"/quotes/{made}/confirm", json=PAYER | {"reference": reference}, headers=key())
        return str(answer.body["id"])

    world.act("payment_declined", confirmed_as("order-1"))
    confirmed_as("order-1")
    assert "reference_paid_twice" not in kinds(world)
    confirmed_as("order-1")
    assert only(world, "reference_paid_twice")["count"] == 1


def test_the_alias_limit(world: Remote) -> None:
    world.api("GET", "/transactions?limit=5")
    assert only(world, "limit_alias")["severity"] == "info"


def test_a_quote_confirmed_in_its_last_seconds(world: Remote) -> None:
    made = quote(world).body["id"]
    world.advance(by="29m50s")
    assert world.api("POST", f"/quotes/{made}/confirm", json=PAYER, headers=key()).status == 201
    assert "10s left" in only(world, "late_confirmation")["message"]


def test_wallet_quote_used_in_its_last_seconds_gives_advice(world: Remote) -> None:
    usdc, xlm = ({"symbol": symbol, "network": "STELLAR"} for symbol in ("USDC", "XLM"))
    body = {"from": usdc, "to": xlm, "amount": "25", "amount_side": "from"}
    made = world.api("POST", "/wallet/swap/quote", json=body, headers=key())
    assert made.status == 201, made.body
    world.advance(by="29m40s")
    headers = key()
    assert world.api("POST", "/wallet/swap", json={"quote_id": made.body["id"]}, headers=headers).status == 201
    assert advice(world) == []
    world.advance(by="19s")
    assert world.api("POST", "/wallet/swap", json={"quote_id": made.body["id"]}, headers=headers).status == 201
    assert advice(world) == [], "a replay confirms nothing"


# Webhooks


def test_a_webhook_that_is_not_acknowledged(world: Remote) -> None:
    endpoint = webhook(world, "broken", [500])
    confirmed(world)
    world.control("POST", "/settle")
    finding = only(world, "webhook_not_acknowledged")
    assert (finding["subject"], finding["count"]) == (endpoint["id"], 2)
    assert all(name.startswith(("dlv_", "evt_")) for name in finding["evidence"])


def test_lost_delivery_is_not_blamed_on_the_receiver(world: Remote) -> None:
    webhook(world, "lossy")
    fault(world, webhook={}, deliver={"drop": True})
    confirmed(world)
    world.control("POST", "/settle")
    assert advice(world) == []


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("corrupt_signature", "forged_webhook_accepted"),
        ("alter_body", "forged_webhook_accepted"),
        ("stale_timestamp", "stale_webhook_accepted"),
    ],
)
def test_a_forged_or_old_webhook_is_to_be_refused(world: Remote, how: str, kind: str) -> None:
    fault(world, webhook={"event": "transaction.created"}, deliver={how: True}, times=1)
    webhook(world, how)
    confirmed(world)
    world.control("POST", "/settle")
    assert only(world, kind)["severity"] == "error"


@pytest.mark.parametrize("how", ["corrupt_signature", "alter_body", "stale_timestamp"])
def test_to_refuse_a_forged_or_old_webhook_is_right(world: Remote, how: str) -> None:
    fault(world, webhook={"event": "transaction.created"}, deliver={how: True}, times=1)
    webhook(world, how, [401, 200])
    confirmed(world)
    world.control("POST", "/settle")
    assert advice(world) == []


def test_a_resource_that_is_not_read_after_its_event(world: Remote) -> None:
    webhook(world, "deaf")
    transaction = paid(world)
    finding = only(world, "not_fetched_after_event")
    assert (finding["subject"], finding["evidence"][0]) == ("transaction.completed", transaction["id"])
    world.api("GET", "/transactions")
    assert advice(world) == []


def test_without_an_endpoint_nothing_need_be_read(world: Remote) -> None:
    paid(world)
    assert advice(world) == []


# Faults, scenarios, and what the rooms noted


def test_a_fault_that_was_never_hit(world: Remote) -> None:
    identifier = fault(world, match={"path": "/quotes"}, respond={"status": 503, "code": "service_unavailable"})
    finding = only(world, "fault_never_hit")
    assert (finding["evidence"], finding["severity"], finding["last_at"]) == ([identifier], "info", None)


def test_a_step_of_a_scenario_that_was_skipped(autopilot_world: Remote) -> None:
    transaction = confirmed(autopilot_world)
    autopilot_world.act("payment_declined", transaction["id"])
    autopilot_world.advance(by="10m")
    skipped = [row for row in advice(autopilot_world) if row["kind"] == "step_skipped"]
    assert skipped
    assert all(row["evidence"] == [transaction["id"]] for row in skipped)


def test_a_deposit_that_was_not_matched(world: Remote) -> None:
    wanjiru = {"phone_number": "+254722000000", "provider": "mpesa"}
    body = {"type": "phone_number", "name": "Wanjiru", "country": "KE", "fiat_currency": "KES", "phone_number": wanjiru}
    beneficiary = world.api("POST", "/beneficiaries", json=body, headers=key()).body["id"]
    made = quote(world, type="offramp", amount="25", amount_currency="USDC").body["id"]
    body = {"beneficiary_id": beneficiary, "refund_address": CELO}
    ramp = world.api("POST", f"/quotes/{made}/confirm", json=body, headers=key()).body
    for _ in range(2):
        world.act("deposit_arrives", ramp["id"], asset="USDT")
    finding = only(world, "deposit_not_matched")
    assert (finding["severity"], finding["count"], finding["requests"]) == ("error", 2, [ramp["id"]])


# The list


def test_the_list_can_be_narrowed_and_cut(world: Remote) -> None:
    quote(world, colour="red")
    world.advance(by="1m")
    world.api("GET", "/transactions?limit=5")
    assert kinds(world) == ["unknown_field", "limit_alias"]
    assert [row["kind"] for row in advice(world, limit="1")] == ["limit_alias"]
    assert [row["kind"] for row in advice(world, severity="warning")] == ["unknown_field"]
    assert [row["kind"] for row in advice(world, kind="limit_alias")] == ["limit_alias"]
    assert world.control("GET", "/advice", params={"severity": "grave"}).refusal[::2] == (400, "severity")


def test_a_reset_clears_the_advice(world: Remote) -> None:
    quote(world, colour="red")
    world.control("POST", "/reset")
    assert advice(world) == []


def test_advice_of_all_worlds_has_that_of_ended_ones(world: Remote) -> None:
    first, second = world.another(scenarios=[]), world.another(scenarios=[])
    for remote in (first, second):
        remote.api("GET", "/profile?surprise=1")
    first.control("DELETE", f"/worlds/{first.world['id']}")
    second.control("POST", "/reset")
    second.tokens.clear()
    second.api("GET", "/profile?another=1")
    found = world.control("GET", "/advice?world=*&kind=unknown_field").body["data"]
    ids = (first.world["id"], second.world["id"])
    told = [(row["world"], row["message"]) for row in found if row["world"] in ids]
    assert [name for name, _ in told] == [ids[0], ids[1], ids[1]]
    assert ["surprise" in text for _, text in told] == [True, True, False]
    own = second.control("GET", "/advice?kind=unknown_field").body["data"]
    assert ["another" in row["message"] for row in own] == [True]
    assert world.control("GET", f"/advice?world={ids[1]}").body["data"] == second.control("GET", "/advice").body["data"]


def test_unknown_field_is_named_in_the_request_and_the_finding(world: Remote) -> None:
    world.api("GET", "/profile?surprise=1")
    entry = world.control("GET", "/requests?limit=1").body["data"][0]
    assert (entry["advice"], entry["unknown_fields"]) == (["unknown_field"], ["surprise"])
    assert "surprise" in only(world, "unknown_field")["message"]


def test_abandoned_retries_give_no_advice(world: Remote) -> None:
    fault(world, match={"path": "/quotes"}, respond={"status": 503, "code": "service_unavailable"})
    one_key = key()
    for wait in ("1s", "2s", "4s", "8s"):
        assert world.api("POST", "/quotes", json=QUOTE, headers=one_key).status == 503
        world.advance(by=wait)
    world.api("GET", "/profile")
    assert kinds(world) == []


def test_not_retried_after_an_earlier_success_is_given(world: Remote) -> None:
    world.api("GET", "/profile")
    fault(world, match={"path": "/profile"}, respond={"status": 500, "code": "internal_error"}, times=1)
    world.api("GET", "/profile")
    world.api("GET", "/fees?from_currency=KES")
    assert "not_retried" in kinds(world)


@pytest.mark.parametrize("tool", ["certify", "conform", "dashboard", "kit", "mcp"])
def test_advice_and_coverage_leave_out_calls_of_tools(world: Remote, tool: str) -> None:
    world.token()

    def operations() -> Any:
        return world.control("GET", "/coverage").body["dimensions"]["operations"]

    covered = operations()
    made = world.api("POST", "/quotes", json=QUOTE, headers={"X-Simulator-Tool": tool})
    confirm = f"/quotes/{made.body['id']}/confirm"
    assert world.api("POST", confirm, json=PAYER, headers={"X-Simulator-Tool": tool}).status == 201
    assert advice(world) == []
    assert operations() == covered


def test_advice_with_a_mark_that_no_tool_has_stays(world: Remote) -> None:
    made = world.api("POST", "/quotes", json=QUOTE, headers={"X-Simulator-Tool": "my-shop"})
    world.api("POST", f"/quotes/{made.body['id']}/confirm", json=PAYER)
    assert "post_without_key" in kinds(world)
