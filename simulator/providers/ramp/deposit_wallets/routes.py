"""The eight operations under /wallets, and the actions on what they make."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from simulator.engine.records.conditions import the
from simulator.engine.records.listing import CREATION_DATES, Listing, by_field
from simulator.engine.rows.action import Action
from simulator.engine.rows.handlers import body_by, by_id, listed, shown
from simulator.engine.rows.operation import Operation
from simulator.engine.text.fields import Wrong, wrong
from simulator.providers.ramp.deposit_wallets import actions, bodies, lightning, shapes
from simulator.providers.ramp.deposit_wallets.records import WALLETS, Deposit, Invoice, LightningEntry, Wallet
from simulator.providers.ramp.deposit_wallets.rendering import render_wallet
from simulator.providers.ramp.deposit_wallets.states import DEPOSIT_MEANINGS, LIGHTNING_MEANINGS, WALLET_MEANINGS
from simulator.providers.ramp.reference import check_tx_hash
from simulator.providers.ramp.shapes import CANONICAL_NETWORKS

TAG = "Deposit wallets"


def _check_deposit(values: bodies.DepositParameters) -> Iterator[Wrong]:
    """Zero, and what is no hash; which assets and amounts a wallet credits is for the outcome."""
    if not Decimal(values.amount):
        yield wrong("amount", "it must be more than zero")
    yield from check_tx_hash(values.tx_hash)


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
    sorts={**CREATION_DATES, "amount": the("amount")},
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

_FIND = by_id(WALLETS, "wallet")

OPERATIONS = (
    Operation(
        "POST",
        "/wallets",
        "create_wallet",
        TAG,
        "Create a receiving address on a network",
        actions.create_wallet,
        lambda: shapes.WalletShape,
        status=201,
        body=lambda: bodies.WalletBody,
        group="wallets",
        errors=("unsupported_network", "network_unavailable"),
        guessed={"network_unavailable": "S22"},
        description=(
            "Makes a receiving address. On stellar the address is shared and the memo tells whose deposit it "
            "is; on celo and bitcoin the address is the wallet's own. With `lightning` a bitcoin wallet also "
            "gets a Lightning address. Sends the event wallet.created, one for each of the two. Refused for "
            "another network than stellar, celo and bitcoin, and while the network is down."
        ),
        statuses=("active",),
    ),
    Operation(
        "GET",
        "/wallets",
        "list_wallets",
        TAG,
        "The deposit wallets",
        listed(WALLETS, render_wallet),
        lambda: shapes.WalletList,
        query=_WALLETS,
        group="wallets",
        reads=True,
        description="Lists the deposit wallets, newest first, disabled ones too.",
    ),
    Operation(
        "GET",
        "/wallets/{id}",
        "get_wallet",
        TAG,
        "A deposit wallet with its Lightning addresses",
        shown(render_wallet),
        lambda: shapes.WalletShape,
        load=_FIND,
        group="wallets",
        reads=True,
        errors=("not_found",),
        description="Shows one deposit wallet, a bitcoin one with its Lightning addresses.",
    ),
    Operation(
        "PATCH",
        "/wallets/{id}",
        "update_wallet",
        TAG,
        "Change the label, disable or enable",
        actions.update_wallet,
        lambda: shapes.WalletShape,
        body=lambda: bodies.WalletChanges,
        load=_FIND,
        group="wallets",
        errors=("not_found",),
        description=(
            "Changes what is sent: the label, or whether deposits are credited. A disabled wallet receives "
            "nothing until it is enabled again; deposits that were detected before are still credited. No event "
            "is sent."
        ),
    ),
    Operation(
        "GET",
        "/wallets/{id}/deposits",
        "list_wallet_deposits",
        TAG,
        "What was deposited to a wallet",
        actions.list_deposits,
        lambda: shapes.DepositList,
        query=_DEPOSITS,
        load=_FIND,
        group="wallets",
        reads=True,
        errors=("not_found",),
        description="Lists what came to one wallet, on the chain and over Lightning, newest first; failed ones too.",
    ),
    Operation(
        "POST",
        "/wallets/{id}/lightning",
        "create_lightning_entry",
        TAG,
        "Add a Lightning address or an invoice to a bitcoin wallet",
        lightning.add_entry,
        lambda: shapes.LightningEntryShape,
        status=201,
        body=lambda: bodies.EntryBody,
        bodies=lambda: (bodies.CreateLightningAddress, bodies.CreateInvoice),
        body_for=body_by("type", lambda: bodies.ENTRIES, lambda: bodies.EntryBody),
        load=_FIND,
        group="wallets",
        errors=("not_found", "unsupported_network", "wallet_disabled"),
        guessed={"unsupported_network": "S13"},
        description=(
            "Lets a bitcoin wallet receive over Lightning: by a reusable Lightning address, or by an invoice "
            "for one payment of an exact amount, which expires. Sends the event wallet.created for an address. "
            "Refused for wallets on other networks, for a disabled wallet, and when the username is taken."
        ),
        statuses=("active", "pending"),
    ),
    Operation(
        "GET",
        "/wallets/{id}/lightning",
        "list_lightning_entries",
        TAG,
        "The Lightning addresses and invoices of a wallet",
        actions.list_lightning,
        lambda: shapes.LightningList,
        query=_LIGHTNING,
        load=_FIND,
        group="wallets",
        reads=True,
        errors=("not_found",),
        description="Lists the Lightning addresses and invoices of one wallet, newest first.",
    ),
    Operation(
        "DELETE",
        "/wallets/{id}/lightning/{lightning_id}",
        "disable_lightning_entry",
        TAG,
        "Disable a Lightning address or an unpaid invoice",
        lightning.remove_entry,
        status=204,
        load=lightning.load_entry,
        group="wallets",
        errors=("not_found", "invalid_state"),
        description=(
            "Disables a Lightning address or a pending invoice: nothing can be paid to it any more. An invoice "
            "that was paid, has expired or has a payment in flight is refused with invalid_state. An entry that "
            "is disabled already is not found."
        ),
    ),
)


def _own_network(record: Wallet | Deposit) -> tuple[str]:
    return (record.network,)


def _bitcoin(entry: LightningEntry) -> tuple[str]:
    return ("bitcoin",)


ACTIONS = (
    Action(
        "deposit_arrives",
        "an incoming deposit is seen",
        actions.deposit_arrives,
        ("wallet",),
        lambda: bodies.DepositParameters,
        makes="deposit",
        check=_check_deposit,
        networks=_own_network,
    ),
    Action(
        "deposit_confirms",
        "required confirmations reached, balance credited",
        actions.deposit_confirms,
        ("deposit",),
        networks=_own_network,
    ),
    Action(
        "confirmation_arrives",
        "the chain confirms; at the required number as deposit_confirms",
        actions.confirmation_arrives,
        ("deposit",),
        lambda: bodies.ConfirmationParameters,
        guard=actions.climbs,
        networks=_own_network,
    ),
    Action(
        "deposit_fails", "it cannot be credited", actions.deposit_fails, ("deposit",), lambda: bodies.ReasonParameters
    ),
    Action(
        "invoice_paid",
        "paid and credited",
        lightning.invoice_paid,
        ("invoice",),
        guard=lightning.unpayable,
        networks=_bitcoin,
    ),
    Action(
        "lightning_payment_arrives",
        "paid and credited",
        lightning.payment_arrives,
        ("lightning_address",),
        lambda: bodies.LightningPaymentParameters,
        guard=lightning.unpayable,
        networks=_bitcoin,
    ),
)
