"""How wallet quotes, wallet transactions, estimates and balances are shown.

Tables "Wallet transaction", "Swap quote", "Buy quote", "Withdraw quote" of the specification; decisions H8, L3, M2, R8.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.resources.balance.records import AssetBalance, WalletQuote
from simulator.resources.fees import AppFee, show_app_fee
from simulator.resources.ramps import FailureCode
from simulator.resources.reference import currency_of
from simulator.resources.transactions import Side, Transaction
from simulator.wire.json import JsonObject
from simulator.wire.shapes import (
    AmountText,
    Assumed,
    FiatCode,
    Method,
    Number,
    OrderNumber,
    Pagination,
    PhoneText,
    Prefix,
    RateText,
    Timestamp,
)
from simulator.wire.spelling import upper

WalletNetwork = Literal["STELLAR", "CELO", "BITCOIN"]
WalletSymbol = Literal["XLM", "USDC", "CELO", "USDT", "CUSD", "BTC"]


class SwapSideShape(TypedDict):
    symbol: WalletSymbol
    network: WalletNetwork
    amount: AmountText


SwapQuoteShape = TypedDict(
    "SwapQuoteShape",
    {
        "id": Annotated[str, Prefix("sq_")],
        "from": SwapSideShape,
        "to": SwapSideShape,
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
    symbol: WalletSymbol
    network: WalletNetwork
    fiat_currency: FiatCode
    fiat_amount: AmountText
    crypto_amount: AmountText
    rate: RateText
    fee: AppFee
    method: Method
    expires_at: Timestamp
    created_at: Timestamp


class WithdrawQuoteShape(TypedDict):
    id: Annotated[str, Prefix("wq_"), Assumed("S2")]
    symbol: WalletSymbol
    network: WalletNetwork
    fiat_currency: FiatCode
    rate: RateText
    source_amount: AmountText
    destination_amount: AmountText
    fee: AppFee
    expires_at: Timestamp
    created_at: Timestamp


class SendEstimate(TypedDict):
    symbol: WalletSymbol
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
    failure_code: NotRequired[Annotated[FailureCode, Assumed("S4")]]
    created_at: Timestamp
    updated_at: Timestamp


class SendTransaction(_Common):
    type: Literal["send"]
    status: Literal["pending", "processing", "completed", "failed"]
    symbol: WalletSymbol
    network: WalletNetwork


SwapTransaction = TypedDict(
    "SwapTransaction",
    {
        "id": Annotated[str, Prefix("txn_")],
        "type": Literal["swap"],
        "status": Literal["pending", "completed", "failed"],
        "order_id": Annotated[OrderNumber, Assumed("L3")],
        "from": SwapSideShape,
        "to": SwapSideShape,
        "amount": Annotated[AmountText, Assumed("M8")],
        "fee": AppFee,
        "net_amount": Annotated[AmountText, Assumed("M8")],
        "reference": str | None,
        "tx_hash": str | None,
        "failure_code": NotRequired[Annotated[FailureCode, Assumed("S4")]],
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
    status: Literal["pending", "processing", "completed", "failed"]
    symbol: WalletSymbol
    network: WalletNetwork
    payment_instructions: BuyPaymentInstructions


class WithdrawTransaction(_Common):
    type: Literal["withdraw"]
    status: Literal["processing", "completed", "failed", "refunded"]
    symbol: WalletSymbol
    network: WalletNetwork
    beneficiary_id: Annotated[str, Prefix("ben_")]
    fiat_currency: FiatCode
    destination_amount: AmountText


class AssetBalanceShape(TypedDict):
    symbol: Annotated[WalletSymbol, Assumed("R8")]
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


def amount_of(side: Side, amount: Decimal | None = None) -> str:
    """The amount of one side (or another amount of its currency) as printed."""
    return currency_of(side.code, side.network).format(side.amount if amount is None else amount)


def _symbol(side: Side) -> JsonObject:
    return {"symbol": side.code, "network": upper(side.network or "")}


def _swap_side(side: Side) -> JsonObject:
    return {**_symbol(side), "amount": amount_of(side)}


def _validity(quote: WalletQuote) -> JsonObject:
    return {"expires_at": format_timestamp(quote.expires_at_ms), "created_at": format_timestamp(quote.created_at_ms)}


def render_swap_quote(world: World, quote: WalletQuote) -> JsonObject:
    return {
        "id": quote.id,
        "from": _swap_side(quote.paid),
        "to": _swap_side(quote.received),
        "rate": format_rate(quote.rate),
        "minimum_received": amount_of(quote.received, quote.minimum_received),
        "fee": show_app_fee(quote.fee),
        "slippage": quote.slippage,
        **_validity(quote),
    }


def render_buy_quote(world: World, quote: WalletQuote) -> JsonObject:
    return {
        "id": quote.id,
        **_symbol(quote.received),
        "fiat_currency": quote.paid.code,
        "fiat_amount": amount_of(quote.paid),
        "crypto_amount": amount_of(quote.received),
        "rate": format_rate(quote.rate),
        "fee": show_app_fee(quote.fee),
        "method": quote.method,
        **_validity(quote),
    }


def render_withdraw_quote(world: World, quote: WalletQuote) -> JsonObject:
    return {
        "id": quote.id,
        **_symbol(quote.paid),
        "fiat_currency": quote.received.code,
        "rate": format_rate(quote.rate),
        "source_amount": amount_of(quote.paid),
        "destination_amount": amount_of(quote.received),
        "fee": show_app_fee(quote.fee),
        **_validity(quote),
    }


def render_transaction(world: World, transaction: Transaction) -> JsonObject:
    """A send, swap, buy or withdraw transaction; fields of another type are absent (decision H19)."""
    paid, received = transaction.paid, transaction.received
    moved = received if transaction.type == "buy" else paid
    sides = {"from": _swap_side(paid), "to": _swap_side(received)} if transaction.type == "swap" else _symbol(moved)
    shape: dict[str, Any] = {
        "id": transaction.id,
        "type": transaction.type,
        "status": transaction.status,
        "order_id": transaction.order_id,
        **sides,
        "amount": amount_of(moved, transaction.amount),
        "fee": show_app_fee(transaction.fee),
        "net_amount": amount_of(moved, transaction.net_amount),
        "reference": transaction.reference,
        "tx_hash": transaction.tx_hash,
    }
    if transaction.type == "buy":
        shape["payment_instructions"] = transaction.payment_instructions
    if transaction.type == "withdraw":
        shape["beneficiary_id"] = transaction.beneficiary_id
        shape["fiat_currency"] = received.code
        shape["destination_amount"] = amount_of(received)
    if transaction.failure_code is not None:
        shape["failure_code"] = transaction.failure_code
    shape["created_at"] = format_timestamp(transaction.created_at_ms)
    shape["updated_at"] = format_timestamp(transaction.updated_at_ms)
    return shape


def render_asset(asset: AssetBalance) -> JsonObject:
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
