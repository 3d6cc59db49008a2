"""How wallet quotes, wallet transactions, estimates and balances are shown.

Tables "Wallet transaction", "Swap quote", "Buy quote", "Withdraw quote" of the specification; decisions H8, L3, M2, R8.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, NotRequired, cast, get_args

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.resources.balance.records import AssetBalance, WalletQuote
from simulator.resources.balance.states import BUY, SEND, SWAP, WITHDRAW
from simulator.resources.fees import AppFee, show_app_fee
from simulator.resources.ramps import FailureCode
from simulator.resources.reference import currency_of
from simulator.resources.transactions import Side, Transaction
from simulator.wire.records import present
from simulator.wire.shapes import (
    AmountText,
    AssetText,
    Assumed,
    Clauses,
    FiatText,
    Method,
    Number,
    OneOf,
    OrderNumber,
    Pagination,
    PhoneText,
    Prefix,
    RateText,
    Timestamp,
    WalletNetwork,
)
from simulator.wire.spelling import upper

FailureText = Annotated[str, OneOf(get_args(FailureCode)), Assumed("S4")]


class SwapAmountShape(TypedDict):
    symbol: AssetText
    network: WalletNetwork
    amount: AmountText


SwapQuoteShape = TypedDict(
    "SwapQuoteShape",
    {
        "id": Annotated[str, Prefix("sq_")],
        "from": SwapAmountShape,
        "to": SwapAmountShape,
        "rate": RateText,
        "minimum_received": AmountText,
        "fee": AppFee,
        "slippage": Number,
        "expires_at": Timestamp,
        "created_at": Timestamp,
    },
)


class BuyQuoteShape(TypedDict):
    id: Annotated[str, Prefix("bq_")]
    symbol: AssetText
    network: WalletNetwork
    fiat_currency: FiatText
    fiat_amount: AmountText
    crypto_amount: AmountText
    rate: RateText
    fee: AppFee
    method: Method
    expires_at: Timestamp
    created_at: Timestamp


class WithdrawQuoteShape(TypedDict):
    id: Annotated[str, Prefix("wq_"), Assumed("S2")]
    symbol: AssetText
    network: WalletNetwork
    fiat_currency: FiatText
    rate: RateText
    source_amount: AmountText
    destination_amount: AmountText
    fee: AppFee
    expires_at: Timestamp
    created_at: Timestamp


class SendEstimate(TypedDict):
    symbol: AssetText
    network: WalletNetwork
    amount: AmountText
    fee: AppFee
    net_amount: AmountText


class _Common(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    order_id: Annotated[OrderNumber, Assumed("L3")]
    amount: AmountText
    fee: AppFee
    net_amount: AmountText
    reference: str | None
    tx_hash: str | None
    failure_code: NotRequired[FailureText]
    created_at: Timestamp
    updated_at: Timestamp


class SendTransaction(_Common):
    type: Literal["send"]
    status: Annotated[str, OneOf(tuple(SEND.rows))]
    symbol: AssetText
    network: WalletNetwork


SwapTransaction = TypedDict(
    "SwapTransaction",
    {
        "id": Annotated[str, Prefix("txn_")],
        "type": Literal["swap"],
        "status": Annotated[str, OneOf(tuple(SWAP.rows))],
        "order_id": Annotated[OrderNumber, Assumed("L3")],
        "from": SwapAmountShape,
        "to": SwapAmountShape,
        "amount": Annotated[AmountText, Assumed("M8")],
        "fee": AppFee,
        "net_amount": Annotated[AmountText, Assumed("M8")],
        "reference": str | None,
        "tx_hash": str | None,
        "failure_code": NotRequired[FailureText],
        "created_at": Timestamp,
        "updated_at": Timestamp,
    },
)


class BuyPaymentInstructions(TypedDict):
    method: Method
    phone_number: NotRequired[PhoneText]
    account_number: NotRequired[str]
    bank_name: NotRequired[str]
    reference: str


class BuyTransaction(_Common):
    type: Literal["buy"]
    status: Annotated[str, OneOf(tuple(BUY.rows))]
    symbol: AssetText
    network: WalletNetwork
    payment_instructions: BuyPaymentInstructions


class WithdrawTransaction(_Common):
    type: Literal["withdraw"]
    status: Annotated[str, OneOf(tuple(WITHDRAW.rows))]
    symbol: AssetText
    network: WalletNetwork
    beneficiary_id: Annotated[str, Prefix("ben_")]
    fiat_currency: FiatText
    destination_amount: AmountText


class AssetBalanceShape(TypedDict):
    symbol: Annotated[AssetText, Assumed("R8")]
    network: Annotated[WalletNetwork, Assumed("R8")]
    balance: Annotated[AmountText, Assumed("R8")]
    available: Annotated[AmountText, Assumed("R8")]
    held: Annotated[AmountText, Assumed("R8")]
    address: Annotated[str | None, Assumed("R8")]
    memo: Annotated[str | None, Assumed("R8")]
    default: Annotated[bool, Assumed("R8")]
    updated_at: Annotated[Timestamp, Assumed("R8")]


class AssetBalanceList(TypedDict):
    data: Annotated[list[AssetBalanceShape], Assumed("L6")]
    pagination: Annotated[Pagination, Assumed("L6")]


class _Asset(TypedDict):
    symbol: str
    network: str


class _Validity(TypedDict):
    expires_at: str
    created_at: str


def _asset(side: Side) -> _Asset:
    return {"symbol": side.code, "network": upper(side.chain)}


def _amount(side: Side, amount: Decimal | None = None) -> str:
    """The amount of one side (or another amount of its currency) as printed."""
    return side.currency.format(side.amount if amount is None else amount)


def _swap_side(side: Side) -> SwapAmountShape:
    return {**_asset(side), "amount": _amount(side)}


def _validity(quote: WalletQuote) -> _Validity:
    return {"expires_at": format_timestamp(quote.expires_at_ms), "created_at": format_timestamp(quote.created_at_ms)}


def render_swap_quote(world: World, quote: WalletQuote) -> SwapQuoteShape:
    return {
        "id": quote.id,
        "from": _swap_side(quote.paid),
        "to": _swap_side(quote.received),
        "rate": format_rate(quote.rate),
        "minimum_received": _amount(quote.received, quote.minimum_received),
        "fee": show_app_fee(quote.fee),
        "slippage": present(quote.slippage),
        **_validity(quote),
    }


def render_buy_quote(world: World, quote: WalletQuote) -> BuyQuoteShape:
    return {
        "id": quote.id,
        **_asset(quote.received),
        "fiat_currency": quote.paid.code,
        "fiat_amount": _amount(quote.paid),
        "crypto_amount": _amount(quote.received),
        "rate": format_rate(quote.rate),
        "fee": show_app_fee(quote.fee),
        "method": present(quote.method),
        **_validity(quote),
    }


def render_withdraw_quote(world: World, quote: WalletQuote) -> WithdrawQuoteShape:
    return {
        "id": quote.id,
        **_asset(quote.paid),
        "fiat_currency": quote.received.code,
        "rate": format_rate(quote.rate),
        "source_amount": _amount(quote.paid),
        "destination_amount": _amount(quote.received),
        "fee": show_app_fee(quote.fee),
        **_validity(quote),
    }


class _Figures(TypedDict):
    """What transactions of every type show after their assets."""

    amount: str
    fee: AppFee
    net_amount: str
    reference: str | None
    tx_hash: str | None


class _End(TypedDict):
    """What transactions of every type end in."""

    failure_code: NotRequired[str]
    created_at: str
    updated_at: str


def _figures(transaction: Transaction, side: Side) -> _Figures:
    return {
        "amount": _amount(side, transaction.amount),
        "fee": show_app_fee(transaction.fee),
        "net_amount": _amount(side, transaction.net_amount),
        "reference": transaction.reference,
        "tx_hash": transaction.tx_hash,
    }


def _end(transaction: Transaction) -> _End:
    created, updated = format_timestamp(transaction.created_at_ms), format_timestamp(transaction.updated_at_ms)
    if transaction.failure_code is None:
        return {"created_at": created, "updated_at": updated}
    return {"failure_code": transaction.failure_code, "created_at": created, "updated_at": updated}


def render_send(world: World, send: Transaction) -> SendTransaction:
    return {
        "id": send.id,
        "type": "send",
        "status": send.status,
        "order_id": send.order_id,
        **_asset(send.paid),
        **_figures(send, send.paid),
        **_end(send),
    }


def render_swap(world: World, swap: Transaction) -> SwapTransaction:
    return {
        "id": swap.id,
        "type": "swap",
        "status": swap.status,
        "order_id": swap.order_id,
        "from": _swap_side(swap.paid),
        "to": _swap_side(swap.received),
        **_figures(swap, swap.paid),
        **_end(swap),
    }


def render_buy(world: World, buy: Transaction) -> BuyTransaction:
    # A purchase always names its reference; payment instructions in general need not (a prompt on the phone has none).
    instructions = cast(BuyPaymentInstructions, present(buy.payment_instructions))
    return {
        "id": buy.id,
        "type": "buy",
        "status": buy.status,
        "order_id": buy.order_id,
        **_asset(buy.received),
        **_figures(buy, buy.received),
        "payment_instructions": instructions,
        **_end(buy),
    }


def render_withdraw(world: World, withdrawal: Transaction) -> WithdrawTransaction:
    return {
        "id": withdrawal.id,
        "type": "withdraw",
        "status": withdrawal.status,
        "order_id": withdrawal.order_id,
        **_asset(withdrawal.paid),
        **_figures(withdrawal, withdrawal.paid),
        "beneficiary_id": present(withdrawal.beneficiary_id),
        "fiat_currency": withdrawal.received.code,
        "destination_amount": _amount(withdrawal.received),
        **_end(withdrawal),
    }


def render_asset(asset: AssetBalance) -> AssetBalanceShape:
    currency = currency_of(asset.symbol, asset.network)
    return {
        "symbol": asset.symbol,
        "network": upper(asset.network),
        "balance": currency.format(asset.amount),
        "available": currency.format(asset.available),
        "held": currency.format(asset.held),
        "address": asset.address,
        "memo": asset.memo,
        "default": asset.address is not None,
        "updated_at": format_timestamp(asset.updated_at_ms),
    }


CLAUSES: Clauses = {
    "Wallet transaction": (
        SendTransaction,
        SwapTransaction,
        BuyTransaction,
        WithdrawTransaction,
        BuyPaymentInstructions,
        SwapAmountShape,
    ),
    "Swap quote": (SwapQuoteShape,),
    "Buy quote": (BuyQuoteShape,),
    "Withdraw quote": (WithdrawQuoteShape,),
    "Send": (SendEstimate,),
}
