"""Calls, refusals and the form of responses: decisions in the chapter HTTP."""

from __future__ import annotations

from typing import Any

from simulator.testing import World
from tests.service.assumptions.cases import after, case, funded, get, onramp, post, refusal, send, sending
from tests.support import QUOTE


@case("H1", usual=201, creating_answers_200=200)
def status_of_a_new_quote(world: World) -> Any:
    return world.client.post("/quotes", json=QUOTE).status_code


@case("H2", usual=(403, "kyc_required"), body_before_permission=(400, "missing_parameter"))
def empty_body_without_kyc(world: World) -> Any:
    world.act("set_kyc", status="rejected")
    return refusal(world.client.post("/quotes", json={}))


@case("H3", usual=(405, "invalid_request"), wrong_method_answers_404=(404, "not_found"))
def wrong_method(world: World) -> Any:
    return refusal(world.client.delete("/quotes"))


@case(
    "H4",
    usual=(400, "missing_parameter"),
    answers_422=(422, "missing_parameter"),
    answers_invalid_request=(400, "invalid_request"),
)
def missing_field(world: World) -> Any:
    return refusal(world.client.post("/quotes", json={**QUOTE, "amount": None}))


@case(
    "H5",
    usual=(400, "invalid_parameter"),
    answers_422=(422, "invalid_parameter"),
    answers_invalid_request=(400, "invalid_request"),
)
def malformed_value(world: World) -> Any:
    return refusal(world.client.post("/quotes", json={**QUOTE, "type": "sideways"}))


@case("H6", usual=201, unknown_is_refused=400)
def unknown_field(world: World) -> Any:
    return world.client.post("/quotes", json={**QUOTE, "customer_note": "for Asha"}).status_code


@case(
    "H10",
    usual="2026-01-05T08:00:00.000Z",
    whole_seconds="2026-01-05T08:00:00Z",
    offset_for_utc="2026-01-05T08:00:00.000+00:00",
)
def when_it_was_made(world: World) -> Any:
    ramp = onramp(world, reference="2026-01-05T08:00:00.000Z")
    event = world.event("transaction.created")
    assert event["created_at"] == event["data"]["object"]["created_at"] == ramp["created_at"]
    assert ramp["reference"] == "2026-01-05T08:00:00.000Z"
    return ramp["created_at"]


@case("H11", usual=True, only_in_the_header=False)
def request_id_in_the_envelope(world: World) -> Any:
    answer = world.client.get("/quotes/qt_unknown")
    assert answer.headers["X-Request-Id"]
    return "request_id" in answer.json()["error"]


@case("H13", usual=(400, "invalid_request"), answers_415=(415, "invalid_request"), any_type_is_taken=201)
def plain_text(world: World) -> Any:
    answer = world.client.post("/quotes", content=world.client.build_request("POST", "/", json=QUOTE).content,
                               headers={"Content-Type": "text/plain"})  # fmt: skip
    return refusal(answer) if answer.is_error else answer.status_code


@case("H14", usual=[True, True, False], lapses_after_1h=[True, False, False], lapses_after_7d=[True, True, True])
def remembered_after_59_minutes_2_hours_and_2_days(world: World) -> Any:
    first = post(world, "/quotes", QUOTE, Idempotency_Key="k")

    def is_remembered(span: str) -> bool:
        world.advance(span)
        answer: bool = post(world, "/quotes", QUOTE, Idempotency_Key="k")["id"] == first["id"]
        return answer

    seen = [is_remembered("59m")]
    world.reset()
    first = post(world, "/quotes", QUOTE, Idempotency_Key="k")
    seen.append(is_remembered("2h"))
    world.reset()
    first = post(world, "/quotes", QUOTE, Idempotency_Key="k")
    return [*seen, is_remembered("2d")]


@case("H14", usual=[422, 422], refusals_bind_no_key=[422, 201])
def refused_then_funded(world: World) -> Any:
    def try_it() -> int:
        return world.client.post("/wallet/send", json=sending(), headers={"Idempotency-Key": "k"}).status_code

    world.act("set_balance", symbol="USDC", network="CELO", amount="0")
    first = try_it()
    funded(world)
    return [first, try_it()]


@case("H14", usual=409, conflict_answers_422=422)
def another_body_under_the_key(world: World) -> Any:
    post(world, "/quotes", QUOTE, Idempotency_Key="k")
    answer = world.client.post("/quotes", json={**QUOTE, "amount": "5001"}, headers={"Idempotency-Key": "k"})
    assert answer.json()["error"]["code"] == "idempotency_conflict"
    return answer.status_code


@case(
    "H14", usual="Idempotent-Replayed", replay_is_not_marked=None, mark_is_idempotency_replayed="Idempotency-Replayed"
)
def mark_of_a_replay(world: World) -> Any:
    first = post(world, "/quotes", QUOTE, Idempotency_Key="k")
    again = world.client.post("/quotes", json=QUOTE, headers={"Idempotency-Key": "k"})
    assert again.json() == first
    names = ("Idempotent-Replayed", "Idempotency-Replayed")
    return next((name for name in names if again.headers.get(name) == "true"), None)


@case("H17", usual=(401, "invalid_credentials"), answers_unauthorized=(401, "unauthorized"))
def wrong_secret(world: World) -> Any:
    pair = {"public_key": world.keys.public_key, "secret_key": "sk_test_wrong"}
    return refusal(world.client.post("/auth/token", json=pair))


@case("H18", usual=200, kyc_for_every_call=403)
def reading_without_kyc(world: World) -> Any:
    world.act("set_kyc", status="rejected")
    assert world.client.get("/profile").status_code == 200
    return world.client.get("/transactions").status_code


@case("H19", usual=True, not_given_is_absent=False)
def reference_that_was_not_given(world: World) -> Any:
    ramp = onramp(world)
    assert "tx_hash" in ramp
    assert ("reference" in get(world, "/transactions")["data"][0]) == ("reference" in ramp)
    return "reference" in ramp


@case("S16", usual=[False, True], send_hash_at_completion=[True, True])
def hash_of_a_send(world: World) -> Any:
    funded(world)
    sent = send(world)
    world.act("broadcast", sent)
    is_null = get(world, f"/transactions/{sent['id']}")["tx_hash"] is None
    return [is_null, after(world, "complete", sent)["tx_hash"] is not None]


@case("H12", usual=400, too_large_answers_413=413)
def two_megabytes(world: World) -> Any:
    return world.client.post("/quotes", json={**QUOTE, "customer_note": "x" * 2_000_000}).status_code


@case("H15", usual="30", retry_after_is_a_date="Mon, 05 Jan 2026 08:00:30 GMT")
def retry_after(world: World) -> Any:
    world.fault("GET /rates", respond={"status": 429, "code": "rate_limited", "retry_after": 30})
    by_fault = world.client.get("/rates").headers["Retry-After"]
    world.control("PATCH", "/settings", {"rate_limit": "1/30"})
    world.client.get("/profile")
    assert world.client.get("/profile").headers["Retry-After"] == by_fault
    return by_fault


@case("L6", usual=[dict, dict, dict, dict], bare_lists=[list, list, list, dict])
def answers_of_lists(world: World) -> Any:
    return [type(get(world, path)) for path in ("/webhooks", "/wallet/assets", "/currencies", "/transactions")]
