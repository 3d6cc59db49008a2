"""Buys: a payer pays fiat, and an asset is credited to the balance (section "Buy"; decisions M5, M14, S2, S7, R5)."""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.rows.operation import Call, OperationDecorator, specified
from simulator.engine.text.fields import check_decimals
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import replace
from simulator.providers.ramp.balance import bodies, shapes
from simulator.providers.ramp.balance.named import named_asset, require_asset, require_fiat
from simulator.providers.ramp.balance.pricing import claim, open_wallet_quote, price_buy, quoted, require_up
from simulator.providers.ramp.balance.records import QUOTE_TABLES, WalletQuote
from simulator.providers.ramp.balance.rendering import render_buy, render_buy_quote
from simulator.providers.ramp.balance.states import NO_AMOUNT, NO_ASSET, NO_QUOTE
from simulator.providers.ramp.fees import require_in_force
from simulator.providers.ramp.profile import charge_limits, check_amount
from simulator.providers.ramp.ramps import bank_instructions, check_payer, require_payers_bank
from simulator.providers.ramp.reference import COUNTRY_OF, INVALID_PHONE_NUMBER, fiat, is_phone
from simulator.providers.ramp.transactions import PaymentInstructions, begin, use_quote

operation = OperationDecorator("Buy", group="wallet")


def _buy_body(call: Call) -> type[bodies.UseQuote]:
    quote = buy_quote(call)
    if quote is None:
        return bodies.BuyWithUnknownQuote
    return bodies.BuyByMobileMoney if quote.method == "mobile_money" else bodies.BuyByBankTransfer


def check_buy_quote(call: Call[bodies.BuyQuoteBody, None, None]) -> None:
    """Raise `ApiError` 400 if the amount has more decimals than its currency."""
    body = call.body
    fiat_side = body.amount_currency == "fiat"
    check_decimals(body.amount, fiat(body.fiat_currency) if fiat_side else named_asset(body.symbol, body.network))


@operation(
    "POST /wallet/buy/quote",
    "Lock the rate and fees of a purchase for 30 minutes",
    status=201,
    check=check_buy_quote,
    money=True,
    errors=specified(*NO_ASSET) | {"unsupported_pair": "H5"} | specified(*NO_AMOUNT, "network_unavailable"),
)
def quote_buy(call: Call[bodies.BuyQuoteBody, None, None]) -> shapes.BuyQuoteShape:
    """Locks the rate and the fee of a purchase for 30 minutes. A purchase turns fiat into crypto in the balance. The
    amount is either the fiat to pay or the crypto to receive, depending on `amount_currency`. The request fails if the
    currency does not support the payment method, if the amount is outside the limits of the fee product or the account,
    or if the network is down.
    """
    world, environment, body = call.world, call.environment, call.body
    crypto = require_asset(body.symbol, body.network)
    money = require_fiat(body.fiat_currency, body.method)
    solve = body.amount_currency == "crypto"
    pricing = price_buy(world, environment, crypto, money, Decimal(body.amount), solve=solve, method=body.method)
    check_amount(world, environment, pricing.paid, money.code)
    require_up(world, environment, crypto)
    return render_buy_quote(world, open_wallet_quote(world, environment, "buy", pricing, method=body.method))


def buy_quote(call: Call) -> WalletQuote | None:
    """Return the quote that a request body names, or None if it does not exist. The body need not be valid."""
    quote_id = call.raw.get("quote_id")
    if not isinstance(quote_id, str):
        return None
    return call.world.store[QUOTE_TABLES["buy"].of(call.environment)].get(quote_id)


def check_buy(call: Call[bodies.UseQuote, None, WalletQuote]) -> None:
    """Raise `ApiError` 400 if the payer's account number has the wrong format for the country (decision R5)."""
    quote, body = buy_quote(call), call.body
    if quote is not None and isinstance(body, bodies.BuyByBankTransfer) and body.payer is not None:
        check_payer(body.payer.account_number, quote.paid.code)


@operation(
    "POST /wallet/buy",
    "Buy: fiat into the balance",
    status=201,
    bodies=lambda: (bodies.BuyByMobileMoney, bodies.BuyByBankTransfer),
    body_for=_buy_body,
    check=check_buy,
    claim=claim("buy"),
    money=True,
    errors=NO_QUOTE
    | {"invalid_phone_number": "R4", "invalid_bank_account": "R5"}
    | specified("amount_too_high", "insufficient_balance")
    | {"payment_failed": "S3"},
    statuses=("pending",),
)
def buy(call: Call[bodies.UseQuote, None, WalletQuote]) -> shapes.BuyTransaction:
    """Executes an active buy quote and returns payment instructions. For mobile money, the payer receives a prompt on
    the phone. For a bank transfer, the payer sends the fiat to the account in `payment_instructions` and includes the
    reference given there. The purchase stays `pending` until the payment arrives. Then the balance is credited. The
    purchase counts towards the account limits.
    """
    world, environment, body, quote = call.world, call.environment, call.body, call.resource
    country = COUNTRY_OF[quote.paid.code]
    phone_number, account_number = None, None
    if isinstance(body, bodies.BuyByMobileMoney):
        phone_number = body.payer.phone_number
        if not is_phone(phone_number, country):
            raise INVALID_PHONE_NUMBER.error(
                f"{phone_number!r} is not a valid phone number in {country}.", "payer.phone_number"
            )
    if isinstance(body, bodies.BuyByBankTransfer) and body.payer is not None:
        require_payers_bank(body.payer.bank_code, quote.paid.code)
        account_number = body.payer.account_number
    require_in_force(world, environment, quote.product_id, "quote_id")
    limit_charge = charge_limits(world, environment, quote.paid.amount, quote.paid.code, "quote_id")
    require_up(world, environment, quote.received.currency)
    use_quote(world, quote)
    transaction = quoted(world, quote)
    number = transaction.id if assumes(world, "buy-reference", "transaction_id") else transaction.order_id
    instructions: PaymentInstructions
    if phone_number is not None:
        instructions = {"method": "mobile_money", "phone_number": phone_number, "reference": number}
    else:
        instructions = bank_instructions(world, quote.paid.code, number)
    transaction = replace(
        transaction,
        amount=quote.received.amount,
        net_amount=quote.received.amount,
        country=country,
        account_number=phone_number or account_number,
        payment_instructions=instructions,
        limit_charge=limit_charge,
        reference=body.reference,
    )
    return render_buy(world, begin(world, transaction, "buy"))
