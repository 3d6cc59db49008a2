"""Between the account's own balance and fiat: buy and withdraw, and the quotes that they use up."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

TRANSACTION = "GET /transactions/{id}"
AMOUNT = Decimal(stock.PAID)


@promise("buy.locked", "Buy quote; Wallet transaction: Buy only", "writes")
def buy_locked(bench: Bench) -> None:
    """A buy has the asset, the amount and the fee of its quote, and says how to pay."""
    quote, made = stock.bought(bench)
    bench.same(made, quote, "symbol", "network", "fee")
    bought, quoted = made.number("amount"), quote.number("crypto_amount")
    bench.holds(bought == quoted, made, f"amount is {bought}, quoted were {quoted}", "amount", after=(quote,))
    bench.equal(made, "payment_instructions.method", quote.text("method"), after=(quote,))
    bench.equal(made, "payment_instructions.phone_number", stock.PHONES["KES"], after=(quote,))


@promise("buy.echo", "POST /wallet/buy/quote: amount_currency", "writes")
def buy_echo(bench: Bench) -> None:
    """The amount of a buy quote stands on the side that the request names."""
    fiat = bench.done("POST /wallet/buy/quote", stock.BUY_QUOTE)
    bench.holds(fiat.number("fiat_amount") == Decimal(stock.FIAT), fiat, "fiat_amount is not as asked", "fiat_amount")
    crypto = bench.done(
        "POST /wallet/buy/quote", {**stock.BUY_QUOTE, "amount": stock.CRYPTO, "amount_currency": "crypto"}
    )
    bench.holds(
        crypto.number("crypto_amount") == Decimal(stock.CRYPTO),
        crypto,
        "crypto_amount is not as asked",
        "crypto_amount",
    )
    for quote in (fiat, crypto):
        for name in ("symbol", "network", "fiat_currency", "method"):
            bench.equal(quote, name, stock.BUY_QUOTE[name])


@promise("buy.credited", "States: Wallet transaction, buy", "writes", "control")
def credited(bench: Bench) -> None:
    """A buy stays pending until it is paid; then its amount is in the balance."""
    before = stock.balances(bench)["USDC", "CELO"]
    _, made = stock.bought(bench)
    bench.world.advance("2h")
    bench.equal(bench.done(TRANSACTION, id=made.text("id")), "status", "pending", after=(made,))
    held = stock.balances(bench)["USDC", "CELO"] == before
    bench.holds(held, made, "credited before it was paid", "amount")
    bench.world.act("payment_arrives", made.text("id"))
    paid = bench.done(TRANSACTION, id=made.text("id"))
    status = paid.text("status")
    bench.holds(status in ("processing", "completed"), paid, f"paid, and {status}", "status", after=(made,))
    got = stock.balances(bench)["USDC", "CELO"] - before
    bench.holds(got == made.number("amount"), paid, f"{got} was credited", "amount", after=(made,))


@promise("withdraw.locked", "Withdraw quote; Wallet transaction: Withdraw only", "writes")
def withdraw_locked(bench: Bench) -> None:
    """A withdrawal has the amounts, the fee and the beneficiary of its quote."""
    quote, made = stock.withdrawn(bench)
    bench.same(made, quote, "symbol", "network", "fiat_currency", "fee", "destination_amount")
    bench.equal(made, "amount", quote.text("source_amount"), after=(quote,))
    bench.holds(str(made.body.get("beneficiary_id")).startswith("ben_"), made, "no beneficiary", "beneficiary_id")


@promise("withdraw.echo", "POST /wallet/withdraw/quote: amount_currency", "writes")
def withdraw_echo(bench: Bench) -> None:
    """The amount of a withdraw quote stands on the side that the request names."""
    body = stock.withdraw_quote_body(bench)
    quote = bench.done("POST /wallet/withdraw/quote", body)
    bench.holds(quote.number("source_amount") == AMOUNT, quote, "source_amount is not as asked", "source_amount")
    fiat = bench.done("POST /wallet/withdraw/quote", {**body, "amount": "2000.77", "amount_currency": "KES"})
    got = fiat.number("destination_amount")
    bench.holds(abs(got - 2000) < 2, fiat, f"destination_amount is {got}, asked were 2000.77", "destination_amount")


@promise("withdraw.way", "transaction.completed: fiat paid out", "writes", "control")
def withdraw_way(bench: Bench) -> None:
    """A withdrawal is completed when it is paid out; one that cannot be paid out fails and is refunded."""
    _, done = stock.withdrawn(bench)
    bench.world.act("complete", done.text("id"))
    bench.equal(bench.done(TRANSACTION, id=done.text("id")), "status", "completed", after=(done,))
    before = stock.balances(bench)["USDC", "CELO"]
    _, failed = stock.withdrawn(bench)
    bench.world.act("fail", failed.text("id"), failure_code="payout_failed")
    bench.equal(bench.done(TRANSACTION, id=failed.text("id")), "status", "failed", after=(failed,))
    bench.world.act("refund", failed.text("id"))
    bench.equal(bench.done(TRANSACTION, id=failed.text("id")), "status", "refunded", after=(failed,))
    back = stock.balances(bench)["USDC", "CELO"]
    bench.holds(back == before, failed, f"{back} is available after the refund, {before} before", "amount")


def _uses(bench: Bench) -> list[tuple[Answer, str, JsonObject]]:
    """A quote of each kind of the wallet, with the call that uses it."""
    swap, buy, withdraw = stock.swap_quote(bench), stock.buy_quote(bench), stock.withdraw_quote(bench)
    return [
        (swap, "POST /wallet/swap", {"quote_id": swap.text("id")}),
        (buy, "POST /wallet/buy", stock.buy_details(buy)),
        (withdraw, "POST /wallet/withdraw", {"quote_id": withdraw.text("id")}),
    ]


@promise("wallet_quote.used_refused", "Errors: quote_already_used", "writes")
def used_refused(bench: Bench) -> None:
    """A wallet quote can be used once: then 409 quote_already_used, and nothing new is made."""
    for quote, operation, body in _uses(bench):
        first = bench.done(operation, body)
        before = bench.total("GET /transactions")
        again = bench.call(operation, body)
        bench.refused(again, 409, "quote_already_used", after=(quote, first))
        bench.holds(bench.total("GET /transactions") == before, again, "a second transaction was made", "data")


@promise("wallet_quote.expired_refused", "Errors: quote_expired", "writes", "control")
def expired_refused(bench: Bench) -> None:
    """A wallet quote older than 30 minutes is refused with 422 quote_expired."""
    uses = _uses(bench)
    bench.world.advance("30m1s")
    for quote, operation, body in uses:
        bench.refused(bench.call(operation, body), 422, "quote_expired", after=(quote,))


@promise("wallet_quote.usable", "Quotes lock rate and fees for exactly 30 minutes", "writes", "control")
def usable(bench: Bench) -> None:
    """A wallet quote can be used until its 30 minutes are over."""
    uses = _uses(bench)
    bench.world.advance("29m58s")
    for quote, operation, body in uses:
        bench.accepted(bench.call(operation, body), after=(quote,))


@promise("wallet_quote.not_found", "Errors: quote_not_found", "writes")
def unknown_quotes(bench: Bench) -> None:
    """A wallet quote that does not exist answers 404 quote_not_found."""
    for operation, word in (("swap", "sq"), ("buy", "bq"), ("withdraw", "wq")):
        bench.refuses(404, "quote_not_found", f"POST /wallet/{operation}", {"quote_id": f"{word}_00000000000000000000"})


LAWS = (
    buy_locked, buy_echo, credited, withdraw_locked, withdraw_echo, withdraw_way, used_refused, expired_refused,
    usable, unknown_quotes,
)  # fmt: skip
