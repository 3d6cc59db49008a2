"""Amounts, rates and fees that do not add up."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Any

from tests.tools.conformance.mutants.errors import last_good
from tests.tools.conformance.mutants.service import Answer, Call, Service, answer, service

D = Decimal
RAMP_QUOTE = ("POST /quotes", "GET /quotes/{id}")


@answer("Whatever is asked for, the recipient gets 999999.", *RAMP_QUOTE, found_by="quote.arithmetic")
def any_destination_amount(body: Any, call: Call) -> None:
    body["destination_amount"] = "999999.00"


@answer("A ramp quote's fee is shown, and not taken off.", *RAMP_QUOTE, found_by="quote.arithmetic")
def fee_not_taken(body: Any, call: Call) -> None:
    source, rate = D(body["source_amount"]), D(body["rate"])
    places = D("0.000001") if body["type"] == "onramp" else D("0.01")
    body["destination_amount"] = str((source / rate if body["type"] == "onramp" else source * rate).quantize(places))


@answer("The total of a fee leaves the network's fee out.", "POST /quotes", "POST /fees/calculate",
        "POST /wallet/send/estimate", found_by="fee.total")  # fmt: skip
def network_fee_left_out(body: Any, call: Call) -> None:
    fee = body["fee"]
    fee["total"] = fee.get("processing_fee") or fee["app_fee"]


@answer("The fee calculator knows no cap and no least fee.", "POST /fees/calculate", found_by="fee.formula")
def fee_without_clamp(body: Any, call: Call) -> None:
    plain = D(body["breakdown"]["percentage_fee"]) + D(body["breakdown"]["fixed"])
    body["fee"]["processing_fee"] = str(plain)
    body["fee"]["total"] = str(plain + D(body["fee"]["network_fee"]))
    body["net_amount"] = str(D(body["amount"]) - D(body["fee"]["total"]))


@answer("The fee of a quote is a tenth more than the calculator says, and taken.", *RAMP_QUOTE,
        found_by="fee.calculator")  # fmt: skip
def fee_unlike_calculator(body: Any, call: Call) -> None:
    places = int(D(body["fee"]["total"]).as_tuple().exponent)
    fee = body["fee"]
    fee["processing_fee"] = str((D(fee["processing_fee"]) * D("1.1")).quantize(D(1).scaleb(places), ROUND_UP))
    fee["total"] = str(D(fee["processing_fee"]) + D(fee["network_fee"]))
    rate, rest = D(body["rate"]), D(body["source_amount"]) - D(fee["total"])
    onramp = body["type"] == "onramp"
    body["destination_amount"] = f"{(rest / rate if onramp else rest * rate):.{6 if onramp else 2}f}"


@answer("Indicative rates are upside down.", "GET /rates", found_by="rate.quote rate.inverse")
def rate_inverted(body: Any, call: Call) -> None:
    body["rate"], body["inverse_rate"] = body["inverse_rate"], body["rate"]


@answer("The inverse rate is the rate.", "GET /rates", found_by="rate.inverse")
def inverse_rate_copied(body: Any, call: Call) -> None:
    body["inverse_rate"] = body["rate"]


@answer("Confirming a quote takes a worse rate than was locked.", "POST /quotes/{id}/confirm",
        found_by="quote.locked")  # fmt: skip
def rate_not_locked(body: Any, call: Call) -> None:
    body["rate"] = str(D(body["rate"]) * D("1.01"))


@answer("The transaction of a quote has another fee than the quote.", "POST /quotes/{id}/confirm",
        "GET /transactions/{id}", found_by="quote.locked")  # fmt: skip
def transaction_fee_differs(body: Any, call: Call) -> None:
    name = "processing_fee" if "processing_fee" in body["fee"] else "app_fee"
    body["fee"] |= {name: str(D(body["fee"][name]) + 1), "total": str(D(body["fee"]["total"]) + 1)}


@answer("An order has another fee than its transaction.", "GET /orders/{order_id}", found_by="order.transaction")
def order_fee_differs(body: Any, call: Call) -> None:
    body["exchange_fee"] = (body["exchange_fee"] or 0) + 1
    body["total_fees"] = (body["network_fee"] or 0) + body["exchange_fee"]


@answer("The list of transactions shows amounts before the fee.", "GET /transactions", found_by="list.equals_get")
def list_shows_other_amounts(body: Any, call: Call) -> None:
    for item in body["data"]:
        item["destination_amount" if "destination_amount" in item else "net_amount"] = item.get(
            "source_amount", item.get("amount")
        )


@answer("A swap quote receives what it would without its fee.", "POST /wallet/swap/quote", found_by="quote.arithmetic")
def swap_fee_not_taken(body: Any, call: Call) -> None:
    body["to"]["amount"] = f"{D(body['from']['amount']) * D(body['rate']):.6f}"


@answer("A swap quote promises at worst more than it quotes.", "POST /wallet/swap/quote",
        found_by="swap.minimum_received")  # fmt: skip
def minimum_above_quote(body: Any, call: Call) -> None:
    body["minimum_received"] = str(D(body["to"]["amount"]) * 2)


@answer("A buy quote multiplies by the rate instead of dividing.", "POST /wallet/buy/quote",
        found_by="quote.arithmetic")  # fmt: skip
def buy_multiplies(body: Any, call: Call) -> None:
    body["crypto_amount"] = f"{(D(body['fiat_amount']) - D(body['fee']['total'])) * D(body['rate']):.6f}"


@answer("A withdrawal's quote pays out one cent too much.", "POST /wallet/withdraw/quote",
        found_by="quote.rounding")  # fmt: skip
def withdraw_rounds_up(body: Any, call: Call) -> None:
    body["destination_amount"] = str(D(body["destination_amount"]) + D("0.01"))


@answer("A send's net amount has the fee on top.", "POST /wallet/send", "POST /wallet/send/estimate",
        "GET /transactions/{id}", found_by="send.arithmetic")  # fmt: skip
def send_adds_fee(body: Any, call: Call) -> None:
    if body.get("type", "send") == "send":
        body["net_amount"] = str(D(body["amount"]) + D(body["fee"]["total"]))


@answer("A transfer to another user of the platform costs a fee.", "POST /wallet/send/estimate", "POST /wallet/send",
        found_by="send.internal_free")  # fmt: skip
def internal_transfer_costs(body: Any, call: Call) -> None:
    if call.body["destination"]["type"] == "platform_user":
        body["fee"] = {**body["fee"], "app_fee": "0.50", "total": "0.50"}
        body["net_amount"] = str(D(body["amount"]) - D("0.50"))


@service("Balances do not move when money is sent.", "GET /wallet/assets", "POST /wallet/send",
         found_by="balance.send")  # fmt: skip
async def balance_not_reduced(call: Call, ask: Service) -> Answer:
    if call.operation == "GET /wallet/assets":
        found = await ask(call)
        for row in found.body["data"] if found.status == 200 else ():
            sent = call.memory.get((call.headers.get("authorization"), row["symbol"], row["network"]), D(0))
            for name in ("balance", "available"):
                row[name] = str(D(row[name]) + sent) if sent else row[name]
        return found
    found = await ask(call)
    if found.status == 201:
        key = (call.headers.get("authorization"), found.body["symbol"], found.body["network"])
        call.memory[key] = call.memory.get(key, D(0)) + D(found.body["amount"])
    return found


@answer("What is left of a limit is not what is left.", "GET /profile/limits", found_by="limits.remaining")
def limits_do_not_add_up(body: Any, call: Call) -> None:
    for period in ("daily", "monthly"):
        body["limits"][period]["remaining"] = str(D(body["limits"][period]["remaining"]) + 1)


@service("Withdrawals do not count towards the limits.", "GET /profile/limits", found_by="limits.used")
async def limits_not_used(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 200:
        for period in ("daily", "monthly"):
            limit = found.body["limits"][period]
            limit |= {"used": "0.00", "remaining": limit["max"]}
    return found


@service("More can be sent than the account has.", "POST /wallet/send", found_by="send.insufficient_balance")
async def overdraft(call: Call, ask: Service) -> Answer:
    return await last_good(call, ask, ("insufficient_balance",))


@answer("A quote is for another amount than was asked for.", "POST /quotes", found_by="quote.echo")
def amount_not_echoed(body: Any, call: Call) -> None:
    if call.body["amount_currency"] == body["source_currency"]:
        body["source_amount"] = str(D(body["source_amount"]) * 2)


@answer("A buy credits nothing when it is paid.", "GET /wallet/assets", found_by="buy.credited")
def buy_not_credited(body: Any, call: Call) -> None:
    for row in body["data"]:
        first = call.memory.setdefault((row["symbol"], row["network"]), row["available"])
        if D(row["available"]) > D(first):
            row["available"] = row["balance"] = first


@answer("A limit that is reached stays reached for ever.", "GET /profile/limits", found_by="limits.resets")
def limits_never_reset(body: Any, call: Call) -> None:
    daily = body["limits"]["daily"]
    most = call.memory["used"] = max(call.memory.get("used", "0"), daily["used"], key=D)
    daily |= {"used": most, "remaining": str(D(daily["max"]) - D(most))}


@answer("Products that are out of force are listed unasked.", "GET /fees", found_by="fee.active_listed")
def inactive_fees_listed(body: Any, call: Call) -> None:
    if "status" not in call.query and body["data"]:
        body["data"][0]["status"] = "inactive"


@service("A rate that was told once is told for ever.", "GET /rates", found_by="rate.current")
async def rates_are_stale(call: Call, ask: Service) -> Answer:
    mark = tuple(sorted(call.query.items()))
    if mark not in call.memory:
        found = await ask(call)
        if found.status != 200:
            return found
        call.memory[mark] = found.body
    return replace(await ask(call), body=call.memory[mark])


FIAT = ("KES", "TZS", "NGN", "ZAR", "ZMW")


def step(currency: str, network: str) -> Decimal:
    """The last place of a currency."""
    places = 2 if currency in FIAT else 8 if currency == "BTC" else 7 if network.lower() == "stellar" else 6
    return D(1).scaleb(-places)


@answer("The fee calculator rounds to even.", "POST /fees/calculate", found_by="fee.rounded_up")
def fee_half_even(body: Any, call: Call) -> None:
    told, fee = body["breakdown"], body["fee"]
    if not told["min_fee_applied"] and not told["max_fee_applied"]:
        exact = D(body["amount"]) * D(told["percentage"]) / 100 + D(told["fixed"])
        part = exact.quantize(step(body["currency"], call.body.get("network") or ""), ROUND_HALF_EVEN)
        fee["total"] = str(D(fee["total"]) - D(fee["processing_fee"]) + part)
        fee["processing_fee"] = str(part)
        body["net_amount"] = str(D(body["amount"]) - D(fee["total"]))


@service("The fee of a ramp quote is rounded to even.", "POST /quotes", found_by="fee.rounded_up")
async def quote_fee_half_even(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status != 201 or found.body["type"] != "onramp":
        return found
    quote = found.body
    asked = {"product": "onramp", "amount": quote["source_amount"], "currency": quote["source_currency"],
             "network": quote["network"], "fiat_currency": quote["fiat_currency"]}  # fmt: skip
    fee_half_even(calculated := (await ask(call.to("POST", "/fees/calculate", asked))).body, call.but(body=asked))
    quote["fee"] = calculated["fee"]
    rest = (D(quote["source_amount"]) - D(quote["fee"]["total"])) / D(quote["rate"])
    quote["destination_amount"] = str(rest.quantize(step(quote["asset"], quote["network"]), ROUND_DOWN))
    return found


def _recipient(body: Any) -> tuple[Any, str, Decimal, Decimal]:
    """Where a quote shows what is received, under which name, what that is exactly, and its last place."""
    fee, rate = D(body["fee"]["total"]), D(body["rate"])
    if "to" in body:
        left = D(body["from"]["amount"]) - fee
        return body["to"], "amount", left * rate, step(body["to"]["symbol"], body["to"]["network"])
    if "crypto_amount" in body:
        left = D(body["fiat_amount"]) - fee
        return body, "crypto_amount", left / rate, step(body["symbol"], body["network"])
    left = D(body["source_amount"]) - fee
    if body.get("type") == "onramp":
        return body, "destination_amount", left / rate, step(body["asset"], body["network"])
    return body, "destination_amount", left * rate, D("0.01")


@answer("What is received is rounded half up.", "POST /quotes", "POST /wallet/swap/quote", "POST /wallet/buy/quote",
        "POST /wallet/withdraw/quote", found_by="quote.rounded_down")  # fmt: skip
def recipient_half_up(body: Any, call: Call) -> None:
    place, name, exact, last = _recipient(body)
    place[name] = str(exact.quantize(last, ROUND_HALF_UP))


@answer("What is received has two decimals, whatever its currency.", "POST /quotes", "POST /wallet/buy/quote",
        found_by="quote.rounded_down")  # fmt: skip
def recipient_in_cents(body: Any, call: Call) -> None:
    place, name, exact, _ = _recipient(body)
    place[name] = str(exact.quantize(D("0.01"), ROUND_DOWN))


@answer("The least that a swap promises is rounded up.", "POST /wallet/swap/quote", found_by="quote.rounded_down")
def minimum_rounded_up(body: Any, call: Call) -> None:
    exact = D(body["to"]["amount"]) * (100 - D(str(body["slippage"]))) / 100
    body["minimum_received"] = str(exact.quantize(step(body["to"]["symbol"], body["to"]["network"]), ROUND_UP))


@service("Balances grow by the last place with each send.", "GET /wallet/assets", "POST /wallet/send",
         found_by="balance.failed_send")  # fmt: skip
async def balances_drift(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.method == "POST":
        call.memory["sends"] = call.memory.get("sends", 0) + (found.status == 201)
    for row in found.body["data"] if call.method == "GET" and found.status == 200 else ():
        grown = call.memory.get("sends", 0) * D("0.0000001")
        for name in ("balance", "available"):
            row[name] = str((D(row[name]) + grown).quantize(step(row["symbol"], row["network"]), ROUND_DOWN))
    return found


@answer("Balances are shown with two decimals.", "GET /wallet/assets", found_by="balance.exact")
def balances_in_cents(body: Any, call: Call) -> None:
    for row in body["data"]:
        for name in ("balance", "available", "held"):
            row[name] = str(D(row[name]).quantize(D("0.01"), ROUND_DOWN))
