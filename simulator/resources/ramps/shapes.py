"""How ramp quotes and ramp transactions are shown: the tables "Ramp quote" and "Ramp transaction"."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.resources.fees import ProcessingFee, show_processing_fee
from simulator.resources.ramps.records import RampQuote
from simulator.resources.reference import currency_of
from simulator.resources.transactions import Transaction
from simulator.wire.json import JsonObject
from simulator.wire.shapes import (
    AmountText,
    Assumed,
    CurrencyText,
    FiatCode,
    OrderNumber,
    PhoneText,
    Prefix,
    RateText,
    Timestamp,
)

Direction = Literal["onramp", "offramp"]
RampNetwork = Literal["stellar", "celo"]
RampAsset = Literal["XLM", "USDC", "CELO", "USDT", "CUSD"]
Method = Literal["mobile_money", "bank_transfer"]


class RampQuoteShape(TypedDict):
    id: Annotated[str, Prefix("qt_")]
    type: Direction
    network: RampNetwork
    asset: RampAsset
    fiat_currency: FiatCode
    method: Method
    rate: RateText
    source_amount: AmountText
    source_currency: CurrencyText
    fee: ProcessingFee
    destination_amount: AmountText
    destination_currency: CurrencyText
    status: Literal["active", "confirmed", "expired"]
    created_at: Timestamp
    expires_at: Timestamp


class RampPaymentInstructions(TypedDict):
    method: Method
    phone_number: NotRequired[PhoneText]
    prompt_text: NotRequired[str]
    account_number: NotRequired[Annotated[str, Assumed("R5")]]
    bank_name: NotRequired[Annotated[str, Assumed("R5")]]
    reference: NotRequired[Annotated[str, Assumed("R5")]]


class RampDeposit(TypedDict):
    address: str
    memo: NotRequired[str]
    amount: AmountText
    asset: RampAsset
    network: RampNetwork
    deposit_by: Timestamp


FailureCode = Literal[
    "payment_failed",
    "payout_failed",
    "insufficient_payment",
    "insufficient_deposit",
    "network_unavailable",
    "slippage_exceeded",
    "internal_error",
]


class RampTransaction(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    type: Direction
    status: Literal["awaiting_payment", "awaiting_deposit", "processing", "completed", "failed", "expired", "refunded"]
    quote_id: Annotated[str, Prefix("qt_")]
    order_id: Annotated[OrderNumber, Assumed("L3")]
    network: RampNetwork
    asset: RampAsset
    fiat_currency: FiatCode
    rate: RateText
    source_amount: AmountText
    destination_amount: AmountText
    fee: ProcessingFee
    wallet_address: NotRequired[str]
    beneficiary_id: NotRequired[Annotated[str, Prefix("ben_")]]
    tx_hash: str | None
    reference: str | None
    payment_instructions: NotRequired[RampPaymentInstructions]
    deposit: NotRequired[RampDeposit]
    failure_code: NotRequired[Annotated[FailureCode, Assumed("S4")]]
    created_at: Timestamp
    updated_at: Timestamp


def render_quote(world: World, quote: RampQuote) -> JsonObject:
    asset = currency_of(quote.asset, quote.network)
    fiat = currency_of(quote.fiat_currency, None)
    source, destination = (fiat, asset) if quote.type == "onramp" else (asset, fiat)
    return {
        "id": quote.id,
        "type": quote.type,
        "network": quote.network,
        "asset": quote.asset,
        "fiat_currency": quote.fiat_currency,
        "method": quote.method,
        "rate": format_rate(quote.rate),
        "source_amount": source.format(quote.source_amount),
        "source_currency": quote.source_currency,
        "fee": show_processing_fee(quote.fee),
        "destination_amount": destination.format(quote.destination_amount),
        "destination_currency": quote.destination_currency,
        "status": quote.status,
        "created_at": format_timestamp(quote.created_at_ms),
        "expires_at": format_timestamp(quote.expires_at_ms),
    }


def render_ramp(world: World, ramp: Transaction) -> JsonObject:
    onramp = ramp.type == "onramp"
    crypto, fiat = (ramp.received, ramp.paid) if onramp else (ramp.paid, ramp.received)
    paid = currency_of(ramp.paid.code, ramp.paid.network)
    received = currency_of(ramp.received.code, ramp.received.network)
    shape: dict[str, Any] = {
        "id": ramp.id,
        "type": ramp.type,
        "status": ramp.status,
        "quote_id": ramp.quote_id,
        "order_id": ramp.order_id,
        "network": crypto.network,
        "asset": crypto.code,
        "fiat_currency": fiat.code,
        "rate": format_rate(cast(Any, ramp.rate)),
        "source_amount": paid.format(ramp.paid.amount),
        "destination_amount": received.format(ramp.received.amount),
        "fee": show_processing_fee(ramp.fee),
    }
    if onramp:
        shape["wallet_address"] = ramp.recipient_address
    else:
        shape["beneficiary_id"] = ramp.beneficiary_id
    shape |= {"tx_hash": ramp.tx_hash, "reference": ramp.reference}
    if onramp:
        shape["payment_instructions"] = ramp.payment_instructions
    else:
        shape["deposit"] = _deposit(ramp, paid.format(ramp.paid.amount))
    if ramp.failure_code is not None:
        shape["failure_code"] = ramp.failure_code
    shape["created_at"] = format_timestamp(ramp.created_at_ms)
    shape["updated_at"] = format_timestamp(ramp.updated_at_ms)
    return shape


def _deposit(ramp: Transaction, amount: str) -> JsonObject:
    memo = {"memo": ramp.memo} if ramp.paid.network == "stellar" else {}
    return {
        "address": ramp.recipient_address,
        **memo,
        "amount": amount,
        "asset": ramp.paid.code,
        "network": ramp.paid.network,
        "deposit_by": format_timestamp(ramp.expires_at_ms or 0),
    }
