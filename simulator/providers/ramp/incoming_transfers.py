"""Money on its way inside a world: who receives what is sent to an address or over Lightning (decision S9).

A world is closed. Whatever has an address enters it with `expect`; what is sent there by the account itself is handed
over with `deliver`, and arrives as the action of its kind would make it arrive. Each environment has its own entries.
"""

from __future__ import annotations

from simulator.engine.records.advice import advise
from simulator.engine.records.records import find, kind_of
from simulator.engine.rows.kind import Arrival, Record
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

LIGHTNING = "lightning"
"""Where invoices and Lightning addresses are entered, in place of a network."""


RECEIVERS = TableKey("receivers", str, per_environment=True)
"""Key of a receiver → the id of what receives there."""


def receiver_key(network: str, address: str, memo: str | None = None) -> str:
    """One key for every spelling of the same address; the memo counts on stellar only."""
    plain = address.lower() if network in ("celo", LIGHTNING) or address[:3].lower() in ("bc1", "tb1") else address
    return f"{network}|{plain}|{memo or ''}" if network == "stellar" else f"{network}|{plain}"


def expect(world: World, record: Record, network: str, address: str, memo: str | None = None) -> None:
    """Let a resource receive what is sent to an address (and memo); inside the change that makes it."""
    world.store[RECEIVERS.of(record.environment)].put(receiver_key(network, address, memo), record.id)


def receiver_at(world: World, environment: str, network: str, address: str, memo: str | None = None) -> Record | None:
    """The resource of this world that receives there; None when it is somebody else's address."""
    record_id = world.store[RECEIVERS.of(environment)].get(receiver_key(network, address, memo))
    return None if record_id is None else find(world, record_id)


def deliver(world: World, environment: str, network: str, address: str, memo: str | None, arrival: Arrival) -> None:
    """Let what was sent arrive with whoever receives there in this world; elsewhere it leaves the world."""
    record = receiver_at(world, environment, network, address, memo)
    receives = None if record is None else kind_of(world, record).receives
    if record is not None and receives is not None and not receives(world, record, arrival):
        advise(
            world,
            "payment_not_taken",
            "error",
            f"What {arrival.sender_id} sent to {record.id} came when it is {record.status} and was not credited.",
            "Look at the status of what is to be paid, and at its expiry, before paying it.",
            arrival.sender_id,
            record.id,
        )
