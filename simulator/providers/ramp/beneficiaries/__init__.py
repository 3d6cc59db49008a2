"""Beneficiaries: saved bank accounts, mobile money numbers and wallet addresses."""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.providers.ramp.beneficiaries import operations, shapes
from simulator.providers.ramp.beneficiaries.records import BENEFICIARIES, Beneficiary, beneficiary
from simulator.providers.ramp.beneficiaries.states import BENEFICIARY, BENEFICIARY_MISMATCH, ERRORS, EVENTS

ROOM = Room(
    "beneficiaries",
    operations=(
        operations.create_beneficiary,
        operations.list_beneficiaries,
        operations.get_beneficiary,
        operations.delete_beneficiary,
    ),
    kinds=(
        Kind(
            "beneficiary",
            BENEFICIARIES,
            lambda world, record: shapes.render_beneficiary(world, record),
            BENEFICIARY,
            lambda: shapes.BeneficiaryShape,
            example_of(__package__, "beneficiary"),
            prefix="ben_",
            named_by=("beneficiary_id", "recipient.beneficiary_id"),
            collection="/beneficiaries",
        ),
    ),
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
