"""Creation of recurring payments, with checks on the type, amount, source and recipient (section "Recurring payments";
decisions S21, S23).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from simulator.engine.records.records import create, new_fields, present
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.rows.operation import Call, OperationDecorator, Variants
from simulator.engine.text.fields import check_decimals
from simulator.providers.ramp import balance
from simulator.providers.ramp.beneficiaries import BENEFICIARY_MISMATCH, beneficiary
from simulator.providers.ramp.fees import AMOUNT_TOO_LOW
from simulator.providers.ramp.recurring import bodies, shapes
from simulator.providers.ramp.recurring.records import DestinationShape, RecurringPayment
from simulator.providers.ramp.recurring.rendering import render_recurring
from simulator.providers.ramp.reference import FIATS, UNSUPPORTED_ASSET, fiat, require_network

operation = OperationDecorator("Recurring payments", group="recurring")

_BY_DESTINATION = Variants("recipient.destination.type", lambda: bodies.SENDS)


def _create_body(call: Call) -> type[bodies.NewRecurring]:
    if call.raw.get("type") == "withdraw":
        return bodies.CreateRecurringWithdraw
    if call.raw.get("type") == "send":
        return _BY_DESTINATION.of(call.raw) or bodies.CreateRecurringSend
    return bodies.CreateRecurring


def check_create(call: Call[bodies.NewRecurring, None, None]) -> None:
    """Raise `ApiError` 400 if amount_currency, the decimals of the amount or the destination are wrong."""
    body = call.body
    source = balance.named_asset(body.source.symbol, body.source.network)
    if source is None or (body.type == "withdraw" and source.code not in balance.WITHDRAWABLE):
        return  # the business rules report the error
    fiats = tuple(FIATS) if body.type == "withdraw" else ()
    if body.amount_currency not in (body.source.symbol, *fiats):
        raise invalid(
            "amount_currency", "it must be source.symbol or, for a withdrawal, the fiat currency of the beneficiary"
        )
    check_decimals(body.amount, fiat(body.amount_currency) or source)
    if isinstance(body, bodies.CreateRecurringSend):
        with _inside_recipient():
            balance.check_destination(call.world, body.recipient.destination)


@operation(
    "POST /recurring-payments",
    "Draft a recurring withdrawal or send",
    status=201,
    body_for=_create_body,
    bodies=lambda: (bodies.CreateRecurringWithdraw, *bodies.SENDS.values()),
    check=check_create,
    money=True,
    errors={
        "not_found": "S23",
        "unsupported_network": "S23",
        "unsupported_asset": "S23",
        "beneficiary_mismatch": "S23",
        "amount_too_low": "H7",
        "invalid_wallet_address": "S9",
        "invalid_phone_number": "recipient-phone",
        "invoice_expired": "S14",
        "network_unavailable": "S22",
    },
    statuses=("draft",),
)
def create_recurring_payment(call: Call[bodies.NewRecurring, None, None]) -> shapes.RecurringPaymentShape:
    """Creates the draft of a recurring payment. The payment is either a withdrawal to a saved beneficiary or a send to
    a destination. The asset, network, recipient and amount are checked now. The limits and the balance are checked only
    when a run is due. A draft does not transfer any money. Set its schedule, read its review, and then activate it.
    """
    world, environment, body = call.world, call.environment, call.body
    saved, destination = None, None
    if isinstance(body, bodies.CreateRecurringWithdraw):
        saved = beneficiary(world, environment, body.recipient.beneficiary_id)
    if isinstance(body, bodies.CreateRecurringSend):
        destination = body.recipient.destination
    if isinstance(destination, balance.bodies.UserDestination):
        with _inside_recipient():
            balance.find_user(world, destination)
    source = balance.require_asset(body.source.symbol, body.source.network, "source.")
    if saved is not None and source.code not in balance.WITHDRAWABLE:
        raise UNSUPPORTED_ASSET.error(f"{source.code} cannot be withdrawn to fiat.", "source.symbol")
    if saved is not None and saved.method is None:
        raise BENEFICIARY_MISMATCH.error("This beneficiary cannot receive fiat.", "beneficiary_id")
    if saved is not None and body.amount_currency not in (source.code, saved.fiat_currency):
        raise BENEFICIARY_MISMATCH.error(f"This beneficiary can receive only {saved.fiat_currency}.", "amount_currency")
    if Decimal(body.amount) == 0:
        raise AMOUNT_TOO_LOW.error("The amount must be more than zero.", "amount")
    if destination is not None:
        with _inside_recipient():
            balance.resolve_destination(world, environment, source, destination, Decimal(body.amount))
    network = present(source.network)
    require_network(world, environment, network)
    payment = RecurringPayment(
        **new_fields(world, environment, "rp_", "ids.recurring_payment"),
        name=body.name,
        type=body.type,
        symbol=source.code,
        network=network,
        amount=Decimal(body.amount),
        amount_currency=body.amount_currency,
        beneficiary_id=saved.id if saved else None,
        destination=None if destination is None else _as_given(destination),
        description=body.description,
        reference=body.reference,
    )
    return render_recurring(world, create(world, payment, "create"))


def _as_given(destination: balance.bodies.AnyDestination) -> DestinationShape:
    """Return the known fields of a destination that are present in the request (decision H6)."""
    # Any, because mypy cannot know that the models of the destination and of the response have the same fields.
    given: Any = destination.model_dump(include=set(type(destination).model_fields), exclude_none=True)
    shape: DestinationShape = given
    return shape


@contextmanager
def _inside_recipient() -> Iterator[None]:
    """Add the prefix `recipient.` to the `param` and the message of an error about the destination."""
    try:
        yield
    except ApiError as error:
        if error.param is not None and error.param.startswith("destination"):
            error.message = error.message.replace(f"`{error.param}`", f"`recipient.{error.param}`")
            error.param = f"recipient.{error.param}"
        raise
