"""Orders: every transaction has an order with the same amounts."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Checked, always_promise, guess, promise
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock

ORDER = "GET /orders/{order_id}"


@always_promise("order.total_fees", "Order: total_fees")
def total_fees(answer: Answer) -> Checked:
    """An order's total_fees is the sum of its network fee and its exchange fee."""
    if answer.operation == ORDER and answer.ok and answer.body.get("total_fees") is not None:
        parts = sum(Decimal(answer.body[name] or 0) for name in ("network_fee", "exchange_fee"))
        total = answer.number("total_fees")
        yield "total_fees", None if parts == total else f"total_fees is {total}, the sum of its parts {parts}"


def _order(bench: Bench, made: Answer) -> Answer:
    return bench.done(ORDER, order_id=made.text("id"))


@promise("order.exists", "The id returned by a wallet operation is used to poll order details", "writes")
def exists(bench: Bench) -> None:
    """Each transaction has an order, which can be read by the transaction's id and by its order_id."""
    for made in stock.transactions(bench):
        by_id = bench.call(ORDER, order_id=made.text("id"))
        if bench.accepted(by_id, 200, after=(made,)):
            by_number = bench.call(ORDER, order_id=by_id.text("order_id"))
            bench.same(by_number, by_id, "order_id", "id", "order_type", "status")


@promise("order.transaction", "Order", "writes")
def as_transaction(bench: Bench) -> None:
    """An order has the same type, fee and assets as its transaction."""
    for made in stock.transactions(bench):
        order = _order(bench, made)
        bench.equal(order, "order_type", made.text("type"), after=(made,))
        bench.amounts(order, {"total_fees": made.number("fee.total")}, after=(made,))
        asset = made.body.get("asset") or made.body.get("symbol")
        if asset is None:
            bench.equal(order, "from_asset", made.part("from")["symbol"], after=(made,))
            bench.equal(order, "to_asset", made.part("to")["symbol"], after=(made,))
        else:
            bench.equal(order, "asset", asset, after=(made,))


@guess("order.amounts", "S18", "writes")
def amounts(bench: Bench) -> None:
    """total_amount is the amount paid, and receive_amount is the amount received."""
    onramp, offramp, send, swap, buy, withdraw = stock.transactions(bench)
    for made, paid, got in (
        (onramp, "source_amount", "destination_amount"), (offramp, "source_amount", "destination_amount"),
        (send, "amount", "net_amount"), (swap, "from.amount", "to.amount"), (buy, "", "amount"),
        (withdraw, "amount", "destination_amount"),
    ):  # fmt: skip
        places = {"total_amount": paid, "receive_amount": got}
        due = {name: made.number(place) for name, place in places.items() if place}
        bench.amounts(_order(bench, made), due, after=(made,))


@guess("order.status", "S18", "writes")
def status(bench: Bench) -> None:
    """An order is pending until its transaction is completed, and then successful."""
    made = stock.onramp(bench)
    bench.equal(_order(bench, made), "status", "pending", after=(made,))
    if bench.controlled:
        bench.world.act("payment_arrives", made.text("id"))
        bench.world.act("complete", made.text("id"))
        bench.equal(_order(bench, made), "status", "successful", after=(made,))


@promise("order.listed", "GET /orders", "writes")
def order_listed(bench: Bench) -> None:
    """The newest order is the first item in the list and has the same fields as the order itself."""
    made = stock.onramp(bench)
    order = _order(bench, made)
    page = bench.done("GET /orders", query={"size": 1})
    first = page.items[0]
    bench.holds(first.get("order_id") == order.text("order_id"), page, "another order is the newest", "data")
    bench.like(page, first, {name: value for name, value in order.body.items() if name != "transactions"})


@promise("order.legs", "Order leg fields", "writes")
def legs(bench: Bench) -> None:
    """An order's legs contain the ids of the order and of its transaction."""
    for made in stock.transactions(bench):
        order = _order(bench, made)
        legs_shown = order.body["transactions"]
        bench.holds(bool(legs_shown), order, "the order has no legs", "transactions", after=(made,))
        for leg in legs_shown:
            held = leg.get("order_id") in (order.text("order_id"), order.text("id"))
            bench.holds(held, order, "a leg of another order", "transactions.order_id", after=(made,))
