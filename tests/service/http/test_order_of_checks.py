"""The order of checks (decision H2), and the world that a call belongs to (S26), over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Answer, Remote
from tests.support import BENEFICIARY, CELO

CUSD = {"symbol": "CUSD", "network": "CELO"}


def beneficiary(world: Remote) -> str:
    made: str = world.api("POST", "/beneficiaries", BENEFICIARY).body["id"]
    return made


def quote(world: Remote, kind: str) -> str:
    """A quote of one of the four kinds."""
    pair = {"fiat_currency": "KES", "amount": "5000", "method": "mobile_money"}
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "ramp": (
            "/quotes",
            {**pair, "type": "onramp", "network": "celo", "asset": "CUSD", "amount_currency": "KES"},
        ),
        "buy": ("/wallet/buy/quote", {**pair, **CUSD, "amount_currency": "fiat"}),
        "swap": (
            "/wallet/swap/quote",
            {"from": CUSD, "to": {"symbol": "USDC", "network": "CELO"}, "amount": "20", "amount_side": "from"},
        ),
        "withdraw": (
            "/wallet/withdraw/quote",
            {**CUSD, "fiat_currency": "KES", "amount": "20", "amount_currency": "CUSD"},
        ),
    }
    path, body = bodies[kind]
    if kind == "withdraw":
        body["beneficiary_id"] = beneficiary(world)
    made: str = world.api("POST", path, body).body["id"]
    return made


def use(world: Remote, kind: str, quote_id: str, phone: str = "+254712345678", **more: Any) -> Answer:
    payer = {"phone_number": phone}
    if kind == "ramp":
        body: dict[str, Any] = {"wallet_address": CELO, "payer": payer}
        return world.api("POST", f"/quotes/{quote_id}/confirm", {**body, **more})
    return world.api("POST", f"/wallet/{kind}", {"quote_id": quote_id, **({"payer": payer} if kind == "buy" else {})})


def spoil(world: Remote) -> None:
    """Make every business rule fail: no balance, no limits, no network, no beneficiary."""
    world.act("set_balance", symbol="CUSD", network="CELO", amount="0")
    world.act("set_limits", per_transaction="1.00")
    world.act("set_network", network="celo", status="down")
    for row in world.api("GET", "/beneficiaries").body["data"]:
        world.api("DELETE", f"/beneficiaries/{row['id']}")


def test_h2_mistakes_are_reported_one_by_one_in_order(world: Remote) -> None:
    wallets = {name: world.api("POST", "/wallets", {"network": name}).body["id"] for name in ("celo", "bitcoin")}
    world.api("PATCH", f"/wallets/{wallets['bitcoin']}", {"status": "disabled"})
    world.api("POST", "/wallets", {"network": "celo"}, {"Idempotency-Key": "used"})
    pair = world.act("create_key", permissions=["read"]).body["resource"]
    keys = {name: pair[name] for name in ("public_key", "secret_key")}
    reader = world.call("POST", f"{world.base()}/auth/token", json=keys).body["access_token"]

    def told(path: str, body: bytes, token: str | None = None, key: str = "used", method: str = "POST") -> Any:
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        answer = world.call(method, world.base() + path, headers=headers, content=body)
        return answer.refusal

    missing, malformed, good = (
        b'{"type":"invoice"}',
        b'{"type":"invoice","amount_sats":0}',
        b'{"type":"lightning_address"}',
    )
    celo, bitcoin = (f"/wallets/{wallets[name]}/lightning" for name in ("celo", "bitcoin"))
    token = world.token()
    assert told("/nowhere", b"[]", method="PUT") == (404, "not_found", None)
    assert told("/wallets/x/lightning", b"[]", method="PUT") == (405, "invalid_request", None)
    assert told("/wallets/x/lightning", b"[]") == (401, "unauthorized", None)
    assert told("/wallets/x/lightning", b"[]", reader) == (403, "forbidden", None)
    assert told("/wallets/x/lightning", b"[]", token) == (404, "not_found", None)
    assert told(celo, b"[]", token) == (400, "invalid_request", None)
    assert told(celo, missing, token) == (400, "missing_parameter", "amount_sats")
    assert told(celo, malformed, token) == (400, "invalid_parameter", "amount_sats")
    assert told(celo, good, token) == (409, "idempotency_conflict", None)
    assert told(celo, good, token, "fresh") == (422, "unsupported_network", None)
    assert told(bitcoin, good, token, "other") == (409, "wallet_disabled", None)


@pytest.mark.parametrize("kind", ["ramp", "buy", "swap", "withdraw"])
def test_h2_a_used_quote_says_so_regardless_of_other_changes(world: Remote, kind: str) -> None:
    quote_id = quote(world, kind)
    assert use(world, kind, quote_id).status == 201
    spoil(world)
    answer = use(world, kind, quote_id, phone="+1")
    assert (answer.status, answer.code) == (409, "quote_already_used")


@pytest.mark.parametrize("kind", ["ramp", "buy", "swap", "withdraw"])
def test_h2_an_expired_quote_says_so_regardless_of_other_changes(world: Remote, kind: str) -> None:
    quote_id = quote(world, kind)
    world.advance(by="30m")
    spoil(world)
    answer = use(world, kind, quote_id, phone="+1")
    assert (answer.status, answer.code) == (422, "quote_expired")


def test_h2_a_used_quote_is_refused_before_its_beneficiary(world: Remote) -> None:
    body = {
        "type": "offramp",
        "network": "celo",
        "asset": "CUSD",
        "fiat_currency": "KES",
        "amount": "20",
        "amount_currency": "CUSD",
        "method": "mobile_money",
    }
    quote_id = world.api("POST", "/quotes", body).body["id"]
    path = f"/quotes/{quote_id}/confirm"
    good = {"beneficiary_id": beneficiary(world), "refund_address": CELO}
    assert world.api("POST", path, good).status == 201
    assert world.api("POST", path, {"beneficiary_id": "ben_none", "refund_address": "x"}).code == "quote_already_used"


@pytest.mark.parametrize("kind", ["ramp", "buy"])
def test_h2_the_answer_of_a_scenario_comes_after_the_state_of_the_quote(autopilot_world: Remote, kind: str) -> None:
    quote_id = quote(autopilot_world, kind)
    assert use(autopilot_world, kind, quote_id, phone="+254712340009").code == "payment_failed"
    assert use(autopilot_world, kind, quote_id).status == 201
    assert use(autopilot_world, kind, quote_id, phone="+254712340009").code == "quote_already_used"


@pytest.mark.parametrize("kind", ["ramp", "buy", "swap", "withdraw"])
def test_m15_a_quote_whose_fee_product_is_no_longer_active_cannot_be_used(world: Remote, kind: str) -> None:
    quote_id = quote(world, kind)
    product = "onramp" if kind == "ramp" else kind
    rows = world.api("GET", "/fees", params={"product": product, "size": "100"}).body["data"]
    for row in rows:
        world.act("set_fee_product", row["id"], status="inactive")
    assert use(world, kind, quote_id).refusal[:2] == (422, "unsupported_pair")
    for row in rows:
        world.act("set_fee_product", row["id"], status="active")
    assert use(world, kind, quote_id).status == 201


def test_h2_invalid_fields_come_before_the_state_of_the_quote(world: Remote) -> None:
    quote_id = quote(world, "ramp")
    assert use(world, "ramp", quote_id).status == 201
    path = f"/quotes/{quote_id}/confirm"
    assert world.api("POST", path, {"wallet_address": 7}).refusal == (400, "missing_parameter", "payer")
    assert use(world, "ramp", quote_id, memo=7).refusal == (400, "invalid_parameter", "memo")


@pytest.mark.parametrize("destination", [{"type": "platform_user"}, {"type": "lightning", "invoice": None}])
def test_h2_an_empty_destination_precedes_a_malformed_amount(world: Remote, destination: dict[str, Any]) -> None:
    body = {"symbol": "BTC", "network": "BITCOIN", "amount": "x", "destination": destination}
    for path in ("/wallet/send", "/wallet/send/estimate"):
        assert world.api("POST", path, body).refusal == (400, "missing_parameter", "destination")
    payment = {"name": "r", "type": "send", "source": CUSD, "amount": "x", "amount_currency": "CUSD"}
    refused = world.api("POST", "/recurring-payments", {**payment, "recipient": {"destination": destination}})
    assert refused.refusal == (400, "missing_parameter", "recipient.destination")


def test_h2_an_id_that_is_not_there_comes_before_a_network_that_is_down(world: Remote) -> None:
    quote_id = quote(world, "withdraw")
    world.act("set_network", network="celo", status="down")
    for row in world.api("GET", "/beneficiaries").body["data"]:
        world.api("DELETE", f"/beneficiaries/{row['id']}")
    assert use(world, "withdraw", quote_id).refusal == (404, "not_found", "beneficiary_id")


def test_s26_the_token_exchange_ignores_an_authorization_header(world: Remote) -> None:
    other = world.another(seed=2, scenarios=[])
    keys = {name: world.world["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
    for credential in (other.token(), other.world["credentials"]["sandbox"]["public_key"], "nonsense"):
        headers = {"Authorization": f"Bearer {credential}"}
        answer = world.call("POST", f"{world.base()}/auth/token", json=keys, headers=headers)
        assert answer.status == 200
        world.tokens["sandbox"] = answer.body["access_token"]
        assert world.api("GET", "/profile").status == 200
    exchanges = [row["path"] for row in world.control("GET", "/requests").body["data"] if row["method"] == "POST"]
    assert exchanges == ["/v1/auth/token"] * 3


def test_s26_an_unknown_key_belongs_to_the_default_world(world: Remote) -> None:
    headers = {"Authorization": f"Bearer {world.token()}"}
    before = len(world.control("GET", "/requests").body["data"])
    keys = {"public_key": "pk_test_nobody", "secret_key": "sk_test_nobody"}
    assert world.call("POST", f"{world.base()}/auth/token", json=keys, headers=headers).code == "invalid_credentials"
    assert len(world.control("GET", "/requests").body["data"]) == before


@pytest.mark.parametrize(
    ("payer", "param"),
    [("x", "payer"), (5, "payer"), ([], "payer"), ({"phone_number": 5}, "payer.phone_number")],
)
def test_a_payer_is_malformed_before_a_quote_is_unknown(world: Remote, payer: Any, param: str) -> None:
    """H2: malformed values come before the ids of a body."""
    answer = world.api("POST", "/wallet/buy", {"quote_id": "bq_nope", "payer": payer})
    assert answer.refusal == (400, "invalid_parameter", param)
    unknown = world.api("POST", "/wallet/buy", {"quote_id": "bq_nope", "payer": {"phone_number": "+254712345678"}})
    assert unknown.refusal[:2] == (404, "quote_not_found")
