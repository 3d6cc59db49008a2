"""Sends: to an address, over Lightning, or to another user of the service (section "Send"; decisions M7, M12, S9, S14,
S23).
"""

from __future__ import annotations

from decimal import Decimal
from typing import TypeVar

from simulator.engine.records.records import move, present
from simulator.engine.rows.operation import Call, OperationDecorator, Variants, specified
from simulator.engine.text.fields import check_decimals
from simulator.engine.worlds.settings import assumes
from simulator.kernel.ledger import available
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.providers.ramp import transactions
from simulator.providers.ramp.balance import bodies, destinations, shapes
from simulator.providers.ramp.balance.destinations import Recipient
from simulator.providers.ramp.balance.named import named_asset, require_asset
from simulator.providers.ramp.balance.pricing import SendPricing, price_send, require_balance, require_up, side
from simulator.providers.ramp.balance.records import Tags
from simulator.providers.ramp.balance.rendering import render_send
from simulator.providers.ramp.balance.settlement import broadcast_send
from simulator.providers.ramp.fees import show_app_fee
from simulator.providers.ramp.profile import profile_of
from simulator.providers.ramp.shapes import upper
from simulator.providers.ramp.transactions import Transaction

operation = OperationDecorator("Send", group="wallet")

_ESTIMATE = {
    "not_found": "S23",
    "unsupported_network": "H5",
    "unsupported_asset": "H5",
    "unsupported_pair": "M15",
    "invalid_wallet_address": "S9",
    "invalid_phone_number": "recipient-phone",
    "invoice_expired": "S14",
    "amount_too_low": "M13",
    "amount_too_high": "M13",
}
"""Maps errors of a send to the decision behind each of them. The specification does not list these errors."""

EstimateT = TypeVar("EstimateT", bound="bodies.EstimateBody")


def check_send(call: Call[EstimateT, None, None]) -> None:
    """Raise `ApiError` 400 if the amount has too many decimals, or the destination is malformed or the sender."""
    body = call.body
    check_decimals(body.amount, named_asset(body.symbol, body.network))
    destinations.check_destination(call.world, body.destination)
    destinations.check_invoice_amount(call.environment, body.destination, Decimal(body.amount))


def _amount_to_send(world: World, body: bodies.EstimateBody) -> tuple[Currency, Decimal]:
    """Return the asset and the amount. If both the user and the asset are unknown, raise the error for the user."""
    if isinstance(body.destination, bodies.UserDestination):
        destinations.find_user(world, body.destination)
    return require_asset(body.symbol, body.network), Decimal(body.amount)


@operation(
    "POST /wallet/send/estimate",
    "The exact fee of a send",
    variants=Variants("destination.type", lambda: bodies.ESTIMATES),
    check=check_send,
    reads=True,
    errors=_ESTIMATE,
)
def estimate_send(call: Call[bodies.EstimateBody, None, None]) -> shapes.SendEstimate:
    """Returns the exact fee for a send and the amount that the recipient would receive. No money is transferred and no
    rate is locked. The request checks the asset, network, destination and asset limits, as a send does. It does not
    check the balance, and it succeeds while the network is down. A send to another user of the service is free.
    """
    world, environment, body = call.world, call.environment, call.body
    currency, amount = _amount_to_send(world, body)
    _, pricing = price_send_to(world, environment, currency, amount, body.destination)
    if assumes(world, "M12", "estimates_look_at_the_balance"):
        require_balance(world, environment, currency, pricing.paid, "amount")
    return {
        "symbol": currency.code,
        "network": upper(present(currency.network)),
        "amount": currency.format(amount),
        "fee": show_app_fee(pricing.fee),
        "net_amount": currency.format(pricing.net_amount),
    }


def price_send_to(
    world: World, environment: str, asset: Currency, amount: Decimal, destination: bodies.AnyDestination
) -> tuple[Recipient, SendPricing]:
    """Return the recipient and the price of a send. Raise the errors of `create_send`, except for errors about the
    balance, the network status, or a Lightning payment that cannot succeed.
    """
    recipient = destinations.resolve_destination(world, environment, asset, destination, amount)
    return recipient, price_send(world, environment, asset, amount, recipient)


@operation(
    "POST /wallet/send",
    "Send to an address, over Lightning, or to another user",
    status=201,
    variants=Variants("destination.type", lambda: bodies.SENDS),
    check=check_send,
    money=True,
    errors=_ESTIMATE
    | {"insufficient_balance": "M12", "network_unavailable": "S22"}
    | specified("invalid_state")
    | {"wallet_disabled": "S13"},
    statuses=("pending", "processing"),
)
def send(call: Call[bodies.SendBody, None, None]) -> shapes.SendTransaction:
    """Takes `amount` from the balance and sends it to an address, over Lightning, or to another user of the service. A
    send to an address or over Lightning is first `pending`, then `processing` once it has been broadcast, then
    `completed`. The amount is held until the send completes or fails. A completed send cannot be reversed. A send to
    another user is free, does not need the network, and completes immediately. For an invoice, `amount` must be the
    invoice's amount, and the fee is added on top. The request fails if the balance is too low, if the amount is outside
    the asset's limits, if the destination is not valid on the network, or if the network is down. It also fails if an
    invoice or Lightning address of this service belongs to a disabled wallet.
    """
    body = call.body
    currency, amount = _amount_to_send(call.world, body)
    tags: Tags = {"reference": body.reference, "description": body.description}
    transaction = create_send(call.world, call.environment, currency, amount, body.destination, tags)
    return render_send(call.world, transaction)


def create_send(
    world: World, environment: str, asset: Currency, amount: Decimal, destination: bodies.AnyDestination, tags: Tags
) -> Transaction:
    """Send an amount of an asset to a destination. All checks run before any change.

    An on-chain or Lightning transaction starts as `pending`, and its total is held. A transfer to another user
    completes immediately, but the returned transaction still has the status `processing`. Raise the errors of
    `resolve_destination`. Also raise `ApiError` 422 amount_too_low, amount_too_high, unsupported_pair or
    insufficient_balance, 503 network_unavailable, or 409 invalid_state or wallet_disabled if the send is not possible.
    """
    recipient, pricing = price_send_to(world, environment, asset, amount, destination)
    require_balance(world, environment, asset, pricing.paid, "amount")
    if recipient.user_id is None:
        require_up(world, environment, asset)
    if recipient.lightning is not None:
        destinations.require_payable(world, environment, recipient)
    transaction = Transaction(
        **transactions.new_order_fields(world, environment),
        type="send",
        paid=side(asset, pricing.paid),
        received=side(asset, pricing.net_amount),
        amount=amount,
        net_amount=pricing.net_amount,
        fee=pricing.fee,
        recipient_address=recipient.address,
        memo=recipient.memo,
        counterparty=recipient.user_id,
        lightning=recipient.lightning,
        **tags,
    )
    if recipient.user_id is not None:
        return _transfer(world, transaction, asset, recipient.user_id)
    world.ledger.hold(world.now_ms, transaction.id, transactions.holder(environment), asset.key, pricing.paid)
    transactions.pay_over_lightning(world, transaction)
    accepted = transactions.begin(world, transaction, "send", "on-chain")
    return broadcast_send(world, accepted) if assumes(world, "S9", "broadcast_at_once") else accepted


def _transfer(world: World, transaction: Transaction, asset: Currency, user_id: str) -> Transaction:
    """Transfer the money immediately and return the transfer in its first status (decision S9). It completes in the
    same world transaction, so no other request can read it while it is `processing`.
    """
    accepted = transactions.begin(world, transaction, "send", "internal")
    transactions.credit_deposit(
        world,
        transaction.environment,
        asset=asset,
        amount=transaction.net_amount,
        counterparty=profile_of(world).user_id,
        owner=user_id,
        source=available(transactions.holder(transaction.environment)),
    )
    settled = move(world, accepted, "settle")
    return settled if assumes(world, "S9", "transfers_answer_completed") else accepted
