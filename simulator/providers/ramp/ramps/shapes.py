"""How ramp quotes and ramp transactions are shown: the tables "Ramp quote" and "Ramp transaction"."""

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
from simulator.providers.ramp.fees import ProcessingFee, show_processing_fee
from simulator.providers.ramp.ramps.records import RampQuote
from simulator.providers.ramp.ramps.states import FAILURE_MEANINGS, OFFRAMP_MEANINGS, ONRAMP_MEANINGS
from simulator.providers.ramp.reference import RAMP_ASSET_CODES, RAMP_ASSETS, RampAsset, currency_of
from simulator.providers.ramp.shapes import (
    RAMP_NETWORKS,
    CurrencyText,
    Direction,
    FiatText,
    Method,
    OrderNumber,
    PhoneText,
)
from simulator.providers.ramp.transactions import QUOTE_MEANINGS, Side, Transaction

NetworkText = Annotated[str, OneOf(RAMP_NETWORKS)]

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
    """A locked price of an onramp or offramp: rate and fees hold for exactly 30 minutes."""

    id: Annotated[str, Prefix("qt_")]
    """Names the quote; confirm it with `POST /quotes/{id}/confirm`."""
    type: Direction
    """Which way the money goes: fiat into crypto, or crypto into fiat."""
    network: NetworkText
    """The network on which the crypto is delivered (onramp) or deposited (offramp)."""
    asset: RampAsset
    """The asset that is bought (onramp) or sold (offramp), by its code on that network."""
    fiat_currency: FiatText
    """The fiat currency that the payer pays in (onramp) or the beneficiary receives (offramp)."""
    method: Method
    """How the fiat moves: collected from the payer, or paid out to the beneficiary."""
    rate: RateText
    """The locked rate: fiat for one unit of the asset."""
    source_amount: AmountText
    """What goes in, before fees, in `source_currency`."""
    source_currency: CurrencyText
    """The currency of `source_amount`: the fiat currency of an onramp, the asset of an offramp."""
    fee: ProcessingFee
    """What the ramp costs; it is taken out of `source_amount`."""
    destination_amount: AmountText
    """What the recipient gets, after all fees, in `destination_currency`."""
    destination_currency: CurrencyText
    """The currency of `destination_amount`: the asset of an onramp, the fiat currency of an offramp."""
    status: Annotated[str, OneOf(QUOTE_MEANINGS)]
    """Whether the quote can still be confirmed."""
    created_at: Timestamp
    """When the rate and the fees were locked."""
    expires_at: Timestamp
    """From when on it cannot be confirmed any more: 30 minutes after `created_at`."""


class RampMobileMoneyInstructions(TypedDict):
    """How the payer of an onramp pays by mobile money: by approving a prompt on the phone."""

    method: Literal["mobile_money"]
    """The payment method of the quote."""
    phone_number: PhoneText
    """The payer's phone, to which the prompt is sent."""
    prompt_text: str
    """What the payer is asked to approve, in words to show them."""


class RampBankTransferInstructions(TypedDict):
    """How the payer of an onramp pays by bank transfer: to an account of the service."""

    method: Literal["bank_transfer"]
    """The payment method of the quote."""
    account_number: Annotated[str, Assumed("R5")]
    """The account of the service to transfer `source_amount` to."""
    bank_name: Annotated[str, Assumed("R5")]
    """The bank where that account is."""
    reference: Annotated[str, Assumed("R5")]
    """What the payer writes on the transfer, so that it can be matched."""


RampPaymentInstructions = Annotated[
    RampMobileMoneyInstructions | RampBankTransferInstructions, Field(discriminator="method")
]


class _RampDeposit(TypedDict):
    amount: AmountText
    """How much to send, exactly, in `asset`: the quote's `source_amount`."""
    deposit_by: Timestamp
    """Until when the deposit must have arrived: the quote's `expires_at`."""


class StellarRampDeposit(_RampDeposit):
    """The deposit that an offramp on stellar waits for: exactly this amount, with this memo, before this time."""

    network: Literal["stellar"]
    """The network to send it on."""
    asset: Annotated[str, OneOf({code: RAMP_ASSET_CODES[code] for code in RAMP_ASSETS["stellar"]})]
    """The asset to send; a deposit of another one is not matched."""
    address: Annotated[str, Format(pattern="^G[A-Z2-7]{55}$"), Assumed("R6", "pattern")]
    """The address of the service to send it to."""
    memo: str
    """Must accompany the deposit; one without it is not matched."""


class CeloRampDeposit(_RampDeposit):
    """The deposit that an offramp on celo waits for: exactly this amount, before this time."""

    network: Literal["celo"]
    """The network to send it on."""
    asset: Annotated[str, OneOf({code: RAMP_ASSET_CODES[code] for code in RAMP_ASSETS["celo"]})]
    """The asset to send; a deposit of another one is not matched."""
    address: Annotated[str, Format(pattern="^0x[0-9a-fA-F]{40}$"), Assumed("R6", "pattern")]
    """The address of the service to send it to."""


RampDeposit = Annotated[StellarRampDeposit | CeloRampDeposit, Field(discriminator="network")]


class _RampTerms(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    """Names the transaction; read it again with `GET /transactions/{id}`."""
    quote_id: Annotated[str, Prefix("qt_")]
    """The quote it came from, whose rate, amounts and fee it keeps."""
    order_id: Annotated[OrderNumber, Assumed("L3")]
    """The public number of its order, for `GET /orders/{order_id}`."""
    network: NetworkText
    """The network on which the crypto is delivered (onramp) or deposited (offramp), as on the quote."""
    asset: RampAsset
    """The asset that is bought (onramp) or sold (offramp), as on the quote."""
    fiat_currency: FiatText
    """The fiat currency that is paid in (onramp) or paid out (offramp), as on the quote."""
    rate: RateText
    """The rate that the quote locked: fiat for one unit of the asset."""
    source_amount: AmountText
    """What goes in, before fees: fiat of an onramp, the asset of an offramp. As on the quote."""
    destination_amount: AmountText
    """What the recipient gets, after all fees: the asset of an onramp, fiat of an offramp. As on the quote."""
    fee: ProcessingFee
    """The quote's fee, taken out of `source_amount`."""
    tx_hash: str | None
    """The on-chain transaction: an onramp's delivery, an offramp's deposit. Null until there is one."""
    reference: Annotated[str | None, Assumed("H19", "nullable")]
    """What the caller gave as `reference` on confirming; null where there was none."""
    failure_code: NotRequired[FailureText]
    """Why it failed; there once the status is `failed`, and kept when it becomes `refunded`."""
    created_at: Timestamp
    """When the quote was confirmed."""
    updated_at: Timestamp
    """When the transaction last changed."""


class OnrampTransaction(_RampTerms):
    """A confirmed onramp: the payer's fiat becomes crypto at an external wallet."""

    type: Literal["onramp"]
    """Tells an onramp from other types of transaction."""
    status: Annotated[str, OneOf(ONRAMP_MEANINGS)]
    """How far it has come. It starts as `awaiting_payment` and only moves forward."""
    wallet_address: str
    """Where the crypto is delivered: the address given on confirming."""
    payment_instructions: RampPaymentInstructions
    """How the payer pays `source_amount`."""


class OfframpTransaction(_RampTerms):
    """A confirmed offramp: crypto that the caller deposits becomes fiat for a saved beneficiary."""

    type: Literal["offramp"]
    """Tells an offramp from other types of transaction."""
    status: Annotated[str, OneOf(OFFRAMP_MEANINGS)]
    """How far it has come. It starts as `awaiting_deposit` and only moves forward."""
    beneficiary_id: Annotated[str, Prefix("ben_")]
    """Who is paid out: the beneficiary given on confirming."""
    deposit: RampDeposit
    """What to send where, so that the payout can start."""


RampTransaction: TypeAlias = Annotated[OnrampTransaction | OfframpTransaction, Field(discriminator="type")]


def render_quote(world: World, quote: RampQuote) -> RampQuoteShape:
    """How a quote is shown: by nothing but its row. A new one is shown three times, to scenarios and twice to callers.

    What was shown lately is shown again: half of what a read takes in its room.
    """
    lately = _LATELY.get(quote.id)
    if lately is not None and lately[0] is quote:
        return lately[1]
    if len(_LATELY) >= _LATELY_SHOWN:
        _LATELY.clear()
    shown = _rendered(quote)
    _LATELY[quote.id] = quote, shown
    return shown


_LATELY: dict[str, tuple[RampQuote, RampQuoteShape]] = {}
_LATELY_SHOWN = 200


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


class _Failed(TypedDict, total=False):
    failure_code: str


class _Moved(TypedDict):
    tx_hash: str | None
    reference: str | None


class _Terms(TypedDict):
    quote_id: str
    order_id: str
    network: str
    asset: str
    fiat_currency: str
    rate: str
    source_amount: str
    destination_amount: str
    fee: ProcessingFee


class _End(TypedDict):
    failure_code: NotRequired[str]
    created_at: str
    updated_at: str


def render_onramp(world: World, ramp: Transaction) -> OnrampTransaction:
    # The instructions were made for the quote's method, which decides which of their fields there are.
    instructions = cast(RampPaymentInstructions, present(ramp.payment_instructions))
    return {
        "id": ramp.id,
        "type": "onramp",
        "status": ramp.status,
        **_terms(ramp, crypto=ramp.received, fiat=ramp.paid),
        "wallet_address": present(ramp.recipient_address),
        **_moved(ramp),
        "payment_instructions": instructions,
        **_end(ramp),
    }


def render_offramp(world: World, ramp: Transaction) -> OfframpTransaction:
    return {
        "id": ramp.id,
        "type": "offramp",
        "status": ramp.status,
        **_terms(ramp, crypto=ramp.paid, fiat=ramp.received),
        "beneficiary_id": present(ramp.beneficiary_id),
        **_moved(ramp),
        "deposit": _deposit(ramp),
        **_end(ramp),
    }


def _terms(ramp: Transaction, crypto: Side, fiat: Side) -> _Terms:
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


def _moved(ramp: Transaction) -> _Moved:
    return {"tx_hash": ramp.tx_hash, "reference": ramp.reference}


def _end(ramp: Transaction) -> _End:
    failed: _Failed = {} if ramp.failure_code is None else {"failure_code": ramp.failure_code}
    return {
        **failed,
        "created_at": format_timestamp(ramp.created_at_ms),
        "updated_at": format_timestamp(ramp.updated_at_ms),
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
