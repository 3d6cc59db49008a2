"""Buys and withdrawals, and the quotes for them."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Refusal, promise, refusals
from simulator.providers.ramp.laws import stock


@promise("buy.locked", "Buy quote; Wallet transaction: Buy only", "writes")
def buy_locked(bench: Bench) -> None:
    """A buy has the asset, amount and fee from its quote, and payment instructions."""
    quote = stock.buy_quote(bench)
    made = stock.used(bench, quote)
    bench.same(made, quote, "symbol", "network", "fee")
    bench.amounts(made, {"amount": quote.number("crypto_amount")}, after=(quote,))
    bench.equal(made, "payment_instructions.method", quote.text("method"), after=(quote,))
    bench.equal(made, "payment_instructions.phone_number", stock.PHONES["KES"], after=(quote,))


@promise("buy.echo", "POST /wallet/buy/quote: amount_currency", "writes")
def buy_echo(bench: Bench) -> None:
    """A buy quote contains the requested amount in fiat_amount or crypto_amount, as amount_currency specifies."""
    for side, amount in (("fiat", stock.FIAT), ("crypto", stock.CRYPTO)):
        body = {**stock.BUY_QUOTE, "amount": amount, "amount_currency": side}
        quote = bench.done("POST /wallet/buy/quote", body)
        bench.amounts(quote, {f"{side}_amount": Decimal(amount)})
        bench.echoes(quote, body, "symbol", "network", "fiat_currency", "method")


@promise("buy.credited", "States: Wallet transaction, buy", "writes", "control")
def credited(bench: Bench) -> None:
    """A buy is pending until it is paid. Then its amount is credited."""
    before = stock.available(bench)
    made = stock.buy(bench)
    bench.world.advance("2h")
    stock.shows(bench, made, "pending")
    bench.holds(stock.available(bench) == before, made, "credited before it was paid", "amount")
    bench.world.act("payment_arrives", made.text("id"))
    paid = bench.done("GET /transactions/{id}", id=made.text("id"))
    status, got = paid.text("status"), stock.available(bench) - before
    held = status in ("processing", "completed")
    bench.holds(held, paid, f"status is {status} after the payment", "status", after=(made,))
    bench.holds(got == made.number("amount"), paid, f"{got} was credited", "amount", after=(made,))


@promise("withdraw.locked", "Withdraw quote; Wallet transaction: Withdraw only", "writes")
def withdraw_locked(bench: Bench) -> None:
    """A withdrawal has the amounts, fee and beneficiary from its quote."""
    quote = stock.withdraw_quote(bench)
    made = stock.used(bench, quote)
    bench.same(made, quote, "symbol", "network", "fiat_currency", "fee", "destination_amount")
    bench.equal(made, "amount", quote.text("source_amount"), after=(quote,))
    bench.holds(str(made.body.get("beneficiary_id")).startswith("ben_"), made, "no beneficiary", "beneficiary_id")


@promise("withdraw.echo", "POST /wallet/withdraw/quote: amount_currency", "writes")
def withdraw_echo(bench: Bench) -> None:
    """A withdraw quote has the requested amount as its source or destination amount, as amount_currency specifies."""
    body = stock.withdraw_quote_body(bench)
    bench.amounts(bench.done("POST /wallet/withdraw/quote", body), {"source_amount": Decimal(stock.PAID)})
    fiat = bench.done("POST /wallet/withdraw/quote", {**body, "amount": "2000.77", "amount_currency": "KES"})
    got = fiat.number("destination_amount")
    bench.holds(abs(got - 2000) < 2, fiat, f"destination_amount is {got}, not 2000.77", "destination_amount")


@promise("withdraw.way", "transaction.completed: fiat paid out", "writes", "control")
def withdraw_way(bench: Bench) -> None:
    """A withdrawal completes when it is paid out. If it cannot be paid out, it fails and is refunded."""
    done = stock.withdrawal(bench)
    stock.shows(bench, done, "completed", after="complete")
    before = stock.available(bench)
    failed = stock.withdrawal(bench)
    stock.shows(bench, failed, "failed", after="fail")
    stock.shows(bench, failed, "refunded", after="refund")
    back = stock.available(bench)
    bench.holds(back == before, failed, f"{back} is available after the refund, {before} before", "amount")


@promise("wallet_quote.used_refused", "Errors: quote_already_used", "writes")
def used_refused(bench: Bench) -> None:
    """A wallet quote can be used once. A second use is refused with 409 quote_already_used and creates nothing."""
    for quote, operation, body in stock.uses(bench):
        first = bench.done(operation, body)
        before = bench.total("GET /transactions")
        again = bench.call(operation, body)
        bench.refused(again, 409, "quote_already_used", after=(quote, first))
        bench.holds(bench.total("GET /transactions") == before, again, "a second transaction was created", "data")


@promise("wallet_quote.expired_refused", "Errors: quote_expired", "writes", "control")
def expired_refused(bench: Bench) -> None:
    """A wallet quote older than 30 minutes is refused with 422 quote_expired."""
    uses = [*stock.uses(bench)]
    bench.world.advance("30m1s")
    for quote, operation, body in uses:
        bench.refused(bench.call(operation, body), 422, "quote_expired", after=(quote,))


@promise("wallet_quote.usable", "Quotes lock rate and fees for exactly 30 minutes", "writes", "control")
def usable(bench: Bench) -> None:
    """A wallet quote can be used for 30 minutes."""
    uses = [*stock.uses(bench)]
    bench.world.advance("29m58s")
    for quote, operation, body in uses:
        bench.accepted(bench.call(operation, body), after=(quote,))


not_found = refusals(
    "wallet_quote.not_found", "Errors: quote_not_found", "An unknown wallet quote returns 404 quote_not_found.",
    *(Refusal("404 quote_not_found", f"POST /wallet/{operation}", {"quote_id": f"{prefix}_00000000000000000000"})
      for operation, prefix in (("swap", "sq"), ("buy", "bq"), ("withdraw", "wq"))),
)  # fmt: skip
