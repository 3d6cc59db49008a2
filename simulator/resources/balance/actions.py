"""What the operations of /wallet/* do: send, swap, buy, withdraw, each priced, held and begun.

Chapters "Send", "Swap", "Buy", "Withdraw" of the specification; decisions M5 to M14, S2, S7 to S10, S14, S22, S23.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from simulator.kernel.ledger import available
from simulator.kernel.money import Currency, plain, subtract
from simulator.kernel.world import World
from simulator.resources.balance.bodies import UserDestination
from simulator.resources.balance.destinations import (
    check_destination,
    check_invoice_amount,
    find_user,
    require_payable,
    resolve_destination,
)
from simulator.resources.balance.named import WITHDRAWABLE, check_decimals, named_asset, require_asset, require_fiat
from simulator.resources.balance.pricing import (
    Pricing,
    minimum_received,
    price_buy,
    price_send,
    price_swap,
    price_withdraw,
    require_balance,
    swapped,
)
from simulator.resources.balance.records import QUOTE_PREFIXES, QUOTE_TABLES, WalletQuote
from simulator.resources.balance.shapes import (
    render_buy_quote,
    render_swap_quote,
    render_transaction,
    render_withdraw_quote,
)
from simulator.resources.beneficiaries import Beneficiary, beneficiary
from simulator.resources.fees import require_in_force, show_app_fee
from simulator.resources.profile import check_amount, check_usage, count_usage, profile_of
from simulator.resources.ramps import check_payer, collection_account, require_payers_bank
from simulator.resources.reference import (
    COUNTRY_OF,
    currency_of,
    fiat,
    is_phone,
    listing,
    require_network,
    swap_rate,
)
from simulator.resources.transactions import (
    Side,
    Transaction,
    begin,
    claim_quote,
    credit_deposit,
    holder,
    new_order_fields,
    new_quote_fields,
    open_quote,
    pay_over_lightning,
    use_quote,
)
from simulator.wire.errors import ApiError, invalid
from simulator.wire.fields import Body
from simulator.wire.json import JsonObject
from simulator.wire.operation import Call
from simulator.wire.records import move, rows
from simulator.wire.spelling import upper

# --- what all of them share ------------------------------------------------------------------------------


def _side(currency: Currency, amount: Decimal) -> Side:
    return Side(currency.code, currency.network, amount)


def _open(world: World, environment: str, type: str, pricing: Pricing, **members: Any) -> WalletQuote:
    quote = WalletQuote(
        **new_quote_fields(world, environment, QUOTE_PREFIXES[type]),
        type=type,
        paid=_side(pricing.source, pricing.paid),
        received=_side(pricing.target, pricing.received),
        rate=pricing.rate,
        fee=pricing.fee,
        product_id=pricing.product_id,
        **members,
    )
    return open_quote(world, quote)


def claim(type: str) -> Callable[[Call], None]:
    """Finds the quote that the body names; 404 quote_not_found, also for a quote of another kind."""
    return lambda call: claim_quote(call, QUOTE_TABLES[type])


def _from_quote(quote: WalletQuote) -> dict[str, Any]:
    return {
        "type": quote.type,
        "quote_id": quote.id,
        "paid": quote.paid,
        "received": quote.received,
        "fee": quote.fee,
        "rate": quote.rate,
        "method": quote.method,
    }


# --- send ------------------------------------------------------------------------------------------------


def check_send(call: Call) -> None:
    """400: too many decimals, a destination that names nobody, several, or oneself."""
    body = call.body
    check_decimals(body.amount, named_asset(body.symbol, body.network))
    check_destination(call.world, body.destination)
    check_invoice_amount(call.environment, body.destination, Decimal(body.amount))


def _resolve_send(call: Call) -> tuple[Currency, Decimal]:
    body = call.body
    if isinstance(body.destination, UserDestination):
        find_user(call.world, body.destination)
    return require_asset(body.symbol, body.network), Decimal(body.amount)


def estimate_send(call: Call) -> JsonObject:
    """POST /wallet/send/estimate: the exact fee of a send made now; looks at no balance (decision M12)."""
    world, environment, body = call.world, call.environment, call.body
    currency, amount = _resolve_send(call)
    recipient = resolve_destination(world, environment, currency.network or "", currency, body.destination, amount)
    pricing = price_send(world, environment, currency, amount, recipient)
    return {
        "symbol": currency.code,
        "network": upper(currency.network or ""),
        "amount": currency.format(amount),
        "fee": show_app_fee(pricing.fee),
        "net_amount": currency.format(pricing.net_amount),
    }


def send(call: Call) -> JsonObject:
    """POST /wallet/send."""
    body = call.body
    currency, amount = _resolve_send(call)
    transaction = create_send(
        call.world,
        call.environment,
        asset=currency,
        amount=amount,
        destination=body.destination,
        reference=body.reference,
        description=body.description,
    )
    return render_transaction(call.world, transaction)


def create_send(
    world: World,
    environment: str,
    *,
    asset: Currency,
    amount: Decimal,
    destination: Body,
    reference: str | None = None,
    description: str | None = None,
    recurring_payment_id: str | None = None,
    run_number: int | None = None,
) -> Transaction:
    """Send `amount` of an asset to a destination; everything is checked before anything changes.

    On-chain and Lightning: `pending`, what is paid is held. To another user: moved and completed at once; what is
    answered is the transaction as it was accepted, `processing`. ApiError as `resolve_destination`, and 422
    amount_too_low, amount_too_high, unsupported_pair, insufficient_balance, 503 network_unavailable, 409 invalid_state.
    """
    network = asset.network or ""
    recipient = resolve_destination(world, environment, network, asset, destination, amount)
    pricing = price_send(world, environment, asset, amount, recipient)
    require_balance(world, environment, asset, pricing.paid, "amount")
    if recipient.user_id is None:
        require_network(world, environment, network)
    if recipient.lightning is not None:
        require_payable(world, environment, recipient)
    transaction = Transaction(
        **new_order_fields(world, environment),
        type="send",
        paid=_side(asset, pricing.paid),
        received=_side(asset, pricing.net_amount),
        amount=amount,
        net_amount=pricing.net_amount,
        fee=pricing.fee,
        reference=reference,
        description=description,
        recipient_address=recipient.address,
        memo=recipient.memo,
        counterparty=recipient.user_id,
        lightning=recipient.lightning,
        recurring_payment_id=recurring_payment_id,
        run_number=run_number,
    )
    if recipient.user_id is not None:
        return _transfer(world, transaction, asset, recipient.user_id)
    world.ledger.hold(world.now_ms, transaction.id, holder(environment), asset.key, pricing.paid)
    pay_over_lightning(world, transaction)
    return begin(world, transaction, "send", "on-chain")


def _transfer(world: World, transaction: Transaction, asset: Currency, user_id: str) -> Transaction:
    """Move the money at once (decision S9): answered as it was accepted, completed in the same change.

    No timer stands between, so that no later request can ever see the transfer in flight.
    """
    accepted = begin(world, transaction, "send", "internal")
    credit_deposit(
        world,
        transaction.environment,
        asset=asset,
        amount=transaction.net_amount,
        counterparty=profile_of(world).user_id,
        owner=user_id,
        source=available(holder(transaction.environment)),
    )
    move(world, accepted, "settle")
    return accepted


# --- swap ------------------------------------------------------------------------------------------------


def check_swap_quote(call: Call) -> None:
    """400: the same asset on both sides, or more decimals than the side of the amount has."""
    body = call.body
    source, target = body.from_, body.to
    if (source.symbol, source.network) == (target.symbol, target.network):
        raise invalid("to", "it is the same asset on the same network as `from`")
    side = source if body.amount_side == "from" else target
    check_decimals(body.amount, named_asset(side.symbol, side.network))


def quote_swap(call: Call) -> JsonObject:
    """POST /wallet/swap/quote (decision M8)."""
    world, environment, body = call.world, call.environment, call.body
    source = require_asset(body.from_.symbol, body.from_.network, "from.")
    target = require_asset(body.to.symbol, body.to.network, "to.")
    pricing = price_swap(world, environment, source, target, Decimal(body.amount), solve=body.amount_side == "to")
    require_balance(world, environment, source, pricing.paid, "amount")
    for currency in (source, target):
        require_network(world, environment, currency.network or "")
    default = listing(source.code, source.network or "").slippage
    slippage = default if body.slippage is None else Decimal(plain(Decimal(str(body.slippage))))
    quote = _open(
        world,
        environment,
        "swap",
        pricing,
        slippage=slippage,
        minimum_received=minimum_received(pricing.received, slippage, target),
    )
    return render_swap_quote(world, quote)


def swap(call: Call) -> JsonObject:
    """POST /wallet/swap: the quote's amounts, unless the rate has moved beyond its slippage (decision M8)."""
    world, environment, quote = call.world, call.environment, call.resource
    source = currency_of(quote.paid.code, quote.paid.network)
    target = currency_of(quote.received.code, quote.received.network)
    require_in_force(world, environment, quote.product_id, "quote_id")
    require_balance(world, environment, source, quote.paid.amount, "quote_id")
    for currency in (source, target):
        require_network(world, environment, currency.network or "")
    rate = swap_rate(world, environment, source, target)
    if swapped(quote.paid.amount, quote.fee.total, rate, target) < quote.minimum_received:
        raise ApiError(
            "slippage_exceeded", "The rate has moved beyond the quote's slippage; ask for a fresh quote.", "quote_id"
        )
    use_quote(world, quote)
    transaction = Transaction(
        **new_order_fields(world, environment),
        **_from_quote(quote),
        amount=quote.paid.amount,
        net_amount=subtract(quote.paid.amount, quote.fee.total),
        slippage=quote.slippage,
        reference=call.body.reference,
    )
    world.ledger.hold(world.now_ms, transaction.id, holder(environment), source.key, quote.paid.amount)
    return render_transaction(world, begin(world, transaction, "swap"))


# --- buy -------------------------------------------------------------------------------------------------


def check_buy_quote(call: Call) -> None:
    """400 for more decimals than the side of the amount has."""
    body = call.body
    fiat_side = body.amount_currency == "fiat"
    check_decimals(body.amount, fiat(body.fiat_currency) if fiat_side else named_asset(body.symbol, body.network))


def quote_buy(call: Call) -> JsonObject:
    """POST /wallet/buy/quote (decision M5)."""
    world, environment, body = call.world, call.environment, call.body
    crypto = require_asset(body.symbol, body.network)
    money = require_fiat(body.fiat_currency, body.method)
    pricing = price_buy(
        world,
        environment,
        crypto,
        money,
        Decimal(body.amount),
        solve=body.amount_currency == "crypto",
        method=body.method,
    )
    check_amount(world, environment, pricing.paid, money.code)
    require_network(world, environment, crypto.network or "")
    return render_buy_quote(world, _open(world, environment, "buy", pricing, method=body.method))


def buy_quote(call: Call) -> WalletQuote | None:
    """The quote that a body names, before anybody knows whether there is one."""
    quote_id = call.raw.get("quote_id")
    if not isinstance(quote_id, str):
        return None
    quote: WalletQuote | None = rows(call.world, call.environment, QUOTE_TABLES["buy"]).get(quote_id)
    return quote


def check_buy(call: Call) -> None:
    """400 for the account number of a payer by bank transfer that has not the shape of its country (decision R5)."""
    quote = buy_quote(call)
    if quote is not None and quote.method == "bank_transfer" and call.body.payer is not None:
        check_payer(call.body.payer, quote.paid.code)


def buy(call: Call) -> JsonObject:
    """POST /wallet/buy: waits for the payer, however long that takes (decision S7)."""
    world, environment, body = call.world, call.environment, call.body
    quote: WalletQuote = call.resource
    country = COUNTRY_OF[quote.paid.code]
    by_phone = quote.method == "mobile_money"
    phone_number = body.payer.phone_number if by_phone else None
    if phone_number is not None and not is_phone(phone_number, country):
        raise ApiError(
            "invalid_phone_number", f"{phone_number!r} is not a phone number of {country}.", "payer.phone_number"
        )
    if not by_phone and body.payer is not None:
        require_payers_bank(body.payer, quote.paid.code)
    require_in_force(world, environment, quote.product_id, "quote_id")
    check_usage(world, environment, quote.paid.amount, quote.paid.code, "quote_id")
    require_network(world, environment, quote.received.network or "")
    counted = count_usage(world, environment, quote.paid.amount, quote.paid.code, "quote_id")
    use_quote(world, quote)
    members = new_order_fields(world, environment)
    target = {"phone_number": phone_number} if by_phone else collection_account(world, quote.paid.code)
    transaction = Transaction(
        **members,
        **_from_quote(quote),
        amount=quote.received.amount,
        net_amount=quote.received.amount,
        country=country,
        account_number=phone_number if by_phone else getattr(body.payer, "account_number", None),
        payment_instructions={"method": quote.method, **target, "reference": members["order_id"]},
        counted=counted,
        reference=body.reference,
    )
    return render_transaction(world, begin(world, transaction, "buy"))


# --- withdraw --------------------------------------------------------------------------------------------


def check_withdraw_quote(call: Call) -> None:
    """400: an amount_currency that is neither side, or more decimals than that side has.

    Where a side is not supported at all, the business rules refuse it.
    """
    body = call.body
    crypto = named_asset(body.symbol, body.network)
    if crypto is None or crypto.code not in WITHDRAWABLE or fiat(body.fiat_currency) is None:
        return
    if body.amount_currency not in (body.symbol, body.fiat_currency):
        raise invalid("amount_currency", f"it must be {body.symbol} or {body.fiat_currency}")
    crypto_side = body.amount_currency == body.symbol
    check_decimals(body.amount, crypto if crypto_side else fiat(body.fiat_currency))


def post_withdraw_quote(call: Call) -> JsonObject:
    """POST /wallet/withdraw/quote (decision M6)."""
    world, environment, body = call.world, call.environment, call.body
    recipient = beneficiary(world, environment, body.beneficiary_id)
    crypto = require_asset(body.symbol, body.network)
    money = require_fiat(body.fiat_currency)
    quote = quote_withdraw(
        world,
        environment,
        crypto,
        money,
        Decimal(body.amount),
        in_fiat=body.amount_currency == money.code,
        recipient=recipient,
    )
    return render_withdraw_quote(world, quote)


def quote_withdraw(
    world: World,
    environment: str,
    asset: Currency,
    money: Currency,
    amount: Decimal,
    *,
    in_fiat: bool,
    recipient: Beneficiary,
) -> WalletQuote:
    """Lock the price of a payout to a beneficiary; `amount` is the asset to debit, or the fiat to deliver.

    ApiError 422 unsupported_asset, beneficiary_mismatch, unsupported_pair, amount_too_low, amount_too_high,
    503 network_unavailable.
    """
    pricing = estimate_withdraw(world, environment, asset, money, amount, in_fiat=in_fiat, recipient=recipient)
    check_amount(world, environment, pricing.received, money.code)
    require_network(world, environment, asset.network or "")
    return _open(world, environment, "withdraw", pricing, method=recipient.method, beneficiary_id=recipient.id)


def estimate_withdraw(
    world: World,
    environment: str,
    asset: Currency,
    money: Currency,
    amount: Decimal,
    *,
    in_fiat: bool,
    recipient: Beneficiary,
) -> Pricing:
    """What a withdrawal would cost and deliver now, without a quote; errors as `quote_withdraw` but the last two."""
    if asset.code not in WITHDRAWABLE:
        names = ", ".join(WITHDRAWABLE)
        raise ApiError("unsupported_asset", f"Only {names} can be withdrawn.", "symbol")
    if recipient.method is None or recipient.fiat_currency != money.code:
        raise ApiError("beneficiary_mismatch", f"The beneficiary cannot receive {money.code}.", "beneficiary_id")
    require_fiat(money.code, recipient.method)
    return price_withdraw(world, environment, asset, money, amount, solve=in_fiat, method=recipient.method)


def withdraw(call: Call) -> JsonObject:
    """POST /wallet/withdraw."""
    transaction = execute_withdraw(call.world, call.resource, reference=call.body.reference)
    return render_transaction(call.world, transaction)


def execute_withdraw(
    world: World,
    quote: WalletQuote,
    *,
    reference: str | None = None,
    description: str | None = None,
    recurring_payment_id: str | None = None,
    run_number: int | None = None,
) -> Transaction:
    """Use a withdraw quote: the limits are counted, its amount is held, the payout is on its way.

    The quote is usable. ApiError 404 not_found (the beneficiary is gone), 422 insufficient_balance, amount_too_high,
    503 network_unavailable.
    """
    environment = quote.environment
    currency = currency_of(quote.paid.code, quote.paid.network)
    recipient = beneficiary(world, environment, quote.beneficiary_id or "")
    require_in_force(world, environment, quote.product_id, "quote_id")
    require_balance(world, environment, currency, quote.paid.amount, "quote_id")
    check_usage(world, environment, quote.received.amount, quote.received.code, "quote_id")
    require_network(world, environment, quote.paid.network or "")
    counted = count_usage(world, environment, quote.received.amount, quote.received.code, "quote_id")
    use_quote(world, quote)
    details = recipient.details
    transaction = Transaction(
        **new_order_fields(world, environment),
        **_from_quote(quote),
        amount=quote.paid.amount,
        net_amount=subtract(quote.paid.amount, quote.fee.total),
        country=COUNTRY_OF[quote.received.code],
        beneficiary_id=recipient.id,
        account_number=details.get("account_number") or details.get("phone_number"),
        counted=counted,
        reference=reference,
        description=description,
        recurring_payment_id=recurring_payment_id,
        run_number=run_number,
    )
    world.ledger.hold(world.now_ms, transaction.id, holder(environment), currency.key, quote.paid.amount)
    return begin(world, transaction, "withdraw")
