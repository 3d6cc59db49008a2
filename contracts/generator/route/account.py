"""The tour through keys, webhooks, reference data, fees, beneficiaries and the profile."""

from __future__ import annotations

from typing import Any

from contracts.generator.route.places import CELO, PHONE
from contracts.generator.tour import Guide


async def authentication(guide: Guide) -> None:
    keys = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
    await guide.call("POST", "/auth/token", keys, token=False, title="token")
    for body in (
        {"public_key": "pk_test_simulator"},
        {**keys, "secret_key": "sk_test_wrong"},
        {"public_key": "pk_live_simulator", "secret_key": "sk_live_simulator"},
    ):
        await guide.call("POST", "/auth/token", body, token=False)
    await guide.call("GET", "/profile", token=False)
    guide.act("set_production_access", granted=False)
    live = {"public_key": "pk_live_simulator", "secret_key": "sk_live_simulator"}
    await guide.call("POST", "/auth/token", live, token=False, environment="production")
    guide.act("set_production_access", granted=True)
    await guide.call("GET", "/profile", environment="production", title="production")


async def webhooks(guide: Guide) -> None:
    endpoint = await guide.call(
        "POST",
        "/webhooks",
        {"url": "https://shop.example.com/webhooks", "events": ["*"], "description": "Everything"},
        title="everything",
    )
    path = f"/webhooks/{endpoint['id']}"
    await guide.call("POST", "/webhooks", {"url": "https://shop.example.com/x", "events": ["transaction.paid"]})
    await guide.call("POST", "/webhooks", {"url": "ftp://shop.example.com/x", "events": ["*"]})
    guide.transport.script.append(204)
    await guide.call("POST", "/webhooks", {"url": "https://shop.example.com/y", "events": ["*"]})
    await guide.call("POST", "/webhooks", {"url": "https://shop.example.com/y"})
    await guide.call("GET", "/webhooks")
    await guide.call("GET", path)
    await guide.call("GET", "/webhooks/wh_0000000000")
    await guide.call("POST", f"{path}/test")
    guide.transport.script.append(500)
    await guide.call("POST", f"{path}/test")
    await guide.call("PATCH", path, {"status": "disabled"}, title="disable")
    await guide.call("POST", f"{path}/test")
    await guide.call("PATCH", path, {"status": "enabled", "description": None}, title="enable")
    await guide.call("PATCH", path, {"url": "not a url"})
    await guide.call("PATCH", path, {"events": ["nothing.known"]})
    await guide.call("PATCH", path, {"status": "gone"})
    await guide.call("PATCH", path, {"url": "https://shop.example.com/hooks"}, title="move")
    await guide.call("GET", f"{path}/deliveries")
    await guide.call("GET", f"{path}/deliveries", query={"status": "failed"})
    await guide.call("GET", f"{path}/deliveries", query={"status": "lost"})
    await guide.call("GET", "/webhooks", query={"page": "7"})
    await guide.call("POST", "/webhooks/wh_0000000000/test")
    await guide.call("DELETE", "/webhooks/wh_0000000000")
    await guide.call("PATCH", "/webhooks/wh_0000000000", {})
    await guide.call("GET", "/webhooks/wh_0000000000/deliveries")


async def reference_data(guide: Guide) -> None:
    await guide.call("GET", "/network/stats")
    await guide.call("GET", "/network/stats", query={"network": "celo"}, title="one network")
    await guide.call("GET", "/network/stats", query={"network": "bitcoin"})
    pair = {"type": "onramp", "network": "stellar", "asset": "USDC", "fiat_currency": "KES"}
    await guide.call("GET", "/rates", query=pair, title="onramp")
    await guide.call(
        "GET", "/rates", query={**pair, "type": "offramp", "network": "celo", "asset": "CUSD"}, title="offramp"
    )
    await guide.call("GET", "/rates", query={**pair, "asset": "CELO"})
    await guide.call("GET", "/rates", query={"type": "onramp"})
    await guide.call("GET", "/rates", query={**pair, "type": "sideways"})
    await guide.call("GET", "/currencies", query={"size": "2"})
    await guide.call("GET", "/currencies")
    await guide.call("GET", "/currencies", query={"network": "stellar"})
    await guide.call("GET", "/currencies", query={"start_date": "2026-02-01", "end_date": "2026-01-01"})
    await guide.call("GET", "/wallet/assets")
    await guide.call("GET", "/wallet/assets", query={"search": "x"})
    await guide.call("GET", "/wallet/assets", query={"start_date": "2026-02-01", "end_date": "2026-01-01"})
    for status in ("degraded", "down", "operational"):
        guide.act("set_network", network="celo", status=status)
        await guide.call("GET", "/network/stats", query={"network": "celo"}, title=status)


async def fees(guide: Guide) -> None:
    await guide.call("GET", "/fees", query={"size": "2", "product": "onramp,send"}, title="two products")
    await guide.call("GET", "/fees", query={"size": "100", "status": "all"})
    page = await guide.call("GET", "/fees", query={"size": "100", "page": "2"})
    await guide.call("GET", "/fees", query={"product": "tax"})
    page = await guide.call("GET", "/fees", query={"product": "onramp"})
    await guide.call("GET", f"/fees/{page['data'][0]['id']}")
    await guide.call("GET", "/fees/fee_unknown")
    onramp = {
        "product": "onramp",
        "amount": "5000",
        "currency": "KES",
        "network": "stellar",
        "fiat_currency": "KES",
        "payment_method": "phone_number",
    }
    swap = {"product": "swap", "amount": "30", "currency": "USDC", "network": "stellar", "to_asset": "XLM"}
    send = {"product": "send", "amount": "20", "currency": "USDC", "network": "celo"}
    transfer = {"product": "internal_transfer", "amount": "20", "currency": "USDC"}
    offramp = {"product": "offramp", "amount": "30", "currency": "USDC", "network": "celo", "fiat_currency": "KES"}
    withdraw = {"product": "withdraw", "amount": "30", "currency": "USDC", "fiat_currency": "KES"}
    buy = {"product": "buy", "amount": "5000", "currency": "KES", "fiat_currency": "KES"}
    for body in (onramp, swap, send, offramp, withdraw, buy, transfer):
        await guide.call("POST", "/fees/calculate", body, title=str(body["product"]))
    for change in (
        {"amount": "1"},
        {"amount": "99999999999"},
        {"amount": "1.001"},
        {"currency": "USDC"},
        {"network": None},
        {"product": "tax"},
    ):
        await guide.call("POST", "/fees/calculate", {**onramp, **change})


async def beneficiaries(guide: Guide) -> dict[str, Any]:
    bodies: dict[str, dict[str, Any]] = {
        "phone_number": {
            "type": "phone_number",
            "name": "Wanjiru Otieno",
            "country": "KE",
            "fiat_currency": "KES",
            "phone_number": {"phone_number": PHONE, "provider": "mpesa"},
        },
        "bank_account": {
            "type": "bank_account",
            "name": "Chidi Okafor",
            "country": "NG",
            "fiat_currency": "NGN",
            "bank_account": {"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Okafor"},
        },
        "wallet_address": {
            "type": "wallet_address",
            "name": "Savings",
            "wallet_address": {"wallet_address": CELO, "network": "celo", "asset": "cUSD"},
        },
    }
    saved = {}
    for kind, body in bodies.items():
        saved[kind] = await guide.call("POST", "/beneficiaries", body, title=kind)
    phone, bank, wallet = bodies["phone_number"], bodies["bank_account"], bodies["wallet_address"]
    for body in (
        {**phone, "phone_number": {"phone_number": "+254", "provider": "mpesa"}},
        {**phone, "phone_number": {"phone_number": PHONE, "provider": "venmo"}},
        {**phone, "phone_number": {"phone_number": PHONE, "provider": "zamtel"}},
        {**phone, "phone_number": None},
        {**bank, "bank_account": {**bank["bank_account"], "bank_code": "999"}},
        {**bank, "bank_account": {**bank["bank_account"], "account_number": "12"}},
        {**wallet, "wallet_address": {**wallet["wallet_address"], "asset": "XLM"}},
        {**wallet, "wallet_address": {**wallet["wallet_address"], "wallet_address": "0x1"}},
    ):
        await guide.call("POST", "/beneficiaries", body)
    await guide.call("GET", "/beneficiaries")
    await guide.call("GET", "/beneficiaries", query={"type": "bank_account,phone_number", "sort_by": "name"})
    await guide.call("GET", "/beneficiaries", query={"sort_by": "amount"})
    await guide.call("GET", "/beneficiaries", query={"start_date": "2026-02-01", "end_date": "2026-01-01"})
    for kind in bodies:
        await guide.call("GET", f"/beneficiaries/{saved[kind]['id']}", title=kind)
    await guide.call("GET", "/beneficiaries/ben_0000000000")
    await guide.call("DELETE", "/beneficiaries/ben_0000000000")
    return saved


async def removals(guide: Guide, saved: dict[str, Any]) -> None:
    for beneficiary in saved.values():
        await guide.call("DELETE", f"/beneficiaries/{beneficiary['id']}")
    page = await guide.call("GET", "/webhooks")
    await guide.call("DELETE", f"/webhooks/{page['data'][0]['id']}")
