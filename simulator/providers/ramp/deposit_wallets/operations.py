"""Operations and actions for deposit wallets and on-chain deposits (section "Deposit wallets"; decisions S12, S15,
S22, L1, L4).
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.records.conditions import field_getter, field_in, field_values, oldest_of
from simulator.engine.records.listing import CREATION_DATES, Listing, ListRequest, by_field, page_of
from simulator.engine.records.records import announce, create, existing, move, new_fields, page, save
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.error import invalid
from simulator.engine.rows.kind import Arrival
from simulator.engine.rows.operation import Call, specified
from simulator.engine.text.fields import Nothing, check_decimals
from simulator.engine.text.shapes import Page
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import replace
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.deposit_wallets import bodies, lightning, records, rendering, shapes
from simulator.providers.ramp.deposit_wallets.lightning import find_wallet, open_address, operation
from simulator.providers.ramp.deposit_wallets.records import Deposit, Invoice, LightningEntry, Wallet
from simulator.providers.ramp.deposit_wallets.states import DEPOSIT_MEANINGS, LIGHTNING_MEANINGS, WALLET_MEANINGS
from simulator.providers.ramp.shapes import CANONICAL_NETWORKS, DEPOSIT
from simulator.providers.ramp.transactions import credit_deposit, fresh_memo, register_receiver


@operation(
    "POST /wallets",
    "Create a receiving address on a network",
    status=201,
    errors=specified("unsupported_network") | {"network_unavailable": "S22"},
    statuses=("active",),
)
def create_wallet(call: Call[bodies.WalletBody, None, None]) -> shapes.WalletShape:
    """Creates a receiving address. On stellar, wallets share one address and the memo identifies the wallet. On celo
    and bitcoin, each wallet has its own address. With `lightning`, a bitcoin wallet is created together with a
    Lightning address. The event wallet.created is sent for the wallet, and again for the Lightning address. The
    request fails if the network is not stellar, celo or bitcoin, and while the network is down.
    """
    world, environment, body = call.world, call.environment, call.body
    network = DEPOSIT.get(body.network)
    if network is None:
        raise reference.UNSUPPORTED_NETWORK.error(f"{body.network!r} is not one of {', '.join(DEPOSIT)}.", "network")
    if body.lightning and network != "bitcoin":
        raise reference.UNSUPPORTED_NETWORK.error(f"Lightning is not available on {network}.", "network")
    reference.require_network(world, environment, network)
    address = reference.new_address(world, network, environment)
    wallet = Wallet(
        **new_fields(world, environment, "wal_", "ids.wallet"),
        network=network,
        address=address,
        memo=fresh_memo(world, environment, address) if network == "stellar" else None,
        label=body.label,
        reference=body.reference,
    )
    register_receiver(world, wallet, network, wallet.address, wallet.memo)
    if body.lightning:
        wallet = create(world, wallet, "create", announced=False)
        entry = open_address(world, wallet, announced=False)
        announce(world, wallet, "create")
        announce(world, entry, "create")
    else:
        wallet = create(world, wallet, "create")
    return rendering.render_wallet(world, wallet)


@operation("PATCH /wallets/{id}", "Change the label, disable or enable", load=find_wallet)
def update_wallet(call: Call[bodies.WalletChanges, None, Wallet]) -> shapes.WalletShape:
    """Changes the given fields: the label, or whether the wallet credits deposits. A disabled wallet receives nothing
    until you enable it again. Deposits that were already detected are still credited. No event is sent.
    """
    world, body, wallet = call.world, call.body, call.resource
    if "label" in body.model_fields_set:
        wallet = save(world, replace(wallet, label=body.label))
    if "status" in body.model_fields_set and body.status != wallet.status:
        wallet = move(world, wallet, "disable" if body.status == "disabled" else "enable")
    return rendering.render_wallet(world, wallet)


def _of_wallet(call: Call[None, ListRequest, Wallet]) -> ListRequest:
    return call.query.where(field_values("wallet_id"), call.resource.id)


def default_wallet(world: World, environment: str, network: str) -> Wallet | None:
    """Return the account's oldest active wallet on a network (canonical name), or None if there is none."""
    return oldest_of(records.wallets(world, environment), (field_in("network", network), field_in("status", "active")))


def deposit_arrives(call: ActionCall[Wallet, bodies.DepositParameters]) -> Deposit:
    """Detect an incoming deposit. If it cannot be credited, it fails immediately (decision S12)."""
    world, wallet, values = call.world, call.target, call.parameters
    check_decimals(values.amount, reference.asset(values.asset, wallet.network))
    reference.require_tx_hash(wallet.network, values.tx_hash)
    return _arrive(world, wallet, values.asset, Decimal(values.amount), values.memo, values.tx_hash)


def receive(world: World, wallet: Wallet, arrival: Arrival) -> bool:
    """Create the deposit for a transfer from the account to one of its own wallets (decision S9). Return True."""
    _arrive(world, wallet, arrival.asset, arrival.amount, wallet.memo, arrival.tx_hash)
    return True


def _arrive(world: World, wallet: Wallet, code: str, amount: Decimal, memo: str | None, tx_hash: str | None) -> Deposit:
    reason = _refusal(wallet, code, memo)
    deposit = Deposit(
        **new_fields(world, wallet.environment, "dep_", "ids.deposit"),
        wallet_id=wallet.id,
        network=wallet.network,
        asset=code,
        amount=amount,
        channel="on_chain",
        tx_hash=tx_hash or reference.new_tx_hash(world, wallet.network),
        confirmations=0,
        reference=wallet.reference,
        reason=reason,
    )
    if not reason and assumes(world, "S12", "detection_is_not_told"):
        return create(world, deposit, "deposit_arrives", announced=False)
    return create(world, deposit, "deposit_arrives", "not creditable" if reason else "")


def _refusal(wallet: Wallet, code: str, memo: str | None) -> str | None:
    """Return the reason why a deposit cannot be credited, or None. The memo None is correct, and "" is missing."""
    if wallet.status == "disabled":
        return "wallet_disabled"
    if reference.asset(code, wallet.network) is None:
        return "wrong_asset"
    if wallet.memo is None or memo is None or memo == wallet.memo:
        return None
    return "wrong_memo" if memo else "missing_memo"


def deposit_confirms(call: ActionCall[Deposit, Nothing]) -> Deposit:
    """Confirm a deposit, as if the required number of confirmations had been reached."""
    deposit = call.target
    count = max(deposit.confirmations or 0, rendering.required_confirmations(deposit.network))
    return _confirm(call.world, deposit, "deposit_confirms", "", count)


def confirmation_arrives(call: ActionCall[Deposit, bodies.ConfirmationParameters]) -> Deposit:
    """Set the number of confirmations, or add one. The last required confirmation credits the deposit."""
    deposit = call.target
    before = deposit.confirmations or 0
    count = before + 1 if call.parameters.confirmations is None else call.parameters.confirmations
    if count <= before:
        raise invalid("confirmations", f"the deposit already has {before} confirmations")
    if count < rendering.required_confirmations(deposit.network):
        return move(call.world, replace(deposit, confirmations=count), "confirmation_arrives", "too few")
    return _confirm(call.world, deposit, "confirmation_arrives", "enough", count)


def not_counted_singly(world: World, deposit: Deposit) -> str | None:
    """Return the reason why confirmations cannot be counted one by one, or None on bitcoin (decision S12)."""
    return None if deposit.network == "bitcoin" else "confirmations are counted one by one on bitcoin only"


def deposit_fails(call: ActionCall[Deposit, bodies.ReasonParameters]) -> Deposit:
    """Mark a detected deposit as failed."""
    deposit = call.target
    return move(call.world, replace(deposit, reason=call.parameters.reason or "rejected"), "deposit_fails")


def _confirm(world: World, deposit: Deposit, on: str, when: str, confirmations: int) -> Deposit:
    """Credit a deposit, and then confirm it, so that a client that receives the event sees the new balance."""
    wallet = existing(world, Wallet, deposit.wallet_id)
    credit_deposit(
        world,
        deposit.environment,
        asset=reference.ASSETS[deposit.asset, deposit.network],
        amount=deposit.amount,
        tx_hash=deposit.tx_hash,
        reference=deposit.reference,
        deposit_id=deposit.id,
        recipient_address=wallet.address,
        memo=wallet.memo,
    )
    return move(world, replace(deposit, confirmations=confirmations), on, when)


def _own_network(record: Wallet | Deposit) -> tuple[str]:
    return (record.network,)


def _bitcoin(entry: LightningEntry) -> tuple[str]:
    return ("bitcoin",)


_WALLETS = Listing[Wallet](
    filters=(by_field("network", CANONICAL_NETWORKS, description="Only the wallets on this network."),),
    search=lambda wallet: (wallet.label, wallet.reference, wallet.address),
    searched="label, reference and address",
    sorts=CREATION_DATES,
    statuses=WALLET_MEANINGS,
)

_DEPOSITS = Listing[Deposit](
    search=lambda deposit: (deposit.id, deposit.tx_hash, deposit.reference),
    searched="id, tx_hash and reference",
    sorts={**CREATION_DATES, "amount": field_getter("amount")},
    statuses=DEPOSIT_MEANINGS,
    assumed_statuses="S12",
)

_LIGHTNING = Listing[LightningEntry](
    search=lambda entry: (
        entry.id,
        *((entry.payment_request, entry.description) if isinstance(entry, Invoice) else (entry.address,)),
    ),
    searched="id, address, payment request and description",
    sorts=CREATION_DATES,
    statuses=LIGHTNING_MEANINGS,
)


@operation(
    "GET /wallets/{id}/deposits",
    "The deposits to a wallet",
    answer=lambda: shapes.DepositList,
    query=_DEPOSITS,
    load=find_wallet,
    shows="deposit",
)
def list_wallet_deposits(call: Call[None, ListRequest, Wallet]) -> Page[shapes.DepositShape]:
    """Lists the deposits to one wallet, on-chain and over Lightning, newest first. Failed deposits are included."""
    made = call.world.store[records.DEPOSITS.of(call.environment)]
    return page_of(_of_wallet(call), made, lambda row: rendering.render_deposit(call.world, row))


@operation(
    "GET /wallets/{id}/lightning",
    "The Lightning addresses and invoices of a wallet",
    answer=lambda: shapes.LightningList,
    query=_LIGHTNING,
    load=find_wallet,
    shows="lightning_entry",
)
def list_lightning_entries(call: Call[None, ListRequest, Wallet]) -> Page[shapes.LightningEntryShape]:
    """Lists the Lightning addresses and invoices of one wallet, newest first."""
    made = records.entries(call.world, call.environment)
    return page_of(_of_wallet(call), made, lambda row: rendering.render_entry(call.world, row))


@operation("GET /wallets", "The deposit wallets", answer=lambda: shapes.WalletList, query=_WALLETS)
def list_wallets(call: Call[None, ListRequest, None]) -> Page[shapes.WalletShape]:
    """Lists the deposit wallets, newest first. Disabled wallets are included."""
    return page(call, records.WALLETS, rendering.render_wallet)


@operation("GET /wallets/{id}", "A deposit wallet with its Lightning addresses", load=find_wallet, shows="wallet")
def get_wallet(call: Call[None, None, Wallet]) -> shapes.WalletShape:
    """Returns one deposit wallet. A bitcoin wallet includes its Lightning addresses."""
    return rendering.render_wallet(call.world, call.resource)


ACTIONS = (
    Action(
        "deposit_arrives",
        "an incoming deposit is seen",
        deposit_arrives,
        ("wallet",),
        lambda: bodies.DepositParameters,
        makes="deposit",
        networks=_own_network,
    ),
    Action(
        "deposit_confirms",
        "the deposit has the required confirmations, and the balance is credited",
        deposit_confirms,
        ("deposit",),
        networks=_own_network,
    ),
    Action(
        "confirmation_arrives",
        "the chain confirms the deposit; the last required confirmation credits the balance, as deposit_confirms does",
        confirmation_arrives,
        ("deposit",),
        lambda: bodies.ConfirmationParameters,
        guard=not_counted_singly,
        networks=_own_network,
    ),
    Action(
        "deposit_fails", "the deposit cannot be credited", deposit_fails, ("deposit",), lambda: bodies.ReasonParameters
    ),
    Action(
        "invoice_paid",
        "the invoice is paid and the balance credited",
        lightning.invoice_paid,
        ("invoice",),
        guard=lightning.unpayable,
        networks=_bitcoin,
    ),
    Action(
        "lightning_payment_arrives",
        "a payment to the Lightning address is credited",
        lightning.payment_arrives,
        ("lightning_address",),
        lambda: bodies.LightningPaymentParameters,
        guard=lightning.unpayable,
        networks=_bitcoin,
    ),
)
