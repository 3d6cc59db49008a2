"""Swaps of one asset for another, within the slippage tolerance of a quote (section "Swap"; decisions M8, S2, S8,
S22).
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.records.records import present
from simulator.engine.rows.error import invalid
from simulator.engine.rows.operation import Call, OperationDecorator, specified
from simulator.engine.text.fields import check_decimals
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import replace
from simulator.kernel.money import plain
from simulator.providers.ramp.balance import bodies, pricing, shapes
from simulator.providers.ramp.balance.named import named_asset, require_asset
from simulator.providers.ramp.balance.pricing import side
from simulator.providers.ramp.balance.records import WalletQuote
from simulator.providers.ramp.balance.rendering import render_swap, render_swap_quote
from simulator.providers.ramp.balance.settlement import settle_swap
from simulator.providers.ramp.balance.states import NO_AMOUNT, NO_ASSET, NO_QUOTE, SLIPPAGE_EXCEEDED
from simulator.providers.ramp.fees import require_in_force
from simulator.providers.ramp.reference import LISTINGS, swap_rate
from simulator.providers.ramp.transactions import begin, holder, use_quote

operation = OperationDecorator("Swap", group="wallet")


def check_swap_quote(call: Call[bodies.SwapQuoteBody, None, None]) -> None:
    """Raise `ApiError` 400 if both sides have the same asset, or if the amount has too many decimals."""
    body = call.body
    source, target = body.from_, body.to
    if (source.symbol, source.network) == (target.symbol, target.network):
        raise invalid("to", "it must differ from `from` in its asset or network")
    side = source if body.amount_side == "from" else target
    check_decimals(body.amount, named_asset(side.symbol, side.network))


@operation(
    "POST /wallet/swap/quote",
    "Lock the rate and fees of a swap for 30 minutes",
    status=201,
    check=check_swap_quote,
    money=True,
    errors=specified(*NO_ASSET)
    | {"unsupported_pair": "M15"}
    | specified(*NO_AMOUNT, "insufficient_balance", "network_unavailable"),
)
def quote_swap(call: Call[bodies.SwapQuoteBody, None, None]) -> shapes.SwapQuoteShape:
    """Locks the rate and the fees of a swap for 30 minutes. A swap exchanges one asset of the balance for another.
    `amount_side` selects the side that the amount refers to, and the service calculates the other side. The request
    fails if the balance is too low, if the amount is outside the fee product's limits, or if a network is down. No
    money is held until you execute the quote.
    """
    world, environment, body = call.world, call.environment, call.body
    source = require_asset(body.from_.symbol, body.from_.network, "from.")
    target = require_asset(body.to.symbol, body.to.network, "to.")
    price = pricing.price_swap(world, environment, source, target, Decimal(body.amount), solve=body.amount_side == "to")
    if not assumes(world, "M12", "swap_quotes_look_at_no_balance"):
        pricing.require_balance(world, environment, source, price.paid, "amount")
    pricing.require_up(world, environment, source, target)
    default = LISTINGS[source.code, present(source.network)].slippage
    # Convert via str, because a float parsed from a JSON number such as 0.1 is not exactly that number.
    slippage = default if body.slippage is None else Decimal(plain(Decimal(str(body.slippage))))
    least = pricing.minimum_received(price.received, slippage, target)
    quote = pricing.open_wallet_quote(world, environment, "swap", price, slippage=slippage, minimum_received=least)
    return render_swap_quote(world, quote)


@operation(
    "POST /wallet/swap",
    "Execute a swap quote",
    status=201,
    claim=pricing.claim("swap"),
    money=True,
    errors=NO_QUOTE | specified("insufficient_balance", "slippage_exceeded"),
    statuses=("pending",),
)
def swap(call: Call[bodies.UseQuote, None, WalletQuote]) -> shapes.SwapTransaction:
    """Executes an active swap quote. `from.amount` is held immediately, and `to.amount` is credited when the swap
    completes. A quote can be executed once, within its 30 minutes. If the rate has changed by more than the quote's
    slippage tolerance, the request fails with slippage_exceeded. In that case, create a new quote.
    """
    world, environment, quote = call.world, call.environment, call.resource
    source, target = quote.paid.currency, quote.received.currency
    require_in_force(world, environment, quote.product_id, "quote_id")
    pricing.require_balance(world, environment, source, quote.paid.amount, "quote_id")
    pricing.require_up(world, environment, source, target)
    rate = swap_rate(world, environment, source, target)
    now_received = pricing.swapped(world, quote.paid.amount, quote.fee.total, rate, target)
    if now_received < quote.minimum_received:
        raise SLIPPAGE_EXCEEDED.error("The rate has moved beyond the quote's slippage. Create a new quote.", "quote_id")
    use_quote(world, quote)
    transaction = replace(pricing.quoted(world, quote), slippage=quote.slippage, reference=call.body.reference)
    if assumes(world, "M8", "present_rate_is_credited"):
        transaction = replace(transaction, received=side(target, now_received))
    world.ledger.hold(world.now_ms, transaction.id, holder(environment), source.key, quote.paid.amount)
    executed = begin(world, transaction, "swap")
    if assumes(world, "S8", "completed_at_once"):
        executed = settle_swap(world, executed)
    return render_swap(world, executed)
