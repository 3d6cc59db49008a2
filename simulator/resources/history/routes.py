"""The operations of orders and transactions, and what their lists filter, search and sort by."""

from __future__ import annotations

from simulator.resources.history import actions
from simulator.resources.history.shapes import (
    ORDER_STATUSES,
    AnyTransaction,
    Order,
    OrderList,
    TransactionList,
    order_amount,
    render_item,
    render_order,
)
from simulator.resources.reference import ASSET_CODES, FIATS, NETWORKS
from simulator.resources.transactions import STATUSES, TRANSACTIONS, TYPES, Transaction
from simulator.wire.handlers import by_id, listed, shown
from simulator.wire.listing import DATES, Bound, Filter, Listing, by_field
from simulator.wire.operation import Operation
from simulator.wire.records import render

TAG = "Orders and transactions"


def _on_network(transaction: Transaction, wanted: frozenset[str]) -> bool:
    return any(network in wanted for network in transaction.networks())


def _in_currency(transaction: Transaction, wanted: frozenset[str]) -> bool:
    return any(code in wanted for code in transaction.currencies())


def _is_run_of(transaction: Transaction, wanted: frozenset[str]) -> bool:
    return transaction.recurring_payment_id in wanted


_NETWORK = Filter("network", _on_network, tuple(NETWORKS))

TRANSACTION_LIST = Listing[Transaction](
    filters=(
        by_field("type", TYPES, many=True),
        Filter("recurring_payment_id", _is_run_of),
        _NETWORK,
        Filter("currency", _in_currency, (*ASSET_CODES, *FIATS)),
        Bound("min_amount", lambda transaction, bound: transaction.amount >= bound),
        Bound("max_amount", lambda transaction, bound: transaction.amount <= bound),
    ),
    search=Transaction.searched,
    sorts={**DATES, "amount": lambda row: row.amount},
    statuses=STATUSES,
)

ORDER_LIST = Listing[Transaction](
    filters=(
        Filter(
            "status",
            lambda order, wanted: ORDER_STATUSES[order.status] in wanted,
            tuple(dict.fromkeys(ORDER_STATUSES.values())),
            many=True,
        ),
        Filter("order_type", lambda order, wanted: order.type in wanted, TYPES, many=True),
        Filter("asset", _in_currency, tuple(ASSET_CODES)),
        _NETWORK,
        Filter("fiat_currency", _in_currency, tuple(FIATS)),
        Filter("recurring_payment", _is_run_of),
    ),
    search=lambda order: (order.order_id, order.id, order.reference),
    sorts={**DATES, "amount": order_amount},
)

_FIND = by_id(TRANSACTIONS, "transaction")

OPERATIONS = (
    Operation(
        "GET",
        "/orders",
        "list_orders",
        TAG,
        "Orders of every kind",
        listed(TRANSACTIONS, render_item),
        OrderList,
        query=ORDER_LIST,
        group="read",
        reads=True,
    ),
    Operation(
        "GET",
        "/orders/{order_id}",
        "get_order",
        TAG,
        "One order with its legs, by order number or transaction id",
        shown(render_order),
        Order,
        load=actions.load_order,
        group="read",
        reads=True,
        errors=("order_not_found",),
    ),
    Operation(
        "GET",
        "/transactions",
        "list_transactions",
        TAG,
        "Transactions of every kind",
        listed(TRANSACTIONS, render),
        TransactionList,
        query=TRANSACTION_LIST,
        group="read",
        reads=True,
    ),
    Operation(
        "GET",
        "/transactions/{id}",
        "get_transaction",
        TAG,
        "One transaction",
        shown(render),
        AnyTransaction,
        load=_FIND,
        group="read",
        reads=True,
        errors=("not_found",),
    ),
)
