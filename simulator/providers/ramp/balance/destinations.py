"""Destinations of sends, estimates and recurring sends (section "Destination object"; decisions M7, S9, S14, S23).

Decision H2 defines the sequence: the models in `bodies` parse a destination, `check_destination` rejects malformed
values (400), and `resolve_destination` finds the recipient (404) and applies the business rules (422).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache

from simulator.engine.records.records import present
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.text.fields import parse
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import Currency, format_decimal
from simulator.kernel.world import World
from simulator.providers.ramp import deposit_wallets, reference
from simulator.providers.ramp.balance import bodies
from simulator.providers.ramp.deposit_wallets import DecodedInvoice, Invoice, LightningAddress, LightningEntry, Wallet
from simulator.providers.ramp.profile import PlatformUser, is_oneself, platform_user
from simulator.providers.ramp.transactions import IN_FLIGHT, LIGHTNING, payment_of, receiver_at

LIGHTNING_NETWORK = "bitcoin"
TRANSFER_PRODUCTS = ("internal_transfer", "deposit")
MSATS_PER_BTC = Decimal(100_000_000_000)


@dataclass(frozen=True, slots=True)
class Recipient:
    """A resolved destination: an address with its memo, another user's id, or a Lightning invoice or address."""

    address: str | None = None
    memo: str | None = None
    user_id: str | None = None
    lightning: str | None = None
    invoice: bool = False
    free_products: tuple[str, ...] = ()
    """The fee products that must be active in addition to the send product (decision M15)."""


def parse_destination(raw: Mapping[str, object]) -> bodies.AnyDestination:
    """Parse a saved destination object. Raise `ApiError` 400 if it is invalid."""
    return _parsed(tuple(raw.items()))


# all runs of a recurring send have the same destination: parsing takes 0.5 µs with a cache and 6 µs without
@lru_cache(maxsize=1024)
def _parsed(fields: tuple[tuple[str, object], ...]) -> bodies.AnyDestination:
    raw = dict(fields)
    return parse(bodies.DESTINATIONS.get(str(raw.get("type")), bodies.AnyDestination), raw)


def check_destination(world: World, destination: bodies.AnyDestination) -> None:
    """Raise `ApiError` 400 if the destination has more than one recipient, or if the recipient is the sender."""
    if isinstance(destination, bodies.UserDestination):
        given = destination.given()
        if len(given) > 1:
            raise invalid("destination", "it must contain exactly one of email, phone_number and user_id")
        if is_oneself(world, **given):
            raise invalid(f"destination.{next(iter(given))}", "it belongs to the sender's own account")


def find_user(world: World, destination: bodies.UserDestination) -> PlatformUser:
    """Return the user that a transfer goes to. Raise `ApiError` 422 invalid_phone_number or 404 not_found."""
    ((name, value),) = destination.given().items()
    param = f"destination.{name}"
    if name == "phone_number" and not reference.is_phone(value):
        message = f"{value!r} is not an international phone number. Write + and digits only, as in +254712345678."
        raise reference.INVALID_PHONE_NUMBER.error(message, param)
    user = platform_user(world, **{name: value})
    if user is None:
        raise ApiError("not_found", f"There is no user with this {name}.", param)
    return user


def resolve_destination(
    world: World, environment: str, asset: Currency, destination: bodies.AnyDestination, amount: Decimal
) -> Recipient:
    """Return the recipient of a send, given the asset (on its network) and the amount.

    Raise `ApiError` 400 if `check_destination` does, or if the amount differs from the amount of the invoice (param
    `amount`). Raise 404 not_found, or 422 invalid_wallet_address, invalid_phone_number, unsupported_network or
    invoice_expired if the recipient cannot be paid.
    """
    check_destination(world, destination)
    network = present(asset.network)
    if isinstance(destination, bodies.UserDestination):
        return Recipient(user_id=find_user(world, destination).user_id, free_products=TRANSFER_PRODUCTS)
    if isinstance(destination, bodies.AddressDestination):
        if not reference.is_address(network, destination.address, environment):
            raise _bad("address", f"it is not a valid {network} address")
        memo = destination.memo or None
        own = receiver_at(world, environment, network, destination.address, memo)
        return Recipient(address=destination.address, memo=memo, free_products=_products_of(own))
    assert isinstance(destination, bodies.LightningDestination)
    if network != LIGHTNING_NETWORK:
        raise reference.UNSUPPORTED_NETWORK.error("Lightning payments need the network BITCOIN.", "network")
    if destination.invoice is not None:
        return _invoice(world, environment, destination.invoice, amount)
    address = present(destination.lightning_address)
    if not deposit_wallets.is_lightning_address(address):
        raise _bad("lightning_address", "it must have the form name@domain")
    own = receiver_at(world, environment, LIGHTNING, address)
    return Recipient(lightning=address, free_products=_products_of(own))


def check_invoice_amount(environment: str, destination: bodies.AnyDestination, amount: Decimal) -> None:
    """Raise `ApiError` 400 if the amount differs from the invoice's. A later check rejects invalid invoices (M7)."""
    if isinstance(destination, bodies.LightningDestination) and destination.invoice is not None:
        with suppress(ValueError):
            _check_asked(deposit_wallets.decode_invoice(destination.invoice, environment), amount)


def _check_asked(invoice: DecodedInvoice, amount: Decimal) -> None:
    if invoice.amount_msat is not None and amount != (asked := Decimal(invoice.amount_msat) / MSATS_PER_BTC):
        raise invalid("amount", f"the invoice asks for {format_decimal(asked)} BTC")


def _products_of(own: object | None) -> tuple[str, ...]:
    """Return the additional fee products that must be active: the deposit product for a transfer to a wallet of this
    world. `own` is the recipient if it is a resource of this world, otherwise None.
    """
    return ("deposit",) if isinstance(own, Wallet | LightningEntry) else ()


def _invoice(world: World, environment: str, text: str, amount: Decimal) -> Recipient:
    try:
        invoice = deposit_wallets.decode_invoice(text, environment)
    except ValueError:
        nets = "of the main net or the test net" if environment == "sandbox" else "of the main net"
        raise _bad("invoice", f"it is not a BOLT11 invoice {nets}") from None
    _check_asked(invoice, amount)
    if world.now_ms >= invoice.expires_at_ms:
        raise deposit_wallets.INVOICE_EXPIRED.error("The Lightning invoice has expired; ask for a fresh one.")
    own = receiver_at(world, environment, LIGHTNING, text)
    return Recipient(lightning=text, invoice=True, free_products=_products_of(own))


def require_payable(world: World, environment: str, recipient: Recipient) -> None:
    """Raise `ApiError` if a Lightning payment cannot succeed now. An invoice can be paid once, a Lightning address
    often.

    The error is 409 invalid_state if the invoice is paid or a payment is in flight, or if the invoice or address of
    this world is expired or disabled (decision S14). It is 409 wallet_disabled if its wallet is disabled (decision
    S13).
    """
    text = present(recipient.lightning)
    param = "destination.invoice" if recipient.invoice else "destination.lightning_address"
    payment = payment_of(world, environment, text) if recipient.invoice else None
    if payment is not None and payment.status == "completed":
        raise ApiError("invalid_state", f"The invoice was paid by {payment.id}.", param)
    if payment is not None and payment.status in IN_FLIGHT:
        raise ApiError("invalid_state", f"The invoice is being paid by {payment.id}.", param)
    entry = receiver_at(world, environment, LIGHTNING, text)
    if not isinstance(entry, Invoice | LightningAddress):
        return
    if not deposit_wallets.takes_payments(world, entry):
        raise ApiError("invalid_state", f"{entry.id} can no longer be paid: its status is {entry.status}.", param)
    if deposit_wallets.has_disabled_wallet(world, entry):
        message = f"The wallet of {entry.id} is disabled and cannot receive funds. Enable it first."
        raise deposit_wallets.WALLET_DISABLED.error(message, param)


def _bad(field: str, why: str) -> ApiError:
    param = f"destination.{field}"
    return reference.INVALID_WALLET_ADDRESS.error(f"`{param}` cannot be paid: {why}.", param)
