"""Withdrawals: an asset of the balance becomes fiat for a beneficiary (section "Withdraw"; decisions M6, M11, M14, S2,
S5, S10).
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.records.records import existing, present
from simulator.engine.rows.error import invalid
from simulator.engine.rows.operation import Call, OperationDecorator, specified
from simulator.engine.text.fields import check_decimals
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import dataclass, replace
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.providers.ramp.balance import bodies, pricing, shapes
from simulator.providers.ramp.balance.named import WITHDRAWABLE, named_asset, require_asset, require_fiat
from simulator.providers.ramp.balance.pricing import Pricing
from simulator.providers.ramp.balance.records import Tags, WalletQuote
from simulator.providers.ramp.balance.rendering import render_withdraw, render_withdraw_quote
from simulator.providers.ramp.balance.states import NO_QUOTE
from simulator.providers.ramp.beneficiaries import BENEFICIARY_MISMATCH, Beneficiary, beneficiary
from simulator.providers.ramp.fees import require_in_force
from simulator.providers.ramp.profile import charge_limits, check_amount
from simulator.providers.ramp.reference import COUNTRY_OF, UNSUPPORTED_ASSET, fiat
from simulator.providers.ramp.transactions import Transaction, begin, holder, use_quote

operation = OperationDecorator("Withdraw", group="wallet")


def check_withdraw_quote(call: Call[bodies.WithdrawQuoteBody, None, None]) -> None:
    """Raise `ApiError` 400 if amount_currency is neither of the two currencies, or if the amount has too many decimals.
    The business rules reject unsupported currencies.
    """
    body = call.body
    crypto = named_asset(body.symbol, body.network)
    if crypto is None or crypto.code not in WITHDRAWABLE or fiat(body.fiat_currency) is None:
        return
    if body.amount_currency not in (body.symbol, body.fiat_currency):
        raise invalid("amount_currency", f"it must be {body.symbol} or {body.fiat_currency}")
    crypto_side = body.amount_currency == body.symbol
    check_decimals(body.amount, crypto if crypto_side else fiat(body.fiat_currency))


@operation(
    "POST /wallet/withdraw/quote",
    "Lock the rate and fees of a payout for 30 minutes",
    status=201,
    check=check_withdraw_quote,
    money=True,
    errors={"not_found": "S23", "unsupported_network": "H5", "unsupported_asset": "M6", "unsupported_pair": "H5"}
    | specified("beneficiary_mismatch")
    | {"amount_too_low": "M13", "amount_too_high": "M13", "network_unavailable": "S22"},
)
def quote_withdraw(call: Call[bodies.WithdrawQuoteBody, None, None]) -> shapes.WithdrawQuoteShape:
    """Locks the rate and the fee of a payout for 30 minutes. A payout turns a stablecoin of the balance into fiat for a
    saved beneficiary. The amount is either the debit or the payout, depending on `amount_currency`. The request fails
    if the beneficiary has a different currency, if the amount is outside the limits of the fee product or the account,
    or if the network is down. The balance is not checked until you execute the quote.
    """
    world, environment, body = call.world, call.environment, call.body
    recipient = beneficiary(world, environment, body.beneficiary_id)
    crypto, money = require_asset(body.symbol, body.network), require_fiat(body.fiat_currency)
    payout = Payout(recipient, crypto, money, Decimal(body.amount), in_fiat=body.amount_currency == money.code)
    return render_withdraw_quote(world, make_withdraw_quote(world, environment, payout))


@dataclass(frozen=True, slots=True)
class Payout:
    """The terms of a payout. `amount` is the fiat to pay out if `in_fiat` is True, otherwise the asset to debit."""

    recipient: Beneficiary
    asset: Currency
    money: Currency
    amount: Decimal
    in_fiat: bool


def make_withdraw_quote(world: World, environment: str, payout: Payout) -> WalletQuote:
    """Create a quote for a payout. Raise `ApiError` 422 unsupported_asset, beneficiary_mismatch, unsupported_pair,
    amount_too_low or amount_too_high, or 503 network_unavailable if the payout is not possible.
    """
    price, recipient = estimate_withdraw(world, environment, payout), payout.recipient
    check_amount(world, environment, price.received, payout.money.code)
    pricing.require_up(world, environment, payout.asset)
    method = recipient.method
    return pricing.open_wallet_quote(world, environment, "withdraw", price, method=method, beneficiary_id=recipient.id)


def estimate_withdraw(world: World, environment: str, payout: Payout) -> Pricing:
    """Return the current price. Raise the errors of `make_withdraw_quote`, except about account limits and network."""
    asset, money, recipient = payout.asset, payout.money, payout.recipient
    if asset.code not in WITHDRAWABLE:
        names = ", ".join(WITHDRAWABLE)
        raise UNSUPPORTED_ASSET.error(f"Only {names} can be withdrawn.", "symbol")
    if recipient.method is None or recipient.fiat_currency != money.code:
        raise BENEFICIARY_MISMATCH.error(f"The beneficiary cannot receive {money.code}.", "beneficiary_id")
    require_fiat(money.code, recipient.method)
    amount, solve, method = payout.amount, payout.in_fiat, recipient.method
    return pricing.price_withdraw(world, environment, asset, money, amount, solve=solve, method=method)


@operation(
    "POST /wallet/withdraw",
    "Withdraw: balance to a beneficiary's fiat",
    status=201,
    claim=pricing.claim("withdraw"),
    money=True,
    errors=NO_QUOTE
    | {"network_unavailable": "S22", "not_found": "gone-beneficiary"}
    | specified("insufficient_balance")
    | {"amount_too_high": "M14"},
    statuses=("processing",),
)
def withdraw(call: Call[bodies.UseQuote, None, WalletQuote]) -> shapes.WithdrawTransaction:
    """Executes an active withdraw quote. `source_amount` is held and the payout starts. The response only confirms that
    the payout was accepted. The event transaction.completed confirms that the beneficiary has received the fiat. If the
    payout fails, the amount stays held until it is refunded. The payout counts towards the limits in GET
    /profile/limits. The beneficiary does not see the reference. The request fails if the balance is too low or a limit
    is exceeded.
    """
    transaction = execute_withdraw(call.world, call.resource, {"reference": call.body.reference})
    return render_withdraw(call.world, transaction)


def execute_withdraw(world: World, quote: WalletQuote, tags: Tags) -> Transaction:
    """Execute a withdraw quote: charge the account limits, hold the amount and start the payout.

    The quote must be active. Raise `ApiError` 404 not_found if the beneficiary was deleted, 422 insufficient_balance if
    the balance is too low, 422 amount_too_high if a limit is exceeded, and 503 network_unavailable if the network is
    down.
    """
    environment = quote.environment
    currency = quote.paid.currency
    if assumes(world, "gone-beneficiary", "is_paid_all_the_same"):
        recipient = existing(world, Beneficiary, present(quote.beneficiary_id))
    else:
        recipient = beneficiary(world, environment, present(quote.beneficiary_id))
    require_in_force(world, environment, quote.product_id, "quote_id")
    pricing.require_balance(world, environment, currency, quote.paid.amount, "quote_id")
    limit_charge = charge_limits(world, environment, quote.received.amount, quote.received.code, "quote_id")
    pricing.require_up(world, environment, currency)
    use_quote(world, quote)
    transaction = replace(
        pricing.quoted(world, quote),
        country=COUNTRY_OF[quote.received.code],
        beneficiary_id=recipient.id,
        account_number=recipient.account,
        limit_charge=limit_charge,
        **tags,
    )
    world.ledger.hold(world.now_ms, transaction.id, holder(environment), currency.key, quote.paid.amount)
    return begin(world, transaction, "withdraw")
