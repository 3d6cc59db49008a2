"""How ramp quotes and ramp transactions are shown: the tables "Ramp quote" and "Ramp transaction"."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal, NotRequired, get_args

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.resources.fees import ProcessingFee, show_processing_fee
from simulator.resources.ramps.records import RampQuote
from simulator.resources.ramps.states import STATUSES
from simulator.resources.reference import RAMP_ASSETS, RAMP_NETWORKS, currency_of
from simulator.resources.transactions import QUOTE, Transaction
from simulator.wire.records import present
from simulator.wire.shapes import (
    AmountText,
    Assumed,
    Clauses,
    CurrencyText,
    Direction,
    FiatText,
    Method,
    OneOf,
    OrderNumber,
    PhoneText,
    Prefix,
    RateText,
    Timestamp,
)

NetworkText = Annotated[str, OneOf(RAMP_NETWORKS)]
RampAsset = Annotated[str, OneOf(tuple(dict.fromkeys(chain.from_iterable(RAMP_ASSETS.values()))))]


class RampQuoteShape(TypedDict):
    id: Annotated[str, Prefix("qt_")]
    type: Direction
    network: NetworkText
    asset: RampAsset
    fiat_currency: FiatText
    method: Method
    rate: RateText
    source_amount: AmountText
    source_currency: CurrencyText
    fee: ProcessingFee
    destination_amount: AmountText
    destination_currency: CurrencyText
    status: Annotated[str, OneOf(tuple(QUOTE.rows))]
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
    network: NetworkText
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
    status: Annotated[str, OneOf(STATUSES)]
    quote_id: Annotated[str, Prefix("qt_")]
    order_id: Annotated[OrderNumber, Assumed("L3")]
    network: NetworkText
    asset: RampAsset
    fiat_currency: FiatText
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
    failure_code: NotRequired[Annotated[str, OneOf(get_args(FailureCode)), Assumed("S4")]]
    created_at: Timestamp
    updated_at: Timestamp


def render_quote(world: World, quote: RampQuote) -> RampQuoteShape:
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


class _Party(TypedDict, total=False):
    wallet_address: str
    beneficiary_id: str


class _Awaited(TypedDict, total=False):
    payment_instructions: RampPaymentInstructions
    deposit: RampDeposit


class _Memo(TypedDict, total=False):
    memo: str


class _Failed(TypedDict, total=False):
    failure_code: str


def render_ramp(world: World, ramp: Transaction) -> RampTransaction:
    party: _Party
    awaited: _Awaited
    if ramp.type == "onramp":
        crypto, fiat = ramp.received, ramp.paid
        party = {"wallet_address": present(ramp.recipient_address)}
        awaited = {"payment_instructions": present(ramp.payment_instructions)}
    else:
        crypto, fiat = ramp.paid, ramp.received
        party = {"beneficiary_id": present(ramp.beneficiary_id)}
        awaited = {"deposit": _deposit(ramp)}
    failed: _Failed = {} if ramp.failure_code is None else {"failure_code": ramp.failure_code}
    return {
        "id": ramp.id,
        "type": "onramp" if ramp.type == "onramp" else "offramp",
        "status": ramp.status,
        "quote_id": present(ramp.quote_id),
        "order_id": ramp.order_id,
        "network": crypto.chain,
        "asset": crypto.code,
        "fiat_currency": fiat.code,
        "rate": format_rate(present(ramp.rate)),
        "source_amount": ramp.paid.currency.format(ramp.paid.amount),
        "destination_amount": ramp.received.currency.format(ramp.received.amount),
        "fee": show_processing_fee(ramp.fee),
        **party,
        "tx_hash": ramp.tx_hash,
        "reference": ramp.reference,
        **awaited,
        **failed,
        "created_at": format_timestamp(ramp.created_at_ms),
        "updated_at": format_timestamp(ramp.updated_at_ms),
    }


def _deposit(ramp: Transaction) -> RampDeposit:
    memo: _Memo = {} if ramp.memo is None else {"memo": ramp.memo}
    return {
        "address": present(ramp.recipient_address),
        **memo,
        "amount": ramp.paid.currency.format(ramp.paid.amount),
        "asset": ramp.paid.code,
        "network": ramp.paid.chain,
        "deposit_by": format_timestamp(present(ramp.expires_at_ms)),
    }


CLAUSES: Clauses = {
    "Ramp quote": (RampQuoteShape,),
    "Ramp transaction": (RampTransaction, RampPaymentInstructions, RampDeposit),
}
