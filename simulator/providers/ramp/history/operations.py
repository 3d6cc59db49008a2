"""Lists and details of all orders and transactions of the account (section "Orders and transactions"; decisions L1 to
L4, S18). Other platform users have separate tables of transactions, which are not listed.
"""

from __future__ import annotations

from simulator.engine.records.conditions import field_getter, field_values
from simulator.engine.records.listing import DATES, Bound, Filter, Listing, ListRequest, by_field
from simulator.engine.records.records import by_id, page, render
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.text.json import Shown
from simulator.engine.text.shapes import Page
from simulator.providers.ramp import transactions
from simulator.providers.ramp.history import shapes
from simulator.providers.ramp.history.legs import order_amount
from simulator.providers.ramp.history.states import ORDER_NOT_FOUND, ORDER_STATUS_MEANINGS, ORDER_STATUSES
from simulator.providers.ramp.shapes import ASSET_CODES, CANONICAL_NETWORKS, CURRENCY_CODES, FIAT_CODES
from simulator.providers.ramp.transactions import Transaction

operation = OperationDecorator("Orders and transactions", group="read")

_OF_RUNS = "Only entries that the runs of this recurring payment created."
_AMOUNT = "For a ramp this is `source_amount`, for a swap `from.amount`."
_NETWORK = Filter(
    "network",
    Transaction.networks,
    CANONICAL_NETWORKS,
    description="Only entries whose source or target is on this network.",
    assumed="L3",
)

_FIND = by_id(transactions.TRANSACTIONS, "transaction")


def load_order(call: Call) -> Transaction:
    """Return the order with the given order number or transaction id. Raise `ApiError` 404 order_not_found."""
    order_id = call.path["order_id"]
    found = transactions.by_order_id(call.world, call.environment, order_id)
    found = found or transactions.transactions(call.world, call.environment).get(order_id)
    if found is None:
        raise ORDER_NOT_FOUND.error(f"There is no order {order_id!r}. List all orders with GET /orders.")
    return found


TRANSACTION_LIST = Listing[Transaction](
    filters=(
        by_field("type", transactions.TYPES, many=True, description="Only transactions of these types."),
        Filter("recurring_payment_id", Transaction.made_by, description=_OF_RUNS),
        _NETWORK,
        Filter(
            "currency",
            Transaction.currencies,
            CURRENCY_CODES,
            description="Only entries whose source or target is this asset or fiat currency.",
        ),
        Bound("min_amount", field_getter("amount"), "least", description=f"The smallest amount. {_AMOUNT}"),
        Bound("max_amount", field_getter("amount"), "most", description=f"The largest amount. {_AMOUNT}"),
    ),
    search=Transaction.searched,
    searched=transactions.SEARCHED,
    sorts={**DATES, "amount": field_getter("amount")},
    statuses=transactions.STATUSES,
    assumed_statuses="L3",
)

ORDER_LIST = Listing[Transaction](
    filters=(
        Filter(
            "status",
            lambda order: (ORDER_STATUSES[order.status],),
            ORDER_STATUS_MEANINGS,
            many=True,
            description="Only orders with these statuses.",
            assumed="S18",
        ),
        Filter(
            "order_type",
            field_values("type"),
            transactions.TYPES,
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
        Filter("recurring_payment", Transaction.made_by, description=_OF_RUNS),
    ),
    search=lambda order: (order.order_id, order.id, order.reference),
    searched="order number, transaction id and reference",
    sorts={**DATES, "amount": order_amount},
)


@operation("GET /orders", "Orders of every kind", answer=lambda: shapes.OrderList, query=ORDER_LIST)
def list_orders(call: Call[None, ListRequest, None]) -> Page[shapes.OrderItem]:
    """Lists the account's orders, newest first. There is one order for each ramp, wallet operation and deposit. The
    items do not include the legs. To get the legs, request a single order.
    """
    return page(call, transactions.TRANSACTIONS, lambda world, record: shapes.render_item(world, record))


@operation(
    "GET /orders/{order_id}",
    "One order with its legs, by order number or transaction id",
    load=load_order,
    errors=("order_not_found",),
)
def get_order(call: Call[None, None, Transaction]) -> shapes.Order:
    """Returns one order with all fields and its legs: the debit of the paid amount and the credit of the received
    amount, with on-chain details. In the path, you can use the id of the order's transaction instead of the order
    number. Amounts and fees are JSON numbers here.
    """
    return shapes.render_order(call.world, call.resource)


@operation(
    "GET /transactions", "Transactions of every kind", answer=lambda: shapes.TransactionList, query=TRANSACTION_LIST
)
def list_transactions(call: Call[None, ListRequest, None]) -> Page[Shown]:
    """Lists the account's transactions of all types, newest first. They include ramps and operations on the balance.
    Each transaction has the same fields as in the response to the request that created it. `type` tells you which
    fields to expect.
    """
    return page(call, transactions.TRANSACTIONS, render)


@operation(
    "GET /transactions/{id}", "One transaction", answer=lambda: shapes.TransactionShape, load=_FIND, shows="transaction"
)
def get_transaction(call: Call[None, None, Transaction]) -> Shown:
    """Returns one transaction of any type with its current status. `type` tells you which fields to expect. Events can
    arrive late or out of order. To get the latest status, request the transaction.
    """
    return render(call.world, call.resource)
