"""Transfers from the account to receivers in the same world, on-chain or over Lightning (decision S9).

A resource registers its address with `register_receiver`. If the account sends money to it, `deliver` passes the
transfer to the resource, which handles it like a transfer from a third party. Each environment has its own receivers.
"""

from __future__ import annotations

from simulator.engine.records.advice import advise
from simulator.engine.records.records import find, kind_of
from simulator.engine.rows.kind import Arrival, Record
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

LIGHTNING = "lightning"
"""The key that invoices and Lightning addresses use in place of a network."""
RECEIVERS = TableKey("receivers", str, per_environment=True)
"""Maps a receiver key to the id of the resource that receives there."""


def receiver_key(network: str, address: str, memo: str | None = None) -> str:
    """Return the table key of a receiver, with the memo on stellar only. Upper and lower case of an address are the
    same.
    """
    plain = address.lower() if network in ("celo", LIGHTNING) or address[:3].lower() in ("bc1", "tb1") else address
    return f"{network}|{plain}|{memo or ''}" if network == "stellar" else f"{network}|{plain}"


def register_receiver(world: World, record: Record, network: str, address: str, memo: str | None = None) -> None:
    """Register a resource as the receiver for an address (and memo), in the transaction that creates it."""
    world.store[RECEIVERS.of(record.environment)].put(receiver_key(network, address, memo), record.id)


def receiver_at(world: World, environment: str, network: str, address: str, memo: str | None = None) -> Record | None:
    """Return the resource of this world that has the given address, or None if the address is external."""
    record_id = world.store[RECEIVERS.of(environment)].get(receiver_key(network, address, memo))
    return None if record_id is None else find(world, record_id)


def deliver(world: World, environment: str, network: str, address: str, memo: str | None, arrival: Arrival) -> None:
    """Credit a transfer to the wallet or order that has its address. If the address is external, do nothing."""
    record = receiver_at(world, environment, network, address, memo)
    receives = None if record is None else kind_of(world, record).receives
    if record is not None and receives is not None and not receives(world, record, arrival):
        advise(
            world,
            "payment_not_taken",
            "error",
            f"The transfer {arrival.sender_id} was not credited, because {record.id} has the status {record.status}.",
            "Before you pay an order, invoice or address, check its status and expiry.",
            arrival.sender_id,
            record.id,
        )
