"""The account's balance: send, swap, buy and withdraw."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench, MissingData
from simulator.conformance.laws import Refusal, guess, promise, refusals
from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp.laws import stock

SEND, ESTIMATE, QUOTE = "POST /wallet/send", "POST /wallet/send/estimate", "POST /wallet/swap/quote"
BUSY = ("pending", "processing")
AMOUNT = Decimal(stock.PAID)
USER = {"type": "platform_user"}


def _internal(bench: Bench) -> JsonObject:
    email = bench.world.shown["platform_users"][0]["email"]
    return {**stock.SEND, "destination": {**USER, "email": email}}


@promise("state.created", "States: Wallet transaction, Recurring payment", "writes")
def created(bench: Bench) -> None:
    """A new send, swap or withdrawal is pending or processing. A new buy is pending."""
    for create, *allowed in (
        (stock.sent, *BUSY), (stock.swap, *BUSY), (stock.withdrawal, *BUSY), (stock.buy, "pending"),
        (stock.recurring, "draft"), (stock.wallet, "active"),
    ):  # fmt: skip
        answer = create(bench)
        status = answer.text("status")
        bench.holds(status in allowed, answer, f"status is {status}, not {' or '.join(allowed)}", "status")


@guess("state.created_exactly", "S7", "writes")
def created_exactly(bench: Bench) -> None:
    """A new on-chain send or swap is pending. A new withdrawal is processing."""
    for create, status in ((stock.sent, "pending"), (stock.swap, "pending"), (stock.withdrawal, "processing")):
        bench.equal(create(bench), "status", status)


@promise("transaction.kind", "Wallet transaction: type", "writes")
def kind(bench: Bench) -> None:
    """A wallet transaction has the type that corresponds to its operation, and the reference from the request."""
    for word, create in (
        ("send", stock.sent), ("swap", stock.swap), ("buy", stock.buy), ("withdraw", stock.withdrawal),
    ):  # fmt: skip
        answer = create(bench)
        bench.equal(answer, "type", word)
        bench.holds(str(answer.body.get("reference")).startswith("Conform-"), answer, "reference is lost", "reference")


@promise("send.arithmetic", "Wallet transaction: net_amount, amount after fees", "writes")
def send_arithmetic(bench: Bench) -> None:
    """For a send and its estimate, the net amount is the amount minus the fee."""
    for answer in (stock.sent(bench), bench.done(ESTIMATE, stock.SEND)):
        bench.amounts(answer, {"net_amount": answer.number("amount") - answer.number("fee.total"), "amount": AMOUNT})


@promise("send.estimate", "The fee on a quote or estimate is exact", "writes")
def send_estimate(bench: Bench) -> None:
    """A send has the fee that its estimate states."""
    bench.same(stock.sent(bench), bench.done(ESTIMATE, stock.SEND), "fee", "net_amount", "amount")


@promise("send.internal_free", "Internal transfers are free, instant and carry no tx_hash", "writes", "control")
def internal_free(bench: Bench) -> None:
    """A transfer to another user is free, completes immediately and has no tx_hash."""
    answer = bench.done(SEND, _internal(bench))
    bench.amounts(answer, {"fee.total": 0})
    bench.equal(answer, "tx_hash", None)
    bench.equal(stock.shows(bench, answer, "completed"), "tx_hash", None, after=(answer,))


@promise("send.limits", "Limits: Send amount", "writes")
def send_limits(bench: Bench) -> None:
    """A send's amount must be between min_withdraw and max_withdraw in the currency listing."""
    listed = _listing(bench, "USDC", "CELO")
    low, high, step = Decimal(listed["min_withdraw"]), Decimal(listed["max_withdraw"]), Decimal("0.01")
    for operation in (ESTIMATE, SEND):
        for amount, code in ((low - step, "amount_too_low"), (high + step, "amount_too_high")):
            bench.refused(bench.call(operation, {**stock.SEND, "amount": str(amount)}), 422, code)
    for amount in (low, high):
        bench.accepted(bench.call(ESTIMATE, {**stock.SEND, "amount": str(amount)}), 200)


def _listing(bench: Bench, symbol: str, network: str) -> Shown:
    rows = bench.done("GET /currencies", query={"size": 100}).items
    found = next((row for row in rows if (row.get("symbol"), row.get("network")) == (symbol, network)), None)
    if found is None:
        raise MissingData(f"the currency listing has no {symbol} on {network}")
    return found


@promise("send.insufficient_balance", "Errors: insufficient_balance", "writes", "control")
def insufficient(bench: Bench) -> None:
    """A payment that exceeds the balance is refused with 422 insufficient_balance and creates no transaction."""
    stock.set_balance(bench.world, "10")
    before = bench.total("GET /transactions")
    for operation, body in ((QUOTE, stock.SWAP_QUOTE), (SEND, _internal(bench)), (SEND, stock.SEND)):
        refused = bench.call(operation, body)
        bench.refused(refused, 422, "insufficient_balance")
    bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was created", "data")


@promise("withdraw.insufficient_balance", "Errors: insufficient_balance", "writes", "control")
def withdraw_insufficient(bench: Bench) -> None:
    """A withdrawal that exceeds the balance is refused with 422 insufficient_balance."""
    quote = stock.withdraw_quote(bench)
    stock.set_balance(bench.world, "10")
    refused = bench.call("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "insufficient_balance", after=(quote,))


@promise("swap.minimum_received", "Swap quote: minimum_received", "writes")
def minimum_received(bench: Bench) -> None:
    """minimum_received is the received amount minus the slippage."""
    for slippage in (Decimal("0.5"), Decimal("2")):
        quote = bench.done(QUOTE, {**stock.SWAP_QUOTE, "slippage": float(slippage)})
        bench.amounts(quote, {"slippage": slippage})
        due, got = quote.number("to.amount") * (1 - slippage / 100), quote.number("minimum_received")
        held = abs(got - due) <= Decimal("0.01")
        bench.holds(held, quote, f"minimum_received is {got}, not {due:.8f}", "minimum_received")


@promise("swap.locked", "Swap quote; Wallet transaction", "writes")
def swap_locked(bench: Bench) -> None:
    """A swap uses the amounts in its quote, and has no tx_hash before it completes."""
    quote = stock.swap_quote(bench)
    made = stock.used(bench, quote)
    bench.same(made, quote, "from", "to", "fee")
    bench.equal(made, "tx_hash", None, after=(quote,))


@promise("swap.side_to", "POST /wallet/swap/quote: amount_side", "writes")
def side_to(bench: Bench) -> None:
    """If amount_side is `to`, the requested amount is the amount received."""
    bench.amounts(bench.done(QUOTE, {**stock.SWAP_QUOTE, "amount_side": "to"}), {"to.amount": AMOUNT})


@promise("swap.slippage", "Errors: slippage_exceeded", "writes", "control")
def slippage(bench: Bench) -> None:
    """If the rate has fallen by more than the slippage tolerance of the quote, the swap is refused with 422
    slippage_exceeded.
    """
    quote = bench.done(QUOTE, {**stock.SWAP_QUOTE, "slippage": 0.5})
    with stock.moved_rates(bench.world, -5):
        refused = bench.call("POST /wallet/swap", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "slippage_exceeded", after=(quote,))


@guess("swap.completes", "S8", "writes", "control")
def swap_completes(bench: Bench) -> None:
    """A completed swap has debited from.amount and credited to.amount."""
    before = stock.balances(bench)
    made = stock.swap(bench)
    bench.world.act("complete", made.text("id"))
    after = stock.balances(bench)
    for symbol, place, sign, word in (("USDC", "from.amount", -1, "debited"), ("USDT", "to.amount", 1, "credited")):
        moved = sign * (after[symbol, "CELO"] - before[symbol, "CELO"])
        bench.holds(moved == made.number(place), made, f"{moved} was {word}", place)


@guess("balance.send", "M11", "writes", "control")
def balance_send(bench: Bench) -> None:
    """A send debits the available balance when the send is created. If the send fails, the balance is restored."""
    before = stock.available(bench)
    made = stock.sent(bench)
    debited = before - stock.available(bench)
    bench.holds(debited == AMOUNT, made, f"{debited} was debited, not {AMOUNT}", "amount")
    bench.world.act("fail", made.text("id"))
    back = stock.available(bench)
    bench.holds(back == before, made, f"{back} is available after the send failed, {before} before it", "amount")


@promise("send.way", "Wallet transaction: tx_hash", "writes", "control")
def send_way(bench: Bench) -> None:
    """An on-chain send is processing after it is broadcast. A completed send has a tx_hash."""
    made = stock.sent(bench)
    bench.equal(made, "tx_hash", None)
    stock.shows(bench, made, "processing", after="broadcast")
    done = stock.shows(bench, made, "completed", after="complete")
    bench.holds(bool(done.body.get("tx_hash")), done, "a completed send has no tx_hash", "tx_hash", after=(made,))


destination = refusals(
    "send.destination", "S23",
    "A platform user is named by exactly one field: none is 400 missing_parameter, two are 400 invalid_parameter.",
    Refusal("400 missing_parameter", SEND, stock.SEND, {"destination": USER}),
    Refusal("400 invalid_parameter", SEND, stock.SEND,
            {"destination": {**USER, "email": "a@example.test", "phone_number": stock.PHONES["KES"]}}),
    Refusal("404 not_found", SEND, stock.SEND, {"destination": {**USER, "email": "conform-nobody@example.test"}}),
    promise=False,
)  # fmt: skip
address = refusals(
    "send.address", "S9", "A send to an address of another network is refused with 422 invalid_wallet_address.",
    *(Refusal("422 invalid_wallet_address", operation, stock.SEND, {"destination.address": stock.ADDRESSES["stellar"]})
      for operation in (SEND, ESTIMATE)),
    promise=False,
)  # fmt: skip
unsupported_asset = refusals(
    "errors.unsupported_asset", "Errors: unsupported_asset, unsupported_network",
    "Wallet operations refuse an unknown network, and an asset that is not on the network.",
    *(Refusal(f"422 {code}", operation, body, change)
      for operation, body in ((SEND, stock.SEND), (ESTIMATE, stock.SEND), ("POST /wallet/buy/quote", stock.BUY_QUOTE))
      for code, change in (("unsupported_asset", {"symbol": "XLM"}), ("unsupported_network", {"network": "TRON"}))),
    Refusal("422 unsupported_asset", QUOTE, stock.SWAP_QUOTE, {"to.symbol": "XLM"}),
)  # fmt: skip
