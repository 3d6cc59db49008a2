"""What the quotes of swap, buy and withdraw share: being opened, being claimed, and what a transaction takes from one.

Decisions S1 and S2; the rules of each kind are in its own module.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from simulator.engine.records.records import present
from simulator.engine.rows.operation import Call
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.providers.ramp.balance import bodies
from simulator.providers.ramp.balance.pricing import Pricing
from simulator.providers.ramp.balance.records import QUOTE_PREFIXES, QUOTE_TABLES, WalletQuote, WalletQuoteType
from simulator.providers.ramp.fees import Fee
from simulator.providers.ramp.reference import require_network
from simulator.providers.ramp.shapes import Method
from simulator.providers.ramp.transactions import (
    NewOrderFields,
    NewQuoteFields,
    Side,
    claim_quote,
    new_order_fields,
    new_quote_fields,
)


def side(currency: Currency, amount: Decimal) -> Side:
    return Side(currency.code, currency.network, amount)


class NewPriceFields(NewQuoteFields):
    """The fields that every new wallet quote takes from its price."""

    type: WalletQuoteType
    paid: Side
    received: Side
    rate: Decimal
    fee: Fee
    product_id: str


def new_price_fields(world: World, environment: str, type: WalletQuoteType, pricing: Pricing) -> NewPriceFields:
    """The fields of a wallet quote made now at a price."""
    return {
        **new_quote_fields(world, environment, QUOTE_PREFIXES[type]),
        "type": type,
        "paid": side(pricing.source, pricing.paid),
        "received": side(pricing.target, pricing.received),
        "rate": pricing.rate,
        "fee": pricing.fee,
        "product_id": pricing.product_id,
    }


def claim(type: WalletQuoteType) -> Callable[[Call[bodies.UseQuote, None, WalletQuote]], None]:
    """Finds the quote that the body names; 404 quote_not_found, also for a quote of another kind."""
    return lambda call: claim_quote(call, QUOTE_TABLES[type])


class QuotedFields(NewOrderFields):
    """The fields that every transaction takes from the quote it uses."""

    type: WalletQuoteType
    quote_id: str
    paid: Side
    received: Side
    fee: Fee
    rate: Decimal
    method: Method | None


def quoted_fields(world: World, quote: WalletQuote) -> QuotedFields:
    """The fields of a transaction made now of a quote."""
    return {
        **new_order_fields(world, quote.environment),
        "type": quote.type,
        "quote_id": quote.id,
        "paid": quote.paid,
        "received": quote.received,
        "fee": quote.fee,
        "rate": quote.rate,
        "method": quote.method,
    }


def require_up(world: World, environment: str, *assets: Currency) -> None:
    """503 network_unavailable when the network of one of these assets is down (decision S22)."""
    for asset in assets:
        require_network(world, environment, present(asset.network))
