"""The account's own balance: send, swap, buy and withdraw."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench, Lacking
from simulator.conformance.laws import guess, promise
from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp.laws import steering, stock

TRANSACTION = "GET /transactions/{id}"
BUSY = ("pending", "processing")
AMOUNT = Decimal(stock.PAID)


def _internal(bench: Bench, **amount: str) -> JsonObject:
    user = steering.platform_user(bench.world)
    return {**stock.SEND, **amount, "destination": {"type": "platform_user", "email": user["email"]}}


@promise("state.created", "States: Wallet transaction, Recurring payment", "writes")
def created(bench: Bench) -> None:
    """A send starts pending or processing, a swap and a withdrawal are under way, a buy is pending."""
    for answer, allowed in (
        (stock.sent(bench), BUSY), (stock.swapped(bench)[1], BUSY), (stock.withdrawn(bench)[1], BUSY),
        (stock.bought(bench)[1], ("pending",)), (stock.recurring(bench), ("draft",)),
        (stock.wallet(bench), ("active",)),
    ):  # fmt: skip
        status = answer.text("status")
        bench.holds(status in allowed, answer, f"status is {status}, not {' or '.join(allowed)}", "status")


@guess("state.created_exactly", "S7", "writes")
def created_exactly(bench: Bench) -> None:
    """An on-chain send and a swap are pending, a withdrawal is processing."""
    bench.equal(stock.sent(bench), "status", "pending")
    bench.equal(stock.swapped(bench)[1], "status", "pending")
    bench.equal(stock.withdrawn(bench)[1], "status", "processing")


@promise("transaction.kind", "Wallet transaction: type", "writes")
def kind(bench: Bench) -> None:
    """A wallet transaction has the type of the operation that made it, and its reference."""
    for word, answer in (
        ("send", stock.sent(bench)), ("swap", stock.swapped(bench)[1]), ("buy", stock.bought(bench)[1]),
        ("withdraw", stock.withdrawn(bench)[1]),
    ):  # fmt: skip
        bench.equal(answer, "type", word)
        bench.holds(str(answer.body.get("reference")).startswith("Conform-"), answer, "reference is lost", "reference")


@promise("send.arithmetic", "Wallet transaction: net_amount, amount after fees", "writes")
def send_arithmetic(bench: Bench) -> None:
    """The net amount of a send and of its estimate is the amount less the fee."""
    for answer in (stock.sent(bench), bench.done("POST /wallet/send/estimate", stock.SEND)):
        due = answer.number("amount") - answer.number("fee.total")
        net = answer.number("net_amount")
        bench.holds(net == due, answer, f"net_amount is {net}, amount less fee is {due}", "net_amount")
        bench.holds(answer.number("amount") == AMOUNT, answer, "another amount than was asked", "amount")


@promise("send.estimate", "The fee on a quote or estimate is exact", "writes")
def send_estimate(bench: Bench) -> None:
    """A send costs what its estimate said."""
    bench.same(stock.sent(bench), bench.done("POST /wallet/send/estimate", stock.SEND), "fee", "net_amount", "amount")


@promise("send.internal_free", "Internal transfers are free, instant and carry no tx_hash", "writes", "control")
def internal_free(bench: Bench) -> None:
    """A transfer to another user is free, done at once, and has no tx_hash."""
    answer = bench.done("POST /wallet/send", _internal(bench))
    bench.holds(answer.number("fee.total") == 0, answer, "the fee is not zero", "fee.total")
    bench.equal(answer, "tx_hash", None)
    later = bench.done(TRANSACTION, id=answer.text("id"))
    bench.equal(later, "status", "completed", after=(answer,))
    bench.equal(later, "tx_hash", None, after=(answer,))


@guess("send.destination", "S23", "writes")
def destination(bench: Bench) -> None:
    """A platform user is named by exactly one field: none is 400 missing_parameter, two are 400 invalid_parameter."""
    user = {"type": "platform_user"}
    nobody = bench.call("POST /wallet/send", {**stock.SEND, "destination": user})
    bench.refused(nobody, 400, "missing_parameter")
    two = {**user, "email": "a@example.test", "phone_number": stock.PHONES["KES"]}
    bench.refused(bench.call("POST /wallet/send", {**stock.SEND, "destination": two}), 400, "invalid_parameter")
    stranger = {**user, "email": f"{bench.fresh()}@example.test"}
    bench.refused(bench.call("POST /wallet/send", {**stock.SEND, "destination": stranger}), 404, "not_found")


@guess("send.address", "S9", "writes")
def send_addresses(bench: Bench) -> None:
    """A send to an address that is none of its network is refused with 422 invalid_wallet_address."""
    for operation in ("POST /wallet/send", "POST /wallet/send/estimate"):
        bench.refuses(
            422,
            "invalid_wallet_address",
            operation,
            stock.changed(stock.SEND, "destination.address", stock.ADDRESSES["stellar"]),
        )


def _listing(bench: Bench, symbol: str, network: str) -> Shown:
    rows = bench.done("GET /currencies", query={"size": 100}).items
    found = next((row for row in rows if (row.get("symbol"), row.get("network")) == (symbol, network)), None)
    if found is None:
        raise Lacking(f"the currency listing has no {symbol} on {network}")
    return found


@promise("send.limits", "Limits: Send amount", "writes")
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


@promise("send.insufficient_balance", "Errors: insufficient_balance", "writes", "control")
def insufficient(bench: Bench) -> None:
    """What the account does not have it cannot pay: 422 insufficient_balance, and nothing moves."""
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="10")
    before = bench.total("GET /transactions")
    refused = bench.call("POST /wallet/send", stock.SEND)
    bench.refused(refused, 422, "insufficient_balance")
    bench.refused(bench.call("POST /wallet/swap/quote", stock.SWAP_QUOTE), 422, "insufficient_balance")
    bench.refused(bench.call("POST /wallet/send", _internal(bench)), 422, "insufficient_balance")
    bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was made", "data")


@promise("withdraw.insufficient_balance", "Errors: insufficient_balance", "writes", "control")
def withdraw_insufficient(bench: Bench) -> None:
    """A withdrawal of more than the account has is refused with 422 insufficient_balance."""
    quote = stock.withdraw_quote(bench)
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="10")
    refused = bench.call("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "insufficient_balance", after=(quote,))


@promise("errors.unsupported_asset", "Errors: unsupported_asset, unsupported_network", "writes")
def unsupported(bench: Bench) -> None:
    """Wallet operations refuse an asset that its network does not have, and a network that there is not."""
    for operation, body in (
        ("POST /wallet/send", stock.SEND),
        ("POST /wallet/send/estimate", stock.SEND),
        ("POST /wallet/buy/quote", stock.BUY_QUOTE),
    ):
        for code, changed in (
            ("unsupported_asset", {"symbol": "XLM"}),
            ("unsupported_network", {"network": "TRON"}),
        ):
            bench.refuses(422, code, operation, {**body, **changed})
    bench.refuses(
        422, "unsupported_asset", "POST /wallet/swap/quote", stock.changed(stock.SWAP_QUOTE, "to.symbol", "XLM")
    )


@promise("swap.minimum_received", "Swap quote: minimum_received", "writes")
def minimum_received(bench: Bench) -> None:
    """A swap promises at worst the received amount less the slippage."""
    for slippage in (Decimal("0.5"), Decimal("2")):
        quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "slippage": float(slippage)})
        bench.holds(quote.number("slippage") == slippage, quote, "slippage is not as asked", "slippage")
        due = quote.number("to.amount") * (1 - slippage / 100)
        off = abs(quote.number("minimum_received") - due)
        words = f"minimum_received is {quote.text('minimum_received')}, {due:.8f} is due"
        bench.holds(off <= Decimal("0.01"), quote, words, "minimum_received")


@promise("swap.locked", "Swap quote; Wallet transaction", "writes")
def swap_locked(bench: Bench) -> None:
    """A swap moves what its quote said, and has no tx_hash before it is completed."""
    quote, made = stock.swapped(bench)
    bench.same(made, quote, "from", "to", "fee")
    bench.equal(made, "tx_hash", None, after=(quote,))


@promise("swap.side_to", "POST /wallet/swap/quote: amount_side", "writes")
def side_to(bench: Bench) -> None:
    """With amount_side to, the amount is what is received."""
    quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "amount_side": "to"})
    bench.holds(quote.number("to.amount") == AMOUNT, quote, "to.amount is not the amount that was asked", "to.amount")


@promise("swap.slippage", "Errors: slippage_exceeded", "writes", "control")
def slippage(bench: Bench) -> None:
    """A swap whose rate fell by more than its slippage is refused with 422 slippage_exceeded."""
    quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "slippage": 0.5})
    with steering.moved_rates(bench.world, -5):
        refused = bench.call("POST /wallet/swap", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "slippage_exceeded", after=(quote,))


@guess("swap.completes", "S8", "writes", "control")
def swap_completes(bench: Bench) -> None:
    """A completed swap has credited to.amount and taken from.amount."""
    before = stock.balances(bench)
    _, made = stock.swapped(bench)
    bench.world.act("complete", made.text("id"))
    after = stock.balances(bench)
    paid = before["USDC", "CELO"] - after["USDC", "CELO"]
    got = after["USDT", "CELO"] - before["USDT", "CELO"]
    bench.holds(paid == made.number("from.amount"), made, f"{paid} was taken", "from.amount")
    bench.holds(got == made.number("to.amount"), made, f"{got} was credited", "to.amount")


@guess("balance.send", "M11", "writes", "control")
def balance_send(bench: Bench) -> None:
    """A send takes its amount from what is available when it is made; one that fails gives it back."""
    before = stock.balances(bench)["USDC", "CELO"]
    made = stock.sent(bench)
    left = stock.balances(bench)["USDC", "CELO"]
    bench.holds(before - left == AMOUNT, made, f"{before - left} left the balance, not {AMOUNT}", "amount")
    bench.world.act("fail", made.text("id"))
    back = stock.balances(bench)["USDC", "CELO"]
    bench.holds(back == before, made, f"{back} is available after the send failed, {before} before it", "amount")


@promise("send.way", "Wallet transaction: tx_hash", "writes", "control")
def send_way(bench: Bench) -> None:
    """An on-chain send goes over processing with its tx_hash to completed."""
    made = stock.sent(bench)
    bench.equal(made, "tx_hash", None)
    bench.world.act("broadcast", made.text("id"))
    under_way = bench.done(TRANSACTION, id=made.text("id"))
    bench.equal(under_way, "status", "processing", after=(made,))
    bench.world.act("complete", made.text("id"))
    done = bench.done(TRANSACTION, id=made.text("id"))
    bench.equal(done, "status", "completed", after=(made,))
    bench.holds(bool(done.body.get("tx_hash")), done, "no tx_hash when completed", "tx_hash", after=(made,))


LAWS = (
    created, created_exactly, kind, send_arithmetic, send_estimate, internal_free, destination, send_addresses,
    send_limits, insufficient, withdraw_insufficient, unsupported, minimum_received, swap_locked, side_to, slippage,
    swap_completes, balance_send, send_way,
)  # fmt: skip
