"""Orders and transactions: lists and details of everything that moved the account's money.

Chapter "Orders and transactions" of the specification; decisions L1 to L4, S18. Other platform users' transactions
lie in tables of their own and are never seen here.
"""

from __future__ import annotations

from simulator.resources.history.shapes import Order, OrderList, render_item, render_order
from simulator.resources.transactions import Transaction, by_order_id, transactions
from simulator.wire.errors import ApiError
from simulator.wire.json import Shown
from simulator.wire.listing import ListRequest, page_of
from simulator.wire.operation import Call
from simulator.wire.records import render, require
from simulator.wire.shapes import Page


def load_order(call: Call) -> Transaction:
    """The order with a public order number, or that of a transaction id; 404 order_not_found."""
    order_id = call.path["order_id"]
    found = by_order_id(call.world, call.environment, order_id)
    found = found or transactions(call.world, call.environment).get(order_id)
    if found is None:
        raise ApiError("order_not_found", f"There is no order {order_id!r}.")
    return found


def load_transaction(call: Call) -> Transaction:
    """One transaction of the account; 404 not_found."""
    return require(transactions(call.world, call.environment), call.path["id"], "transaction")


def show_order(call: Call[None, None, Transaction]) -> Order:
    """GET /orders/{order_id}."""
    return render_order(call.world, call.resource)


def list_orders(call: Call[None, ListRequest, None]) -> OrderList:
    """GET /orders."""
    return page_of(
        call.query, transactions(call.world, call.environment).values(), lambda row: render_item(call.world, row)
    )


def show_transaction(call: Call[None, None, Transaction]) -> Shown:
    """GET /transactions/{id}: as its kind is shown."""
    return render(call.world, call.resource)


def list_transactions(call: Call[None, ListRequest, None]) -> Page[Shown]:
    """GET /transactions."""
    return page_of(call.query, transactions(call.world, call.environment).values(), lambda row: render(call.world, row))
