"""Deposit wallets and what arrives in them on-chain.

Chapter "Deposit wallets" of the specification; decisions S12, S15, S22, and L1 and L4 for the lists.
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.records.conditions import having, oldest_of, only
from simulator.engine.records.listing import ListRequest, page_of
from simulator.engine.records.records import announce, create, existing, move, new_fields, save
from simulator.engine.rows.action import ActionCall
from simulator.engine.rows.error import invalid
from simulator.engine.rows.kind import Arrival
from simulator.engine.rows.operation import Call
from simulator.engine.text.fields import Nothing, check_decimals
from simulator.engine.text.shapes import Page
from simulator.engine.worlds.settings import assumes
from simulator.kernel.copying import replace
from simulator.kernel.world import World
from simulator.providers.ramp.deposit_wallets import bodies, shapes
from simulator.providers.ramp.deposit_wallets.lightning import open_address
from simulator.providers.ramp.deposit_wallets.records import DEPOSITS, Deposit, Wallet, entries, wallets
from simulator.providers.ramp.deposit_wallets.rendering import (
    render_deposit,
    render_entry,
    render_wallet,
    required_confirmations,
)
from simulator.providers.ramp.incoming_transfers import expect
from simulator.providers.ramp.reference import (
    ASSETS,
    UNSUPPORTED_NETWORK,
    asset,
    new_address,
    new_tx_hash,
    require_network,
    require_tx_hash,
)
from simulator.providers.ramp.spelling import DEPOSIT
from simulator.providers.ramp.transactions import credit_deposit, fresh_memo


def create_wallet(call: Call[bodies.WalletBody, None, None]) -> shapes.WalletShape:
    """POST /wallets: an address of its own (stellar: a memo), on bitcoin with a Lightning address if asked."""
    world, environment, body = call.world, call.environment, call.body
    network = DEPOSIT.get(body.network)
    if network is None:
        raise UNSUPPORTED_NETWORK.error(f"{body.network!r} is not one of {', '.join(DEPOSIT)}.", "network")
    if body.lightning and network != "bitcoin":
        raise UNSUPPORTED_NETWORK.error(f"Lightning is not available on {network}.", "network")
    require_network(world, environment, network)
    address = new_address(world, network, environment)
    wallet = Wallet(
        **new_fields(world, environment, "wal_", "ids.wallet"),
        network=network,
        address=address,
        memo=fresh_memo(world, environment, address) if network == "stellar" else None,
        label=body.label,
        reference=body.reference,
    )
    expect(world, wallet, network, wallet.address, wallet.memo)
    if body.lightning:
        wallet = create(world, wallet, "create", announced=False)
        entry = open_address(world, wallet, announced=False)
        announce(world, wallet, "create")
        announce(world, entry, "create")
    else:
        wallet = create(world, wallet, "create")
    return render_wallet(world, wallet)


def update_wallet(call: Call[bodies.WalletChanges, None, Wallet]) -> shapes.WalletShape:
    """PATCH /wallets/{id}: what is sent changes; the present status again changes nothing."""
    world, body, wallet = call.world, call.body, call.resource
    if "label" in body.model_fields_set:
        wallet = save(world, replace(wallet, label=body.label))
    if "status" in body.model_fields_set and body.status != wallet.status:
        wallet = move(world, wallet, "disable" if body.status == "disabled" else "enable")
    return render_wallet(world, wallet)


def list_deposits(call: Call[None, ListRequest, Wallet]) -> Page[shapes.DepositShape]:
    made = call.world.store[DEPOSITS.of(call.environment)]
    return page_of(_of_wallet(call), made, lambda row: render_deposit(call.world, row))


def list_lightning(call: Call[None, ListRequest, Wallet]) -> Page[shapes.LightningEntryShape]:
    made = entries(call.world, call.environment)
    return page_of(_of_wallet(call), made, lambda row: render_entry(call.world, row))


def _of_wallet(call: Call[None, ListRequest, Wallet]) -> ListRequest:
    return call.query.where(only("wallet_id"), call.resource.id)


def default_wallet(world: World, environment: str, network: str) -> Wallet | None:
    """Where the account receives on a canonical network: its oldest active wallet there; None when it has none."""
    return oldest_of(wallets(world, environment), (having("network", network), having("status", "active")))


def deposit_arrives(call: ActionCall[Wallet, bodies.DepositParameters]) -> Deposit:
    """An incoming deposit is seen: detected, or failed at once when it cannot be credited (decision S12)."""
    world, wallet, values = call.world, call.target, call.parameters
    check_decimals(values.amount, asset(values.asset, wallet.network))
    require_tx_hash(wallet.network, values.tx_hash)
    return _arrive(world, wallet, values.asset, Decimal(values.amount), values.memo, values.tx_hash)


def receive(world: World, wallet: Wallet, arrival: Arrival) -> bool:
    """What the account itself sent to the wallet is seen on its chain (decision S9)."""
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
        tx_hash=tx_hash or new_tx_hash(world, wallet.network),
        confirmations=0,
        reference=wallet.reference,
        reason=reason,
    )
    if not reason and assumes(world, "S12", "detection_is_not_told"):
        return create(world, deposit, "deposit_arrives", announced=False)
    return create(world, deposit, "deposit_arrives", "not creditable" if reason else "")


def _refusal(wallet: Wallet, code: str, memo: str | None) -> str | None:
    """Why a deposit cannot be credited; a memo that is not given is the right one, an empty one is missing."""
    if wallet.status == "disabled":
        return "wallet_disabled"
    if asset(code, wallet.network) is None:
        return "wrong_asset"
    if wallet.memo is None or memo is None or memo == wallet.memo:
        return None
    return "wrong_memo" if memo else "missing_memo"


def deposit_confirms(call: ActionCall[Deposit, Nothing]) -> Deposit:
    """The required confirmations are reached."""
    deposit = call.target
    count = max(deposit.confirmations or 0, required_confirmations(deposit.network))
    return _confirm(call.world, deposit, "deposit_confirms", "", count)


def confirmation_arrives(call: ActionCall[Deposit, bodies.ConfirmationParameters]) -> Deposit:
    """The chain now counts `confirmations`, by default one more; at the required number the deposit is credited."""
    deposit = call.target
    before = deposit.confirmations or 0
    count = before + 1 if call.parameters.confirmations is None else call.parameters.confirmations
    if count <= before:
        raise invalid("confirmations", f"the deposit already has {before}")
    if count < required_confirmations(deposit.network):
        return move(call.world, replace(deposit, confirmations=count), "confirmation_arrives", "too few")
    return _confirm(call.world, deposit, "confirmation_arrives", "enough", count)


def climbs(world: World, deposit: Deposit) -> str | None:
    """Only bitcoin shows a deposit before it is final (decision S12)."""
    return None if deposit.network == "bitcoin" else "confirmations are counted one by one on bitcoin only"


def deposit_fails(call: ActionCall[Deposit, bodies.ReasonParameters]) -> Deposit:
    """The deposit cannot be credited after all."""
    deposit = call.target
    return move(call.world, replace(deposit, reason=call.parameters.reason or "rejected"), "deposit_fails")


def _confirm(world: World, deposit: Deposit, on: str, when: str, confirmations: int) -> Deposit:
    """Credit the balance, then emit the event: whoever gets it finds the money there."""
    wallet = existing(world, Wallet, deposit.wallet_id)
    credit_deposit(
        world,
        deposit.environment,
        asset=ASSETS[deposit.asset, deposit.network],
        amount=deposit.amount,
        tx_hash=deposit.tx_hash,
        reference=deposit.reference,
        deposit_id=deposit.id,
        recipient_address=wallet.address,
        memo=wallet.memo,
    )
    return move(world, replace(deposit, confirmations=confirmations), on, when)
