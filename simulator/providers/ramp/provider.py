"""`PROVIDER` describes the service to the engine: its identity, its packages in import order, its functions."""

from __future__ import annotations

from simulator.engine import webhooks
from simulator.engine.records.advice import AdviceKind
from simulator.engine.rows.identity import Identity
from simulator.engine.rows.kind import Record
from simulator.engine.rows.provider import OrderNumbers, Outages, Provider
from simulator.engine.rows.room import Room
from simulator.providers.ramp import (
    alternatives,
    auth,
    balance,
    beneficiaries,
    deposit_wallets,
    facts,
    fees,
    history,
    profile,
    ramps,
    recurring,
    reference,
    transactions,
)
from simulator.providers.ramp.key_forms import TOKEN_EXCHANGE
from simulator.providers.ramp.money import MONEY
from simulator.providers.ramp.shapes import DEPOSIT, SHORT
from simulator.providers.ramp.signing import SIGNING
from simulator.providers.ramp.triggers import factories
from simulator.providers.ramp.wording import WORDING

IDENTITY = Identity(
    caller=auth.token_holder,
    check_gates=auth.check_gates,
    keys=auth.all_keys,
    tokens=auth.all_tokens,
    credentials=auth.credentials,
    rekey=auth.rekey,
    account=profile.profile_of,
    other_users=profile.platform_users,
    exchange=TOKEN_EXCHANGE,
)

ROOMS: tuple[Room, ...] = (
    reference.ROOM,
    profile.ROOM,
    auth.ROOM,
    beneficiaries.ROOM,
    fees.ROOM,
    transactions.ROOM,
    ramps.ROOM,
    deposit_wallets.ROOM,
    balance.ROOM,
    recurring.ROOM,
    history.ROOM,
    webhooks.ROOM,
)
"""A package imports only packages that come before it in this list, and only names that they export in `__init__`."""


def _order_number(record: Record) -> str | None:
    return record.order_id if isinstance(record, transactions.Transaction) else None


PROVIDER = Provider(
    "ramp",
    ROOMS,
    environments={"sandbox": "/v1", "production": "/production/v1"},
    environment_names={"sandbox": "sandbox", "production": "simulated production"},
    identity=IDENTITY,
    signing=SIGNING,
    alternatives=lambda: alternatives.ALTERNATIVES,
    account=transactions.holder,
    outages=Outages(tuple(reference.NETWORKS), DEPOSIT | SHORT, reference.network_status, "network.status_changed"),
    orders=OrderNumbers(transactions.by_order_id, _order_number),
    clauses={"deposit_not_matched": "Ramp quotes and ramps; decision S6", "payment_not_taken": "Send; decision S9"},
    advice={
        "late_confirmation": AdviceKind(
            "warning",
            "{subject} was called in the last seconds of its quote ({detail} left).",
            "Confirm quotes early, or create a new quote if little of the 30 minutes is left.",
            "Limits, quote validity",
        )
    },
    triggers=lambda: factories.TRIGGERS,
    wording=WORDING,
    put_facts=lambda world, found: facts.put_facts(world, found),
    malformed_fact=lambda found: facts.wrong_fact(found),
    money=MONEY,
)
