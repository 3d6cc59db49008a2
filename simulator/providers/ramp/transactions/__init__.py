"""Code shared by all packages that transfer money: transactions, order numbers, quotes and credited deposits."""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.transactions import shapes
from simulator.providers.ramp.transactions.actions import (
    LIGHTNING,
    RECEIVERS,
    begin,
    by_order_id,
    credit_deposit,
    deliver,
    fresh_memo,
    given_amount,
    given_tx_hash,
    move_released,
    pay_over_lightning,
    payment_of,
    receiver_at,
    register_receiver,
    transactions,
)
from simulator.providers.ramp.transactions.quotes import (
    EXPIRY,
    QUOTE,
    QUOTE_MEANINGS,
    NewQuoteFields,
    Quote,
    end_ms,
    expire_quote,
    find_quote,
    new_quote_fields,
    open_quote,
    quote_kind,
    require_usable,
    transaction_kind,
    use_quote,
)
from simulator.providers.ramp.transactions.records import (
    LIGHTNING_PAYMENTS,
    ORDERS,
    SEARCHED,
    TRANSACTIONS,
    TYPES,
    NewOrderFields,
    PaymentInstructions,
    Side,
    Transaction,
    holder,
    new_order_fields,
)
from simulator.providers.ramp.transactions.states import DEPOSIT_TRANSACTION, ERRORS, EVENTS, IN_FLIGHT, STATUSES

ROOM = Room(
    "transactions",
    tables=(ORDERS, LIGHTNING_PAYMENTS, RECEIVERS),
    kinds=(
        transaction_kind(
            "deposit_transaction",
            lambda world, record: shapes.render_deposit(world, record),
            DEPOSIT_TRANSACTION,
            lambda: shapes.DepositTransaction,
            listed_as=("deposit",),
        ),
    ),
    timers=(TimerRow(EXPIRY, expire_quote, "the quote expires unused", ("expire",)),),
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
