"""Response models for ramp quotes and ramp transactions: the tables "Ramp quote" and "Ramp transaction"."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, cast

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.records.records import present
from simulator.engine.text.shapes import (
    AmountText,
    Assumed,
    Clauses,
    Format,
    Meanings,
    OneOf,
    Prefix,
    RateText,
    Timestamp,
)
from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.providers.ramp import shapes, transactions
from simulator.providers.ramp.fees import ProcessingFee, show_processing_fee
from simulator.providers.ramp.ramps.records import RampQuote
from simulator.providers.ramp.ramps.states import FAILURE_MEANINGS, OFFRAMP_MEANINGS, ONRAMP_MEANINGS
from simulator.providers.ramp.reference import RAMP_ASSET_CODES, RAMP_ASSETS, RampAsset, currency_of
from simulator.providers.ramp.shapes import CurrencyText, Direction, FiatText, Method, OrderNumber, PhoneText
from simulator.providers.ramp.transactions import QUOTE_MEANINGS, Side, Transaction

NetworkText = Annotated[str, OneOf(shapes.RAMP_NETWORKS)]

FailureCode = Annotated[
    Literal[
        "payment_failed",
        "payout_failed",
        "insufficient_payment",
        "insufficient_deposit",
        "network_unavailable",
        "slippage_exceeded",
        "internal_error",
    ],
    Meanings(FAILURE_MEANINGS),
]
FailureText = Annotated[str, OneOf(FAILURE_MEANINGS), Assumed("S4")]


class RampQuoteShape(TypedDict):
    """The locked price of an onramp or offramp. The rate and the fees are valid for exactly 30 minutes."""

    id: Annotated[str, Prefix("qt_")]
    """The id of the quote. Confirm it with `POST /quotes/{id}/confirm`."""
    type: Direction
    """The direction: from fiat to crypto, or from crypto to fiat."""
    network: NetworkText
    """The network on which the crypto is delivered (onramp) or deposited (offramp)."""
    asset: RampAsset
    """The asset that is bought (onramp) or sold (offramp)."""
    fiat_currency: FiatText
    """The fiat currency that the payer pays (onramp) or the beneficiary receives (offramp)."""
    method: Method
    """The method by which the fiat is collected from the payer or paid out to the beneficiary."""
    rate: RateText
    """The locked rate: fiat per unit of the asset."""
    source_amount: AmountText
    """The amount paid in, before fees, in `source_currency`."""
    source_currency: CurrencyText
    """The currency of `source_amount`. It is the fiat currency for an onramp, and the asset for an offramp."""
    fee: ProcessingFee
    """The cost of the ramp, which is deducted from `source_amount`."""
    destination_amount: AmountText
    """The amount that the recipient receives after all fees, in `destination_currency`."""
    destination_currency: CurrencyText
    """The currency of `destination_amount`. It is the asset for an onramp, and the fiat currency for an offramp."""
    status: Annotated[str, OneOf(QUOTE_MEANINGS)]
    """The status. Only an `active` quote can be confirmed."""
    created_at: Timestamp
    """The time at which the rate and fees were locked."""
    expires_at: Timestamp
    """The expiry time, 30 minutes after `created_at`. From this time on, the quote cannot be confirmed."""


class RampMobileMoneyInstructions(TypedDict):
    """Instructions for paying by mobile money. The payer approves a prompt on the phone."""

    method: Literal["mobile_money"]
    """The payment method of the quote."""
    phone_number: PhoneText
    """The phone number that receives the prompt."""
    prompt_text: str
    """The text of the prompt, which you can show to the payer."""


class RampBankTransferInstructions(TypedDict):
    """Instructions for paying by bank transfer to an account of the service."""

    method: Literal["bank_transfer"]
    """The payment method of the quote."""
    account_number: Annotated[str, Assumed("R5")]
    """The service's account to which the payer transfers `source_amount`."""
    bank_name: Annotated[str, Assumed("R5")]
    """The bank of that account."""
    reference: Annotated[str, Assumed("R5")]
    """The reference to include with the transfer. It links the transfer to the order."""


RampPaymentInstructions = Annotated[
    RampMobileMoneyInstructions | RampBankTransferInstructions, Field(discriminator="method")
]


class _RampDeposit(TypedDict):
    amount: AmountText
    """The exact amount to send, in `asset`. It equals the quote's `source_amount`."""
    deposit_by: Timestamp
    """The deadline for the deposit, which is the quote's `expires_at`."""


class StellarRampDeposit(_RampDeposit):
    """The deposit of an offramp on stellar. Send exactly this amount, with this memo, before the deadline."""

    network: Literal["stellar"]
    """The network on which to send the deposit."""
    asset: Annotated[str, OneOf({code: RAMP_ASSET_CODES[code] for code in RAMP_ASSETS["stellar"]})]
    """The asset to send. A deposit of any other asset is not matched to this offramp."""
    address: Annotated[str, Format(pattern="^G[A-Z2-7]{55}$"), Assumed("R6", "pattern")]
    """The service's address to which to send the deposit."""
    memo: str
    """The memo of the deposit. A deposit without it is not matched to this offramp."""


class CeloRampDeposit(_RampDeposit):
    """The deposit of an offramp on celo. Send exactly this amount before the deadline."""

    network: Literal["celo"]
    """The network on which to send the deposit."""
    asset: Annotated[str, OneOf({code: RAMP_ASSET_CODES[code] for code in RAMP_ASSETS["celo"]})]
    """The asset to send. A deposit of any other asset is not matched to this offramp."""
    address: Annotated[str, Format(pattern="^0x[0-9a-fA-F]{40}$"), Assumed("R6", "pattern")]
    """The service's address to which to send the deposit."""


RampDeposit = Annotated[StellarRampDeposit | CeloRampDeposit, Field(discriminator="network")]


class _RampId(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    """The id of the transaction. To get its current state, use `GET /transactions/{id}`."""


class _RampTerms(TypedDict):
    quote_id: Annotated[str, Prefix("qt_")]
    """The id of the quote. The transaction has the same rate, amounts and fee."""
    order_id: Annotated[OrderNumber, Assumed("L3")]
    """The public number of the transaction's order, as used in `GET /orders/{order_id}`."""
    network: NetworkText
    """The network on which the crypto is delivered (onramp) or deposited (offramp), as on the quote."""
    asset: RampAsset
    """The asset that is bought (onramp) or sold (offramp), as on the quote."""
    fiat_currency: FiatText
    """The fiat currency that is paid in (onramp) or paid out (offramp), as on the quote."""
    rate: RateText
    """The locked rate of the quote: fiat per unit of the asset."""
    source_amount: AmountText
    """The amount paid in, before fees, as on the quote. It is in fiat for an onramp, and in the asset for an offramp.
    """
    destination_amount: AmountText
    """The amount that the recipient receives after all fees, as on the quote. For an onramp it is in the asset, for
    an offramp in fiat.
    """
    fee: ProcessingFee
    """The fee of the quote, which is deducted from `source_amount`."""


class _Ramp(_RampId, _RampTerms):
    tx_hash: str | None
    """The hash of the on-chain transaction: the delivery of an onramp, or the deposit of an offramp.

    Null until it exists.
    """
    reference: Annotated[str | None, Assumed("H19", "nullable")]
    """The `reference` given at confirmation, or null if none was given."""
    failure_code: NotRequired[FailureText]
    """The reason for the failure. It is present once the status is `failed`, and stays after a refund."""
    created_at: Timestamp
    """The time at which the quote was confirmed."""
    updated_at: Timestamp
    """The time of the last change."""


class OnrampTransaction(_Ramp):
    """A confirmed onramp. The payer's fiat is turned into crypto in an external wallet."""

    type: Literal["onramp"]
    """The type of transaction."""
    status: Annotated[str, OneOf(ONRAMP_MEANINGS)]
    """The status. It starts as `awaiting_payment` and never returns to an earlier status."""
    wallet_address: str
    """The delivery address given at confirmation."""
    payment_instructions: RampPaymentInstructions
    """The instructions for paying `source_amount`."""


class OfframpTransaction(_Ramp):
    """A confirmed offramp. The crypto that you deposit is turned into fiat for a saved beneficiary."""

    type: Literal["offramp"]
    """The type of transaction."""
    status: Annotated[str, OneOf(OFFRAMP_MEANINGS)]
    """The status. It starts as `awaiting_deposit` and never returns to an earlier status."""
    beneficiary_id: Annotated[str, Prefix("ben_")]
    """The id of the beneficiary that receives the payout, as given at confirmation."""
    deposit: RampDeposit
    """The deposit that you must send before the payout can start."""


RampTransaction: TypeAlias = Annotated[OnrampTransaction | OfframpTransaction, Field(discriminator="type")]


def render_quote(world: World, quote: RampQuote) -> RampQuoteShape:
    """Return the response for a quote. It depends only on the record, and is cached because a new quote is rendered
    three times, for scenarios and for callers. The cache halves the time of read requests.
    """
    recent = _RECENT.get(quote.id)
    if recent is not None and recent[0] is quote:
        return recent[1]
    if len(_RECENT) >= _RECENT_SIZE:
        _RECENT.clear()
    shown = _rendered(quote)
    _RECENT[quote.id] = quote, shown
    return shown


_RECENT: dict[str, tuple[RampQuote, RampQuoteShape]] = {}
_RECENT_SIZE = 200


def _rendered(quote: RampQuote) -> RampQuoteShape:
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


def render_onramp(world: World, ramp: Transaction) -> OnrampTransaction:
    # The fields of the instructions depend on the quote's payment method.
    instructions = cast(RampPaymentInstructions, present(ramp.payment_instructions))
    return {
        "id": ramp.id,
        "type": "onramp",
        "status": ramp.status,
        **_terms(ramp, crypto=ramp.received, fiat=ramp.paid),
        "wallet_address": present(ramp.recipient_address),
        "tx_hash": ramp.tx_hash,
        "reference": ramp.reference,
        "payment_instructions": instructions,
        **transactions.shapes.render_end(ramp),
    }


def render_offramp(world: World, ramp: Transaction) -> OfframpTransaction:
    return {
        "id": ramp.id,
        "type": "offramp",
        "status": ramp.status,
        **_terms(ramp, crypto=ramp.paid, fiat=ramp.received),
        "beneficiary_id": present(ramp.beneficiary_id),
        "tx_hash": ramp.tx_hash,
        "reference": ramp.reference,
        "deposit": _deposit(ramp),
        **transactions.shapes.render_end(ramp),
    }


def _terms(ramp: Transaction, crypto: Side, fiat: Side) -> _RampTerms:
    return {
        "quote_id": present(ramp.quote_id),
        "order_id": ramp.order_id,
        "network": crypto.chain,
        "asset": crypto.code,
        "fiat_currency": fiat.code,
        "rate": format_rate(present(ramp.rate)),
        "source_amount": ramp.paid.currency.format(ramp.paid.amount),
        "destination_amount": ramp.received.currency.format(ramp.received.amount),
        "fee": show_processing_fee(ramp.fee),
    }


def _deposit(ramp: Transaction) -> RampDeposit:
    address, deposit_by = present(ramp.recipient_address), format_timestamp(present(ramp.expires_at_ms))
    amount, asset = ramp.paid.currency.format(ramp.paid.amount), ramp.paid.code
    if ramp.memo is None:
        return {"address": address, "amount": amount, "asset": asset, "network": "celo", "deposit_by": deposit_by}
    return {
        "address": address,
        "memo": ramp.memo,
        "amount": amount,
        "asset": asset,
        "network": "stellar",
        "deposit_by": deposit_by,
    }


CLAUSES: Clauses = {
    "Ramp quote": (RampQuoteShape,),
    "Ramp transaction": (
        OnrampTransaction,
        OfframpTransaction,
        RampMobileMoneyInstructions,
        RampBankTransferInstructions,
        StellarRampDeposit,
        CeloRampDeposit,
    ),
}
