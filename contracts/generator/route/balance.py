"""The tour through send, swap, buy and withdraw."""

from __future__ import annotations

from typing import Any

from contracts.generator.route.places import PHONE, STELLAR
from contracts.generator.tour import Guide


def send_body(**changes: Any) -> dict[str, Any]:
    return {
        "symbol": "USDC",
        "network": "STELLAR",
        "amount": "20",
        "destination": {"type": "address", "address": STELLAR, "memo": "42"},
        **changes,
    }


async def sends(guide: Guide) -> None:
    user = {"type": "platform_user", "email": "amina@example.test"}
    for path in ("/wallet/send/estimate", "/wallet/send"):
        sent = await guide.call("POST", path, send_body(), title="address")
        await guide.call("POST", path, send_body(destination=user), title="platform_user")
        tip = {"type": "lightning", "lightning_address": "tips@example.com"}
        await guide.call(
            "POST", path, send_body(symbol="BTC", network="BITCOIN", amount="0.001", destination=tip), title="lightning"
        )
        for changes in (
            {"amount": "0"},
            {"amount": "1000000000"},
            {"network": "stellar"},
            {"symbol": "BTC"},
            {"amount": "abc"},
            {"destination": None},
            {"destination": {"type": "address", "address": "G123"}},
            {"destination": {"type": "platform_user", "email": "nobody@example.test"}},
            {"destination": {"type": "platform_user", "phone_number": "12"}},
            {"destination": {"type": "platform_user"}},
        ):
            await guide.call("POST", path, send_body(**changes))
    await guide.call("POST", "/wallet/send", send_body(symbol="XLM", amount="4999"))
    await guide.call("POST", "/wallet/send", send_body(symbol="XLM", amount="4999"))
    guide.act("set_network", network="stellar", status="down")
    await guide.call("POST", "/wallet/send", send_body())
    guide.act("set_network", network="stellar", status="operational")
    guide.act("broadcast", sent["id"])
    guide.act("complete", sent["id"])
    await guide.call("GET", f"/transactions/{sent['id']}", title="send")
    await guide.call("GET", f"/orders/{sent['id']}", title="send")
    failed = await guide.call("POST", "/wallet/send", send_body(reference="gone"))
    guide.act("fail", failed["id"])
    await guide.call("GET", f"/transactions/{failed['id']}")


def swap_body(**changes: Any) -> dict[str, Any]:
    return {
        "from": {"symbol": "USDC", "network": "STELLAR"},
        "to": {"symbol": "CUSD", "network": "CELO"},
        "amount": "30",
        "amount_side": "from",
        **changes,
    }


async def swaps(guide: Guide) -> None:
    quote = await guide.call("POST", "/wallet/swap/quote", swap_body(), title="from")
    await guide.call("POST", "/wallet/swap/quote", swap_body(amount_side="to", slippage=0.5), title="to")
    for changes in (
        {"amount": "0.001"},
        {"amount": "100000000"},
        {"amount": "900"},
        {"amount_side": "both"},
        {"to": {"symbol": "USDC", "network": "STELLAR"}},
        {"to": {"symbol": "CUSD", "network": "celo"}},
        {"to": {"symbol": "BTC", "network": "CELO"}},
        {"to": None},
    ):
        await guide.call("POST", "/wallet/swap/quote", swap_body(**changes))
    swap = await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"], "reference": "hedge"}, title="swap")
    await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"]})
    await guide.call("POST", "/wallet/swap", {"quote_id": "sq_0000000000"})
    await guide.call("POST", "/wallet/swap", {})
    guide.act("complete", swap["id"])
    await guide.call("GET", f"/transactions/{swap['id']}", title="swap")
    await guide.call("GET", f"/orders/{swap['id']}", title="swap")
    quote = await guide.call("POST", "/wallet/swap/quote", swap_body(amount="600"))
    other = await guide.call("POST", "/wallet/swap/quote", swap_body(amount="600"))
    failing = await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"]})
    await guide.call("POST", "/wallet/swap", {"quote_id": other["id"]})
    await guide.call("POST", "/wallet/swap/quote", swap_body(amount="600"))
    guide.act("fail", failing["id"])
    quote = await guide.call("POST", "/wallet/swap/quote", swap_body())
    guide.act("move_rates", percent=-20)
    await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"]})
    guide.act("move_rates", percent=25)
    guide.act("set_network", network="celo", status="down")
    await guide.call("POST", "/wallet/swap/quote", swap_body())
    await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"]})
    guide.act("set_network", network="celo", status="operational")
    guide.act("set_fee_product", "fee_swap_usdc_stellar", status="inactive")
    await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"]})
    guide.act("set_fee_product", "fee_swap_usdc_stellar", status="active")
    await guide.advance("31m")
    await guide.call("POST", "/wallet/swap", {"quote_id": quote["id"]})


def buy_body(**changes: Any) -> dict[str, Any]:
    return {
        "symbol": "USDC",
        "network": "STELLAR",
        "fiat_currency": "KES",
        "amount": "5000",
        "amount_currency": "fiat",
        "method": "mobile_money",
        **changes,
    }


async def buys(guide: Guide) -> None:
    quote = await guide.call("POST", "/wallet/buy/quote", buy_body(), title="fiat")
    by_bank = await guide.call(
        "POST",
        "/wallet/buy/quote",
        buy_body(method="bank_transfer", amount="30", amount_currency="crypto"),
        title="crypto",
    )
    for changes in (
        {"amount": "1"},
        {"amount": "99999999"},
        {"network": "stellar"},
        {"symbol": "BTC"},
        {"fiat_currency": "EUR"},
        {"method": "card"},
        {"method": None},
    ):
        await guide.call("POST", "/wallet/buy/quote", buy_body(**changes))
    payer = {"payer": {"phone_number": PHONE}}
    await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"]})
    await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"], "payer": {"phone_number": "12"}})
    await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"], "reference": 7, **payer})
    buy = await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"], **payer}, title="mobile_money")
    await guide.call("POST", "/wallet/buy", {"quote_id": quote["id"], **payer})
    await guide.call("POST", "/wallet/buy", {"quote_id": "bq_0000000000", **payer})
    unknown = {"account_name": "Thandi Nkosi", "bank_code": "999999"}
    await guide.call("POST", "/wallet/buy", {"quote_id": by_bank["id"], "payer": unknown})
    second = await guide.call("POST", "/wallet/buy", {"quote_id": by_bank["id"]}, title="bank_transfer")
    guide.act("payment_arrives", buy["id"])
    await guide.call("GET", f"/transactions/{buy['id']}", title="buy")
    guide.act("complete", buy["id"])
    guide.act("payment_declined", second["id"])
    await guide.call("GET", f"/transactions/{second['id']}")
    await guide.call("GET", f"/orders/{buy['id']}", title="buy")
    left = await guide.call("POST", "/wallet/buy/quote", buy_body())
    guide.act("set_fee_product", "fee_buy_kes", status="inactive")
    await guide.call("POST", "/wallet/buy", {"quote_id": left["id"], **payer})
    guide.act("set_fee_product", "fee_buy_kes", status="active")
    guide.act("set_limits", daily="100.00")
    await guide.call("POST", "/wallet/buy", {"quote_id": left["id"], **payer})
    guide.act("set_limits", daily="3000000.00")
    guide.act("set_network", network="stellar", status="down")
    await guide.call("POST", "/wallet/buy/quote", buy_body())
    await guide.call("POST", "/wallet/buy", {"quote_id": left["id"], **payer})
    guide.act("set_network", network="stellar", status="operational")
    await guide.advance("30m")
    await guide.call("POST", "/wallet/buy", {"quote_id": left["id"], **payer})


async def withdrawals(guide: Guide, saved: dict[str, Any]) -> None:
    def body(**changes: Any) -> dict[str, Any]:
        return {
            "symbol": "USDC",
            "network": "STELLAR",
            "fiat_currency": "KES",
            "amount": "30",
            "amount_currency": "USDC",
            "beneficiary_id": saved["phone_number"]["id"],
            **changes,
        }

    quote = await guide.call("POST", "/wallet/withdraw/quote", body(), title="stablecoin")
    other = await guide.call("POST", "/wallet/withdraw/quote", body(amount="4000", amount_currency="KES"), title="fiat")
    for changes in (
        {"amount": "0.5"},
        {"amount": "9999999"},
        {"network": "stellar"},
        {"symbol": "XLM", "amount_currency": "XLM"},
        {"fiat_currency": "EUR", "amount_currency": "USDC"},
        {"beneficiary_id": "ben_0000000000"},
        {"beneficiary_id": saved["bank_account"]["id"]},
        {"amount": ""},
        {"amount": None},
    ):
        await guide.call("POST", "/wallet/withdraw/quote", body(**changes))
    paid = await guide.call(
        "POST", "/wallet/withdraw", {"quote_id": quote["id"], "reference": "rent"}, title="withdraw"
    )
    await guide.call("POST", "/wallet/withdraw", {"quote_id": quote["id"]})
    await guide.call("POST", "/wallet/withdraw", {"quote_id": "wq_0000000000"})
    await guide.call("POST", "/wallet/withdraw", {})
    failing = await guide.call("POST", "/wallet/withdraw", {"quote_id": other["id"]})
    guide.act("complete", paid["id"])
    guide.act("fail", failing["id"], failure_code="payout_failed")
    await guide.call("GET", f"/transactions/{failing['id']}", title="withdraw")
    guide.act("refund", failing["id"])
    await guide.call("GET", f"/transactions/{failing['id']}", title="refunded")
    await guide.call("GET", f"/orders/{failing['id']}", title="withdraw")
    left = await guide.call("POST", "/wallet/withdraw/quote", body())
    guide.act("set_fee_product", "fee_withdraw_usdc_kes", status="inactive")
    await guide.call("POST", "/wallet/withdraw", {"quote_id": left["id"]})
    guide.act("set_fee_product", "fee_withdraw_usdc_kes", status="active")
    guide.act("set_balance", symbol="USDC", network="STELLAR", amount="1")
    await guide.call("POST", "/wallet/withdraw", {"quote_id": left["id"]})
    guide.act("set_balance", symbol="USDC", network="STELLAR", amount="1000")
    guide.act("set_limits", daily="100.00")
    await guide.call("POST", "/wallet/withdraw", {"quote_id": left["id"]})
    guide.act("set_limits", daily="3000000.00")
    guide.act("set_network", network="stellar", status="down")
    await guide.call("POST", "/wallet/withdraw/quote", body())
    await guide.call("POST", "/wallet/withdraw", {"quote_id": left["id"]})
    guide.act("set_network", network="stellar", status="operational")
    gone = await guide.call(
        "POST",
        "/beneficiaries",
        {
            "type": "phone_number",
            "name": "Baraka Mwangi",
            "country": "KE",
            "fiat_currency": "KES",
            "phone_number": {"phone_number": "+254722000004", "provider": "mpesa"},
        },
    )
    orphan = await guide.call("POST", "/wallet/withdraw/quote", body(beneficiary_id=gone["id"]))
    await guide.call("DELETE", f"/beneficiaries/{gone['id']}")
    await guide.call("POST", "/wallet/withdraw", {"quote_id": orphan["id"]})
    await guide.advance("30m")
    await guide.call("POST", "/wallet/withdraw", {"quote_id": left["id"]})
