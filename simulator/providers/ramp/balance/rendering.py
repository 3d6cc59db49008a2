"""Renders wallet quotes, transactions and balances as response models (decisions H8, L3, M2 and R8)."""

from __future__ import annotations

from decimal import Decimal
from typing import cast

from typing_extensions import TypedDict

from simulator.engine.records.records import present
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.providers.ramp.balance import shapes
from simulator.providers.ramp.balance.records import AssetBalance, WalletQuote
from simulator.providers.ramp.fees import AppFee, show_app_fee
from simulator.providers.ramp.reference import currency_of
from simulator.providers.ramp.shapes import upper
from simulator.providers.ramp.transactions import Side, Transaction
from simulator.providers.ramp.transactions import shapes as transactions


class _Asset(TypedDict):
    symbol: str
    network: str


def _asset(side: Side) -> _Asset:
    return {"symbol": side.code, "network": upper(side.chain)}


def _amount(side: Side, amount: Decimal | None = None) -> str:
    """Return the amount of a side, or another amount in the side's currency, as a string."""
    return side.currency.format(side.amount if amount is None else amount)


def _swap_side(side: Side) -> shapes.SwapAmountShape:
    return {**_asset(side), "amount": _amount(side)}


def render_swap_quote(world: World, quote: WalletQuote) -> shapes.SwapQuoteShape:
    return {
        "id": quote.id,
        "from": _swap_side(quote.paid),
        "to": _swap_side(quote.received),
        "rate": format_rate(quote.rate),
        "minimum_received": _amount(quote.received, quote.minimum_received),
        "fee": show_app_fee(quote.fee),
        "slippage": present(quote.slippage),
        "expires_at": format_timestamp(quote.expires_at_ms),
        "created_at": format_timestamp(quote.created_at_ms),
    }


def render_buy_quote(world: World, quote: WalletQuote) -> shapes.BuyQuoteShape:
    return {
        "id": quote.id,
        **_asset(quote.received),
        "fiat_currency": quote.paid.code,
        "fiat_amount": _amount(quote.paid),
        "crypto_amount": _amount(quote.received),
        "rate": format_rate(quote.rate),
        "fee": show_app_fee(quote.fee),
        "method": present(quote.method),
        "expires_at": format_timestamp(quote.expires_at_ms),
        "created_at": format_timestamp(quote.created_at_ms),
    }


def render_withdraw_quote(world: World, quote: WalletQuote) -> shapes.WithdrawQuoteShape:
    return {
        "id": quote.id,
        **_asset(quote.paid),
        "fiat_currency": quote.received.code,
        "rate": format_rate(quote.rate),
        "source_amount": _amount(quote.paid),
        "destination_amount": _amount(quote.received),
        "fee": show_app_fee(quote.fee),
        "expires_at": format_timestamp(quote.expires_at_ms),
        "created_at": format_timestamp(quote.created_at_ms),
    }


class _Figures(TypedDict):
    """The response fields that follow the asset fields in every wallet transaction."""

    amount: str
    fee: AppFee
    net_amount: str
    reference: str | None
    tx_hash: str | None


def _figures(transaction: Transaction, side: Side) -> _Figures:
    return {
        "amount": _amount(side, transaction.amount),
        "fee": show_app_fee(transaction.fee),
        "net_amount": _amount(side, transaction.net_amount),
        "reference": transaction.reference,
        "tx_hash": transaction.tx_hash,
    }


def render_send(world: World, send: Transaction) -> shapes.SendTransaction:
    return {
        "id": send.id,
        "type": "send",
        "status": send.status,
        "order_id": send.order_id,
        **_asset(send.paid),
        **_figures(send, send.paid),
        **transactions.render_end(send),
    }


def render_swap(world: World, swap: Transaction) -> shapes.SwapTransaction:
    return {
        "id": swap.id,
        "type": "swap",
        "status": swap.status,
        "order_id": swap.order_id,
        "from": _swap_side(swap.paid),
        "to": _swap_side(swap.received),
        **_figures(swap, swap.paid),
        **transactions.render_end(swap),
    }


def render_buy(world: World, buy: Transaction) -> shapes.BuyTransaction:
    # Only a purchase always has a reference in its instructions. An onramp by mobile money has none.
    instructions = cast(shapes.BuyPaymentInstructions, present(buy.payment_instructions))
    return {
        "id": buy.id,
        "type": "buy",
        "status": buy.status,
        "order_id": buy.order_id,
        **_asset(buy.received),
        **_figures(buy, buy.received),
        "payment_instructions": instructions,
        **transactions.render_end(buy),
    }


def render_withdraw(world: World, withdrawal: Transaction) -> shapes.WithdrawTransaction:
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
        **transactions.render_end(withdrawal),
    }


def render_asset(world: World, asset: AssetBalance) -> shapes.AssetBalanceShape:
    currency = currency_of(asset.symbol, asset.network)
    balance = asset.available if assumes(world, "R8", "balance_is_what_is_available") else asset.amount
    return {
        "symbol": asset.symbol,
        "network": upper(asset.network),
        "balance": currency.format(balance),
        "available": currency.format(asset.available),
        "held": currency.format(asset.held),
        "address": asset.address,
        "memo": asset.memo,
        "default": asset.address is not None,
        "updated_at": format_timestamp(asset.updated_at_ms),
    }
