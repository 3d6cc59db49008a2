"""The account's own balance: send, swap, buy and withdraw."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Answer, Bench, Lacking, law
from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp.laws import stock

TRANSACTION = "GET /transactions/{id}"
BUSY = ("pending", "processing")
AMOUNT = Decimal(stock.PAID)


def _sent(bench: Bench) -> Answer:
    return bench.done("POST /wallet/send", {**stock.SEND, "reference": bench.fresh()})


def _swapped(bench: Bench) -> tuple[Answer, Answer]:
    quote = stock.swap_quote(bench)
    return quote, bench.done("POST /wallet/swap", {"quote_id": quote.text("id"), "reference": bench.fresh()})


def _bought(bench: Bench) -> tuple[Answer, Answer]:
    quote = stock.buy_quote(bench)
    return quote, bench.done("POST /wallet/buy", stock.buy_details(quote))


def _withdrawn(bench: Bench) -> tuple[Answer, Answer]:
    quote = stock.withdraw_quote(bench)
    return quote, bench.done("POST /wallet/withdraw", {"quote_id": quote.text("id"), "reference": bench.fresh()})


def _internal(bench: Bench, **amount: str) -> JsonObject:
    user = bench.world.platform_user()
    return {**stock.SEND, **amount, "destination": {"type": "platform_user", "email": user["email"]}}


@law("state.created", "writes", clause="States: Wallet transaction, Recurring payment")
def created(bench: Bench) -> None:
    """A send starts pending or processing, a swap and a withdrawal are under way, a buy is pending."""
    for answer, allowed in (
        (_sent(bench), BUSY), (_swapped(bench)[1], BUSY), (_withdrawn(bench)[1], BUSY),
        (_bought(bench)[1], ("pending",)), (stock.recurring(bench), ("draft",)),
        (stock.wallet(bench), ("active",)),
    ):  # fmt: skip
        status = answer.text("status")
        bench.holds(status in allowed, answer, f"status is {status}, not {' or '.join(allowed)}", "status")


@law("state.created_exactly", "writes", guess="S7")
def created_exactly(bench: Bench) -> None:
    """An on-chain send and a swap are pending, a withdrawal is processing."""
    bench.equal(_sent(bench), "status", "pending")
    bench.equal(_swapped(bench)[1], "status", "pending")
    bench.equal(_withdrawn(bench)[1], "status", "processing")


@law("transaction.kind", "writes", clause="Wallet transaction: type")
def kind(bench: Bench) -> None:
    """A wallet transaction has the type of the operation that made it, and its reference."""
    for word, answer in (
        ("send", _sent(bench)), ("swap", _swapped(bench)[1]), ("buy", _bought(bench)[1]),
        ("withdraw", _withdrawn(bench)[1]),
    ):  # fmt: skip
        bench.equal(answer, "type", word)
        bench.holds(str(answer.body.get("reference")).startswith("Conform-"), answer, "reference is lost", "reference")


@law("send.arithmetic", "writes", clause="Wallet transaction: net_amount, amount after fees")
def send_arithmetic(bench: Bench) -> None:
    """The net amount of a send and of its estimate is the amount less the fee."""
    for answer in (_sent(bench), bench.done("POST /wallet/send/estimate", stock.SEND)):
        due = answer.number("amount") - answer.number("fee.total")
        net = answer.number("net_amount")
        bench.holds(net == due, answer, f"net_amount is {net}, amount less fee is {due}", "net_amount")
        bench.holds(answer.number("amount") == AMOUNT, answer, "another amount than was asked", "amount")


@law("send.estimate", "writes", clause="The fee on a quote or estimate is exact")
def send_estimate(bench: Bench) -> None:
    """A send costs what its estimate said."""
    bench.same(_sent(bench), bench.done("POST /wallet/send/estimate", stock.SEND), "fee", "net_amount", "amount")


@law("send.internal_free", "writes", "control", clause="Internal transfers are free, instant and carry no tx_hash")
def internal_free(bench: Bench) -> None:
    """A transfer to another user is free, done at once, and has no tx_hash."""
    answer = bench.done("POST /wallet/send", _internal(bench))
    bench.holds(answer.number("fee.total") == 0, answer, "the fee is not zero", "fee.total")
    bench.equal(answer, "tx_hash", None)
    later = bench.done(TRANSACTION, id=answer.text("id"))
    bench.equal(later, "status", "completed", after=(answer,))
    bench.equal(later, "tx_hash", None, after=(answer,))


@law("send.destination", "writes", guess="S23")
def destination(bench: Bench) -> None:
    """A platform user is named by exactly one field: none is 400 missing_parameter, two are 400 invalid_parameter."""
    user = {"type": "platform_user"}
    nobody = bench.call("POST /wallet/send", {**stock.SEND, "destination": user})
    bench.refused(nobody, 400, "missing_parameter")
    two = {**user, "email": "a@example.test", "phone_number": stock.PHONES["KES"]}
    bench.refused(bench.call("POST /wallet/send", {**stock.SEND, "destination": two}), 400, "invalid_parameter")
    stranger = {**user, "email": f"{bench.fresh()}@example.test"}
    bench.refused(bench.call("POST /wallet/send", {**stock.SEND, "destination": stranger}), 404, "not_found")


@law("send.address", "writes", guess="S9")
def send_address(bench: Bench) -> None:
    """A send to an address that is none of its network is refused with 422 invalid_wallet_address."""
    body = {**stock.SEND, "destination": {"type": "address", "address": stock.ADDRESSES["stellar"]}}
    for operation in ("POST /wallet/send", "POST /wallet/send/estimate"):
        bench.refused(bench.call(operation, body), 422, "invalid_wallet_address")


def _listing(bench: Bench, symbol: str, network: str) -> Shown:
    rows = bench.done("GET /currencies", query={"size": 100}).items
    found = next((row for row in rows if (row.get("symbol"), row.get("network")) == (symbol, network)), None)
    if found is None:
        raise Lacking(f"the currency listing has no {symbol} on {network}")
    return found


@law("send.limits", "writes", clause="Limits: Send amount")
def send_limits(bench: Bench) -> None:
    """A send lies between min_withdraw and max_withdraw of the currency listing."""
    listed = _listing(bench, "USDC", "CELO")
    low, high = Decimal(listed["min_withdraw"]), Decimal(listed["max_withdraw"])
    step = Decimal("0.01")
    for operation in ("POST /wallet/send/estimate", "POST /wallet/send"):
        bench.refused(bench.call(operation, {**stock.SEND, "amount": str(low - step)}), 422, "amount_too_low")
        bench.refused(bench.call(operation, {**stock.SEND, "amount": str(high + step)}), 422, "amount_too_high")
    for amount in (low, high):
        bench.accepted(bench.call("POST /wallet/send/estimate", {**stock.SEND, "amount": str(amount)}), 200)


@law("send.insufficient_balance", "writes", "control", clause="Errors: insufficient_balance")
def insufficient(bench: Bench) -> None:
    """What the account does not have it cannot pay: 422 insufficient_balance, and nothing moves."""
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="10")
    before = bench.total("GET /transactions")
    refused = bench.call("POST /wallet/send", stock.SEND)
    bench.refused(refused, 422, "insufficient_balance")
    bench.refused(bench.call("POST /wallet/swap/quote", stock.SWAP_QUOTE), 422, "insufficient_balance")
    bench.refused(bench.call("POST /wallet/send", _internal(bench)), 422, "insufficient_balance")
    bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was made", "data")


@law("withdraw.insufficient_balance", "writes", "control", clause="Errors: insufficient_balance")
def withdraw_insufficient(bench: Bench) -> None:
    """A withdrawal of more than the account has is refused with 422 insufficient_balance."""
    quote = stock.withdraw_quote(bench)
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="10")
    refused = bench.call("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "insufficient_balance", after=(quote,))


@law("errors.unsupported_asset", "writes", clause="Errors: unsupported_asset, unsupported_network")
def unsupported(bench: Bench) -> None:
    """Wallet operations refuse an asset that its network does not have, and a network that there is not."""
    for operation, body in (
        ("POST /wallet/send", stock.SEND), ("POST /wallet/send/estimate", stock.SEND),
        ("POST /wallet/buy/quote", stock.BUY_QUOTE),
    ):  # fmt: skip
        bench.refused(bench.call(operation, {**body, "symbol": "XLM"}), 422, "unsupported_asset")
        bench.refused(bench.call(operation, {**body, "network": "TRON"}), 422, "unsupported_network")
    swap = {**stock.SWAP_QUOTE, "to": {"symbol": "XLM", "network": "CELO"}}
    bench.refused(bench.call("POST /wallet/swap/quote", swap), 422, "unsupported_asset")


@law("swap.minimum_received", "writes", clause="Swap quote: minimum_received")
def minimum_received(bench: Bench) -> None:
    """A swap promises at worst the received amount less the slippage."""
    for slippage in (Decimal("0.5"), Decimal("2")):
        quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "slippage": float(slippage)})
        bench.holds(quote.number("slippage") == slippage, quote, "slippage is not as asked", "slippage")
        due = quote.number("to.amount") * (1 - slippage / 100)
        off = abs(quote.number("minimum_received") - due)
        words = f"minimum_received is {quote.text('minimum_received')}, {due:.8f} is due"
        bench.holds(off <= Decimal("0.01"), quote, words, "minimum_received")


@law("swap.locked", "writes", clause="Swap quote; Wallet transaction")
def swap_locked(bench: Bench) -> None:
    """A swap moves what its quote said, and has no tx_hash before it is completed."""
    quote, made = _swapped(bench)
    bench.same(made, quote, "from", "to", "fee")
    bench.equal(made, "tx_hash", None, after=(quote,))


@law("swap.side_to", "writes", clause="POST /wallet/swap/quote: amount_side")
def side_to(bench: Bench) -> None:
    """With amount_side to, the amount is what is received."""
    quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "amount_side": "to"})
    bench.holds(quote.number("to.amount") == AMOUNT, quote, "to.amount is not the amount that was asked", "to.amount")


@law("swap.slippage", "writes", "control", clause="Errors: slippage_exceeded")
def slippage(bench: Bench) -> None:
    """A swap whose rate fell by more than its slippage is refused with 422 slippage_exceeded."""
    quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "slippage": 0.5})
    with bench.world.moved_rates(-5):
        refused = bench.call("POST /wallet/swap", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "slippage_exceeded", after=(quote,))


@law("swap.completes", "writes", "control", guess="S8")
def swap_completes(bench: Bench) -> None:
    """A completed swap has credited to.amount and taken from.amount."""
    before = stock.balances(bench)
    _, made = _swapped(bench)
    bench.world.act("complete", made.text("id"))
    after = stock.balances(bench)
    paid = before["USDC", "CELO"] - after["USDC", "CELO"]
    got = after["USDT", "CELO"] - before["USDT", "CELO"]
    bench.holds(paid == made.number("from.amount"), made, f"{paid} was taken", "from.amount")
    bench.holds(got == made.number("to.amount"), made, f"{got} was credited", "to.amount")


@law("balance.send", "writes", "control", guess="M11")
def balance_send(bench: Bench) -> None:
    """A send takes its amount from what is available when it is made; one that fails gives it back."""
    before = stock.balances(bench)["USDC", "CELO"]
    made = _sent(bench)
    left = stock.balances(bench)["USDC", "CELO"]
    bench.holds(before - left == AMOUNT, made, f"{before - left} left the balance, not {AMOUNT}", "amount")
    bench.world.act("fail", made.text("id"))
    back = stock.balances(bench)["USDC", "CELO"]
    bench.holds(back == before, made, f"{back} is available after the send failed, {before} before it", "amount")


@law("send.way", "writes", "control", clause="Wallet transaction: tx_hash")
def send_way(bench: Bench) -> None:
    """An on-chain send goes over processing with its tx_hash to completed."""
    made = _sent(bench)
    bench.equal(made, "tx_hash", None)
    bench.world.act("broadcast", made.text("id"))
    under_way = bench.done(TRANSACTION, id=made.text("id"))
    bench.equal(under_way, "status", "processing", after=(made,))
    bench.world.act("complete", made.text("id"))
    done = bench.done(TRANSACTION, id=made.text("id"))
    bench.equal(done, "status", "completed", after=(made,))
    bench.holds(bool(done.body.get("tx_hash")), done, "no tx_hash when completed", "tx_hash", after=(made,))


@law("buy.locked", "writes", clause="Buy quote; Wallet transaction: Buy only")
def buy_locked(bench: Bench) -> None:
    """A buy has the asset, the amount and the fee of its quote, and says how to pay."""
    quote, made = _bought(bench)
    bench.same(made, quote, "symbol", "network", "fee")
    bought, quoted = made.number("amount"), quote.number("crypto_amount")
    bench.holds(bought == quoted, made, f"amount is {bought}, quoted were {quoted}", "amount", after=(quote,))
    bench.equal(made, "payment_instructions.method", quote.text("method"), after=(quote,))
    bench.equal(made, "payment_instructions.phone_number", stock.PHONES["KES"], after=(quote,))


@law("buy.echo", "writes", clause="POST /wallet/buy/quote: amount_currency")
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


@law("buy.credited", "writes", "control", clause="States: Wallet transaction, buy")
def credited(bench: Bench) -> None:
    """A buy stays pending until it is paid; then its amount is in the balance."""
    before = stock.balances(bench)["USDC", "CELO"]
    _, made = _bought(bench)
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


@law("withdraw.locked", "writes", clause="Withdraw quote; Wallet transaction: Withdraw only")
def withdraw_locked(bench: Bench) -> None:
    """A withdrawal has the amounts, the fee and the beneficiary of its quote."""
    quote, made = _withdrawn(bench)
    bench.same(made, quote, "symbol", "network", "fiat_currency", "fee", "destination_amount")
    bench.equal(made, "amount", quote.text("source_amount"), after=(quote,))
    bench.holds(str(made.body.get("beneficiary_id")).startswith("ben_"), made, "no beneficiary", "beneficiary_id")


@law("withdraw.echo", "writes", clause="POST /wallet/withdraw/quote: amount_currency")
def withdraw_echo(bench: Bench) -> None:
    """The amount of a withdraw quote stands on the side that the request names."""
    body = stock.withdraw_quote_body(bench)
    quote = bench.done("POST /wallet/withdraw/quote", body)
    bench.holds(quote.number("source_amount") == AMOUNT, quote, "source_amount is not as asked", "source_amount")
    fiat = bench.done("POST /wallet/withdraw/quote", {**body, "amount": "2000.77", "amount_currency": "KES"})
    got = fiat.number("destination_amount")
    bench.holds(abs(got - 2000) < 2, fiat, f"destination_amount is {got}, asked were 2000.77", "destination_amount")


@law("withdraw.way", "writes", "control", clause="transaction.completed: fiat paid out")
def withdraw_way(bench: Bench) -> None:
    """A withdrawal is completed when it is paid out; one that cannot be paid out fails and is refunded."""
    _, done = _withdrawn(bench)
    bench.world.act("complete", done.text("id"))
    bench.equal(bench.done(TRANSACTION, id=done.text("id")), "status", "completed", after=(done,))
    before = stock.balances(bench)["USDC", "CELO"]
    _, failed = _withdrawn(bench)
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


@law("wallet_quote.used_refused", "writes", clause="Errors: quote_already_used")
def used_refused(bench: Bench) -> None:
    """A wallet quote can be used once: then 409 quote_already_used, and nothing new is made."""
    for quote, operation, body in _uses(bench):
        first = bench.done(operation, body)
        before = bench.total("GET /transactions")
        again = bench.call(operation, body)
        bench.refused(again, 409, "quote_already_used", after=(quote, first))
        bench.holds(bench.total("GET /transactions") == before, again, "a second transaction was made", "data")


@law("wallet_quote.expired_refused", "writes", "control", clause="Errors: quote_expired")
def expired_refused(bench: Bench) -> None:
    """A wallet quote older than 30 minutes is refused with 422 quote_expired."""
    uses = _uses(bench)
    bench.world.advance("30m1s")
    for quote, operation, body in uses:
        bench.refused(bench.call(operation, body), 422, "quote_expired", after=(quote,))


@law("wallet_quote.usable", "writes", "control", clause="Quotes lock rate and fees for exactly 30 minutes")
def usable(bench: Bench) -> None:
    """A wallet quote can be used until its 30 minutes are over."""
    uses = _uses(bench)
    bench.world.advance("29m58s")
    for quote, operation, body in uses:
        bench.accepted(bench.call(operation, body), after=(quote,))


@law("wallet_quote.not_found", "writes", clause="Errors: quote_not_found")
def quote_not_found(bench: Bench) -> None:
    """A wallet quote that does not exist answers 404 quote_not_found."""
    for operation, word in (("swap", "sq"), ("buy", "bq"), ("withdraw", "wq")):
        answer = bench.call(f"POST /wallet/{operation}", {"quote_id": f"{word}_00000000000000000000"})
        bench.refused(answer, 404, "quote_not_found")
