"""What ramps do: quoting, confirming, and what the outside world does to them.

Chapters "Ramp quotes and ramps" and "Ramp transaction" of the specification; decisions M1 to M4, M13, M14, S3 to S6.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.kernel.agenda import Timer
from simulator.kernel.ledger import FEES, OUTSIDE, Posting
from simulator.kernel.money import ZERO, Currency, divide_down, multiply, subtract
from simulator.kernel.world import World
from simulator.resources.beneficiaries import beneficiary
from simulator.resources.fees import Priced, check_limits, price, require_in_force, solve_source
from simulator.resources.profile import LimitCharge, charge_limits, check_amount, check_limits_left, release_limits
from simulator.resources.ramps.bodies import ArrivingDeposit, Completion, Failure, Payment
from simulator.resources.ramps.payers import check_payer, collection_account, require_payers_bank
from simulator.resources.ramps.records import TABLE, RampQuote
from simulator.resources.ramps.shapes import render_quote, render_ramp
from simulator.resources.reference import (
    COUNTRY_OF,
    RAMP_ASSETS,
    asset,
    currency_of,
    fiat,
    has_method,
    is_address,
    is_phone,
    is_tx_hash,
    new_address,
    new_tx_hash,
    ramp_rate,
    require_network,
)
from simulator.resources.transactions import (
    Side,
    Transaction,
    begin,
    find_quote,
    fresh_memo,
    new_order_fields,
    new_quote_fields,
    open_quote,
    require_transaction,
    require_usable,
    use_quote,
)
from simulator.wire.actions import ActionCall
from simulator.wire.advice import advise
from simulator.wire.arrivals import Arrival, deliver, expect
from simulator.wire.errors import ApiError, invalid
from simulator.wire.fields import Nothing
from simulator.wire.json import JsonObject
from simulator.wire.operation import Call
from simulator.wire.records import move

DEADLINE = "ramp.deadline"
CLEARING = "clearing"


def load_quote(call: Call) -> RampQuote:
    """The quote named in the path; 404 quote_not_found."""
    quote: RampQuote = find_quote(call.world, call.environment, TABLE, call.path["id"])
    return quote


def claim_quote(call: Call) -> None:
    """409 quote_already_used or 422 quote_expired, whatever else is wrong with the call (decision H2)."""
    require_usable(call.resource)


def check_quote(call: Call) -> None:
    """400 for an amount_currency that is neither side, and for more decimals than that side has (decision H7).

    A pair that is not supported has no sides to speak of: the business rules refuse it.
    """
    body = call.body
    try:
        crypto, money = _pair(body)
    except ApiError:
        return
    if body.amount_currency not in (body.asset, body.fiat_currency):
        raise invalid("amount_currency", f"it must be {body.asset} or {body.fiat_currency}")
    currency = money if body.amount_currency == money.code else crypto
    if not currency.accepts(body.amount):
        raise invalid("amount", f"{currency.code} has {currency.decimals} decimals")


def _pair(body: Any) -> tuple[Currency, Currency]:
    """Asset and fiat of a quote; 422 unsupported_pair for a combination that is not offered."""
    crypto = asset(body.asset, body.network)
    money = fiat(body.fiat_currency)
    if crypto is None or body.asset not in RAMP_ASSETS[body.network]:
        raise ApiError("unsupported_pair", f"{body.asset} is not available on {body.network}.", "asset")
    if money is None:
        raise ApiError("unsupported_pair", f"{body.fiat_currency} is not supported.", "fiat_currency")
    if not has_method(money.code, body.method):
        raise ApiError("unsupported_pair", f"{body.method} is not available for {money.code}.", "method")
    return crypto, money


def quote_ramp(call: Call) -> JsonObject:
    """POST /quotes."""
    world, environment, body = call.world, call.environment, call.body
    crypto, money = _pair(body)
    rate = ramp_rate(world, environment, body.type, crypto.code, money.code)
    source, destination = (money, crypto) if body.type == "onramp" else (crypto, money)

    def priced(amount: Decimal) -> Priced:
        return price(
            world,
            environment,
            body.type,
            amount,
            source,
            network=body.network,
            asset=crypto.code,
            fiat_currency=money.code,
            payment_method=body.method,
        )

    def delivers(amount: Decimal) -> Decimal:
        return delivered(body.type, amount, priced(amount).fee.total, rate, destination)

    amount = Decimal(body.amount)
    if amount == 0:
        raise ApiError("amount_too_low", "The amount must be more than zero.", "amount")
    given_source = body.amount_currency == source.code
    source_amount = amount if given_source else solve_source(source, amount, delivers)
    pricing = priced(source_amount)
    check_limits(pricing.product, source_amount)
    destination_amount = delivers(source_amount) if given_source else amount
    if pricing.fee.total >= source_amount or destination_amount <= 0:
        raise ApiError("amount_too_low", "The fee leaves nothing to deliver.", "amount")
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
        fee=pricing.fee,
        product_id=pricing.product.id,
    )
    check_amount(world, environment, quote.fiat_amount, money.code)
    require_network(world, environment, body.network)
    return render_quote(world, open_quote(world, quote))


def delivered(direction: str, source: Decimal, fee: Decimal, rate: Decimal, destination: Currency) -> Decimal:
    """What the recipient gets (decisions M3, M4): never less than zero, rounded down."""
    net = max(subtract(source, fee), ZERO)
    return destination.round_down(divide_down(net, rate) if direction == "onramp" else multiply(net, rate))


def check_confirm(call: Call) -> None:
    """400 for the account number of a payer by bank transfer that has not the shape of its country (decision R5)."""
    quote = call.resource
    if quote.type == "onramp" and quote.method == "bank_transfer":
        check_payer(call.body.payer, quote.fiat_currency)


def confirm_onramp(call: Call) -> JsonObject:
    """POST /quotes/{id}/confirm of an onramp."""
    world, body, quote = call.world, call.body, call.resource
    payer = body.payer
    if quote.method == "mobile_money" and not is_phone(payer.phone_number, COUNTRY_OF[quote.fiat_currency]):
        raise ApiError(
            "invalid_phone_number",
            f"{payer.phone_number!r} is not a phone number of {COUNTRY_OF[quote.fiat_currency]}.",
            "payer.phone_number",
        )
    if quote.method == "bank_transfer":
        require_payers_bank(payer, quote.fiat_currency)
    if not is_address(quote.network, body.wallet_address, quote.environment):
        raise _bad_address("wallet_address", quote.network)
    used = _use(world, quote)
    members = new_order_fields(world, quote.environment)
    if quote.method == "mobile_money":
        asked = currency_of(quote.fiat_currency, None).format(quote.source_amount)
        instructions = {
            "method": quote.method,
            "phone_number": payer.phone_number,
            "prompt_text": f"Approve {quote.fiat_currency} {asked} for order {members['order_id']} with your PIN.",
        }
    else:
        instructions = {"method": quote.method, **collection_account(world, quote.fiat_currency)}
        instructions["reference"] = members["order_id"]
    ramp = Transaction(
        **members,
        **_from_quote(world, quote, used),
        paid=Side(quote.fiat_currency, None, quote.source_amount),
        received=Side(quote.asset, quote.network, quote.destination_amount),
        reference=body.reference,
        recipient_address=body.wallet_address,
        memo=body.memo,
        account_number=payer.account_number if quote.method == "bank_transfer" else payer.phone_number,
        payment_instructions=instructions,
    )
    return _start(world, ramp)


def confirm_offramp(call: Call) -> JsonObject:
    """POST /quotes/{id}/confirm of an offramp."""
    world, body, quote = call.world, call.body, call.resource
    recipient = beneficiary(world, call.environment, body.beneficiary_id)
    if (recipient.fiat_currency, recipient.method) != (quote.fiat_currency, quote.method):
        raise ApiError(
            "beneficiary_mismatch",
            f"The quote pays {quote.fiat_currency} by {quote.method}; this beneficiary cannot receive that.",
            "beneficiary_id",
        )
    if not is_address(quote.network, body.refund_address, quote.environment):
        raise _bad_address("refund_address", quote.network)
    used = _use(world, quote)
    address = new_address(world, quote.network, quote.environment)
    ramp = Transaction(
        **new_order_fields(world, quote.environment),
        **_from_quote(world, quote, used),
        memo=fresh_memo(world, quote.environment, address) if quote.network == "stellar" else None,
        paid=Side(quote.asset, quote.network, quote.source_amount),
        received=Side(quote.fiat_currency, None, quote.destination_amount),
        reference=body.reference,
        recipient_address=address,
        refund_address=body.refund_address,
        beneficiary_id=recipient.id,
        account_number=recipient.account,
    )
    expect(world, ramp, quote.network, address, ramp.memo)
    return _start(world, ramp)


def _bad_address(param: str, network: str) -> ApiError:
    return ApiError("invalid_wallet_address", f"`{param}` is not a valid {network} address.", param)


def _use(world: World, quote: RampQuote) -> LimitCharge:
    """The last checks, then the first changes: limits charged, quote used."""
    require_in_force(world, quote.environment, quote.product_id)
    check_limits_left(world, quote.environment, quote.fiat_amount, quote.fiat_currency)
    require_network(world, quote.environment, quote.network)
    limit_charge = charge_limits(world, quote.environment, quote.fiat_amount, quote.fiat_currency)
    use_quote(world, quote)
    return limit_charge


def _from_quote(world: World, quote: RampQuote, limit_charge: LimitCharge) -> dict[str, Any]:
    return {
        "type": quote.type,
        "quote_id": quote.id,
        "amount": quote.source_amount,
        "net_amount": subtract(quote.source_amount, quote.fee.total),
        "fee": quote.fee,
        "rate": quote.rate,
        "method": quote.method,
        "country": COUNTRY_OF[quote.fiat_currency],
        "expires_at_ms": quote.expires_at_ms,
        "limit_charge": limit_charge,
    }


def _start(world: World, ramp: Transaction) -> JsonObject:
    ramp = begin(world, ramp, "confirm")
    world.agenda.plan(ramp.expires_at_ms or 0, DEADLINE, ramp.id)
    return render_ramp(world, ramp)


def lapse(world: World, timer: Timer) -> None:
    """The deadline of payment or deposit: the quote's expires_at (decision S1)."""
    ramp = require_transaction(world, timer.target)
    release_limits(world, ramp.environment, ramp.limit_charge)
    move(world, ramp, "expire", limit_charge=None)


def payment_arrives(call: ActionCall[Transaction, Payment]) -> Transaction:
    """The payer's fiat is received: in full, over (accepted) or short (decision S6)."""
    ramp = call.target
    amount = _positive(call.parameters.amount, currency_of(ramp.paid.code, None), ramp.paid.amount)
    return _receive(call.world, ramp, "payment_arrives", amount, "insufficient_payment")


def deposit_arrives(call: ActionCall[Transaction, ArrivingDeposit]) -> Transaction:
    """The crypto deposit is confirmed on-chain; with the wrong asset or memo it is not matched (decision S6)."""
    world, values = call.world, call.parameters
    ramp = call.target
    network = ramp.paid.network or ""
    amount = _positive(values.amount, currency_of(ramp.paid.code, network), ramp.paid.amount)
    _check_tx_hash(network, values.tx_hash)
    wrong_asset = values.asset is not None and values.asset != ramp.paid.code
    wrong_memo = network == "stellar" and values.memo is not None and values.memo != ramp.memo
    if wrong_asset or wrong_memo:
        return _unmatched(world, ramp, "asset" if wrong_asset else "memo")
    tx_hash = values.tx_hash or new_tx_hash(world, network)
    return _receive(world, ramp, "deposit_arrives", amount, "insufficient_deposit", tx_hash=tx_hash)


def _unmatched(world: World, ramp: Transaction, what: str) -> Transaction:
    advise(
        world,
        "deposit_not_matched",
        "error",
        f"A deposit to {ramp.id} carried the wrong {what} and was not matched.",
        "Send exactly deposit.amount of deposit.asset, on stellar with deposit.memo.",
        ramp.id,
    )
    return ramp


def receive(world: World, ramp: Transaction, arrival: Arrival) -> bool:
    """What the account itself sent to `deposit.address` is an offramp's deposit, judged as any other (S6, S9)."""
    if ramp.status != "awaiting_deposit":
        return False
    if arrival.asset != ramp.paid.code:
        _unmatched(world, ramp, "asset")
    else:
        tx_hash = arrival.tx_hash
        _receive(world, ramp, "deposit_arrives", arrival.amount, "insufficient_deposit", tx_hash=tx_hash)
    return True


def _check_tx_hash(network: str, given: str | None) -> None:
    if given is not None and not is_tx_hash(network, given):
        raise invalid("tx_hash", f"it is not a transaction hash of {network}")


def _positive(text: str | None, currency: Currency, default: Decimal) -> Decimal:
    if text is None:
        return default
    if not currency.accepts(text) or Decimal(text) == 0:
        raise invalid("amount", f"it must be more than zero, with at most {currency.decimals} decimals")
    return Decimal(text)


def _receive(
    world: World, ramp: Transaction, trigger: str, amount: Decimal, shortage: str, **changes: Any
) -> Transaction:
    world.agenda.cancel(DEADLINE, ramp.id)
    world.ledger.move(world.now_ms, "receipt", ramp.id, _paid(ramp).key, amount, OUTSIDE, CLEARING)
    changes["funds_received"] = amount
    if amount >= ramp.paid.amount:
        return move(world, ramp, trigger, "in full", **changes)
    release_limits(world, ramp.environment, ramp.limit_charge)
    return move(world, ramp, trigger, "short", failure_code=shortage, limit_charge=None, **changes)


def payment_declined(call: ActionCall[Transaction, Nothing]) -> Transaction:
    """The payer's provider declines (decision S3)."""
    call.world.agenda.cancel(DEADLINE, call.target.id)
    ramp = call.target
    release_limits(call.world, call.environment, ramp.limit_charge)
    return move(call.world, ramp, "payment_declined", failure_code="payment_failed", limit_charge=None)


def complete(call: ActionCall[Transaction, Completion]) -> Transaction:
    """Conversion or payout finishes; an onramp gets its tx_hash here (decision S16)."""
    world, given = call.world, call.parameters.tx_hash
    ramp = call.target
    changes: dict[str, Any] = {}
    if ramp.type == "onramp":
        network = ramp.received.network or ""
        _check_tx_hash(network, given)
        changes["tx_hash"] = given or new_tx_hash(world, network)
    received, fee = ramp.funds_received or ZERO, ramp.fee.total
    key = _paid(ramp).key
    world.ledger.post(
        world.now_ms,
        "conversion",
        ramp.id,
        Posting(CLEARING, key, -received),
        Posting(FEES, key, fee),
        Posting(OUTSIDE, key, subtract(received, fee)),
    )
    ramp = move(world, ramp, "complete", **changes)
    if ramp.type == "onramp":
        paid_out = Arrival(ramp.received.code, ramp.received.amount, ramp.tx_hash, ramp.id)
        deliver(world, ramp.environment, ramp.received.network or "", ramp.recipient_address or "", ramp.memo, paid_out)
    return ramp


def fail(call: ActionCall[Transaction, Failure]) -> Transaction:
    """Conversion or payout cannot finish; the funds stay with the service until they are refunded."""
    ramp = call.target
    release_limits(call.world, call.environment, ramp.limit_charge)
    return move(call.world, ramp, "fail", failure_code=call.parameters.failure_code, limit_charge=None)


def refund(call: ActionCall[Transaction, Nothing]) -> Transaction:
    """All that was received goes back, fee included, to the payer or the refund_address (decision S5)."""
    world = call.world
    ramp = call.target
    key, received = _paid(ramp).key, ramp.funds_received or ZERO
    if ramp.status == "completed":
        fee = ramp.fee.total
        world.ledger.post(
            world.now_ms,
            "reversal",
            ramp.id,
            Posting(OUTSIDE, key, -subtract(received, fee)),
            Posting(FEES, key, -fee),
            Posting(CLEARING, key, received),
        )
    world.ledger.move(world.now_ms, "refund", ramp.id, key, received, CLEARING, OUTSIDE)
    release_limits(world, ramp.environment, ramp.limit_charge)
    return move(world, ramp, "refund", limit_charge=None)


def has_funds(world: World, ramp: Transaction) -> str | None:
    """Only what was received can go back (decision S5)."""
    return None if ramp.funds_received is not None else "no funds were received, so there is nothing to give back"


def _paid(ramp: Transaction) -> Currency:
    return currency_of(ramp.paid.code, ramp.paid.network)
