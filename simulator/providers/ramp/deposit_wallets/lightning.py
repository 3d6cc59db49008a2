"""Lightning entries of bitcoin wallets: addresses, invoices, and payments to them (section "Deposit wallets" and table
"Lightning invoice"; decisions S1, S13, S15).
"""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from typing import TypeVar

from simulator.engine.records.records import by_id, create, existing, kind_of, move, new_fields
from simulator.engine.rows.action import ActionCall
from simulator.engine.rows.error import ApiError, invalid, not_found
from simulator.engine.rows.kind import Arrival
from simulator.engine.rows.operation import Call, OperationDecorator, Variants, specified
from simulator.engine.text.fields import Nothing
from simulator.kernel.agenda import Timer
from simulator.kernel.ids import derive, text_of
from simulator.kernel.world import World
from simulator.providers.ramp import transactions
from simulator.providers.ramp.deposit_wallets import bodies, records, shapes
from simulator.providers.ramp.deposit_wallets.invoices import encode_invoice, encode_lnurl
from simulator.providers.ramp.deposit_wallets.records import Deposit, Invoice, LightningAddress, LightningEntry, Wallet
from simulator.providers.ramp.deposit_wallets.rendering import render_entry
from simulator.providers.ramp.deposit_wallets.states import WALLET_DISABLED
from simulator.providers.ramp.reference import ASSETS, UNSUPPORTED_NETWORK
from simulator.providers.ramp.transactions import Transaction

operation = OperationDecorator("Deposit wallets", group="wallets")

find_wallet = by_id(records.WALLETS, "wallet")
E = TypeVar("E", bound=LightningEntry)

EXPIRY = "invoice.expiry"
DOMAINS = {"sandbox": "sandbox.pay.simulator.test", "production": "pay.simulator.test"}
_BTC = ASSETS["BTC", "bitcoin"]


def load_entry(call: Call) -> LightningEntry:
    """Return the Lightning entry in the path. Raise `ApiError` 404 if it is disabled or belongs to another wallet."""
    entry_id = call.path["lightning_id"]
    entry = records.entries(call.world, call.environment).get(entry_id)
    if entry is None or entry.wallet_id != call.path["id"] or entry.status == "disabled":
        raise not_found("Lightning entry of this wallet", entry_id)
    return entry


@operation(
    "POST /wallets/{id}/lightning",
    "Add a Lightning address or an invoice to a bitcoin wallet",
    status=201,
    variants=Variants("type", lambda: bodies.ENTRIES),
    load=find_wallet,
    errors={"unsupported_network": "S13"} | specified("wallet_disabled"),
    statuses=("active", "pending"),
)
def create_lightning_entry(call: Call[bodies.EntryBody, None, Wallet]) -> shapes.LightningEntryShape:
    """Adds a Lightning entry to a bitcoin wallet. The entry is either a reusable Lightning address, or an invoice that
    can be paid once, for an exact amount, until it expires. For an address, the event wallet.created is sent. The
    request fails for wallets on other networks, for a disabled wallet, and if the username is taken.
    """
    world, body, wallet = call.world, call.body, call.resource
    if wallet.network != "bitcoin":
        raise UNSUPPORTED_NETWORK.error(f"Lightning is not available on {wallet.network} wallets.")
    if wallet.status == "disabled":
        raise WALLET_DISABLED.error("The wallet is disabled and cannot receive funds.")
    if isinstance(body, bodies.CreateLightningAddress):
        return render_entry(world, open_address(world, wallet, body.username))
    assert isinstance(body, bodies.CreateInvoice)  # there are only two types
    expires_in = bodies.DEFAULT_EXPIRY_SECONDS if body.expires_in is None else body.expires_in
    return render_entry(world, _open_invoice(world, wallet, body.amount_sats, body.description, expires_in))


def open_address(
    world: World, wallet: Wallet, username: str | None = None, *, announced: bool = True
) -> LightningAddress:
    """Create a Lightning address, with a generated username if none is given. If `announced` is False, no event is
    emitted. Raise `ApiError` 400 if the username is taken.
    """
    environment = wallet.environment
    taken = world.store[records.ADDRESSES_BY_USERNAME.of(environment)]
    if username is None:
        username = _generated_name(world)
        while username in taken:
            username = _generated_name(world)
    elif username in taken:
        raise invalid("username", "it is already taken")
    domain = DOMAINS[environment]
    entry = LightningAddress(
        **new_fields(world, environment, "ln_", "ids.lightning"),
        wallet_id=wallet.id,
        address=f"{username}@{domain}",
        lnurl=encode_lnurl(f"https://{domain}/.well-known/lnurlp/{username}"),
    )
    taken.put(username, entry.id)
    own = world.store[records.ADDRESSES_BY_WALLET.of(environment)]
    own.put(wallet.id, (*(own.get(wallet.id) or ()), entry.id))
    transactions.register_receiver(world, entry, transactions.LIGHTNING, entry.address)
    return create(world, entry, "create", announced=announced)


def _generated_name(world: World) -> str:
    return "user" + text_of(world.streams.draw("lightning.usernames"), 10)


def _open_invoice(world: World, wallet: Wallet, amount_sats: int, description: str | None, expires_in: int) -> Invoice:
    invoice = Invoice(
        **new_fields(world, wallet.environment, "ln_", "ids.lightning"),
        wallet_id=wallet.id,
        amount_sats=amount_sats,
        description=description,
        payment_request=encode_invoice(
            amount_sats=amount_sats,
            timestamp=world.now_ms // 1000,
            expires_in=expires_in,
            description=description or "",
            payment_hash=sha256(world.streams.draw("lightning.preimages")).digest(),
            payment_secret=world.streams.draw("lightning.secrets"),
            node_key=derive("lightning node", world.seed, wallet.environment),
        ),
        expires_at_ms=world.now_ms + expires_in * 1000,
    )
    transactions.register_receiver(world, invoice, transactions.LIGHTNING, invoice.payment_request)
    invoice = create(world, invoice, "create")
    world.agenda.plan(invoice.expires_at_ms, EXPIRY, invoice.id)
    return invoice


@operation(
    "DELETE /wallets/{id}/lightning/{lightning_id}",
    "Disable a Lightning address or an unpaid invoice",
    load=load_entry,
    errors=("invalid_state",),
)
def disable_lightning_entry(call: Call[None, None, LightningEntry]) -> None:
    """Disables a Lightning address or a pending invoice, so that it can no longer be paid. The request fails with
    invalid_state if the invoice has been paid, has expired, or has a payment in flight. It fails with not_found if the
    entry is already disabled.
    """
    world, entry = call.world, call.resource
    if not kind_of(world, entry).machine.permits(entry.status, "delete"):
        raise ApiError("invalid_state", f"The invoice is {entry.status}.")
    if (payment := _payment_in_flight(world, entry)) is not None:
        message = f"The invoice is being paid by {payment.id}. Wait until that payment has ended."
        raise ApiError("invalid_state", message)
    world.agenda.cancel(EXPIRY, entry.id)
    move(world, entry, "delete")


def expire_invoice(world: World, timer: Timer) -> None:
    """Expire an invoice at expires_at (decision S1), or later while a payment is in flight (decision S13)."""
    invoice = existing(world, Invoice, timer.target)
    if _payment_in_flight(world, invoice) is None:
        move(world, invoice, "expire")


def payment_failed(world: World, environment: str, payment_request: str) -> None:
    """Expire an invoice after a failed payment if its expiry time passed meanwhile (decision S13)."""
    invoice = transactions.receiver_at(world, environment, transactions.LIGHTNING, payment_request)
    if isinstance(invoice, Invoice) and invoice.status == "pending" and world.now_ms >= invoice.expires_at_ms:
        # The timer may be due at the same time as the failure. In that case, the failure is processed first.
        world.agenda.cancel(EXPIRY, invoice.id)
        move(world, invoice, "expire")


def takes_payments(world: World, entry: LightningEntry) -> bool:
    """Return True if the entry is a pending invoice or an active Lightning address."""
    return kind_of(world, entry).machine.permits(entry.status, _action_of(entry))


def _action_of(entry: LightningEntry) -> str:
    return "invoice_paid" if isinstance(entry, Invoice) else "lightning_payment_arrives"


def has_disabled_wallet(world: World, entry: LightningEntry) -> bool:
    return records.wallets(world, entry.environment)[entry.wallet_id].status == "disabled"


def unpayable(world: World, entry: LightningEntry) -> str | None:
    """Return the reason why a pending entry cannot be paid now, or None. An invoice can be paid once (S14)."""
    if _payment_in_flight(world, entry) is not None:
        return "the account itself is paying it"
    return "its wallet is disabled" if has_disabled_wallet(world, entry) else None


def _payment_in_flight(world: World, entry: LightningEntry) -> Transaction | None:
    """Return the account's own payment of an invoice if it can still succeed, otherwise None."""
    if not isinstance(entry, Invoice):
        return None
    payment = transactions.payment_of(world, entry.environment, entry.payment_request)
    return payment if payment is not None and payment.status in transactions.IN_FLIGHT else None


def invoice_paid(call: ActionCall[Invoice, Nothing]) -> Invoice:
    """Pay an invoice and credit the amount immediately. Emits lightning.invoice_paid, then deposit.confirmed."""
    return _pay(call.world, call.target, call.target.amount_sats)


def payment_arrives(call: ActionCall[LightningAddress, bodies.LightningPaymentParameters]) -> LightningAddress:
    """Credit a payment to a Lightning address immediately. Emits deposit.confirmed."""
    return _pay(call.world, call.target, call.parameters.amount_sats)


def _pay(world: World, entry: E, amount_sats: int) -> E:
    world.agenda.cancel(EXPIRY, entry.id)
    deposit = _deposit(world, entry, amount_sats)
    entry = move(world, entry, _action_of(entry))
    _credit(world, deposit, entry)
    create(world, deposit, _action_of(entry))
    return entry


def receive(world: World, entry: LightningEntry, arrival: Arrival) -> bool:
    """Credit a payment that the account makes to its own invoice or Lightning address (decision S9). Return True.

    It was payable when the payment started, so the payment is credited even if the wallet or address was disabled in
    the meantime. Only worlds saved by older versions can contain a closed invoice here.
    """
    amount_sats = int(arrival.amount.scaleb(_BTC.decimals))
    if takes_payments(world, entry):
        _pay(world, entry, entry.amount_sats if isinstance(entry, Invoice) else amount_sats)
    else:
        deposit = _deposit(world, entry, amount_sats)
        _credit(world, deposit, entry)
        create(world, deposit, "lightning_payment_arrives")
    return True


def _deposit(world: World, entry: LightningEntry, amount_sats: int) -> Deposit:
    return Deposit(
        **new_fields(world, entry.environment, "dep_", "ids.deposit"),
        wallet_id=entry.wallet_id,
        network="bitcoin",
        asset="BTC",
        amount=Decimal(amount_sats).scaleb(-_BTC.decimals),
        channel="lightning",
        tx_hash=None,
        confirmations=None,
        reference=records.wallets(world, entry.environment)[entry.wallet_id].reference,
    )


def _credit(world: World, deposit: Deposit, entry: LightningEntry) -> None:
    """Credit a deposit to the invoice or address that was paid, and create its transaction."""
    destination = entry.payment_request if isinstance(entry, Invoice) else entry.address
    transactions.credit_deposit(
        world,
        deposit.environment,
        asset=_BTC,
        amount=deposit.amount,
        reference=deposit.reference,
        deposit_id=deposit.id,
        recipient_address=destination,
        lightning=destination,
    )
