"""The tour through ramp quotes, onramps, offramps, deposit wallets and Lightning."""

from __future__ import annotations

from typing import Any

from contracts.generator.route.places import CELO, PHONE, STELLAR
from contracts.generator.tour import Guide


def onramp_quote(**changes: Any) -> dict[str, Any]:
    return {
        "type": "onramp",
        "network": "stellar",
        "asset": "USDC",
        "fiat_currency": "KES",
        "amount": "5000",
        "amount_currency": "KES",
        "method": "mobile_money",
        **changes,
    }


def offramp_quote(**changes: Any) -> dict[str, Any]:
    return onramp_quote(**{"type": "offramp", "network": "celo", "amount": "30", "amount_currency": "USDC", **changes})


CONFIRM: dict[str, Any] = {
    "wallet_address": STELLAR,
    "payer": {"phone_number": PHONE},
    "reference": "order-1001",
}


async def onramps(guide: Guide) -> None:
    quote = await guide.call("POST", "/quotes", onramp_quote(), title="onramp")
    await guide.call("GET", f"/quotes/{quote['id']}")
    path = f"/quotes/{quote['id']}/confirm"
    await guide.call("POST", path, {"payer": {}})
    await guide.call("POST", path, {**CONFIRM, "payer": {"phone_number": "12"}})
    await guide.call("POST", path, {**CONFIRM, "wallet_address": CELO})
    key = {"idempotency-key": "confirm-1001"}
    ramp = await guide.call("POST", path, CONFIRM, headers=key, title="onramp by mobile money")
    await guide.call("POST", path, CONFIRM, headers=key, title="the same request again")
    await guide.call("POST", path, {**CONFIRM, "reference": "another"}, headers=key)
    await guide.call("POST", path, CONFIRM)
    await guide.call("GET", f"/quotes/{quote['id']}", title="confirmed")
    guide.act("payment_arrives", ramp["id"])
    await guide.call("GET", f"/transactions/{ramp['id']}", title="onramp")
    guide.act("complete", ramp["id"])
    await guide.call("GET", f"/transactions/{ramp['id']}", title="completed")
    await guide.call("GET", f"/orders/{ramp['order_id']}", title="onramp")
    guide.act("refund", ramp["id"])
    by_bank = await guide.call(
        "POST",
        "/quotes",
        onramp_quote(
            network="celo",
            asset="CUSD",
            fiat_currency="ZAR",
            amount_currency="CUSD",
            amount="30",
            method="bank_transfer",
        ),
        title="by bank transfer",
    )
    payer = {"account_name": "Thandi Nkosi", "account_number": "1234567890", "bank_code": "250655"}
    for unknown in ({"bank_code": "999999"}, {"account_number": "12"}):
        body = {"wallet_address": CELO, "payer": {**payer, **unknown}}
        await guide.call("POST", f"/quotes/{by_bank['id']}/confirm", body)
    second = await guide.call(
        "POST",
        f"/quotes/{by_bank['id']}/confirm",
        {"wallet_address": CELO, "payer": payer},
        title="onramp by bank transfer",
    )
    guide.act("payment_arrives", second["id"])
    guide.act("fail", second["id"], failure_code="internal_error")
    await guide.call("GET", f"/orders/{second['id']}")
    sad: tuple[tuple[dict[str, str], str, dict[str, str]], ...] = (
        ({}, "payment_declined", {}),
        ({"network": "celo", "asset": "CELO"}, "payment_arrives", {"amount": "10"}),
        ({"asset": "XLM"}, "", {}),
    )
    for changes, action, values in sad:
        one = await guide.call("POST", "/quotes", onramp_quote(**changes))
        where = CELO if one["network"] == "celo" else STELLAR
        confirm = {**CONFIRM, "wallet_address": where, "memo": "7", "reference": None}
        ramp = await guide.call("POST", f"/quotes/{one['id']}/confirm", confirm)
        if action:
            guide.act(action, ramp["id"], **values)
        await guide.call("GET", f"/transactions/{ramp['id']}")
    for wrong in (
        {"amount": "1"},
        {"amount": "140000000"},
        {"asset": "CELO"},
        {"method": "card"},
        {"amount": 5000},
        {"fiat_currency": "ZAR", "amount_currency": "ZAR"},
        {"amount_currency": None},
    ):
        await guide.call("POST", "/quotes", onramp_quote(**wrong))
    left = await guide.call("POST", "/quotes", onramp_quote())
    await guide.advance("30m")
    await guide.call("GET", f"/quotes/{left['id']}", title="expired")
    await guide.call("POST", f"/quotes/{left['id']}/confirm", CONFIRM)
    await guide.call("GET", "/quotes/qt_0000000000")
    await guide.call("POST", "/quotes/qt_0000000000/confirm", CONFIRM)


async def offramps(guide: Guide, saved: dict[str, Any]) -> None:
    confirm = {"beneficiary_id": saved["phone_number"]["id"], "refund_address": CELO, "reference": "payout-7"}
    ways: tuple[tuple[str, dict[str, Any], tuple[tuple[str, dict[str, Any]], ...]], ...] = (
        ("celo", {}, (("deposit_arrives", {}), ("complete", {}))),
        (
            "stellar",
            {"amount": "4000", "amount_currency": "KES"},
            (("deposit_arrives", {}), ("fail", {}), ("refund", {})),
        ),
        ("celo", {"asset": "USDT", "amount_currency": "USDT"}, (("deposit_arrives", {"amount": "1"}), ("refund", {}))),
        ("celo", {}, ()),
    )
    for network, changes, actions in ways:
        address = STELLAR if network == "stellar" else CELO
        quote = await guide.call("POST", "/quotes", offramp_quote(network=network, **changes), title="offramp")
        path = f"/quotes/{quote['id']}/confirm"
        await guide.call(
            "POST", path, {**confirm, "beneficiary_id": saved["bank_account"]["id"], "refund_address": address}
        )
        await guide.call("POST", path, {**confirm, "beneficiary_id": "ben_0000000000", "refund_address": address})
        ramp = await guide.call("POST", path, {**confirm, "refund_address": address}, title=f"offramp from {network}")
        for action, values in actions:
            guide.act(action, ramp["id"], **values)
            await guide.call("GET", f"/transactions/{ramp['id']}", title=f"offramp after {action}")
        await guide.call("GET", f"/orders/{ramp['order_id']}", title="offramp")
    guide.act("set_network", network="celo", status="down")
    await guide.call("POST", "/quotes", offramp_quote())
    guide.act("set_network", network="celo", status="operational")
    quote = await guide.call("POST", "/quotes", offramp_quote())
    guide.act("set_network", network="celo", status="down")
    await guide.call("POST", f"/quotes/{quote['id']}/confirm", confirm)
    guide.act("set_network", network="celo", status="operational")
    quote = await guide.call("POST", "/quotes", offramp_quote())
    guide.act("set_limits", daily="100.00")
    await guide.call("POST", f"/quotes/{quote['id']}/confirm", confirm)
    guide.act("set_limits", daily="3000000.00")
    guide.act("set_fee_product", "fee_offramp_usdc_celo_kes", status="inactive")
    await guide.call("POST", f"/quotes/{quote['id']}/confirm", confirm)
    guide.act("set_fee_product", "fee_offramp_usdc_celo_kes", status="active")
    await guide.advance("31m")


async def wallets(guide: Guide) -> None:
    made = {}
    for network, more in (
        ("stellar", {"label": "Shop", "reference": "shop-1"}),
        ("celo", {}),
        ("bitcoin", {"lightning": True, "label": "Tips"}),
    ):
        made[network] = await guide.call("POST", "/wallets", {"network": network, **more}, title=network)
    await guide.call("POST", "/wallets", {"network": "STELLAR"})
    await guide.call("POST", "/wallets", {"label": "None"})
    await guide.call("POST", "/wallets", {"network": "celo", "label": 7})
    guide.act("set_network", network="celo", status="down")
    await guide.call("POST", "/wallets", {"network": "celo"})
    guide.act("set_network", network="celo", status="operational")
    await guide.call("GET", "/wallets")
    await guide.call("GET", "/wallets", query={"network": "btc"})
    await guide.call("GET", "/wallets", query={"start_date": "2026-02-01", "end_date": "2026-01-01"})
    await guide.call("GET", "/wallets/wal_0000000000")
    stellar, celo, bitcoin = (made[network]["id"] for network in ("stellar", "celo", "bitcoin"))
    first = guide.act("deposit_arrives", stellar, asset="USDC", amount="25").resource or {}
    guide.act("deposit_confirms", first["id"])
    guide.act("deposit_arrives", stellar, asset="USDC", amount="25", memo="")
    guide.act("deposit_arrives", celo, asset="BTC", amount="1")
    second = guide.act("deposit_arrives", bitcoin, asset="BTC", amount="0.01").resource or {}
    guide.act("confirmation_arrives", second["id"])
    third = guide.act("deposit_arrives", bitcoin, asset="BTC", amount="0.01").resource or {}
    guide.act("deposit_fails", third["id"])
    await lightning(guide, bitcoin, stellar)
    for wallet in made.values():
        path = f"/wallets/{wallet['id']}"
        await guide.call("GET", path, title=wallet["network"])
        await guide.call("GET", f"{path}/deposits", title=wallet["network"])
    await guide.call("GET", f"/wallets/{stellar}/deposits", query={"status": "confirmed", "sort_by": "amount"})
    await guide.call("GET", f"/wallets/{stellar}/deposits", query={"status": "lost"})
    await guide.call("GET", "/wallets/wal_0000000000/deposits")
    await guide.call("PATCH", f"/wallets/{celo}", {"label": "Old", "status": "disabled"}, title="disable")
    await guide.call("PATCH", f"/wallets/{celo}", {"status": "closed"})
    await guide.call("PATCH", f"/wallets/{celo}", {"status": "active"}, title="enable")
    await guide.call("PATCH", "/wallets/wal_0000000000", {})
    await guide.call("PATCH", f"/wallets/{bitcoin}", {"status": "disabled"})
    await guide.call("POST", f"/wallets/{bitcoin}/lightning", {"type": "lightning_address"})
    await guide.call("PATCH", f"/wallets/{bitcoin}", {"status": "active"})


async def lightning(guide: Guide, bitcoin: str, stellar: str) -> None:
    path = f"/wallets/{bitcoin}/lightning"
    address = await guide.call(
        "POST", path, {"type": "lightning_address", "username": "tips"}, title="lightning_address"
    )
    invoice = await guide.call(
        "POST", path, {"type": "invoice", "amount_sats": 1000, "description": "Coffee"}, title="invoice"
    )
    later = await guide.call("POST", path, {"type": "invoice", "amount_sats": 2000, "expires_in": 60})
    await guide.call("POST", path, {"type": "invoice"})
    await guide.call("POST", path, {"type": "lightning_address", "username": "tips"})
    await guide.call("POST", f"/wallets/{stellar}/lightning", {"type": "lightning_address"})
    await guide.call("POST", "/wallets/wal_0000000000/lightning", {"type": "lightning_address"})
    guide.act("lightning_payment_arrives", address["id"], amount_sats=1000)
    guide.act("invoice_paid", invoice["id"])
    await guide.advance("1m")
    await guide.call("GET", path)
    await guide.call("GET", path, query={"status": "expired"})
    await guide.call("GET", path, query={"status": "lost"})
    await guide.call("GET", "/wallets/wal_0000000000/lightning")
    await guide.call("DELETE", f"{path}/{address['id']}")
    await guide.call("DELETE", f"{path}/{address['id']}")
    await guide.call("DELETE", f"{path}/{later['id']}")
