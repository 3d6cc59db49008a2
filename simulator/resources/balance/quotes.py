"""What the quotes of swap, buy and withdraw share: being opened, being claimed, and what a transaction takes from one.

Decisions S1 and S2; the rules of each kind are in its own module.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.resources.balance.pricing import Pricing
from simulator.resources.balance.records import QUOTE_PREFIXES, QUOTE_TABLES, WalletQuote
from simulator.resources.transactions import Side, claim_quote, new_quote_fields, open_quote
from simulator.wire.operation import Call


def side(currency: Currency, amount: Decimal) -> Side:
    return Side(currency.code, currency.network, amount)


def open_wallet_quote(world: World, environment: str, type: str, pricing: Pricing, **members: Any) -> WalletQuote:
    quote = WalletQuote(
        **new_quote_fields(world, environment, QUOTE_PREFIXES[type]),
        type=type,
        paid=side(pricing.source, pricing.paid),
        received=side(pricing.target, pricing.received),
        rate=pricing.rate,
        fee=pricing.fee,
        product_id=pricing.product_id,
        **members,
    )
    return open_quote(world, quote)


def claim(type: str) -> Callable[[Call], None]:
    """Finds the quote that the body names; 404 quote_not_found, also for a quote of another kind."""
    return lambda call: claim_quote(call, QUOTE_TABLES[type])


def from_quote(quote: WalletQuote) -> dict[str, Any]:
    return {
        "type": quote.type,
        "quote_id": quote.id,
        "paid": quote.paid,
        "received": quote.received,
        "fee": quote.fee,
        "rate": quote.rate,
        "method": quote.method,
    }
