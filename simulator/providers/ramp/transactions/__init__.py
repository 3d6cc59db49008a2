"""Code shared by all packages that transfer money: transactions, order numbers, quotes and credited deposits."""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.transactions import actions, quotes, records, shapes
from simulator.providers.ramp.transactions.actions import (
    LIGHTNING,
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
    QUOTE,
    QUOTE_MEANINGS,
    Quote,
    end_ms,
    find_quote,
    new_quote_fields,
    open_quote,
    quote_kind,
    require_usable,
    transaction_kind,
    use_quote,
)
from simulator.providers.ramp.transactions.records import (
    SEARCHED,
    TRANSACTIONS,
    TYPES,
    PaymentInstructions,
    Side,
    Transaction,
    holder,
    new_order_fields,
)
from simulator.providers.ramp.transactions.states import DEPOSIT_TRANSACTION, ERRORS, EVENTS, IN_FLIGHT, STATUSES

ROOM = Room(
    "transactions",
    tables=(records.ORDERS, records.LIGHTNING_PAYMENTS, actions.RECEIVERS),
    kinds=(
        transaction_kind(
            "deposit_transaction",
            lambda world, record: shapes.render_deposit(world, record),
            DEPOSIT_TRANSACTION,
            lambda: shapes.DepositTransaction,
            listed_as=("deposit",),
        ),
    ),
    timers=(TimerRow(quotes.EXPIRY, quotes.expire_quote, "the quote expires unused", ("expire",)),),
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
