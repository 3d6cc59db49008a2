"""The operations of ramps: POST /quotes, GET /quotes/{id}, POST /quotes/{id}/confirm."""

from __future__ import annotations

from simulator.resources.ramps import actions
from simulator.resources.ramps.bodies import (
    Confirmation,
    ConfirmOfframp,
    ConfirmOnrampBankTransfer,
    ConfirmOnrampMobileMoney,
    QuoteBody,
)
from simulator.resources.ramps.records import RampQuote
from simulator.resources.ramps.shapes import RampQuoteShape, RampTransaction, render_quote
from simulator.wire.handlers import shown
from simulator.wire.operation import Call, Operation

TAG = "Ramp quotes and ramps"


def _confirm_body(call: Call) -> type[Confirmation]:
    if call.resource.type == "offramp":
        return ConfirmOfframp
    return ConfirmOnrampMobileMoney if call.resource.method == "mobile_money" else ConfirmOnrampBankTransfer


_PRICING = ("unsupported_pair", "amount_too_low", "amount_too_high", "network_unavailable")

OPERATIONS = (
    Operation(
        "POST",
        "/quotes",
        "create_quote",
        TAG,
        "Lock a rate and fees for 30 minutes",
        actions.quote_ramp,
        RampQuoteShape,
        status=201,
        body=QuoteBody,
        check=actions.check_quote,
        group="ramps",
        money=True,
        errors=_PRICING,
    ),
    Operation(
        "GET",
        "/quotes/{id}",
        "get_quote",
        TAG,
        "A ramp quote with its current status",
        shown(render_quote),
        RampQuoteShape,
        load=actions.load_quote,
        group="ramps",
        reads=True,
        errors=("quote_not_found",),
    ),
    Operation[Confirmation, None, RampQuote](
        "POST",
        "/quotes/{id}/confirm",
        "confirm_quote",
        TAG,
        "Use a quote: start an onramp or an offramp",
        actions.confirm,
        RampTransaction,
        status=201,
        bodies=(ConfirmOnrampMobileMoney, ConfirmOnrampBankTransfer, ConfirmOfframp),
        body_for=_confirm_body,
        check=actions.check_confirm,
        claim=actions.claim_quote,
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
    ),
)
