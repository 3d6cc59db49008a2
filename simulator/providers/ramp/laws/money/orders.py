"""Orders: every transaction seen as an order, its numbers the same."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import always_promise, guess, promise
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock

ORDER = "GET /orders/{order_id}"


@always_promise("order.total_fees", "Order: total_fees")
def total_fees(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """The fees of an order are its network fee and its exchange fee."""
    if answer.operation == ORDER and answer.ok and answer.body.get("total_fees") is not None:
        parts = sum(Decimal(answer.body[name] or 0) for name in ("network_fee", "exchange_fee"))
        total = answer.number("total_fees")
        yield "total_fees", None if parts == total else f"total_fees is {total}, its parts make {parts}"


def _transactions(bench: Bench) -> list[Answer]:
    """One transaction of each kind."""
    swap, buy, withdraw = stock.swap_quote(bench), stock.buy_quote(bench), stock.withdraw_quote(bench)
    return [
        stock.onramp(bench), stock.offramp(bench), bench.done("POST /wallet/send", stock.SEND),
        bench.done("POST /wallet/swap", {"quote_id": swap.text("id")}),
        bench.done("POST /wallet/buy", stock.buy_details(buy)),
        bench.done("POST /wallet/withdraw", {"quote_id": withdraw.text("id")}),
    ]  # fmt: skip


@promise("order.exists", "The id returned by a wallet operation is used to poll order details", "writes")
def exists(bench: Bench) -> None:
    """Each transaction has an order, found by the transaction's id and by the order's own number."""
    for made in _transactions(bench):
        by_id = bench.call(ORDER, order_id=made.text("id"))
        if bench.accepted(by_id, 200, after=(made,)):
            by_number = bench.call(ORDER, order_id=by_id.text("order_id"))
            bench.same(by_number, by_id, "order_id", "id", "order_type", "status")


@promise("order.transaction", "Order", "writes")
def as_transaction(bench: Bench) -> None:
    """An order has the type, the fee and the assets of its transaction."""
    for made in _transactions(bench):
        order = bench.done(ORDER, order_id=made.text("id"))
        bench.equal(order, "order_type", made.text("type"), after=(made,))
        fees, fee = order.number("total_fees"), made.number("fee.total")
        bench.holds(
            fees == fee, order, f"total_fees is {fees}, the transaction's fee {fee}", "total_fees", after=(made,)
        )
        asset = made.body.get("asset") or made.body.get("symbol")
        if asset is None:
            bench.equal(order, "from_asset", made.part("from")["symbol"], after=(made,))
            bench.equal(order, "to_asset", made.part("to")["symbol"], after=(made,))
        else:
            bench.equal(order, "asset", asset, after=(made,))


@guess("order.amounts", "S18", "writes")
def amounts(bench: Bench) -> None:
    """An order's total is what the account or the payer is debited, its receive_amount what is delivered."""
    onramp, offramp, send, swap, buy, withdraw = _transactions(bench)
    for made, paid, got in (
        (onramp, "source_amount", "destination_amount"), (offramp, "source_amount", "destination_amount"),
        (send, "amount", "net_amount"), (swap, "from.amount", "to.amount"), (buy, "", "amount"),
        (withdraw, "amount", "destination_amount"),
    ):  # fmt: skip
        order = bench.done(ORDER, order_id=made.text("id"))
        for name, place in (("total_amount", paid), ("receive_amount", got)):
            if place:
                told, due = order.number(name), made.number(place)
                bench.holds(told == due, order, f"{name} is {told}, {place} is {due}", name, after=(made,))


@guess("order.status", "S18", "writes")
def status(bench: Bench) -> None:
    """An order is pending while its transaction waits and successful when that is completed."""
    made = stock.onramp(bench)
    bench.equal(bench.done(ORDER, order_id=made.text("id")), "status", "pending", after=(made,))
    if bench.controlled:
        bench.world.act("payment_arrives", made.text("id"))
        bench.world.act("complete", made.text("id"))
        bench.equal(bench.done(ORDER, order_id=made.text("id")), "status", "successful", after=(made,))


@promise("order.listed", "GET /orders", "writes")
def order_listed(bench: Bench) -> None:
    """The newest order stands first in the list and has the members of the order."""
    made = stock.onramp(bench)
    order = bench.done(ORDER, order_id=made.text("id"))
    page = bench.done("GET /orders", query={"size": 1})
    first = page.items[0]
    bench.holds(first.get("order_id") == order.text("order_id"), page, "another order is the newest", "data")
    bench.like(page, first, {name: value for name, value in order.body.items() if name != "transactions"})


@promise("order.legs", "Order leg fields", "writes")
def legs(bench: Bench) -> None:
    """The legs of an order name the order and its transaction."""
    for made in _transactions(bench):
        order = bench.done(ORDER, order_id=made.text("id"))
        legs_shown = order.body["transactions"]
        bench.holds(bool(legs_shown), order, "an order without legs", "transactions", after=(made,))
        for leg in legs_shown:
            held = leg.get("order_id") in (order.text("order_id"), order.text("id"))
            bench.holds(held, order, "a leg of another order", "transactions.order_id", after=(made,))


LAWS = (exists, as_transaction, amounts, status, order_listed, legs)


ALWAYS = (total_fees,)
