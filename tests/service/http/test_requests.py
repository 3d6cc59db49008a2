"""Behaviour common to all calls: order of checks, hostile bodies, limits, gates, request ids."""

from __future__ import annotations

import httpx
import pytest

from tests.remote import Answer, Remote
from tests.support import CELO, QUOTE


def raw(world: Remote, body: bytes, content_type: str | None = "application/json", path: str = "/quotes") -> Answer:
    headers = {"Authorization": f"Bearer {world.token()}"}
    if content_type is not None:
        headers["Content-Type"] = content_type
    return world.call("POST", world.base() + path, headers=headers, content=body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"amount":"' + b"1" * 1_100_000 + b'"}',
        b'{"type":"\x00"}',
        b"null",
        b"",
    ],
    ids=["deep", "deeper than 32", "huge", "NUL", "null", "empty"],
)  # fmt: skip
def test_a_hostile_body_is_refused_at_once(world: Remote, body: bytes) -> None:
    """Decision H12: what is no JSON object within the bounds is `invalid_request`, never a 500."""
    answer = raw(world, body)
    assert (answer.status, answer.code) == (400, "invalid_request")


@pytest.mark.parametrize("number", [b"1e999999", b"-1e400", b"9" * 400])
def test_a_number_of_any_size_is_json(world: Remote, number: bytes) -> None:
    assert raw(world, b'{"amount":' + number + b"}").refusal == (400, "missing_parameter", "type")
    known = b'{"network":"bitcoin","label":' + number + b"}"
    assert raw(world, known, path="/wallets").refusal == (400, "invalid_parameter", "label")
    unknown = b'{"network":"bitcoin","colour":[' + number + b"]}"
    wallet = raw(world, unknown, path="/wallets")
    assert wallet.status == 201
    assert world.control("GET", f"/resources/{wallet.body['id']}").status == 200
    assert world.control("PUT", "/state", world.control("GET", "/state").body).status == 200
    sats = b'{"type":"invoice","amount_sats":' + number + b"}"
    world.tokens.clear()
    refused = raw(world, sats, path=f"/wallets/{wallet.body['id']}/lightning")
    assert refused.refusal == (400, "invalid_parameter", "amount_sats")


def test_an_object_nested_thirty_two_deep_is_read(world: Remote) -> None:
    """Decision H12: 32 levels are read, 33 are refused."""
    deep = b'{"a":' * 32 + b"1" + b"}" * 32
    assert raw(world, deep).refusal == (400, "missing_parameter", "type")
    assert raw(world, b'{"a":' * 33 + b"1" + b"}" * 33).code == "invalid_request"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_called_json_is_refused(world: Remote, kind: str | None) -> None:
    """Decision H13."""
    answer = raw(world, b'{"type":"onramp"}', kind)
    assert (answer.status, answer.code) == (400, "invalid_request")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.x+json"])
def test_json_by_any_of_its_names_is_read(world: Remote, kind: str) -> None:
    """Decision H13: every JSON media type will do."""
    assert raw(world, b"{}", kind).refusal == (400, "missing_parameter", "type")


def test_unknown_paths_and_wrong_methods_need_no_token(world: Remote) -> None:
    """Decision H3: 405 with `Allow`, also for OPTIONS; a trailing slash is another path."""
    unknown = world.call("GET", world.base() + "/nowhere")
    assert (unknown.status, unknown.code) == (404, "not_found")
    assert world.call("GET", world.base() + "/quotes/").status == 404
    wrong = world.call("DELETE", world.base() + "/quotes")
    assert (wrong.status, wrong.code, wrong.headers["allow"]) == (405, "invalid_request", "POST")
    options = world.call("OPTIONS", world.base() + "/fees")
    assert (options.status, options.code, options.headers["allow"]) == (405, "invalid_request", "GET, HEAD")


def test_no_body_counts_as_an_empty_object_where_no_field_is_required(world: Remote) -> None:
    """Decision H4: elsewhere it is `invalid_request`."""
    wallet = world.api("POST", "/wallets", json={"network": "celo"}).body
    auth = {"Authorization": f"Bearer {world.token()}"}
    path = f"{world.base()}/wallets/{wallet['id']}"
    for headers in (auth, {**auth, "Content-Type": "application/json"}):
        unchanged = world.call("PATCH", path, headers=headers, content=b"")
        assert (unchanged.status, unchanged.body) == (200, wallet)
        refused = world.call("POST", f"{world.base()}/wallets", headers=headers, content=b"")
        assert (refused.status, refused.code) == (400, "invalid_request")


def test_each_environment_has_its_own_base_url_and_data(world: Remote) -> None:
    """Decision H16: nothing that is made under one base is seen under the other, whose events are live."""
    bases = {"sandbox": f"{world.origin}/v1", "production": f"{world.origin}/production/v1"}
    assert {name: world.base(name) for name in bases} == bases
    own, other = world.world["credentials"]["sandbox"], world.world["credentials"]["production"]
    assert not {own[name] for name in ("public_key", "secret_key", "webhook_key")} & set(other.values())
    made = {name: world.api("POST", "/wallets", json={"network": "celo"}, environment=name).body for name in bases}
    for name, wallet in made.items():
        assert [row["id"] for row in world.api("GET", "/wallets", environment=name).body["data"]] == [wallet["id"]]
    wrong = world.api("GET", f"/wallets/{made['sandbox']['id']}", environment="production")
    assert (wrong.status, wrong.code) == (404, "not_found")
    events = world.control("GET", "/events").body["data"]
    assert [(event["data"]["object"]["id"], event["livemode"]) for event in events] == [
        (made["sandbox"]["id"], False),
        (made["production"]["id"], True),
    ]


def test_a_path_outside_all_bases_is_404_in_the_default_world(server: Remote) -> None:
    answer = server.call("GET", f"{server.origin}/v2/profile")
    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.body["error"]["request_id"] == answer.headers["x-request-id"]


def test_head_follows_get_without_a_body(world: Remote) -> None:
    """Decision H3: HEAD follows GET."""
    auth = {"Authorization": f"Bearer {world.token()}"}
    head = world.call("HEAD", world.base() + "/profile", headers=auth)
    get = world.call("GET", world.base() + "/profile", headers=auth)
    assert (head.status, head.raw) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


@pytest.mark.parametrize("header", ["Bearer", "Basic abc", "nonsense"])
def test_a_call_without_a_good_token_is_unauthorized(world: Remote, header: str) -> None:
    """Decision H17: a bad token is 401 `unauthorized`."""
    answer = world.call("POST", world.base() + "/quotes", json={}, headers={"Authorization": header})
    assert (answer.status, answer.code) == (401, "unauthorized")


def test_every_answer_carries_its_request_id(world: Remote) -> None:
    """Decision H11: every response carries the header, every error envelope the same id."""
    good = world.api("GET", "/profile")
    bad = world.api("POST", "/quotes", json={})
    assert good.headers["x-request-id"].startswith("req_")
    assert bad.body["error"]["request_id"] == bad.headers["x-request-id"]
    assert good.headers["x-request-id"] != bad.headers["x-request-id"]


# Unknown fields


def test_unknown_fields_are_ignored_and_noted(world: Remote) -> None:
    """Decision H6: ignored, with an advice in the request journal."""
    assert world.api("POST", "/quotes?zest=1", json=QUOTE | {"colour": "red"}).status == 201
    journal = world.control("GET", "/requests", params={"limit": "1"}).body["data"]
    assert (journal[0]["advice"], journal[0]["unknown_fields"]) == (["unknown_field"], ["colour", "zest"])


def test_a_strict_world_refuses_unknown_fields(world: Remote) -> None:
    """Decision H6: with `strict` they are `invalid_parameter`, named."""
    assert world.control("PATCH", "/settings", {"strict": True}).body["strict"] is True
    assert world.api("POST", "/quotes", json=QUOTE | {"colour": "red"}).refusal == (400, "invalid_parameter", "colour")
    assert world.api("GET", "/profile?zest=1").refusal == (400, "invalid_parameter", "zest")
    assert world.api("GET", "/beneficiaries?page=1").status == 200


# Limits and gates


def test_the_rate_limit_says_how_long_to_wait(world: Remote) -> None:
    """Decision H15: 429 with `Retry-After` in seconds."""
    world.control("PATCH", "/settings", {"rate_limit": "2/10"})
    assert [world.api("GET", "/profile").status for _ in range(3)] == [200, 200, 429]
    world.advance(by="4s")
    refused = world.api("GET", "/profile")
    assert (refused.code, refused.headers["retry-after"]) == ("rate_limited", "6")
    world.advance(by="6s")
    assert world.api("GET", "/profile").status == 200


def test_a_rate_limit_under_a_paused_clock_says_what_to_do(world: Remote) -> None:
    world.control("PATCH", "/settings", {"rate_limit": "1/10"})
    assert [world.api("GET", "/profile").status for _ in range(2)] == [200, 429]
    message = world.api("GET", "/profile").body["error"]["message"]
    assert "advance it by 10s" in message
    assert "rate_limit_clock" in message
    world.control("PUT", "/clock", {"mode": "scaled", "rate": 0.001})
    assert "stands still" not in world.api("GET", "/profile").body["error"]["message"]


def test_a_rate_limit_may_count_on_the_wall_clock(world: Remote) -> None:
    world.control("PATCH", "/settings", {"rate_limit": "1/1000", "rate_limit_clock": "wall"})
    assert [world.api("GET", "/profile").status for _ in range(2)] == [200, 429]
    world.advance(by="50m")
    refused = world.api("GET", "/profile")
    assert (refused.status, int(refused.headers["retry-after"]) > 900) == (429, True)
    assert "stands still" not in refused.body["error"]["message"]


def test_a_malformed_rate_limit_is_refused(world: Remote) -> None:
    assert world.control("PATCH", "/settings", {"rate_limit": "0/1"}).refusal == (
        400,
        "invalid_parameter",
        "rate_limit",
    )


def test_withdrawn_production_access_stops_live_tokens_at_once(world: Remote) -> None:
    """Decision H18."""
    assert world.api("GET", "/profile", environment="production").status == 200
    world.act("set_production_access", granted=False)
    answer = world.api("GET", "/profile", environment="production")
    assert (answer.status, answer.code) == (403, "production_access_required")
    assert world.api("GET", "/profile").status == 200


# Two worlds, same bytes


def test_the_same_calls_in_two_worlds_of_one_seed_give_the_same_bytes(world: Remote) -> None:
    other = world.another(seed=1, scenarios=[])
    different = world.another(seed=2, scenarios=[])

    def story(remote: Remote) -> list[bytes]:
        quote = remote.api("POST", "/quotes", json=QUOTE)
        body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
        ramp = remote.api("POST", f"/quotes/{quote.body['id']}/confirm", json=body)
        wallet = remote.api("POST", "/wallets", json={"network": "bitcoin", "lightning": True})
        done = remote.act("payment_arrives", ramp.body["id"])
        remote.advance(by="1h")
        answers = [quote, ramp, wallet, done, remote.control("GET", "/events"), remote.api("GET", "/transactions")]
        return [answer.raw for answer in [*answers, remote.api("POST", "/quotes", json={})]]

    first = story(world)
    assert story(other) == first
    assert story(different)[0] != first[0]


# What the control interface shows of the account and of the fixed tables


def test_the_control_interface_shows_the_rates_and_the_banks(world: Remote) -> None:
    """Decisions M1 and R3: the rates that quotes lock, and every bank with its code, country and name."""
    pair = {"type": "onramp", "network": "celo", "asset": "CUSD", "fiat_currency": "KES"}
    rates = world.control("GET", "/rates").body
    assert set(rates) >= {"mid", "onramp", "offramp", "swap"}
    (shown,) = (row for row in rates["onramp"] if (row["asset"], row["fiat_currency"]) == ("CUSD", "KES"))
    assert shown["rate"] == world.api("GET", "/rates", params=pair).body["rate"]
    banks = world.control("GET", "/reference").body["banks"]
    assert len(banks) == 25
    assert all(set(row) >= {"country", "bank_code", "bank_name"} and row["bank_name"] for row in banks)


def test_the_journal_is_bounded_and_counts_dropped_entries(origin: str, http: httpx.Client) -> None:
    small = Remote(origin, http).another(seed=1, scenarios=[], settings={"journal_bytes": 100_000})
    for _ in range(20):
        small.api("POST", "/quotes", {"reference": "x" * 10_000})
    kept = small.control("GET", "/requests").body
    assert len(kept["data"]) + kept["dropped"] == 21
    assert 5 <= len(kept["data"]) <= 9
    assert kept["truncated"] is True
    advice = small.control("GET", "/advice").body
    assert (advice["dropped"], advice["truncated"]) == (kept["dropped"], True)
    assert small.control("PATCH", "/settings", {"journal_limit": 2}).status == 200
    assert len(small.control("GET", "/requests").body["data"]) == 2
    snapshot = small.control("POST", "/snapshots").body["id"]
    small.control("POST", f"/snapshots/{snapshot}/restore")
    assert small.control("GET", "/requests").body["dropped"] == 19


def test_of_a_strangers_body_little_is_kept(server: Remote) -> None:
    server.call("POST", f"{server.origin}/v1/quotes", content=b"z" * 500_000)
    kept = server.control("GET", "/requests", params={"limit": "1"}).body["data"][0]
    assert len(kept["body"]) < 70_000
    assert kept["body"].endswith("(cut; 500000 bytes in all)")
