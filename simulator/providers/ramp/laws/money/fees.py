"""Fee products, the fee calculator, and rates."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench, MissingData
from simulator.conformance.laws import Checked, Refusal, always_promise, guess, promise, refusals
from simulator.conformance.service import Answer, pages
from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import CENT

CALCULATE = "POST /fees/calculate"


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
    """Return fee calculator responses, each with the fee product that was used."""
    answers = [bench.done(CALCULATE, body) for body in ASKED]
    return [(one, bench.done("GET /fees/{id}", id=one.text("fee_product_id"))) for one in answers]


@promise("fee.formula", "Fee formula", "writes")
def formula(bench: Bench) -> None:
    """The processing fee is `percentage` percent of the amount plus `fixed`, but at least `min_fee` and at most
    `max_fee`.
    """
    for answer, product in _calculated(bench):
        amount = answer.number("amount")
        due = amount * product.number("percentage") / 100 + product.number("fixed")
        due = max(due, product.number("min_fee"))
        if product.body.get("max_fee") is not None:
            due = min(due, product.number("max_fee"))
        place, got = "fee.processing_fee", answer.number("fee.processing_fee")
        bench.holds(abs(got - due) <= CENT, answer, f"{place} is {got}, not {due}", place, after=(product,))


@promise("fee.breakdown", "POST /fees/calculate: breakdown", "writes")
def breakdown(bench: Bench) -> None:
    """The breakdown contains the product's fee fields `percentage` and `fixed`, and states whether min_fee or max_fee
    was applied.
    """
    for answer, product in _calculated(bench):
        raw = answer.number("amount") * product.number("percentage") / 100 + product.number("fixed")
        due = {name: product.body[name] for name in ("percentage", "fixed")}
        due["min_fee_applied"] = raw < product.number("min_fee")
        due["max_fee_applied"] = product.body.get("max_fee") is not None and raw > product.number("max_fee")
        for name, value in due.items():
            bench.equal(answer, f"breakdown.{name}", value, after=(product,))


@guess("fee.net_amount", "M9", "writes")
def net_amount(bench: Bench) -> None:
    """The calculator's net amount is the amount minus the fee."""
    for answer, _ in _calculated(bench):
        bench.amounts(answer, {"net_amount": answer.number("amount") - answer.number("fee.total")})


@guess("fee.calculator", "M9", "writes")
def calculator(bench: Bench) -> None:
    """A quote has the same fee as the calculator returns for the same amount."""
    for asked, create in ((ASKED[0], stock.onramp_quote), (ASKED[3], stock.offramp_quote)):
        calculated = bench.done(CALCULATE, asked)
        bench.equal(create(bench), "fee", calculated.body["fee"], after=(calculated,))
    for asked, quote in ((ASKED[4], stock.buy_quote(bench)), (ASKED[7], stock.swap_quote(bench))):
        calculated = bench.done(CALCULATE, asked)
        bench.amounts(quote, {"fee.total": calculated.number("fee.total")}, after=(calculated,))


@promise("fee.limits", "Limits: Fee product amount", "writes")
def limits(bench: Bench) -> None:
    """An amount outside the product's limits is refused with amount_too_low or amount_too_high."""
    for answer, product in _calculated(bench):
        body = next(one for one in ASKED if one["product"] == answer.body["product"])
        low, high = product.number("limits.min_amount"), product.number("limits.max_amount")
        for code, amount in (("amount_too_low", low - CENT), ("amount_too_high", high + CENT)):
            answer = bench.call(CALCULATE, {**body, "amount": f"{amount:f}"})
            bench.refused(answer, 422, code, after=(product,))


@promise("fee.free", "Fee products by type")
def free(bench: Bench) -> None:
    """Internal transfers and deposits are free."""
    for product in ("internal_transfer", "deposit"):
        page = bench.done("GET /fees", query={"product": product})
        for row in page.items:
            cost = [row.get(name) for name in ("percentage", "fixed", "min_fee")]
            is_free = all(Decimal(str(part)) == 0 for part in cost if part is not None)
            bench.holds(is_free, page, f"{row.get('id')} costs {cost}", "data")


def _products(bench: Bench, **query: str) -> list[Shown]:
    return [row for page in pages(bench.service, "GET /fees", query) for row in page.items]


@promise("fee.active_listed", "GET /fees: status, active by default")
def active_listed(bench: Bench) -> None:
    """Without the filter `status`, only active fee products are listed. With status `all`, inactive products are also
    listed.
    """
    are_active, page = all(row["status"] == "active" for row in _products(bench)), bench.done("GET /fees")
    bench.holds(are_active, page, "inactive products are listed", "data")
    active, inactive, every = (len(_products(bench, status=status)) for status in ("active", "inactive", "all"))
    both = active + inactive
    bench.holds(both == every, page, f"all has {every} products, active and inactive together {both}", "query.status")


@promise("fee.inactive_unused", "Fee product: inactive cannot be used for new transactions", "writes", "control")
def inactive(bench: Bench) -> None:
    """An inactive product is not used for new transactions."""
    product = bench.done(CALCULATE, ASKED[0]).text("fee_product_id")
    with stock.meanwhile(bench.world, "set_fee_product", {"status": "inactive"}, {"status": "active"}, product):
        bench.equal(bench.done("GET /fees/{id}", id=product), "status", "inactive")
        for operation, body in ((CALCULATE, ASKED[0]), ("POST /quotes", stock.ONRAMP)):
            bench.refused(bench.call(operation, body), 422, "unsupported_pair")


@always_promise("rate.inverse", "Rate: inverse_rate")
def inverse(answer: Answer) -> Checked:
    """inverse_rate is one divided by rate."""
    if answer.operation == "GET /rates" and answer.ok:
        product = answer.number("rate") * answer.number("inverse_rate")
        held = abs(product - 1) < Decimal("0.000001")
        yield "inverse_rate", None if held else f"rate times inverse_rate is {product}"


@promise("rate.echo", "GET /rates")
def rate_echo(bench: Bench) -> None:
    """A rate contains the requested pair."""
    if not bench.total("GET /fees"):
        raise MissingData("the service has no fee products")
    for kind in ("onramp", "offramp"):
        for network, asset in (("stellar", "XLM"), ("stellar", "USDC"), ("celo", "CELO"), ("celo", "USDT")):
            for fiat in ("KES", "TZS", "NGN", "ZAR", "ZMW"):
                asked = {"type": kind, "network": network, "asset": asset, "fiat_currency": fiat}
                answer = bench.call("GET /rates", query=asked)
                if bench.accepted(answer, 200):
                    bench.echoes(answer, asked)


@guess("rate.current", "M1", "writes", "control")
def rate_current(bench: Bench) -> None:
    """After the rate changes, the next request returns the new rate, and the next quote locks it."""
    for body in (stock.ONRAMP, stock.OFFRAMP):
        asked = {name: body[name] for name in ("type", "network", "asset", "fiat_currency")}
        before = bench.done("GET /rates", query=asked)
        with stock.moved_rates(bench.world, 3):
            after = bench.done("GET /rates", query=asked)
            quote = bench.done("POST /quotes", body)
        old, got = before.number("rate"), after.number("rate")
        held = abs(got / (old * Decimal("1.03")) - 1) < Decimal("0.000001")
        bench.holds(held, after, f"rate is {got} after a move of 3 percent from {old}", "rate", after=(before,))
        bench.equal(quote, "rate", after.text("rate"), after=(after,))


@promise("network.stats", "GET /network/stats")
def network_stats(bench: Bench) -> None:
    """GET /network/stats returns stellar and celo with their assets, or only the network that the request specifies."""
    answer = bench.done("GET /network/stats")
    names = sorted(row["network"] for row in answer.body["networks"])
    bench.holds(names == ["celo", "stellar"], answer, f"networks are {names}", "networks")
    for network, assets in (("stellar", {"XLM", "USDC"}), ("celo", {"CELO", "USDT", "USDC", "CUSD"})):
        one = bench.done("GET /network/stats", query={"network": network})
        held = [(row["network"], {*row["assets"]}) for row in one.body["networks"]] == [(network, assets)]
        bench.holds(held, one, "another network or other assets are returned", "query.network")


unknown_product = refusals(
    "fee.unknown_product", "Fee errors",
    "An unknown product is refused with 400 invalid_parameter, a pair without a product with 422 unsupported_pair.",
    Refusal("400 invalid_parameter", CALCULATE, ASKED[0], {"product": "gift"}, param="product"),
    Refusal("422 unsupported_pair", CALCULATE, ASKED[0], {"network": "btc"}),
)  # fmt: skip
unsupported_pair = refusals(
    "rate.unsupported_pair", "GET /rates: 422 unsupported_pair",
    "The rate of an asset that is not on the network is refused with 422 unsupported_pair.",
    Refusal("422 unsupported_pair", "GET /rates",
            query={"type": "onramp", "network": "stellar", "asset": "CELO", "fiat_currency": "KES"}),
    needs=(),
)  # fmt: skip
