"""History: orders and transactions, read from what the rooms before this one have recorded.

Chapters "Orders and transactions" and "Order" of the specification, decisions L1 to L4 and S18.
"""

from __future__ import annotations

from simulator.resources.history.routes import OPERATIONS
from simulator.resources.history.shapes import CLAUSES
from simulator.wire.assumptions import assume
from simulator.wire.room import Room

ROOM = Room("history", operations=OPERATIONS, clauses=CLAUSES)

ASSUMPTIONS = assume(
    "orders and the list of transactions",
    "Read the order of a known transaction in the real sandbox, field by field.",
    ("order-network", "network and network_to of an order are the network's name, on a fiat side the currency's code."),
    ("order-ids", "Assets and networks have the ids ast_<code>_<network> and net_<network>; fiat has ast_<code>."),
    (
        "order-amounts",
        "amount, from_amount and from_asset_amount are what was asked for, fee included (of a buy the fiat). "
        "total_amount is null once an order that debited nothing has failed or expired (an unpaid ramp or buy; a send "
        "or swap, whose hold is released), and what came in once a short payment has failed.",
    ),
    (
        "order-converted",
        "to_amount and to_asset_amount stay the quote's, receive_amount is what is delivered after fees.",
    ),
    ("order-rate", "exchange_rate is null where nothing is converted (sends and deposits)."),
    ("order-reason", "reason is the failure code of a failed or refunded order."),
    ("order-method", "payment_method_id is the beneficiary of a payout, payment_details the payment instructions."),
    (
        "order-legs",
        "An order has two legs: the debit of what is paid, the credit of what is delivered. The customer's are the "
        "debits of all but deposits, and the credits of deposits, buys and swaps; the others are the service's. "
        "Wallets, memo and tx_hash stand on legs in tokens; both sides of a send or deposit are the same movement.",
    ),
    ("swap-hashes", "A swap between networks has a hash on each, the one of the network swapped to is its tx_hash."),
    ("leg-status", "A leg has the status of its transaction."),
    ("leg-run", "recurring_payment_invoice_id is the recurring payment's id and the run number, joined by a hyphen."),
    ("history-permission", "Orders and transactions need the permission `read`."),
    ("history-lists", "type and order_type take comma-separated lists; min_amount above max_amount finds nothing."),
)

__all__ = ["ROOM"]
