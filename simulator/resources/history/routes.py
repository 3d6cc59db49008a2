"""The operations of orders and transactions, and what their lists filter, search and sort by."""

from __future__ import annotations

from decimal import Decimal

from simulator.resources.history import actions
from simulator.resources.history.records import ORDER_STATUSES, order_amount
from simulator.resources.history.shapes import AnyTransaction, Order, OrderList, TransactionList
from simulator.resources.reference import ASSET_CODES, FIATS, NETWORKS
from simulator.resources.transactions import STATUSES, TYPES, Transaction, amount_of, searched
from simulator.wire.listing import DATES, Bound, Filter, Listing, by_field
from simulator.wire.operation import Operation

TAG = "Orders and transactions"


def _on_network(transaction: Transaction, wanted: frozenset[str]) -> bool:
    return any(network in wanted for network in transaction.networks())


def _in_currency(transaction: Transaction, wanted: frozenset[str]) -> bool:
    return any(code in wanted for code in transaction.currencies())


def _is_run_of(transaction: Transaction, wanted: frozenset[str]) -> bool:
    return transaction.recurring_payment_id in wanted


def _at_least(transaction: Transaction, bound: Decimal) -> bool:
    return transaction.amount >= bound


def _at_most(transaction: Transaction, bound: Decimal) -> bool:
    return transaction.amount <= bound


def _has_status(order: Transaction, wanted: frozenset[str]) -> bool:
    return ORDER_STATUSES[order.status] in wanted


_NETWORK = Filter("network", _on_network, tuple(NETWORKS))

TRANSACTIONS = Listing[Transaction](
    filters=(
        by_field("type", TYPES, many=True),
        Filter("recurring_payment_id", _is_run_of),
        _NETWORK,
        Filter("currency", _in_currency, (*ASSET_CODES, *FIATS)),
        Bound("min_amount", _at_least),
        Bound("max_amount", _at_most),
    ),
    search=searched,
    sorts={**DATES, "amount": amount_of},
    statuses=STATUSES,
)

ORDERS = Listing[Transaction](
    filters=(
        Filter("status", _has_status, tuple(dict.fromkeys(ORDER_STATUSES.values())), many=True),
        Filter("order_type", lambda order, wanted: order.type in wanted, TYPES, many=True),
        Filter("asset", _in_currency, tuple(ASSET_CODES)),
        _NETWORK,
        Filter("fiat_currency", _in_currency, tuple(FIATS)),
        Filter("recurring_payment", _is_run_of),
    ),
    search=lambda order: (order.order_id, order.id, order.reference),
    sorts={**DATES, "amount": order_amount},
)

OPERATIONS = (
    Operation(
        "GET",
        "/orders",
        "list_orders",
        TAG,
        "Orders of every kind",
        actions.list_orders,
        OrderList,
        query=ORDERS,
        group="read",
        reads=True,
    ),
    Operation(
        "GET",
        "/orders/{order_id}",
        "get_order",
        TAG,
        "One order with its legs, by order number or transaction id",
        actions.show_order,
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
        actions.list_transactions,
        TransactionList,
        query=TRANSACTIONS,
        group="read",
        reads=True,
    ),
    Operation(
        "GET",
        "/transactions/{id}",
        "get_transaction",
        TAG,
        "One transaction",
        actions.show_transaction,
        AnyTransaction,
        load=actions.load_transaction,
        group="read",
        reads=True,
        errors=("not_found",),
    ),
)
