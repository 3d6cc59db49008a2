"""The operations on ramps: creating and confirming quotes (sections "Ramp quotes and ramps" and "Ramp transaction";
decisions M1 to M4, M13, M14, R3, R5, S3 to S6).
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.rows.operation import Call, OperationDecorator, specified
from simulator.engine.text.fields import check_decimals
from simulator.kernel.dataclass import replace
from simulator.kernel.money import ZERO, Currency, divide_down, multiply, subtract
from simulator.kernel.world import World
from simulator.providers.ramp import reference, transactions
from simulator.providers.ramp.beneficiaries import BENEFICIARY_MISMATCH, beneficiary
from simulator.providers.ramp.fees import (
    AMOUNT_TOO_LOW,
    Fee,
    check_limits,
    formula,
    match,
    received,
    require_in_force,
    solve_source,
)
from simulator.providers.ramp.profile import charge_limits, check_amount
from simulator.providers.ramp.ramps import bodies, shapes
from simulator.providers.ramp.ramps.records import QUOTES, RampQuote
from simulator.providers.ramp.ramps.shapes import RampQuoteShape, RampTransaction, render_quote
from simulator.providers.ramp.reference import (
    COUNTRY_OF,
    RAMP_ASSETS,
    UNSUPPORTED_PAIR,
    asset,
    fiat,
    has_method,
    ramp_rate,
    require_network,
)
from simulator.providers.ramp.shapes import RampNetwork
from simulator.providers.ramp.transactions import PaymentInstructions, Side, Transaction, new_quote_fields, open_quote

operation = OperationDecorator("Ramp quotes and ramps", group="ramps")


def _confirm_body(call: Call) -> type[bodies.Confirmation]:
    if call.resource.type == "offramp":
        return bodies.ConfirmOfframp
    return (
        bodies.ConfirmOnrampMobileMoney if call.resource.method == "mobile_money" else bodies.ConfirmOnrampBankTransfer
    )


DEADLINE = "ramp.deadline"


def load_quote(call: Call) -> RampQuote:
    """Return the quote that the path identifies. Raise `ApiError` 404 quote_not_found if it does not exist."""
    return transactions.find_quote(call.world, call.environment, QUOTES, call.path["id"])


def claim_quote(call: Call[bodies.Confirmation, None, RampQuote]) -> None:
    """Raise `ApiError` 409 quote_already_used or 422 quote_expired before all other business rules (decision H2)."""
    transactions.require_usable(call.resource)


def check_quote(call: Call[bodies.QuoteBody, None, None]) -> None:
    """Raise `ApiError` 400 if amount_currency is neither the asset nor the fiat currency, or if the amount has too many
    decimals (decision H7).

    An unsupported pair of asset and fiat currency passes this check. `create_quote` rejects it later.
    """
    body = call.body
    try:
        crypto, money = _pair(body.asset, body.network, body.fiat_currency, body.method)
    except ApiError:
        return
    if body.amount_currency not in (body.asset, body.fiat_currency):
        raise invalid("amount_currency", f"it must be {body.asset} or {body.fiat_currency}")
    check_decimals(body.amount, money if body.amount_currency == money.code else crypto)


@lru_cache(maxsize=256)  # asked twice for each quote; only supported pairs are cached
def _pair(asset_code: str, network: RampNetwork, fiat_code: str, method: str) -> tuple[Currency, Currency]:
    """Return the asset and the fiat currency of a quote. Raise `ApiError` 422 unsupported_pair."""
    crypto = asset(asset_code, network)
    money = fiat(fiat_code)
    if crypto is None or asset_code not in RAMP_ASSETS[network]:
        raise UNSUPPORTED_PAIR.error(f"{asset_code} is not available on {network}.", "asset")
    if money is None:
        raise UNSUPPORTED_PAIR.error(f"{fiat_code} is not supported.", "fiat_currency")
    if not has_method(money.code, method):
        raise UNSUPPORTED_PAIR.error(f"{method} is not available for {money.code}.", "method")
    return crypto, money


@operation(
    "POST /quotes",
    "Lock a rate and fees for 30 minutes",
    status=201,
    check=check_quote,
    money=True,
    errors=specified("unsupported_pair", "amount_too_low", "amount_too_high") | {"network_unavailable": "S22"},
    statuses=("active",),
)
def create_quote(call: Call[bodies.QuoteBody, None, None]) -> RampQuoteShape:
    """Locks the rate and the fees of an onramp or offramp for exactly 30 minutes. `amount_currency` selects the side
    that the amount refers to, and the service calculates the other side. Nothing is booked or reserved until you
    confirm the quote. The request fails with unsupported_pair if the combination of network, asset, currency and
    payment method is not supported. It fails with amount_too_low or amount_too_high if the amount is outside the
    limits of the fee product or of the account, and with network_unavailable while the network is down.
    """
    world, environment, body = call.world, call.environment, call.body
    crypto, money = _pair(body.asset, body.network, body.fiat_currency, body.method)
    rate = ramp_rate(world, environment, body.type, crypto.code, money.code)
    source, destination = (money, crypto) if body.type == "onramp" else (crypto, money)

    amount = Decimal(body.amount)
    if amount == 0:
        raise AMOUNT_TOO_LOW.error("The amount must be more than zero.", "amount")
    product = match(
        world,
        environment,
        body.type,
        source,
        network=body.network,
        asset=crypto.code,
        fiat_currency=money.code,
        payment_method=body.method,
    )
    fee_of = formula(world, environment, product, source, body.network)

    def delivers(amount: Decimal, fee: Fee) -> Decimal:
        return delivered(world, body.type, amount, fee.total, rate, destination)

    given_source = body.amount_currency == source.code
    # If the amount is on the delivered side, keep it exactly and let the solver find the source amount. Converting the
    # amount back and forth would lose a unit to rounding, and the recipient would get less than requested.
    source_amount = (
        amount if given_source else solve_source(source, amount, lambda amount: delivers(amount, fee_of(amount)))
    )
    fee = fee_of(source_amount)
    check_limits(product, source_amount)
    destination_amount = delivers(source_amount, fee) if given_source else amount
    if fee.total >= source_amount or destination_amount <= 0:
        raise AMOUNT_TOO_LOW.error("Nothing is left to deliver after the fee. Increase the amount.", "amount")
    quote = RampQuote(
        **new_quote_fields(world, environment, "qt_"),
        type=body.type,
        network=body.network,
        asset=crypto.code,
        fiat_currency=money.code,
        method=body.method,
        rate=rate,
        source_amount=source_amount,
        destination_amount=destination_amount,
        fee=fee,
        product_id=product.id,
    )
    check_amount(world, environment, quote.fiat_amount, money.code)
    require_network(world, environment, body.network)
    return render_quote(world, open_quote(world, quote))


def delivered(
    world: World, direction: str, source: Decimal, fee: Decimal, rate: Decimal, destination: Currency
) -> Decimal:
    """Return the amount that the recipient gets, rounded down. It is never negative (decisions M3, M4)."""
    net = max(subtract(source, fee), ZERO)
    return received(world, destination, divide_down(net, rate) if direction == "onramp" else multiply(net, rate))


def check_confirm(call: Call[bodies.Confirmation, None, RampQuote]) -> None:
    """Raise `ApiError` 400 if the payer's account number has the wrong format for the country (decision R5)."""
    if isinstance(call.body, bodies.ConfirmOnrampBankTransfer):
        check_payer(call.body.payer.account_number, call.resource.fiat_currency)


@operation(
    "POST /quotes/{id}/confirm",
    "Use a quote: start an onramp or an offramp",
    status=201,
    bodies=lambda: (bodies.ConfirmOnrampMobileMoney, bodies.ConfirmOnrampBankTransfer, bodies.ConfirmOfframp),
    body_for=_confirm_body,
    check=check_confirm,
    claim=claim_quote,
    uses="quote",
    load=load_quote,
    money=True,
    errors=specified("quote_not_found", "quote_expired", "quote_already_used")
    | {"not_found": "S23"}
    | specified("beneficiary_mismatch", "invalid_wallet_address")
    | {
        "invalid_phone_number": "R4",
        "invalid_bank_account": "R5",
        "amount_too_high": "M14",
        "unsupported_pair": "M15",
        "payment_failed": "S3",
        "network_unavailable": "S22",
    },
    statuses=("awaiting_payment", "awaiting_deposit"),
)
def confirm_quote(call: Call[bodies.Confirmation, None, RampQuote]) -> RampTransaction:
    """Uses an active quote and starts the transaction. The required fields depend on the type of the quote and, for an
    onramp, on its payment method. An onramp then waits for the payer's fiat. Its status is `awaiting_payment`, and
    `payment_instructions` describes how to pay. An offramp waits for your crypto. Its status is `awaiting_deposit`.
    Send exactly `deposit.amount` of `deposit.asset` to `deposit.address` before `deposit_by`. On stellar, include
    `deposit.memo`. A quote can be confirmed once, within its 30 minutes. The transaction counts towards the account
    limits. The request fails if the address is not valid on the quote's network, if the beneficiary does not match the
    quote, or if the network is down.
    """
    world, quote, body = call.world, call.resource, call.body
    ramp = _offramp(world, quote, body) if isinstance(body, bodies.ConfirmOfframp) else _onramp(world, quote, body)
    ramp = transactions.begin(world, ramp, "confirm")
    world.agenda.plan(transactions.end_ms(world, quote.expires_at_ms), DEADLINE, ramp.id)
    return shapes.render_onramp(world, ramp) if ramp.type == "onramp" else shapes.render_offramp(world, ramp)


def _onramp(world: World, quote: RampQuote, body: bodies.ConfirmOnramp) -> Transaction:
    payer, country = body.payer, COUNTRY_OF[quote.fiat_currency]
    if isinstance(payer, bodies.MobileMoneyPayer):
        if not reference.is_phone(payer.phone_number, country):
            message = f"{payer.phone_number!r} is not a valid phone number in {country}."
            raise reference.INVALID_PHONE_NUMBER.error(message, "payer.phone_number")
    else:
        require_payers_bank(payer.bank_code, quote.fiat_currency)
    if not reference.is_address(quote.network, body.wallet_address, quote.environment):
        raise _bad_address("wallet_address", quote.network)
    ramp = _use(world, quote)
    return replace(
        ramp,
        reference=body.reference,
        recipient_address=body.wallet_address,
        memo=body.memo,
        account_number=payer.phone_number if isinstance(payer, bodies.MobileMoneyPayer) else payer.account_number,
        payment_instructions=_instructions(world, quote, payer, ramp.order_id),
    )


def _instructions(
    world: World, quote: RampQuote, payer: bodies.MobileMoneyPayer | bodies.BankTransferPayer, order_id: str
) -> PaymentInstructions:
    if isinstance(payer, bodies.MobileMoneyPayer):
        asked = reference.currency_of(quote.fiat_currency, None).format(quote.source_amount)
        return {
            "method": quote.method,
            "phone_number": payer.phone_number,
            "prompt_text": f"Approve {quote.fiat_currency} {asked} for order {order_id} with your PIN.",
        }
    return bank_instructions(world, quote.fiat_currency, order_id)


def _offramp(world: World, quote: RampQuote, body: bodies.ConfirmOfframp) -> Transaction:
    recipient = beneficiary(world, quote.environment, body.beneficiary_id)
    if (recipient.fiat_currency, recipient.method) != (quote.fiat_currency, quote.method):
        raise BENEFICIARY_MISMATCH.error(
            f"The quote pays {quote.fiat_currency} by {quote.method}, but this beneficiary cannot be paid in this way.",
            "beneficiary_id",
        )
    if not reference.is_address(quote.network, body.refund_address, quote.environment):
        raise _bad_address("refund_address", quote.network)
    ramp = _use(world, quote)
    address = reference.new_address(world, quote.network, quote.environment)
    ramp = replace(
        ramp,
        reference=body.reference,
        recipient_address=address,
        memo=transactions.fresh_memo(world, quote.environment, address) if quote.network == "stellar" else None,
        refund_address=body.refund_address,
        beneficiary_id=recipient.id,
        account_number=recipient.account,
    )
    transactions.register_receiver(world, ramp, quote.network, address, ramp.memo)
    return ramp


def _bad_address(param: str, network: str) -> ApiError:
    return reference.INVALID_WALLET_ADDRESS.error(f"`{param}` is not a valid {network} address.", param)


def _use(world: World, quote: RampQuote) -> Transaction:
    """Charge the account limits, and mark the quote as used. Return a transaction with the fields that ramps share."""
    environment, fiat_amount, fiat_code = quote.environment, quote.fiat_amount, quote.fiat_currency
    require_in_force(world, environment, quote.product_id)
    limit_charge = charge_limits(world, environment, fiat_amount, fiat_code)
    require_network(world, environment, quote.network)
    transactions.use_quote(world, quote)
    onramp = quote.type == "onramp"
    return Transaction(
        **transactions.new_order_fields(world, environment),
        type=quote.type,
        quote_id=quote.id,
        paid=Side(quote.source_currency, None if onramp else quote.network, quote.source_amount),
        received=Side(quote.destination_currency, quote.network if onramp else None, quote.destination_amount),
        amount=quote.source_amount,
        net_amount=subtract(quote.source_amount, quote.fee.total),
        fee=quote.fee,
        rate=quote.rate,
        method=quote.method,
        country=COUNTRY_OF[quote.fiat_currency],
        expires_at_ms=quote.expires_at_ms,
        limit_charge=limit_charge,
    )


@operation(
    "GET /quotes/{id}",
    "A ramp quote with its current status",
    load=load_quote,
    errors=("quote_not_found",),
    shows="quote",
)
def get_quote(call: Call[None, None, RampQuote]) -> RampQuoteShape:
    """Returns a ramp quote with its current status and expiry. The rate, amounts and fee never change."""
    return render_quote(call.world, call.resource)


def check_payer(account_number: str | None, fiat_code: str) -> None:
    """Raise `ApiError` 400 if the payer's account number is given but has the wrong format."""
    if account_number is not None:
        reference.require_account_number(COUNTRY_OF[fiat_code], account_number, "payer.account_number")


def require_payers_bank(bank_code: str | None, fiat_code: str) -> None:
    """Raise `ApiError` 422 invalid_bank_account if the payer's bank is given but unknown (decision R5)."""
    if bank_code is not None:
        reference.require_bank(COUNTRY_OF[fiat_code], bank_code, "payer.bank_code")


def bank_instructions(world: World, fiat_code: str, order_number: str) -> PaymentInstructions:
    """Return instructions for paying into an account at the first bank in the currency's country (decision R5)."""
    bank = next(iter(reference.BANKS[COUNTRY_OF[fiat_code]].values()))
    first = 10 ** (bank.min_digits - 1)
    return {
        "method": "bank_transfer",
        "account_number": str(first + world.streams.below(9 * first, "accounts")),
        "bank_name": bank.name,
        "reference": order_number,
    }
