"""The account's own balance: send, swap, buy and withdraw."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench, Lacking
from simulator.conformance.laws import Law
from simulator.conformance.refusals import Refusal, refusals
from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp.laws import steering, stock

TRANSACTION = "GET /transactions/{id}"
BUSY = ("pending", "processing")
AMOUNT = Decimal(stock.PAID)


def _internal(bench: Bench, **amount: str) -> JsonObject:
    user = steering.platform_user(bench.world)
    return {**stock.SEND, **amount, "destination": {"type": "platform_user", "email": user["email"]}}


def created(bench: Bench) -> None:
    for answer, allowed in (
        (stock.sent(bench), BUSY), (stock.swapped(bench)[1], BUSY), (stock.withdrawn(bench)[1], BUSY),
        (stock.bought(bench)[1], ("pending",)), (stock.recurring(bench), ("draft",)),
        (stock.wallet(bench), ("active",)),
    ):  # fmt: skip
        status = answer.text("status")
        bench.holds(status in allowed, answer, f"status is {status}, not {' or '.join(allowed)}", "status")


def created_exactly(bench: Bench) -> None:
    bench.equal(stock.sent(bench), "status", "pending")
    bench.equal(stock.swapped(bench)[1], "status", "pending")
    bench.equal(stock.withdrawn(bench)[1], "status", "processing")


def kind(bench: Bench) -> None:
    for word, answer in (
        ("send", stock.sent(bench)), ("swap", stock.swapped(bench)[1]), ("buy", stock.bought(bench)[1]),
        ("withdraw", stock.withdrawn(bench)[1]),
    ):  # fmt: skip
        bench.equal(answer, "type", word)
        bench.holds(str(answer.body.get("reference")).startswith("Conform-"), answer, "reference is lost", "reference")


def send_arithmetic(bench: Bench) -> None:
    for answer in (stock.sent(bench), bench.done("POST /wallet/send/estimate", stock.SEND)):
        due = answer.number("amount") - answer.number("fee.total")
        net = answer.number("net_amount")
        bench.holds(net == due, answer, f"net_amount is {net}, amount less fee is {due}", "net_amount")
        bench.holds(answer.number("amount") == AMOUNT, answer, "another amount than was asked", "amount")


def send_estimate(bench: Bench) -> None:
    bench.same(stock.sent(bench), bench.done("POST /wallet/send/estimate", stock.SEND), "fee", "net_amount", "amount")


def internal_free(bench: Bench) -> None:
    answer = bench.done("POST /wallet/send", _internal(bench))
    bench.holds(answer.number("fee.total") == 0, answer, "the fee is not zero", "fee.total")
    bench.equal(answer, "tx_hash", None)
    later = bench.done(TRANSACTION, id=answer.text("id"))
    bench.equal(later, "status", "completed", after=(answer,))
    bench.equal(later, "tx_hash", None, after=(answer,))


def destination(bench: Bench) -> None:
    user = {"type": "platform_user"}
    nobody = bench.call("POST /wallet/send", {**stock.SEND, "destination": user})
    bench.refused(nobody, 400, "missing_parameter")
    two = {**user, "email": "a@example.test", "phone_number": stock.PHONES["KES"]}
    bench.refused(bench.call("POST /wallet/send", {**stock.SEND, "destination": two}), 400, "invalid_parameter")
    stranger = {**user, "email": f"{bench.fresh()}@example.test"}
    bench.refused(bench.call("POST /wallet/send", {**stock.SEND, "destination": stranger}), 404, "not_found")


SEND_ADDRESSES = refusals(*(
    Refusal(
        operation, 422, "invalid_wallet_address", body=stock.SEND,
        changed={"destination.address": stock.ADDRESSES["stellar"]},
    )
    for operation in ("POST /wallet/send", "POST /wallet/send/estimate")
))  # fmt: skip


def _listing(bench: Bench, symbol: str, network: str) -> Shown:
    rows = bench.done("GET /currencies", query={"size": 100}).items
    found = next((row for row in rows if (row.get("symbol"), row.get("network")) == (symbol, network)), None)
    if found is None:
        raise Lacking(f"the currency listing has no {symbol} on {network}")
    return found


def send_limits(bench: Bench) -> None:
    listed = _listing(bench, "USDC", "CELO")
    low, high = Decimal(listed["min_withdraw"]), Decimal(listed["max_withdraw"])
    step = Decimal("0.01")
    for operation in ("POST /wallet/send/estimate", "POST /wallet/send"):
        bench.refused(bench.call(operation, {**stock.SEND, "amount": str(low - step)}), 422, "amount_too_low")
        bench.refused(bench.call(operation, {**stock.SEND, "amount": str(high + step)}), 422, "amount_too_high")
    for amount in (low, high):
        bench.accepted(bench.call("POST /wallet/send/estimate", {**stock.SEND, "amount": str(amount)}), 200)


def insufficient(bench: Bench) -> None:
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="10")
    before = bench.total("GET /transactions")
    refused = bench.call("POST /wallet/send", stock.SEND)
    bench.refused(refused, 422, "insufficient_balance")
    bench.refused(bench.call("POST /wallet/swap/quote", stock.SWAP_QUOTE), 422, "insufficient_balance")
    bench.refused(bench.call("POST /wallet/send", _internal(bench)), 422, "insufficient_balance")
    bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was made", "data")


def withdraw_insufficient(bench: Bench) -> None:
    quote = stock.withdraw_quote(bench)
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="10")
    refused = bench.call("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "insufficient_balance", after=(quote,))


UNSUPPORTED = refusals(
    *(
        Refusal(operation, 422, code, body=body, changed=changed)
        for operation, body in (
            ("POST /wallet/send", stock.SEND), ("POST /wallet/send/estimate", stock.SEND),
            ("POST /wallet/buy/quote", stock.BUY_QUOTE),
        )
        for code, changed in (
            ("unsupported_asset", {"symbol": "XLM"}), ("unsupported_network", {"network": "TRON"}),
        )
    ),
    Refusal("POST /wallet/swap/quote", 422, "unsupported_asset", body=stock.SWAP_QUOTE, changed={"to.symbol": "XLM"}),
)  # fmt: skip


def minimum_received(bench: Bench) -> None:
    for slippage in (Decimal("0.5"), Decimal("2")):
        quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "slippage": float(slippage)})
        bench.holds(quote.number("slippage") == slippage, quote, "slippage is not as asked", "slippage")
        due = quote.number("to.amount") * (1 - slippage / 100)
        off = abs(quote.number("minimum_received") - due)
        words = f"minimum_received is {quote.text('minimum_received')}, {due:.8f} is due"
        bench.holds(off <= Decimal("0.01"), quote, words, "minimum_received")


def swap_locked(bench: Bench) -> None:
    quote, made = stock.swapped(bench)
    bench.same(made, quote, "from", "to", "fee")
    bench.equal(made, "tx_hash", None, after=(quote,))


def side_to(bench: Bench) -> None:
    quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "amount_side": "to"})
    bench.holds(quote.number("to.amount") == AMOUNT, quote, "to.amount is not the amount that was asked", "to.amount")


def slippage(bench: Bench) -> None:
    quote = bench.done("POST /wallet/swap/quote", {**stock.SWAP_QUOTE, "slippage": 0.5})
    with steering.moved_rates(bench.world, -5):
        refused = bench.call("POST /wallet/swap", {"quote_id": quote.text("id")})
    bench.refused(refused, 422, "slippage_exceeded", after=(quote,))


def swap_completes(bench: Bench) -> None:
    before = stock.balances(bench)
    _, made = stock.swapped(bench)
    bench.world.act("complete", made.text("id"))
    after = stock.balances(bench)
    paid = before["USDC", "CELO"] - after["USDC", "CELO"]
    got = after["USDT", "CELO"] - before["USDT", "CELO"]
    bench.holds(paid == made.number("from.amount"), made, f"{paid} was taken", "from.amount")
    bench.holds(got == made.number("to.amount"), made, f"{got} was credited", "to.amount")


def balance_send(bench: Bench) -> None:
    before = stock.balances(bench)["USDC", "CELO"]
    made = stock.sent(bench)
    left = stock.balances(bench)["USDC", "CELO"]
    bench.holds(before - left == AMOUNT, made, f"{before - left} left the balance, not {AMOUNT}", "amount")
    bench.world.act("fail", made.text("id"))
    back = stock.balances(bench)["USDC", "CELO"]
    bench.holds(back == before, made, f"{back} is available after the send failed, {before} before it", "amount")


def send_way(bench: Bench) -> None:
    made = stock.sent(bench)
    bench.equal(made, "tx_hash", None)
    bench.world.act("broadcast", made.text("id"))
    under_way = bench.done(TRANSACTION, id=made.text("id"))
    bench.equal(under_way, "status", "processing", after=(made,))
    bench.world.act("complete", made.text("id"))
    done = bench.done(TRANSACTION, id=made.text("id"))
    bench.equal(done, "status", "completed", after=(made,))
    bench.holds(bool(done.body.get("tx_hash")), done, "no tx_hash when completed", "tx_hash", after=(made,))


LAWS: tuple[Law, ...] = (
    Law(
        "state.created",
        "A send starts pending or processing, a swap and a withdrawal are under way, a buy is pending.",
        created, clause="States: Wallet transaction, Recurring payment", needs=("writes",),
    ),
    Law(
        "state.created_exactly", "An on-chain send and a swap are pending, a withdrawal is processing.",
        created_exactly, assumption="S7", needs=("writes",),
    ),
    Law(
        "transaction.kind", "A wallet transaction has the type of the operation that made it, and its reference.",
        kind, clause="Wallet transaction: type", needs=("writes",),
    ),
    Law(
        "send.arithmetic", "The net amount of a send and of its estimate is the amount less the fee.",
        send_arithmetic, clause="Wallet transaction: net_amount, amount after fees", needs=("writes",),
    ),
    Law(
        "send.estimate", "A send costs what its estimate said.",
        send_estimate, clause="The fee on a quote or estimate is exact", needs=("writes",),
    ),
    Law(
        "send.internal_free", "A transfer to another user is free, done at once, and has no tx_hash.",
        internal_free, clause="Internal transfers are free, instant and carry no tx_hash", needs=("writes", "control"),
    ),
    Law(
        "send.destination", "A platform user is named by exactly one field: none is 400 missing_parameter, two are 400 "
        "invalid_parameter.",
        destination, assumption="S23", needs=("writes",),
    ),
    Law(
        "send.address", "A send to an address that is none of its network is refused with 422 invalid_wallet_address.",
        SEND_ADDRESSES, assumption="S9", needs=("writes",),
    ),
    Law(
        "send.limits", "A send lies between min_withdraw and max_withdraw of the currency listing.",
        send_limits, clause="Limits: Send amount", needs=("writes",),
    ),
    Law(
        "send.insufficient_balance",
        "What the account does not have it cannot pay: 422 insufficient_balance, and nothing moves.",
        insufficient, clause="Errors: insufficient_balance", needs=("writes", "control"),
    ),
    Law(
        "withdraw.insufficient_balance",
        "A withdrawal of more than the account has is refused with 422 insufficient_balance.",
        withdraw_insufficient, clause="Errors: insufficient_balance", needs=("writes", "control"),
    ),
    Law(
        "errors.unsupported_asset",
        "Wallet operations refuse an asset that its network does not have, and a network that there is not.",
        UNSUPPORTED, clause="Errors: unsupported_asset, unsupported_network", needs=("writes",),
    ),
    Law(
        "swap.minimum_received", "A swap promises at worst the received amount less the slippage.",
        minimum_received, clause="Swap quote: minimum_received", needs=("writes",),
    ),
    Law(
        "swap.locked", "A swap moves what its quote said, and has no tx_hash before it is completed.",
        swap_locked, clause="Swap quote; Wallet transaction", needs=("writes",),
    ),
    Law(
        "swap.side_to", "With amount_side to, the amount is what is received.",
        side_to, clause="POST /wallet/swap/quote: amount_side", needs=("writes",),
    ),
    Law(
        "swap.slippage", "A swap whose rate fell by more than its slippage is refused with 422 slippage_exceeded.",
        slippage, clause="Errors: slippage_exceeded", needs=("writes", "control"),
    ),
    Law(
        "swap.completes", "A completed swap has credited to.amount and taken from.amount.",
        swap_completes, assumption="S8", needs=("writes", "control"),
    ),
    Law(
        "balance.send", "A send takes its amount from what is available when it is made; one that fails gives it back.",
        balance_send, assumption="M11", needs=("writes", "control"),
    ),
    Law(
        "send.way", "An on-chain send goes over processing with its tx_hash to completed.",
        send_way, clause="Wallet transaction: tx_hash", needs=("writes", "control"),
    ),
)  # fmt: skip
