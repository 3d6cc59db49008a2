"""The operations of ramps: POST /quotes, GET /quotes/{id}, POST /quotes/{id}/confirm."""

from __future__ import annotations

from simulator.engine.rows.handlers import shown
from simulator.engine.rows.operation import Call, Operation
from simulator.providers.ramp.ramps import actions, bodies
from simulator.providers.ramp.ramps.records import RampQuote
from simulator.providers.ramp.ramps.shapes import RampQuoteShape, RampTransaction, render_quote

TAG = "Ramp quotes and ramps"


def _confirm_body(call: Call) -> type[bodies.Confirmation]:
    if call.resource.type == "offramp":
        return bodies.ConfirmOfframp
    return (
        bodies.ConfirmOnrampMobileMoney if call.resource.method == "mobile_money" else bodies.ConfirmOnrampBankTransfer
    )


_PRICING = ("unsupported_pair", "amount_too_low", "amount_too_high", "network_unavailable")

OPERATIONS = (
    Operation(
        "POST",
        "/quotes",
        "create_quote",
        TAG,
        "Lock a rate and fees for 30 minutes",
        actions.quote_ramp,
        lambda: RampQuoteShape,
        status=201,
        body=lambda: bodies.QuoteBody,
        check=actions.check_quote,
        group="ramps",
        money=True,
        errors=_PRICING,
        guessed={"network_unavailable": "S22"},
        description=(
            "Locks the rate and the fees of an onramp or offramp for exactly 30 minutes. The amount is on the "
            "side that `amount_currency` names; the other side is worked out. Nothing is booked or reserved "
            "before the quote is confirmed. Refused with unsupported_pair when network, asset, currency and "
            "method do not go together, with amount_too_low or amount_too_high outside the limits of the fee "
            "product or of the account, and with network_unavailable while the network is down."
        ),
        statuses=("active",),
    ),
    Operation(
        "GET",
        "/quotes/{id}",
        "get_quote",
        TAG,
        "A ramp quote with its current status",
        shown(render_quote),
        lambda: RampQuoteShape,
        load=actions.load_quote,
        group="ramps",
        reads=True,
        errors=("quote_not_found",),
        description=(
            "Shows a ramp quote as it is now: whether it can still be confirmed, and until when. Rate, amounts "
            "and fee never change once the quote is made."
        ),
    ),
    Operation[bodies.Confirmation, None, RampQuote](
        "POST",
        "/quotes/{id}/confirm",
        "confirm_quote",
        TAG,
        "Use a quote: start an onramp or an offramp",
        actions.confirm,
        lambda: RampTransaction,
        status=201,
        bodies=lambda: (bodies.ConfirmOnrampMobileMoney, bodies.ConfirmOnrampBankTransfer, bodies.ConfirmOfframp),
        body_for=_confirm_body,
        check=actions.check_confirm,
        claim=actions.claim_quote,
        uses="quote",
        load=actions.load_quote,
        group="ramps",
        money=True,
        errors=(
            "quote_not_found",
            "quote_expired",
            "quote_already_used",
            "not_found",
            "beneficiary_mismatch",
            "invalid_wallet_address",
            "invalid_phone_number",
            "invalid_bank_account",
            "amount_too_high",
            "unsupported_pair",
            "payment_failed",
            "network_unavailable",
        ),
        guessed={
            "not_found": "S23",
            "invalid_phone_number": "R4",
            "invalid_bank_account": "R5",
            "amount_too_high": "M14",
            "unsupported_pair": "M15",
            "payment_failed": "S3",
            "network_unavailable": "S22",
        },
        description=(
            "Uses an active quote and starts the transaction; what the body needs depends on the type of the "
            "quote and, for an onramp, on its method. An onramp then waits for the payer's fiat "
            "(`awaiting_payment`, with `payment_instructions`), an offramp for the caller's crypto "
            "(`awaiting_deposit`, with `deposit`): send exactly `deposit.amount` of `deposit.asset` to "
            "`deposit.address` before `deposit_by`, on stellar with `deposit.memo`. A quote can be confirmed "
            "once, within its 30 minutes. It counts towards the limits of the account, and is refused when the "
            "address is not one of the quote's network, the beneficiary does not match the quote, or the "
            "network is down."
        ),
        statuses=("awaiting_payment", "awaiting_deposit"),
    ),
)
