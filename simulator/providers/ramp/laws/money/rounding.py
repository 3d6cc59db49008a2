"""Rounding of fees and amounts to the last decimal place of each currency."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import CENT, received

FIATS = ("KES", "TZS", "NGN", "ZAR", "ZMW")
CALCULATE = "POST /fees/calculate"


def rounded(exact: Decimal, step: Decimal, *, up: bool = False) -> Decimal:
    return exact.quantize(step, ROUND_CEILING if up else ROUND_FLOOR)


@dataclass(frozen=True)
class Priced:
    """An operation that creates a quote, a valid body, and the fee calculator request that returns the same fee."""

    operation: str
    body: JsonObject
    asked: JsonObject
    first: str
    """The first amount to try. Each following amount is larger by one unit in the last decimal."""

    def last_place(self, currency: object) -> Decimal:
        """Return the smallest unit of a currency (decision H8)."""
        if currency in FIATS:
            return CENT
        network = self.asked["network"]
        return Decimal(1).scaleb(-8 if currency == "BTC" else -7 if network == "stellar" else -6)


KES: JsonObject = {"currency": "KES", "network": "celo", "fiat_currency": "KES"}
USDC: JsonObject = {"currency": "USDC", "network": "celo", "fiat_currency": "KES"}


def _priced(bench: Bench) -> list[Priced]:
    ramp, quote = "POST /quotes", "POST /wallet/{}/quote"
    # Use two assets with different values, because a rate of one leaves no remainder.
    to_celo = {**stock.SWAP_QUOTE, "to": {"symbol": "CELO", "network": "CELO"}}
    on_stellar = {**stock.ONRAMP, "network": "stellar"}
    payout = {**USDC, "product": "withdraw", "payment_method": "phone_number"}
    swap = {"product": "swap", "currency": "USDC", "network": "celo", "to_asset": "CELO"}
    return [
        Priced(ramp, stock.ONRAMP, {**KES, "product": "onramp"}, "5001.37"),
        Priced(ramp, on_stellar, {**KES, "product": "onramp", "network": "stellar"}, "7777.77"),
        Priced(ramp, stock.OFFRAMP, {**USDC, "product": "offramp", "network": "stellar"}, "20.1234567"),
        Priced(quote.format("buy"), stock.BUY_QUOTE, {**KES, "product": "buy"}, "5001.37"),
        Priced(quote.format("withdraw"), stock.withdraw_quote_body(bench), payout, "10.123457"),
        Priced(quote.format("swap"), to_celo, swap, "10.123457"),
    ]


def _amounts(row: Priced) -> list[Decimal]:
    first = Decimal(row.first)
    step = Decimal((0, (1,), int(first.as_tuple().exponent)))
    return [first + number * step for number in range(200)]


@guess("fee.rounded_up", "H9", "writes")
def fee_rounded_up(bench: Bench) -> None:
    """A fee is rounded up to the last decimal place of its currency, both by the calculator and in the quote."""
    for row in _priced(bench):
        step = row.last_place(row.asked["currency"])
        terms = bench.done(CALCULATE, {**row.asked, "amount": row.first})
        percentage, fixed = terms.number("breakdown.percentage"), terms.number("breakdown.fixed")
        fees = {amount: amount * percentage / 100 + fixed for amount in _amounts(row)}
        # The remainder is less than half a unit, so rounding to the nearest unit would round this fee down.
        amount = next((one for one, exact in fees.items() if 0 < exact % step < step / 2), None)
        if amount is None:
            continue
        calculated = bench.done(CALCULATE, {**row.asked, "amount": f"{amount:f}"})
        if calculated.at("breakdown.min_fee_applied") or calculated.at("breakdown.max_fee_applied"):
            continue
        due = rounded(fees[amount], step, up=True)
        for answer in (calculated, bench.done(row.operation, {**row.body, "amount": f"{amount:f}"})):
            name = "fee.processing_fee" if "processing_fee" in answer.part("fee") else "fee.app_fee"
            words = f"{name} is {answer.number(name)}, not {due} ({fees[amount]} rounded up)"
            bench.holds(answer.number(name) == due, answer, words, name, after=(terms,))


TRIES = 12
"""Consecutive amounts. There are enough that some leave more than half of the smallest unit."""


@guess("quote.rounded_down", "H9", "writes")
def rounded_down(bench: Bench) -> None:
    """The received amount is rounded down to the last decimal place of its currency."""
    for row in _priced(bench):
        for amount in _amounts(row)[:TRIES]:
            quote = bench.done(row.operation, {**row.body, "amount": f"{amount:f}"})
            place, got, exact = received(quote)
            asset = {"swap": "to.symbol", "buy": "symbol", "onramp": "asset"}.get(str(row.asked["product"]))
            step = row.last_place(quote.text(asset)) if asset else CENT
            due = rounded(exact, step)
            bench.holds(got == due, quote, f"{place} is {got}, not {due} ({exact:.12f} rounded down)", place)
            if asset == "to.symbol":
                least = due * (100 - quote.number("slippage")) / 100
                due, got = rounded(least, step), quote.number("minimum_received")
                words = f"minimum_received is {got}, not {due} ({least} rounded down)"
                bench.holds(got == due, quote, words, "minimum_received")
            # The remainder is more than half a unit, so rounding to the nearest unit would have rounded this amount
            # up.
            if exact - rounded(exact, step) > step / 2:
                break


SPENT: tuple[tuple[str, str, str], ...] = (
    ("USDC", "STELLAR", "20.1234567"), ("XLM", "STELLAR", "200.7654321"), ("CELO", "CELO", "60.123457"),
    ("CUSD", "CELO", "20.654321"), ("USDC", "CELO", "20.123457"), ("USDT", "CELO", "20.765431"),
    ("BTC", "BITCOIN", "0.00123457"),
)  # fmt: skip
"""An amount for each balance, using all of its decimals."""


def _sent(bench: Bench) -> list[Answer]:
    made = []
    for symbol, network, amount in SPENT:
        target = {"type": "address", "address": stock.ADDRESSES[network.lower()]}
        body = {"symbol": symbol, "network": network, "amount": amount, "destination": target}
        made.append(bench.done("POST /wallet/send", body))
    return made


def _judge(bench: Bench, made: list[Answer], due: Mapping[tuple[str, str], Decimal]) -> None:
    """Check that the available amount of each sent asset is the amount in `due`."""
    left = stock.balances(bench)
    for (symbol, network, _), answer in zip(SPENT, made, strict=True):
        got, wanted = left[symbol, network], due[symbol, network]
        words = f"{got} {symbol} on {network} are available, not {wanted}"
        bench.holds(got == wanted, answer, words, f"available.{symbol}.{network}")


@guess("balance.exact", "M11", "writes", "control")
def balance_exact(bench: Bench) -> None:
    """A send debits exactly its amount from the available balance, on every network."""
    before = stock.balances(bench)
    made = _sent(bench)
    _judge(bench, made, {(symbol, network): before[symbol, network] - Decimal(paid) for symbol, network, paid in SPENT})


@promise("balance.failed_send", "A failed send leaves funds in the balance", "writes", "control")
def failed_send(bench: Bench) -> None:
    """A failed send has the status failed, and the available balance is restored exactly."""
    before = stock.balances(bench)
    made = _sent(bench)
    for answer in made:
        bench.world.act("fail", answer.text("id"))
        stock.shows(bench, answer, "failed")
    _judge(bench, made, before)
