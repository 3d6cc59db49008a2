"""The operations of orders and transactions, and what their lists filter, search and sort by."""

from __future__ import annotations

from simulator.engine.records.conditions import only, the
from simulator.engine.records.listing import DATES, Bound, Filter, Listing, by_field
from simulator.engine.records.records import render
from simulator.engine.rows.handlers import by_id, listed, shown
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.history import actions, shapes
from simulator.providers.ramp.history.states import ORDER_STATUS_MEANINGS, ORDER_STATUSES
from simulator.providers.ramp.shapes import ASSET_CODES, CANONICAL_NETWORKS, CURRENCY_CODES, FIAT_CODES
from simulator.providers.ramp.transactions import SEARCHED, STATUSES, TRANSACTIONS, TYPES, Transaction

TAG = "Orders and transactions"


_NETWORK = Filter(
    "network",
    Transaction.networks,
    CANONICAL_NETWORKS,
    description="Only what moves on this network, on either side.",
    assumed="L3",
)

TRANSACTION_LIST = Listing[Transaction](
    filters=(
        by_field("type", TYPES, many=True, description="Only transactions of these types."),
        Filter(
            "recurring_payment_id",
            Transaction.made_by,
            description="Only what the runs of this recurring payment have made.",
        ),
        _NETWORK,
        Filter(
            "currency",
            Transaction.currencies,
            CURRENCY_CODES,
            description="Only what moves this asset or fiat currency.",
        ),
        Bound(
            "min_amount",
            the("amount"),
            "least",
            description="Only amounts from this one on; a ramp counts by `source_amount`, a swap by `from.amount`.",
        ),
        Bound(
            "max_amount",
            the("amount"),
            "most",
            description="Only amounts up to this one; a ramp counts by `source_amount`, a swap by `from.amount`.",
        ),
    ),
    search=Transaction.searched,
    searched=SEARCHED,
    sorts={**DATES, "amount": the("amount")},
    statuses=STATUSES,
    assumed_statuses="L3",
)

ORDER_LIST = Listing[Transaction](
    filters=(
        Filter(
            "status",
            lambda order: (ORDER_STATUSES[order.status],),
            ORDER_STATUS_MEANINGS,
            many=True,
            description="Only orders that have come this far.",
            assumed="S18",
        ),
        Filter(
            "order_type",
            only("type"),
            TYPES,
            many=True,
            description="Only orders of these operations.",
            assumed="S18",
        ),
        Filter("asset", Transaction.currencies, ASSET_CODES, description="Only orders that pay or deliver this asset."),
        _NETWORK,
        Filter(
            "fiat_currency",
            Transaction.currencies,
            FIAT_CODES,
            description="Only orders that pay or deliver this currency.",
        ),
        Filter(
            "recurring_payment",
            Transaction.made_by,
            description="Only what the runs of this recurring payment have made.",
        ),
    ),
    search=lambda order: (order.order_id, order.id, order.reference),
    searched="order number, transaction id and reference",
    sorts={**DATES, "amount": actions.order_amount},
)

_FIND = by_id(TRANSACTIONS, "transaction")

OPERATIONS = (
    Operation(
        "GET",
        "/orders",
        "list_orders",
        TAG,
        "Orders of every kind",
        listed(TRANSACTIONS, lambda world, record: shapes.render_item(world, record)),
        lambda: shapes.OrderList,
        query=ORDER_LIST,
        group="read",
        reads=True,
        description=(
            "Lists the orders of the account, newest first. Every ramp, wallet operation and deposit has made "
            "one. The orders come without their legs; read one by its number to see these."
        ),
    ),
    Operation(
        "GET",
        "/orders/{order_id}",
        "get_order",
        TAG,
        "One order with its legs, by order number or transaction id",
        shown(lambda world, record: shapes.render_order(world, record)),
        lambda: shapes.Order,
        load=actions.load_order,
        group="read",
        reads=True,
        errors=("order_not_found",),
        description=(
            "Shows one order with every field and with its legs: the debit of what is paid and the credit of "
            "what is delivered, with their on-chain detail. The id that a wallet operation answers finds its "
            "order too. Amounts and fees are JSON numbers here."
        ),
    ),
    Operation(
        "GET",
        "/transactions",
        "list_transactions",
        TAG,
        "Transactions of every kind",
        listed(TRANSACTIONS, render),
        lambda: shapes.TransactionList,
        query=TRANSACTION_LIST,
        group="read",
        reads=True,
        description=(
            "Lists the transactions of the account of every type, newest first: ramps, and what moved the "
            "balance. Each is shown as its own operation shows it; `type` says which shape it has."
        ),
    ),
    Operation(
        "GET",
        "/transactions/{id}",
        "get_transaction",
        TAG,
        "One transaction",
        shown(render),
        lambda: shapes.TransactionShape,
        load=_FIND,
        group="read",
        reads=True,
        errors=("not_found",),
        description=(
            "Shows one transaction of any type as it is now; `type` says which shape it has. Events can arrive "
            "late or out of order: this is how to learn the latest state."
        ),
    ),
)
