"""History: orders and transactions, read from what the rooms before this one have recorded.

Chapters "Orders and transactions" and "Order" of the specification, decisions L1 to L4 and S18.
"""

from __future__ import annotations

from simulator.resources.history.records import ORDER_STATUSES
from simulator.resources.history.routes import OPERATIONS
from simulator.resources.history.shapes import AnyTransaction, Order, OrderLeg
from simulator.wire.room import Room

ROOM = Room("history", operations=OPERATIONS)

ASSUMPTIONS = (
    ("order-network", "network and network_to of an order are the network's name, on a fiat side the currency's code."),
    ("order-ids", "Assets and networks have the ids ast_<code>_<network> and net_<network>; fiat has ast_<code>."),
    (
        "order-amounts",
        "amount, from_amount and from_asset_amount are what was asked for, fee included (of a buy the fiat).",
    ),
    ("order-converted", "to_amount, to_asset_amount and receive_amount are what is delivered after fees."),
    (
        "order-rate",
        "exchange_rate is the locked rate as the transaction shows it: fiat per crypto unit, to per from unit.",
    ),
    ("order-reason", "reason is the failure code of a failed or refunded order."),
    ("order-method", "payment_method_id is the beneficiary of a payout, payment_details the payment instructions."),
    (
        "order-legs",
        "An order has two legs: the customer's debit of what is paid, the service's credit of what is delivered.",
    ),
    ("leg-status", "A leg has the status of its transaction."),
    ("leg-run", "recurring_payment_invoice_id is the recurring payment's id and the run number, joined by a hyphen."),
    ("history-permission", "Orders and transactions need the permission `read`."),
    ("history-lists", "type and order_type take comma-separated lists; min_amount above max_amount finds nothing."),
)

__all__ = ["ASSUMPTIONS", "ORDER_STATUSES", "ROOM", "AnyTransaction", "Order", "OrderLeg"]
