"""Quotes of all four kinds: their validity of 30 minutes, and how rate, fee and amounts are calculated."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Checked, Refusal, always_guess, always_promise, guess, promise, refusals
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock

SWAP, BUY = "POST /wallet/swap/quote", "POST /wallet/buy/quote"
QUOTING = frozenset(("POST /quotes", "GET /quotes/{id}", SWAP, BUY, "POST /wallet/withdraw/quote"))
LIFETIME = timedelta(minutes=30)
CENT = Decimal("0.01")


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@always_promise("quote.validity", "Quotes lock rate and fees for exactly 30 minutes")
def lifetime(answer: Answer) -> Checked:
    """A quote of any kind expires 30 minutes after its creation."""
    if answer.operation in QUOTING and answer.ok:
        lives = instant(answer.text("expires_at")) - instant(answer.text("created_at"))
        yield "expires_at", None if lives == LIFETIME else f"expires_at is {lives} after created_at, not 0:30:00"


@always_promise("fee.total", "Fee object; Fee formula")
def fee_total(answer: Answer) -> Checked:
    """The total fee is the sum of the processing or app fee and the network fee."""
    fee = answer.body.get("fee")
    if answer.ok and isinstance(fee, dict) and "total" in fee:
        parts = [Decimal(fee[name]) for name in ("processing_fee", "app_fee", "network_fee") if fee.get(name)]
        total = answer.number("fee.total")
        yield "fee.total", None if sum(parts) == total else f"fee.total is {total}, the sum of its parts {sum(parts)}"


def received(answer: Answer) -> tuple[str, Decimal, Decimal]:
    """Return the path of the received amount in a quote, this amount, and the paid amount minus the fee, converted."""
    paid, place = {SWAP: ("from.amount", "to.amount"), BUY: ("fiat_amount", "crypto_amount")}.get(
        answer.operation, ("source_amount", "destination_amount")
    )
    rate, left = answer.number("rate"), answer.number(paid) - answer.number("fee.total")
    divides = answer.operation == BUY or answer.body.get("type") == "onramp"
    return place, answer.number(place), left / rate if divides else left * rate


@always_promise("quote.arithmetic", "Ramp quote, Swap quote, Buy quote, Withdraw quote: amounts, rate and fee")
def arithmetic(answer: Answer) -> Checked:
    """The received amount is the paid amount minus the fee, converted at the locked rate, except for rounding."""
    if answer.operation in QUOTING and answer.ok:
        place, out, wanted = received(answer)
        # Where and in which direction amounts are rounded is a guess, so accept a difference of up to a cent or a
        # millionth of the amount.
        held = abs(out - wanted) <= max(CENT, abs(wanted) / 1_000_000)
        yield place, None if held else f"{place} is {out}, not {wanted:.8f}"


@always_guess("quote.rounding", "M3")
def rounding(answer: Answer) -> Checked:
    """The received amount is rounded down, by less than 0.01."""
    if answer.operation in QUOTING and answer.ok:
        place, out, wanted = received(answer)
        held = out <= wanted + Decimal("1e-15") and wanted - out < CENT
        yield place, None if held else f"{place} is {out}, not {wanted:.10f} rounded down"


@promise("quote.active", "Ramp quote", "writes")
def born_active(bench: Bench) -> None:
    """A new ramp quote is active, and GET returns it as active."""
    for quote in (stock.onramp_quote(bench), stock.offramp_quote(bench)):
        bench.equal(quote, "status", "active")
        bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "active", after=(quote,))


@promise("quote.echo", "Ramp quote", "writes")
def echo(bench: Bench) -> None:
    """A ramp quote contains the values from the request. The amount is the source amount or the destination amount,
    whichever is in amount_currency.
    """
    for body in (
        stock.ONRAMP, stock.OFFRAMP, {**stock.ONRAMP, "amount": stock.CRYPTO, "amount_currency": "USDC"},
        {**stock.OFFRAMP, "amount": stock.FIAT, "amount_currency": "KES"},
    ):  # fmt: skip
        quote = bench.done("POST /quotes", body)
        bench.echoes(quote, body, "type", "network", "asset", "fiat_currency", "method")
        pays, gets = ("fiat_currency", "asset") if body["type"] == "onramp" else ("asset", "fiat_currency")
        bench.equal(quote, "source_currency", body[pays])
        bench.equal(quote, "destination_currency", body[gets])
        side = "source_amount" if body["amount_currency"] == body[pays] else "destination_amount"
        bench.amounts(quote, {side: Decimal(str(body["amount"]))})


@promise("quote.expires", "States: Ramp quote", "writes", "control")
def expires(bench: Bench) -> None:
    """A quote is active for 30 minutes, and then expires."""
    quote = stock.onramp_quote(bench)
    bench.world.advance("29m58s")
    bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "active")
    bench.world.advance("3s")
    bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "expired")


@guess("quote.expiry_instant", "S1", "writes", "control")
def expiry_instant(bench: Bench) -> None:
    """A quote is already expired exactly at expires_at."""
    quote = stock.onramp_quote(bench)
    bench.world.advance_to(quote.text("expires_at"))
    bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "expired")


@guess("rate.quote", "M1", "writes")
def locks_the_rate(bench: Bench) -> None:
    """A quote locks the rate that GET /rates currently returns."""
    for body in (stock.ONRAMP, stock.OFFRAMP) if bench.controlled else ():
        asked = {name: body[name] for name in ("type", "network", "asset", "fiat_currency")}
        current = bench.done("GET /rates", query=asked)
        quote = bench.done("POST /quotes", body)
        bench.equal(quote, "rate", current.text("rate"), after=(current,))


unsupported_pair = refusals(
    "errors.unsupported_pair", "Errors: unsupported_pair",
    "An asset that is not on the network is refused with 422 unsupported_pair.",
    Refusal("422 unsupported_pair", "POST /quotes", stock.ONRAMP, {"network": "stellar", "asset": "CUSD"}),
    Refusal("422 unsupported_pair", "POST /quotes", stock.ONRAMP, {"network": "celo", "asset": "XLM"}),
)  # fmt: skip
amount_too_low = refusals(
    "errors.amount_too_low", "Errors: amount_too_low",
    "An amount below the minimum is refused with 422 amount_too_low.",
    Refusal("422 amount_too_low", "POST /quotes", stock.ONRAMP, {"amount": "0.01"}),
    Refusal("422 amount_too_low", "POST /quotes", stock.OFFRAMP, {"amount": "0.01"}),
)  # fmt: skip
amount_too_high = refusals(
    "errors.amount_too_high", "Errors: amount_too_high",
    "An amount above all limits is refused with 422 amount_too_high.",
    Refusal("422 amount_too_high", "POST /quotes", stock.ONRAMP, {"amount": "900000000000"}),
    Refusal("422 amount_too_high", "POST /quotes", stock.OFFRAMP, {"amount": "900000000000"}),
)  # fmt: skip
not_found = refusals(
    "quote.not_found", "GET /quotes/{id}", "An unknown quote returns 404 quote_not_found.",
    Refusal("404 quote_not_found", "GET /quotes/{id}", path={"id": "qt_0000000000000000"}), needs=(),
)  # fmt: skip
