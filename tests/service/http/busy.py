"""Calls and actions that create a row of every kind in a world."""

from __future__ import annotations

from typing import Any

from tests.remote import Remote
from tests.support import BENEFICIARY, CELO, STELLAR

STORM = {
    "name": "storm",
    "description": "Payments come late, and one rule counts.",
    "rules": [
        {
            "on": "transaction.awaiting_payment",
            "times": 5,
            "do": [
                {"after": {"between": ["2m", "3m"]}, "action": "payment_arrives"},
                {"after": "1h", "action": "fail"},
            ],
        }
    ],
    "timeline": [{"at": "5h", "action": "set_network", "network": "celo", "status": "degraded"}],
    "faults": [
        {"match": {"method": "PATCH", "path": "/profile"}, "respond": {"status": 503, "code": "internal_error"}}
    ],
}


def ok(answer: Any) -> Any:
    assert answer.status in (200, 201, 204), (answer.status, answer.body)
    return answer.body


def beneficiary(world: Remote, phone: str = "+254722000000") -> str:
    body = {**BENEFICIARY, "phone_number": {"phone_number": phone, "provider": "mpesa"}}
    return str(ok(world.api("POST", "/beneficiaries", body))["id"])


def onramp(
    world: Remote, headers: dict[str, str] | None = None, amount: str = "5000", reference: str = "a $ sign"
) -> Any:
    body = {
        "type": "onramp",
        "network": "celo",
        "asset": "CELO",
        "fiat_currency": "KES",
        "amount": amount,
        "amount_currency": "KES",
        "method": "bank_transfer",
    }
    quote = ok(world.api("POST", "/quotes", body))
    payer = {"account_name": "Juma", "account_number": "0011223344", "bank_code": "01"}
    confirm = {"wallet_address": CELO, "payer": payer, "reference": reference}
    return ok(world.api("POST", f"/quotes/{quote['id']}/confirm", confirm, headers))


def offramp(world: Remote) -> Any:
    body = {
        "type": "offramp",
        "network": "stellar",
        "asset": "USDC",
        "fiat_currency": "KES",
        "amount": "50",
        "amount_currency": "USDC",
        "method": "mobile_money",
    }
    quote = ok(world.api("POST", "/quotes", body))
    confirm = {"beneficiary_id": beneficiary(world, "+254733000001"), "refund_address": STELLAR}
    return ok(world.api("POST", f"/quotes/{quote['id']}/confirm", confirm))


def send(world: Remote, destination: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    body = {"symbol": "USDC", "network": "STELLAR", "amount": "12.10", "destination": destination, "reference": "gift"}
    return ok(world.api("POST", "/wallet/send", body, headers))


def swap(world: Remote) -> Any:
    sides = {name: {"symbol": code, "network": "STELLAR"} for name, code in (("from", "USDC"), ("to", "XLM"))}
    quote = ok(
        world.api("POST", "/wallet/swap/quote", {**sides, "amount": "10", "amount_side": "from", "slippage": 0.5})
    )
    return ok(world.api("POST", "/wallet/swap", {"quote_id": quote["id"]}))


def buy(world: Remote) -> Any:
    asset = {"symbol": "USDC", "network": "STELLAR", "fiat_currency": "KES"}
    quote = ok(
        world.api(
            "POST",
            "/wallet/buy/quote",
            {**asset, "amount": "5000", "amount_currency": "fiat", "method": "mobile_money"},
        )
    )
    return ok(world.api("POST", "/wallet/buy", {"quote_id": quote["id"], "payer": {"phone_number": "+254722000000"}}))


def withdraw(world: Remote) -> Any:
    asset = {"symbol": "USDC", "network": "STELLAR", "fiat_currency": "KES"}
    body = {**asset, "amount": "20", "amount_currency": "USDC", "beneficiary_id": beneficiary(world)}
    quote = ok(world.api("POST", "/wallet/withdraw/quote", body))
    return ok(world.api("POST", "/wallet/withdraw", {"quote_id": quote["id"]}))


def recurring(world: Remote, end: Any = None) -> str:
    body = {
        "name": "Rent",
        "type": "withdraw",
        "source": {"symbol": "USDC", "network": "STELLAR"},
        "amount": "20",
        "amount_currency": "USDC",
        "recipient": {"beneficiary_id": beneficiary(world)},
    }
    path = f"/recurring-payments/{ok(world.api('POST', '/recurring-payments', body))['id']}"
    schedule = {
        "frequency": "daily",
        "start_date": "2026-01-06",
        "end": end or {"type": "after_occurrences", "occurrences": 9},
    }
    ok(world.api("PUT", f"{path}/schedule", schedule))
    ok(world.api("GET", f"{path}/review"))
    ok(world.api("POST", f"{path}/activate"))
    return path


def wallets(world: Remote) -> None:
    """Deposit wallets of three networks, deposits in every state, Lightning."""
    made = {net: ok(world.api("POST", "/wallets", {"network": net})) for net in ("stellar", "celo", "bitcoin")}
    ok(world.act("deposit_arrives", made["stellar"]["id"], asset="XLM", amount="7.5", memo=made["stellar"].get("memo")))
    failing = ok(world.act("deposit_arrives", made["celo"]["id"], asset="USDC", amount="3"))["resource"]
    ok(world.act("deposit_fails", failing["id"], reason="too small"))
    arriving = ok(world.act("deposit_arrives", made["bitcoin"]["id"], asset="BTC", amount="0.001"))["resource"]
    ok(world.act("confirmation_arrives", arriving["id"]))
    path = f"/wallets/{made['bitcoin']['id']}/lightning"
    address = ok(world.api("POST", path, {"type": "lightning_address", "username": "till"}))
    ok(world.act("lightning_payment_arrives", address["id"], amount_sats=2100))
    invoice = ok(world.api("POST", path, {"type": "invoice", "amount_sats": 1500}))
    ok(world.act("invoice_paid", invoice["id"]))
    own = ok(world.api("POST", path, {"type": "invoice", "amount_sats": 2500}))
    destination = {"type": "lightning", "invoice": own["payment_request"]}
    paying = {"symbol": "BTC", "network": "BITCOIN", "amount": "0.000025", "destination": destination}
    ok(world.api("POST", "/wallet/send", paying))


def outside(world: Remote) -> None:
    """Actions of third parties on the account and the networks."""
    ok(world.act("set_kyc", status="action_required", level=2, required_actions=[]))
    ok(world.act("set_kyc", status="approved", level=3))
    ok(world.act("set_limits", daily="900000"))
    ok(world.act("set_rate", asset="USDC", fiat_currency="KES", rate="131.50"))
    ok(world.act("move_rates", percent=-2.5))
    ok(world.act("set_network", network="stellar", status="degraded"))
    ok(world.act("set_balance", symbol="USDC", network="CELO", amount="777.000001"))
    ok(world.act("create_key", label="second", permissions=["read"]))
    ok(world.act("create_key", environment="production"))
    ok(world.act("rotate_webhook_key"))
    product = ok(world.api("GET", "/fees"))["data"][0]
    ok(world.act("set_fee_product", product["id"], percentage="1.75"))
    ok(world.act("set_network", network="celo", status="operational", environment="production"))
    ok(world.act("emit", type="quote.expired"))


def webhooks(world: Remote, failing_url: str, good_url: str) -> None:
    for url, events in ((failing_url, ["transaction.completed", "deposit.detected"]), (good_url, ["*"])):
        ok(world.api("POST", "/webhooks", {"url": url, "events": events, "description": "till"}))
    for deliver in ({"delay": "90s"}, {"reorder": True}, {"copies": 2}, {"drop": True}):
        ok(world.control("POST", "/faults", {"webhook": {"event": "wallet.created"}, "deliver": deliver, "times": 1}))
    hooks = ok(world.api("GET", "/webhooks"))["data"]
    ok(world.api("POST", f"/webhooks/{hooks[0]['id']}/test"))


def busy_morning(world: Remote, failing_url: str, good_url: str) -> None:
    """Everything at once; afterwards steps, retries, runs and expiries are pending."""
    ok(world.control("PATCH", "/settings", {"rate_limit": "100000/60"}))
    ok(world.control("POST", "/scenarios", STORM))
    ok(world.control("PUT", "/scenarios/active", {"names": ["autopilot", "storm", "test-values"]}))
    webhooks(world, failing_url, good_url)
    outside(world)
    wallets(world)
    onramp(world, {"Idempotency-Key": "first"})
    onramp(world, {"X-Simulator-Scenario": "autopilot"})
    onramp(world, reference="simulator:autopilot")
    ramp = offramp(world)
    ok(world.act("deposit_arrives", ramp["id"], memo="wrong"))
    send(world, {"type": "platform_user", "email": "amina@example.test"}, {"Idempotency-Key": "gift"})
    send(world, {"type": "address", "address": STELLAR})
    swap(world)
    buy(world)
    withdraw(world)
    recurring(world)
    ok(world.api("DELETE", f"/beneficiaries/{beneficiary(world)}"))
    assert world.api("GET", "/nothing/here").status == 404
    quote = {"network": "celo", "asset": "CUSD", "fiat_currency": "KES", "amount": "9000", "amount_currency": "KES"}
    ok(world.api("POST", "/quotes", {**quote, "type": "onramp", "method": "mobile_money"}))
    ok(world.api("GET", "/wallet/assets", environment="production"))
    world.advance(by="45s")


def afternoon(world: Remote) -> list[Any]:
    """Make further calls and yield everything that a user or a test could read."""
    seen: list[Any] = []

    def look(method: str, path: str, json: Any = None, headers: dict[str, str] | None = None) -> None:
        answer = world.api(method, path, json, headers)
        seen.append((path, answer.status, answer.headers["x-request-id"], answer.raw))

    send_body = {
        "symbol": "USDC",
        "network": "STELLAR",
        "amount": "12.10",
        "destination": {"type": "platform_user", "email": "amina@example.test"},
        "reference": "gift",
    }
    look("POST", "/wallet/send", send_body, {"Idempotency-Key": "gift"})
    look("POST", "/wallet/send", {**send_body, "amount": "13"}, {"Idempotency-Key": "gift"})
    for span in ("1m", "3m", "1h", "1d"):
        ok(world.control("POST", "/settle"))  # else what is in flight counts here or there, as it happens
        seen.append(world.advance(by=span))
        seen.append(world.control("GET", "/timers").body)
        world.tokens.clear()
        seen.append(onramp(world, amount="7000"))
        seen.append(swap(world))
    ok(world.control("POST", "/settle"))
    for path in (
        "/orders",
        "/transactions",
        "/wallets",
        "/wallet/assets",
        "/webhooks",
        "/profile",
        "/fees",
        "/currencies",
    ):
        look("GET", path)
    seen.append(world.control("GET", "/events").raw)
    seen.append(world.control("GET", "/resources").raw)
    own = str(world.world["id"]).encode()  # links to the dashboard name the world
    seen.append(world.control("GET", "/advice").raw.replace(b"?world=" + own, b""))
    seen.append(world.control("GET", "/scenarios/storm").raw)
    seen.append(world.control("GET", "/emails").raw)
    for delivery in world.control("GET", "/deliveries").body["data"]:
        seen.append({name: delivery[name] for name in ("id", "event_id", "attempt", "status", "attempted_at")})
    return seen
