"""Quotes of all four kinds: their 30 minutes, and the arithmetic of rate, fee and amounts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import always_guess, always_promise, guess, promise
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock

QUOTING = frozenset(
    ("POST /quotes", "GET /quotes/{id}", "POST /wallet/swap/quote", "POST /wallet/buy/quote",
     "POST /wallet/withdraw/quote")
)  # fmt: skip
LIFETIME = timedelta(minutes=30)
SLACK = Decimal("0.01")
"""How far a result may lie from the formula, in units of its own last printed place, where rounding is not promised."""


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


@always_promise("quote.validity", "Quotes lock rate and fees for exactly 30 minutes")
def lifetime(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A quote of any kind expires 30 minutes after it was made."""
    if answer.operation in QUOTING and answer.ok:
        lives = instant(answer.text("expires_at")) - instant(answer.text("created_at"))
        yield "expires_at", None if lives == LIFETIME else f"expires_at lies {lives} after created_at, not 0:30:00"


@always_promise("fee.total", "Fee object; Fee formula")
def fee_total(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """The total of a fee is its processing or app fee and its network fee."""
    fee = answer.body.get("fee")
    if answer.ok and isinstance(fee, dict) and "total" in fee:
        parts = [Decimal(fee[name]) for name in ("processing_fee", "app_fee", "network_fee") if fee.get(name)]
        total = answer.number("fee.total")
        yield "fee.total", None if sum(parts) == total else f"fee.total is {total}, its parts make {sum(parts)}"


def _sides(answer: Answer) -> tuple[Decimal, Decimal, Decimal]:
    """What goes in after the fee, the rate as a factor, and what comes out."""
    rate = answer.number("rate")
    if answer.operation == "POST /wallet/swap/quote":
        return answer.number("from.amount") - answer.number("fee.total"), rate, answer.number("to.amount")
    if answer.operation == "POST /wallet/buy/quote":
        return answer.number("fiat_amount") - answer.number("fee.total"), 1 / rate, answer.number("crypto_amount")
    gives = 1 / rate if answer.body.get("type") == "onramp" else rate
    return answer.number("source_amount") - answer.number("fee.total"), gives, answer.number("destination_amount")


@always_promise("quote.arithmetic", "Ramp quote, Swap quote, Buy quote, Withdraw quote: amounts, rate and fee")
def arithmetic(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """What is received is what is paid less the fee at the locked rate, to the last printed place but its rounding."""
    if answer.operation in QUOTING and answer.ok:
        left, factor, out = _sides(answer)
        wanted = left * factor
        off = abs(out - wanted)
        # Rounding, its place and its direction are guesses; a hundredth, or a millionth part of the amount, is not.
        held = off <= max(SLACK, abs(wanted) / 1_000_000)
        place = _received(answer)
        yield place, None if held else f"{place} is {out}; paid less fee at the rate makes {wanted:.8f}"


@always_guess("quote.rounding", "M3")
def rounding(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """What is received is never more than paid less fee at the rate, so it is rounded down, by less than one step."""
    if answer.operation in QUOTING and answer.ok:
        left, factor, out = _sides(answer)
        wanted = left * factor
        step = Decimal("0.01")
        held = out <= wanted + Decimal("1e-15") and wanted - out < step
        yield _received(answer), None if held else f"{_received(answer)} is {out}, {wanted:.10f} rounded down is due"


def _received(answer: Answer) -> str:
    return {"POST /wallet/swap/quote": "to.amount", "POST /wallet/buy/quote": "crypto_amount"}.get(
        answer.operation, "destination_amount"
    )


@promise("quote.active", "Ramp quote", "writes")
def born_active(bench: Bench) -> None:
    """A ramp quote is active from its creation, and so GET shows it."""
    for quote in (stock.onramp_quote(bench), stock.offramp_quote(bench)):
        bench.equal(quote, "status", "active")
        bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "active", after=(quote,))


@promise("quote.echo", "Ramp quote", "writes")
def echo(bench: Bench) -> None:
    """A ramp quote has what was asked for, and the amount on the side that the request names."""
    for body in (
        stock.ONRAMP, stock.OFFRAMP, {**stock.ONRAMP, "amount": stock.CRYPTO, "amount_currency": "USDC"},
        {**stock.OFFRAMP, "amount": stock.FIAT, "amount_currency": "KES"},
    ):  # fmt: skip
        quote = bench.done("POST /quotes", body)
        for name in ("type", "network", "asset", "fiat_currency", "method"):
            bench.equal(quote, name, body[name])
        pays, gets = ("fiat_currency", "asset") if body["type"] == "onramp" else ("asset", "fiat_currency")
        bench.equal(quote, "source_currency", body[pays])
        bench.equal(quote, "destination_currency", body[gets])
        side = "source_amount" if body["amount_currency"] == body[pays] else "destination_amount"
        got = quote.number(side)
        bench.holds(got == Decimal(str(body["amount"])), quote, f"{side} is {got}, asked was {body['amount']}", side)


@promise("quote.expires", "States: Ramp quote", "writes", "control")
def expires(bench: Bench) -> None:
    """A quote is active just before its 30 minutes are over and expired after them."""
    quote = stock.onramp_quote(bench)
    bench.world.advance("29m58s")
    bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "active")
    bench.world.advance("3s")
    bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "expired")


@guess("quote.expiry_instant", "S1", "writes", "control")
def expiry_instant(bench: Bench) -> None:
    """At the very instant of expires_at a quote is expired."""
    quote = stock.onramp_quote(bench)
    bench.world.control.post("/clock/advance", {"to": quote.text("expires_at")})
    bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "expired")


@promise("errors.unsupported_pair", "Errors: unsupported_pair", "writes")
def unsupported_pairs(bench: Bench) -> None:
    """An asset that the network does not have is refused with 422 unsupported_pair."""
    bench.refuses(422, "unsupported_pair", "POST /quotes", {**stock.ONRAMP, "network": "stellar", "asset": "CUSD"})
    bench.refuses(422, "unsupported_pair", "POST /quotes", {**stock.ONRAMP, "network": "celo", "asset": "XLM"})


@promise("errors.amount_too_low", "Errors: amount_too_low", "writes")
def too_low(bench: Bench) -> None:
    """An amount below the minimum is refused with 422 amount_too_low."""
    for body in (stock.ONRAMP, stock.OFFRAMP):
        bench.refuses(422, "amount_too_low", "POST /quotes", {**body, "amount": "0.01"})


@promise("errors.amount_too_high", "Errors: amount_too_high", "writes")
def too_high(bench: Bench) -> None:
    """An amount above every limit is refused with 422 amount_too_high."""
    for body in (stock.ONRAMP, stock.OFFRAMP):
        bench.refuses(422, "amount_too_high", "POST /quotes", {**body, "amount": "900000000000"})


@promise("quote.not_found", "GET /quotes/{id}")
def unknown(bench: Bench) -> None:
    """A quote that does not exist answers 404 quote_not_found."""
    bench.refuses(404, "quote_not_found", "GET /quotes/{id}", path={"id": "qt_0000000000000000"})


@guess("rate.quote", "M1", "writes")
def locks_the_rate(bench: Bench) -> None:
    """A quote locks the rate that GET /rates tells at that instant."""
    if not bench.controlled:
        return
    for body in (stock.ONRAMP, stock.OFFRAMP):
        asked = {name: body[name] for name in ("type", "network", "asset", "fiat_currency")}
        told = bench.done("GET /rates", query=asked)
        quote = bench.done("POST /quotes", body)
        bench.equal(quote, "rate", told.text("rate"), after=(told,))


LAWS = (born_active, echo, expires, expiry_instant, unsupported_pairs, too_low, too_high, unknown, locks_the_rate)


ALWAYS = (lifetime, fee_total, arithmetic, rounding)
