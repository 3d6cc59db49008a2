"""Beneficiaries: saved bank accounts, mobile money numbers and wallet addresses."""

from __future__ import annotations

from simulator.resources.beneficiaries import shapes
from simulator.resources.beneficiaries.records import BENEFICIARIES, Beneficiary, beneficiary
from simulator.resources.beneficiaries.routes import OPERATIONS
from simulator.resources.beneficiaries.states import BENEFICIARY
from simulator.wire.records import Kind
from simulator.wire.room import Room
from simulator.wire.subjects import example_of

ROOM = Room(
    "beneficiaries",
    operations=OPERATIONS,
    kinds=(
        Kind(
            "beneficiary",
            BENEFICIARIES,
            lambda world, record: shapes.render_beneficiary(world, record),
            BENEFICIARY,
            lambda: shapes.BeneficiaryShape,
            example_of(__package__, "beneficiary"),
            prefix="ben_",
        ),
    ),
    clauses=lambda: shapes.CLAUSES,
)


__all__ = ["ROOM", "Beneficiary", "beneficiary"]
