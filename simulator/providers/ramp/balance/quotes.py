"""Code shared by swap, buy and withdraw quotes: creating a quote, claiming it, and building its transaction."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from simulator.engine.records.records import present
from simulator.engine.rows.operation import Call
from simulator.kernel.money import ZERO, Currency, subtract
from simulator.kernel.world import World
from simulator.providers.ramp import transactions
from simulator.providers.ramp.balance import bodies
from simulator.providers.ramp.balance.pricing import Pricing
from simulator.providers.ramp.balance.records import QUOTE_PREFIXES, QUOTE_TABLES, WalletQuote, WalletQuoteType
from simulator.providers.ramp.reference import require_network
from simulator.providers.ramp.shapes import Method
from simulator.providers.ramp.transactions import Side, Transaction


def side(currency: Currency, amount: Decimal) -> Side:
    """Return the side (currency, network and amount) of a transaction that pays or receives this amount."""
    return Side(currency.code, currency.network, amount)


def open_wallet_quote(
    world: World,
    environment: str,
    type: WalletQuoteType,
    pricing: Pricing,
    *,
    method: Method | None = None,
    beneficiary_id: str | None = None,
    slippage: Decimal | None = None,
    minimum_received: Decimal = ZERO,
) -> WalletQuote:
    """Create a wallet quote with the given price and schedule its expiry."""
    quote = WalletQuote(
        **transactions.new_quote_fields(world, environment, QUOTE_PREFIXES[type]),
        type=type,
        paid=side(pricing.source, pricing.paid),
        received=side(pricing.target, pricing.received),
        rate=pricing.rate,
        fee=pricing.fee,
        product_id=pricing.product_id,
        method=method,
        beneficiary_id=beneficiary_id,
        slippage=slippage,
        minimum_received=minimum_received,
    )
    return transactions.open_quote(world, quote)


def claim(type: WalletQuoteType) -> Callable[[Call[bodies.UseQuote, None, WalletQuote]], None]:
    """Return a function that makes the quote named in a request body the resource of the call. It raises `ApiError` 404
    quote_not_found, or other errors if the quote cannot be used.
    """

    def claim_quote(call: Call[bodies.UseQuote, None, WalletQuote]) -> None:
        table, quote_id = QUOTE_TABLES[type], call.body.quote_id
        call.resource = transactions.find_quote(call.world, call.environment, table, quote_id, "quote_id")
        transactions.require_usable(call.resource, "quote_id")

    return claim_quote


def quoted(world: World, quote: WalletQuote) -> Transaction:
    """Return an unsaved transaction with the terms of a quote. Its `amount` is the amount that the customer pays."""
    return Transaction(
        **transactions.new_order_fields(world, quote.environment),
        type=quote.type,
        quote_id=quote.id,
        paid=quote.paid,
        received=quote.received,
        fee=quote.fee,
        rate=quote.rate,
        method=quote.method,
        amount=quote.paid.amount,
        net_amount=subtract(quote.paid.amount, quote.fee.total),
    )


def require_up(world: World, environment: str, *assets: Currency) -> None:
    """Raise `ApiError` 503 network_unavailable if the network of one of the assets is down (decision S22)."""
    for asset in assets:
        require_network(world, environment, present(asset.network))
