"""The operations of ramps: POST /quotes, GET /quotes/{id}, POST /quotes/{id}/confirm."""

from __future__ import annotations

from simulator.resources.ramps.actions import (
    check_confirm,
    check_quote,
    claim_quote,
    confirm_offramp,
    confirm_onramp,
    load_quote,
    quote_ramp,
)
from simulator.resources.ramps.bodies import (
    ConfirmOfframp,
    ConfirmOnrampBankTransfer,
    ConfirmOnrampMobileMoney,
    QuoteBody,
)
from simulator.resources.ramps.shapes import (
    RampQuoteShape,
    RampTransaction,
    render_quote,
)
from simulator.wire.fields import Body
from simulator.wire.json import JsonObject
from simulator.wire.operation import Call, Operation

TAG = "Ramp quotes and ramps"


def _confirm_body(call: Call) -> type[Body]:
    if call.resource.type == "offramp":
        return ConfirmOfframp
    return ConfirmOnrampMobileMoney if call.resource.method == "mobile_money" else ConfirmOnrampBankTransfer


def _confirm(call: Call) -> JsonObject:
    return confirm_offramp(call) if call.resource.type == "offramp" else confirm_onramp(call)


def _show(call: Call) -> JsonObject:
    return render_quote(call.world, call.resource)


_PRICING = ("unsupported_pair", "amount_too_low", "amount_too_high", "network_unavailable")

OPERATIONS = (
    Operation(
        "POST",
        "/quotes",
        "create_quote",
        TAG,
        "Lock a rate and fees for 30 minutes",
        quote_ramp,
        RampQuoteShape,
        status=201,
        body=QuoteBody,
        check=check_quote,
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
        _show,
        RampQuoteShape,
        load=load_quote,
        group="ramps",
        reads=True,
        errors=("quote_not_found",),
    ),
    Operation(
        "POST",
        "/quotes/{id}/confirm",
        "confirm_quote",
        TAG,
        "Use a quote: start an onramp or an offramp",
        _confirm,
        RampTransaction,
        status=201,
        bodies=(ConfirmOnrampMobileMoney, ConfirmOnrampBankTransfer, ConfirmOfframp),
        body_for=_confirm_body,
        check=check_confirm,
        claim=claim_quote,
        load=load_quote,
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
