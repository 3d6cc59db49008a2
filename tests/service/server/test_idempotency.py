"""Idempotency keys (decision H14): their scope and lifetime."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.remote import Answer, Remote
from tests.support import CELO, QUOTE


def test_a_replay_gives_the_same_bytes(world: Remote) -> None:
    """Decisions H11 and H14: a replay is the stored answer to the byte, with its request id."""
    key = {"Idempotency-Key": "a-1"}
    first = world.api("POST", "/quotes", json=QUOTE, headers=key)
    again = world.api("POST", "/quotes", json=dict(reversed(QUOTE.items())), headers=key)
    assert (again.status, again.raw) == (first.status, first.raw)
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["x-request-id"] == first.headers["x-request-id"]
    assert len(world.control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1


@pytest.mark.parametrize("change", ["body", "path", "an unknown field"])
def test_a_key_used_for_something_else_is_a_conflict(world: Remote, change: str) -> None:
    """Decision H14: the same key with another path or body, unknown fields included."""
    key = {"Idempotency-Key": "a-1"}
    world.api("POST", "/quotes", json=QUOTE, headers=key)
    if change == "path":
        answer = world.api(
            "POST", "/fees/calculate", json={"product": "deposit", "amount": "1", "currency": "USDC"}, headers=key
        )
    else:
        more = {"amount": "5001"} if change == "body" else {"colour": "red"}
        answer = world.api("POST", "/quotes", json=QUOTE | more, headers=key)
    assert (answer.status, answer.code) == (409, "idempotency_conflict")


def test_one_and_one_point_nought_are_the_same_but_true_is_not(world: Remote) -> None:
    """Decision H14: bodies are compared as parsed JSON."""
    key = {"Idempotency-Key": "n"}
    first = world.api("POST", "/quotes", json=QUOTE | {"extra": 1}, headers=key)
    assert world.api("POST", "/quotes", json=QUOTE | {"extra": 1.0}, headers=key).raw == first.raw
    assert world.api("POST", "/quotes", json=QUOTE | {"extra": True}, headers=key).code == "idempotency_conflict"


def test_numbers_under_one_key_are_compared_exactly(world: Remote) -> None:
    token = world.token()

    def post(number: str) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": "x"}
        body = f'{{"network":"celo","extra":{number}}}'
        return world.call("POST", f"{world.base()}/wallets", headers=headers, content=body.encode())

    first = post("1")
    assert post("1.00").raw == post("10e-1").raw == first.raw
    for other in ("1.000000000000000000001", "1e400", "0.9999999999999999999999999"):
        assert post(other).code == "idempotency_conflict"


def test_refusals_of_business_rules_are_stored_and_malformed_ones_are_not(world: Remote) -> None:
    """Decisions H11 and H14: a stored refusal binds the key and keeps its request id; earlier ones do not bind it."""
    key = {"Idempotency-Key": "b"}
    malformed = world.api("POST", "/quotes", json=QUOTE | {"amount": 1}, headers=key)
    assert malformed.status == 400
    refused = world.api("POST", "/quotes", json=QUOTE | {"amount": "1"}, headers=key)
    assert refused.code == "amount_too_low"
    again = world.api("POST", "/quotes", json=QUOTE | {"amount": "1"}, headers=key)
    assert (again.raw, again.headers["idempotent-replayed"]) == (refused.raw, "true")
    assert again.headers["x-request-id"] == refused.body["error"]["request_id"]
    assert world.api("POST", "/quotes", json=QUOTE, headers=key).code == "idempotency_conflict"


def test_a_key_holds_for_the_account_and_the_environment(world: Remote) -> None:
    """Decision H14: all key pairs of an account share their keys, its two environments do not."""
    key = {"Idempotency-Key": "g"}
    first = world.api("POST", "/quotes", json=QUOTE, headers=key)
    live = world.api("POST", "/quotes", json=QUOTE, headers=key, environment="production")
    assert (live.status, "idempotent-replayed" in live.headers) == (201, False)
    pair = world.act("create_key").body["resource"]
    keys = {name: pair[name] for name in ("public_key", "secret_key")}
    world.tokens["sandbox"] = world.call("POST", world.base() + "/auth/token", json=keys).body["access_token"]
    assert world.api("POST", "/quotes", json=QUOTE, headers=key).raw == first.raw


@pytest.mark.parametrize(("quote_id", "status"), [("sq_unknown", 404), ("used", 409)])
def test_a_refusal_after_the_key_check_is_replayed(world: Remote, quote_id: str, status: int) -> None:
    """Decision H14: 404 and 409 of a POST are stored like its success."""
    body = {"from": {"symbol": "USDC", "network": "STELLAR"}, "to": {"symbol": "XLM", "network": "STELLAR"}}
    quote = world.api("POST", "/wallet/swap/quote", json={**body, "amount": "10", "amount_side": "from"}).body["id"]
    world.api("POST", "/wallet/swap", json={"quote_id": quote})
    use = {"quote_id": quote if quote_id == "used" else quote_id}
    key = {"Idempotency-Key": "e"}
    first, again = (world.api("POST", "/wallet/swap", json=use, headers=key) for _ in range(2))
    assert (first.status, again.raw, again.headers["idempotent-replayed"]) == (status, first.raw, "true")


@pytest.mark.parametrize("by", ["the limit", "a scenario"])
def test_a_call_that_was_limited_does_not_bind_its_key(world: Remote, by: str) -> None:
    """Decision H14: 429 does not bind the key."""
    rule = {"on": "request", "where": {"path": "/quotes"}, "times": 1, "answer": {"code": "rate_limited"}}
    limited = world.another(seed=1, scenarios=[{"name": "busy", "rules": [rule]}] if by == "a scenario" else [])
    key = {"Idempotency-Key": "f"}
    if by == "the limit":
        limited.control("PATCH", "/settings", {"rate_limit": "1/10"})
        assert limited.api("GET", "/profile").status == 200
    assert limited.api("POST", "/quotes", json=QUOTE, headers=key).status == 429
    limited.advance(by="10s")
    assert limited.api("POST", "/quotes", json=QUOTE | {"amount": "6000"}, headers=key).status == 201


def test_an_unavailable_network_does_not_bind_the_key(world: Remote) -> None:
    """Decision H14: 5xx do not bind the key."""
    key = {"Idempotency-Key": "c"}
    world.act("set_network", network="celo", status="down")
    assert world.api("POST", "/quotes", json=QUOTE, headers=key).status == 503
    world.act("set_network", network="celo", status="operational")
    assert world.api("POST", "/quotes", json=QUOTE, headers=key).status == 201


def test_a_key_is_forgotten_after_a_day(world: Remote) -> None:
    """Decision H14: kept 24 simulated hours."""
    key = {"Idempotency-Key": "d"}
    first = world.api("POST", "/quotes", json=QUOTE, headers=key)
    world.advance(by="23h59m59s999ms")
    world.tokens.clear()
    assert world.api("POST", "/quotes", json=QUOTE, headers=key).body["id"] == first.body["id"]
    world.advance(by="1ms")
    assert world.api("POST", "/quotes", json=QUOTE, headers=key).body["id"] != first.body["id"]


def test_only_posts_are_bound_by_a_key_and_the_token_exchange_is_not(world: Remote) -> None:
    """Decision H14: another call under the same key is simply done."""
    key = {"Idempotency-Key": "h"}
    names = [world.api("PATCH", "/profile", json={"first_name": name}, headers=key) for name in ("Achieng", "Atieno")]
    assert [answer.body["first_name"] for answer in names] == ["Achieng", "Atieno"]
    pair = {name: world.world["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
    tokens = [world.call("POST", world.base() + "/auth/token", json=pair, headers=key) for _ in range(2)]
    assert tokens[0].body["access_token"] != tokens[1].body["access_token"]


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there"])
def test_a_malformed_key_is_refused(world: Remote, key: str) -> None:
    """Decision H14: 1 to 255 printable ASCII characters."""
    answer = world.api("POST", "/quotes", json=QUOTE, headers={"Idempotency-Key": key})
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert world.api("POST", "/quotes", json=QUOTE, headers={"Idempotency-Key": "~" * 255}).status == 201


def test_thirty_concurrent_calls_with_one_key_make_one_transaction(world: Remote) -> None:
    """Decision H14: a concurrent retry waits for the first and gets its answer."""
    quote = world.api("POST", "/quotes", json=QUOTE).body["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}

    def confirm(_: int) -> Answer:
        return world.api("POST", f"/quotes/{quote}/confirm", json=body, headers={"Idempotency-Key": "once"})

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(confirm, range(30)))
    assert {answer.raw for answer in answers} == {answers[0].raw}
    assert answers[0].status == 201
    assert world.event_types() == ["transaction.created", "transaction.awaiting_payment"]
