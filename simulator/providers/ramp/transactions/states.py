"""The state table of deposit transactions, and the events and error codes of all transactions and quotes. A deposit
transaction does not exist before its money is credited (sections "Events" and "Errors"; decision S12).
"""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

DEPOSIT_TRANSACTION = Machine(
    "deposit transaction", initial=(Move("credit", "completed", basis="S12"),), rows={"completed": ()}
)
DEPOSIT_TRANSACTION_MEANINGS = {"completed": "The deposit is credited to the balance."}

STATUSES = {
    "pending": "Accepted, but not started yet.",
    "awaiting_payment": "The onramp waits for the payer's fiat.",
    "awaiting_deposit": "The offramp waits for the crypto deposit.",
    "processing": "The money was received or is held, and is on its way.",
    "completed": "The recipient has the money.",
    "failed": "It failed. `failure_code` contains the reason.",
    "expired": "The payment or deposit of the ramp did not arrive in time.",
    "refunded": "The received or held money was returned.",
}
"""All statuses of all types of transactions, each with its description."""

IN_FLIGHT = ("pending", "processing")
"""The statuses in which a transaction on the balance can still succeed."""

QUOTE_EXPIRED = ErrorCode(
    "quote_expired", 422, "the quote is older than 30 minutes", after="amount_too_high", lasting=True
)
QUOTE_ALREADY_USED = ErrorCode("quote_already_used", 409, "the quote was already confirmed")
QUOTE_NOT_FOUND = ErrorCode("quote_not_found", 404, "no such quote for the account", lasting=True)
PAYMENT_FAILED = ErrorCode(
    "payment_failed", 422, "the payer's provider declined the collection", after="beneficiary_mismatch"
)
PAYOUT_FAILED = ErrorCode("payout_failed", 422, "the recipient's bank or provider rejected the payout; funds refunded")
INSUFFICIENT_DEPOSIT = ErrorCode("insufficient_deposit", 422, "the deposit is less than the quoted amount")

ERRORS = (QUOTE_EXPIRED, QUOTE_ALREADY_USED, QUOTE_NOT_FOUND, PAYMENT_FAILED, PAYOUT_FAILED, INSUFFICIENT_DEPOSIT)

_TX_HASH = "0x3f1c9a7be2d4058617c3f9ab24de6071859bc3f2a7d0e416582b9cf3a1d7e604"

EVENTS = (
    EventType(
        "transaction.created",
        "an onramp or offramp transaction is created",
        "The first event of a ramp. transaction.awaiting_payment or transaction.awaiting_deposit follows immediately.",
    ),
    EventType(
        "transaction.awaiting_payment",
        "an onramp waits for the fiat payment",
        "`payment_instructions` say how the payer pays, before the quote's `expires_at`.",
    ),
    EventType(
        "transaction.awaiting_deposit",
        "an offramp waits for the crypto deposit",
        "`deposit` has the address and the amount to send before `deposit_by`.",
        example_of="offramp",
    ),
    EventType(
        "transaction.processing",
        "the payment or deposit of a transaction has arrived, or a wallet operation was accepted or broadcast",
        "The service has the money. completed, failed or refunded follows.",
        example_of="offramp",
        example={"tx_hash": _TX_HASH},
    ),
    EventType(
        "transaction.completed",
        "the crypto was delivered, the fiat was paid out, or a send or swap is final",
        "The transaction is final, except for a manual refund.",
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH},
    ),
    EventType(
        "transaction.failed",
        "a transaction has failed",
        "`failure_code` contains the reason. Received money is refunded if possible: transaction.refunded follows.",
        requires=("failure_code",),
        also=("refunded",),
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH, "failure_code": "payout_failed"},
    ),
    EventType(
        "transaction.expired",
        "neither payment nor deposit arrived before the deadline",
        "Nothing was received, so nothing is refunded. Create a new quote to try again.",
        is_last=True,
    ),
    EventType(
        "transaction.refunded",
        "the money was returned to the payer, the refund_address or the balance",
        "The full amount was returned, fee included.",
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH, "failure_code": "payout_failed"},
    ),
    EventType(
        "quote.expired",
        "a quote passed its 30 minute validity unused",
        "Sent for quotes of all four kinds. `data.object` is the quote in the shape of its kind. Create a new one.",
        narrows=False,
        after="lightning.invoice_expired",
    ),
)
