"""Prices and quotes of wallet operations (decisions M1, M2, M5 to M9, M13, M15). Rounding: decision H9."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from simulator.engine.records.records import present
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import dataclass
from simulator.kernel.ledger import available
from simulator.kernel.money import ZERO, Currency, add, divide_down, multiply, subtract
from simulator.kernel.world import World
from simulator.providers.ramp import fees, transactions
from simulator.providers.ramp.balance import bodies
from simulator.providers.ramp.balance.destinations import Recipient
from simulator.providers.ramp.balance.records import QUOTE_PREFIXES, QUOTE_TABLES, WalletQuote, WalletQuoteType
from simulator.providers.ramp.balance.states import INSUFFICIENT_BALANCE
from simulator.providers.ramp.fees import Fee, FeeProduct
from simulator.providers.ramp.fees import received as received_of
from simulator.providers.ramp.reference import ramp_rate, require_network, swap_rate
from simulator.providers.ramp.shapes import Method
from simulator.providers.ramp.transactions import Side, Transaction, holder


@dataclass(frozen=True, slots=True)
class Pricing:
    """The price of a swap, buy or withdrawal."""

    source: Currency
    target: Currency
    paid: Decimal
    """The total paid in the source currency, including the fee."""
    received: Decimal
    """The amount received, in the target currency."""
    rate: Decimal
    fee: Fee
    """The fee, in the source currency."""
    product_id: str


@dataclass(frozen=True, slots=True)
class SendPricing:
    """The price of a send, in the asset: the total paid, the amount that the recipient gets, and the fee."""

    paid: Decimal
    net_amount: Decimal
    fee: Fee


def too_low(message: str) -> ApiError:
    return fees.AMOUNT_TOO_LOW.error(message, "amount")


def price_buy(
    world: World, environment: str, crypto: Currency, money: Currency, amount: Decimal, *, solve: bool, method: str
) -> Pricing:
    """Return the price of a purchase (M5). `amount` is the crypto to receive if `solve`, otherwise the fiat to pay."""
    product = fees.match(
        world,
        environment,
        "buy",
        money,
        network=crypto.network,
        asset=crypto.code,
        fiat_currency=money.code,
        payment_method=method,
    )
    rate = ramp_rate(world, environment, "onramp", crypto.code, money.code)
    fee_of = fees.formula(world, environment, product, money, crypto.network)
    return _price(world, money, crypto, amount, solve, rate, product, fee_of, divide_down)


def price_withdraw(
    world: World, environment: str, crypto: Currency, money: Currency, amount: Decimal, *, solve: bool, method: str
) -> Pricing:
    """Return the price of a payout (M6). `amount` is the fiat to pay out if `solve`, otherwise the asset to debit."""
    product = fees.match(world, environment, "withdraw", crypto, fiat_currency=money.code, payment_method=method)
    rate = ramp_rate(world, environment, "offramp", crypto.code, money.code)
    fee_of = fees.formula(world, environment, product, crypto)
    return _price(world, crypto, money, amount, solve, rate, product, fee_of, multiply)


def price_swap(
    world: World, environment: str, source: Currency, target: Currency, amount: Decimal, *, solve: bool
) -> Pricing:
    """Return the price of a swap (M8). `amount` is the amount to receive if `solve`, otherwise the amount to pay."""
    product = fees.match(world, environment, "swap", source, to_asset=target.code)
    rate = swap_rate(world, environment, source, target)
    fee_of = fees.formula(world, environment, product, source)
    return _price(world, source, target, amount, solve, rate, product, fee_of, multiply)


def swapped(world: World, paid: Decimal, fee: Decimal, rate: Decimal, target: Currency) -> Decimal:
    """Return the amount that a swap credits at the given rate: ⌊(paid − fee) × rate⌋."""
    return received_of(world, target, multiply(subtract(paid, fee), rate))


def minimum_received(received: Decimal, slippage: Decimal, target: Currency) -> Decimal:
    """Return received × (1 − slippage/100), rounded down (decision M8)."""
    # Rounding up the maximum loss rounds the minimum down.
    return subtract(received, target.round_up(multiply(received, slippage.scaleb(-2))))


def price_send(world: World, environment: str, asset: Currency, amount: Decimal, recipient: Recipient) -> SendPricing:
    """Return the price of a send (decision M7). For an invoice, the fee is added to the amount. Raise `ApiError` if the
    amount is outside the listed limits (M13), or if a required fee product is inactive (M15).
    """
    for name in recipient.free_products:
        fees.match(world, environment, name, asset)
    if recipient.user_id is not None:
        if amount == 0 or not assumes(world, "M13", "transfers_have_no_limits"):
            fees.check_limits(_listed(world, environment, asset), amount)
        return SendPricing(amount, amount, fees.no_fee(asset))
    product = fees.match(world, environment, "send", asset)
    fees.check_limits(product, amount)
    fee = fees.formula(world, environment, product, asset)(amount)
    if recipient.invoice or assumes(world, "M7", "fee_comes_on_top"):
        return SendPricing(add(amount, fee.total), amount, fee)
    net = subtract(amount, fee.total)
    if net <= 0:
        raise too_low("Nothing is left to send after the fee. Increase the amount.")
    return SendPricing(amount, net, fee)


def _listed(world: World, environment: str, asset: Currency) -> FeeProduct:
    """Return the product whose limits apply to a transfer: the send product, or else the internal transfer."""
    try:
        return fees.match(world, environment, "send", asset)
    except ApiError:
        return fees.match(world, environment, "internal_transfer", asset)


def require_balance(world: World, environment: str, asset: Currency, paid: Decimal, param: str) -> None:
    """Raise `ApiError` 422 insufficient_balance if less than `paid` is available (decision M12)."""
    balance = world.ledger.balance(available(holder(environment)), asset.key)
    if balance < paid:
        raise INSUFFICIENT_BALANCE.error(
            f"{asset.format(paid)} {asset.code} is needed, but only {asset.format(balance)} is available.", param
        )


def _price(
    world: World,
    source: Currency,
    target: Currency,
    amount: Decimal,
    solve: bool,
    rate: Decimal,
    product: FeeProduct,
    fee_of: Callable[[Decimal], Fee],
    convert: Callable[[Decimal, Decimal], Decimal],
) -> Pricing:
    """Return a price. `amount` is in the target currency if `solve` is True, otherwise in the source currency."""

    def delivers(paid: Decimal) -> Decimal:
        net = max(subtract(paid, fee_of(paid).total), ZERO)
        return received_of(world, target, convert(net, rate))

    if amount == 0:
        raise too_low("The amount must be more than zero.")
    # The fee depends on the source amount. The solver therefore searches for the source amount and calculates the fee
    # in each step.
    paid = fees.solve_source(source, amount, delivers) if solve else amount
    fee = fee_of(paid)
    fees.check_limits(product, paid, fee=fee)
    # Because of rounding, a solved source amount may deliver one unit more than requested. The quote contains the
    # requested amount.
    received = amount if solve else delivers(paid)
    if received <= 0:
        raise too_low("Nothing is left to deliver after the fee. Increase the amount.")
    return Pricing(source, target, paid, received, rate, fee, product.id)


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
