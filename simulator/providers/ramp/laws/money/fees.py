"""Fees: the products, the calculator's formula, and that it says what a quote takes."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from simulator.conformance.bench import Bench, Lacking
from simulator.conformance.laws import always_promise, guess, promise
from simulator.conformance.service import Answer, pages
from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp.laws import steering, stock

CALCULATE = "POST /fees/calculate"
STEP = Decimal("0.01")

ASKED: tuple[JsonObject, ...] = (
    {"product": "onramp", "amount": stock.FIAT, "currency": "KES", "network": "celo", "fiat_currency": "KES"},
    {"product": "onramp", "amount": "777.77", "currency": "KES", "network": "celo", "fiat_currency": "KES"},
    {"product": "onramp", "amount": "900123.45", "currency": "KES", "network": "stellar", "fiat_currency": "KES"},
    {"product": "offramp", "amount": stock.CRYPTO, "currency": "USDC", "network": "stellar", "fiat_currency": "KES"},
    {"product": "buy", "amount": stock.FIAT, "currency": "KES", "network": "celo", "fiat_currency": "KES"},
    {"product": "withdraw", "amount": stock.PAID, "currency": "USDC", "network": "celo", "fiat_currency": "KES",
     "payment_method": "phone_number"},
    {"product": "send", "amount": stock.PAID, "currency": "USDC", "network": "celo"},
    {"product": "swap", "amount": stock.PAID, "currency": "USDC", "network": "celo", "to_asset": "USDT"},
)  # fmt: skip


def _calculated(bench: Bench) -> list[tuple[Answer, Answer]]:
    """What the calculator says, with the product that it names."""
    found = []
    for body in ASKED if bench.writes else ():
        answer = bench.done(CALCULATE, body)
        found.append((answer, bench.done("GET /fees/{id}", id=answer.text("fee_product_id"))))
    return found


@promise("fee.formula", "Fee formula", "writes")
def formula(bench: Bench) -> None:
    """The processing fee is percentage and fixed part of the amount, not below min_fee and not above max_fee."""
    for answer, product in _calculated(bench):
        amount = answer.number("amount")
        due = amount * product.number("percentage") / 100 + product.number("fixed")
        due = max(due, product.number("min_fee"))
        if product.body.get("max_fee") is not None:
            due = min(due, product.number("max_fee"))
        got = answer.number("fee.processing_fee")
        words = f"fee.processing_fee is {got}, the product's formula gives {due}"
        bench.holds(abs(got - due) <= STEP, answer, words, "fee.processing_fee", after=(product,))


@promise("fee.breakdown", "POST /fees/calculate: breakdown", "writes")
def breakdown(bench: Bench) -> None:
    """The breakdown has the percentage and the fixed part of the product and tells which bound was applied."""
    for answer, product in _calculated(bench):
        for name in ("percentage", "fixed"):
            bench.equal(answer, f"breakdown.{name}", product.body[name], after=(product,))
        raw = answer.number("amount") * product.number("percentage") / 100 + product.number("fixed")
        low = raw < product.number("min_fee")
        high = product.body.get("max_fee") is not None and raw > product.number("max_fee")
        bench.equal(answer, "breakdown.min_fee_applied", low, after=(product,))
        bench.equal(answer, "breakdown.max_fee_applied", high, after=(product,))


@guess("fee.net_amount", "M9", "writes")
def net_amount(bench: Bench) -> None:
    """The calculator's net amount is the amount less the fee."""
    for answer, _ in _calculated(bench):
        due, got = answer.number("amount") - answer.number("fee.total"), answer.number("net_amount")
        bench.holds(got == due, answer, f"net_amount is {got}, amount less fee is {due}", "net_amount")


@guess("fee.calculator", "M9", "writes")
def calculator(bench: Bench) -> None:
    """A quote takes the fee that the calculator says for the same amount."""
    onramp = bench.done(CALCULATE, ASKED[0])
    quote = stock.onramp_quote(bench)
    bench.equal(quote, "fee", onramp.body["fee"], after=(onramp,))
    offramp = bench.done(CALCULATE, ASKED[3])
    bench.equal(stock.offramp_quote(bench), "fee", offramp.body["fee"], after=(offramp,))
    for asked, quoted in ((ASKED[4], stock.buy_quote(bench)), (ASKED[7], stock.swap_quote(bench))):
        said = bench.done(CALCULATE, asked)
        total = quoted.number("fee.total")
        words = f"fee.total is {total}, the calculator says {said.text('fee.total')}"
        bench.holds(total == said.number("fee.total"), quoted, words, "fee.total", after=(said,))


@promise("fee.limits", "Limits: Fee product amount", "writes")
def limits(bench: Bench) -> None:
    """An amount outside the product's limits is refused with amount_too_low or amount_too_high."""
    for answer, product in _calculated(bench):
        body = next(one for one in ASKED if one["product"] == answer.body["product"])
        low, high = product.number("limits.min_amount"), product.number("limits.max_amount")
        below = bench.call(CALCULATE, {**body, "amount": f"{low - STEP:f}"})
        bench.refused(below, 422, "amount_too_low", after=(product,))
        above = bench.call(CALCULATE, {**body, "amount": f"{high + STEP:f}"})
        bench.refused(above, 422, "amount_too_high", after=(product,))


@promise("fee.unknown_product", "Fee errors", "writes")
def unknown_products(bench: Bench) -> None:
    """An unknown product is refused with 400 invalid_parameter, a pair without a product with 422 unsupported_pair."""
    bench.refuses(400, "invalid_parameter", CALCULATE, {**ASKED[0], "product": "gift"}, param="product")
    bench.refuses(422, "unsupported_pair", CALCULATE, {**ASKED[0], "network": "btc"})


@promise("fee.free", "Fee products by type")
def free(bench: Bench) -> None:
    """Internal transfers and deposits cost nothing."""
    for product in ("internal_transfer", "deposit"):
        page = bench.done("GET /fees", query={"product": product})
        for row in page.items:
            cost = [row.get(name) for name in ("percentage", "fixed", "min_fee")]
            free_of_all = all(Decimal(str(part)) == 0 for part in cost if part is not None)
            bench.holds(free_of_all, page, f"{row.get('id')} costs {cost}", "data")


def _products(bench: Bench, status: str) -> list[Shown]:
    return [row for page in pages(bench.service, "GET /fees", {"status": status}) for row in page.items]


@promise("fee.active_listed", "GET /fees: status, active by default")
def active_listed(bench: Bench) -> None:
    """Without a status the list has the active products alone; with all it has the inactive ones too."""
    default = [row for page in pages(bench.service, "GET /fees") for row in page.items]
    page = bench.done("GET /fees")
    bench.holds(all(row["status"] == "active" for row in default), page, "inactive products are listed", "data")
    both = len(_products(bench, "active")) + len(_products(bench, "inactive"))
    every = len(_products(bench, "all"))
    bench.holds(both == every, page, f"all has {every}, active and inactive together {both}", "query.status")


@promise("fee.inactive_unused", "Fee product: inactive cannot be used for new transactions", "writes", "control")
def inactive(bench: Bench) -> None:
    """A product that is inactive is used for nothing new."""
    product = bench.done(CALCULATE, ASKED[0]).text("fee_product_id")
    bench.world.act("set_fee_product", product, status="inactive")
    try:
        bench.equal(bench.done("GET /fees/{id}", id=product), "status", "inactive")
        refused = [bench.call(CALCULATE, ASKED[0]), bench.call("POST /quotes", stock.ONRAMP)]
    finally:
        bench.world.act("set_fee_product", product, status="active")
    for answer in refused:
        bench.refused(answer, 422, "unsupported_pair")


@always_promise("rate.inverse", "Rate: inverse_rate")
def inverse(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """inverse_rate is one divided by rate."""
    if answer.operation == "GET /rates" and answer.ok:
        product = answer.number("rate") * answer.number("inverse_rate")
        held = abs(product - 1) < Decimal("0.000001")
        yield "inverse_rate", None if held else f"rate times inverse_rate is {product}"


@promise("rate.echo", "GET /rates")
def rate_echo(bench: Bench) -> None:
    """A rate is that of the pair that was asked for."""
    if not bench.total("GET /fees"):
        raise Lacking("the service has no fee products")
    for kind in ("onramp", "offramp"):
        for network, asset in (("stellar", "XLM"), ("stellar", "USDC"), ("celo", "CELO"), ("celo", "USDT")):
            for fiat in ("KES", "TZS", "NGN", "ZAR", "ZMW"):
                asked = {"type": kind, "network": network, "asset": asset, "fiat_currency": fiat}
                answer = bench.call("GET /rates", query=asked)
                if bench.accepted(answer, 200):
                    for name, value in asked.items():
                        bench.equal(answer, name, value)


@guess("rate.current", "M1", "writes", "control")
def rate_current(bench: Bench) -> None:
    """A rate that has moved is told at the next reading, and locked by the next quote."""
    for body in (stock.ONRAMP, stock.OFFRAMP):
        asked = {name: body[name] for name in ("type", "network", "asset", "fiat_currency")}
        before = bench.done("GET /rates", query=asked)
        with steering.moved_rates(bench.world, 3):
            after = bench.done("GET /rates", query=asked)
            quote = bench.done("POST /quotes", body)
        due, got = before.number("rate") * Decimal("1.03"), after.number("rate")
        words = f"rate is {got} after a move of 3 percent from {before.text('rate')}"
        bench.holds(abs(got / due - 1) < Decimal("0.000001"), after, words, "rate", after=(before,))
        bench.equal(quote, "rate", after.text("rate"), after=(after,))


@promise("rate.unsupported_pair", "GET /rates: 422 unsupported_pair")
def rate_of_no_pair(bench: Bench) -> None:
    """A rate of an asset that its network has not is refused with 422 unsupported_pair."""
    asked = {"type": "onramp", "network": "celo", "asset": "CELO", "fiat_currency": "KES"}
    bench.done("GET /rates", query=asked)
    bench.refused(bench.call("GET /rates", query={**asked, "network": "stellar"}), 422, "unsupported_pair")


@promise("network.stats", "GET /network/stats")
def network_stats(bench: Bench) -> None:
    """Network stats tell of stellar and celo, or of the one that was asked for, with the assets of each."""
    answer = bench.done("GET /network/stats")
    names = sorted(row["network"] for row in answer.body["networks"])
    bench.holds(names == ["celo", "stellar"], answer, f"networks are {names}", "networks")
    for network, assets in (("stellar", {"XLM", "USDC"}), ("celo", {"CELO", "USDT", "USDC", "CUSD"})):
        one = bench.done("GET /network/stats", query={"network": network})
        rows = one.body["networks"]
        held = [row["network"] for row in rows] == [network] and {*rows[0]["assets"]} == assets
        bench.holds(held, one, "another network or other assets are answered", "query.network")


LAWS = (
    formula, breakdown, net_amount, calculator, limits, unknown_products, free, active_listed, inactive, rate_echo,
    rate_current, rate_of_no_pair, network_stats,
)  # fmt: skip


ALWAYS = (inverse,)
