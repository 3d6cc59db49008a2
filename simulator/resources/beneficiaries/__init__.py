"""Beneficiaries: saved bank accounts, mobile money numbers and wallet addresses."""

from __future__ import annotations

from simulator.resources.beneficiaries.records import BENEFICIARIES, Beneficiary, beneficiary
from simulator.resources.beneficiaries.routes import OPERATIONS
from simulator.resources.beneficiaries.shapes import CLAUSES, BeneficiaryShape, render_beneficiary
from simulator.resources.beneficiaries.states import BENEFICIARY
from simulator.wire.records import Kind
from simulator.wire.room import Room
from simulator.wire.subjects import examples_of

_EXAMPLES = examples_of(__package__)

ROOM = Room(
    "beneficiaries",
    operations=OPERATIONS,
    kinds=(
        Kind(
            "beneficiary",
            BENEFICIARIES,
            render_beneficiary,
            BENEFICIARY,
            BeneficiaryShape,
            _EXAMPLES["beneficiary"],
            prefix="ben_",
        ),
    ),
    clauses=CLAUSES,
)


__all__ = ["ROOM", "Beneficiary", "beneficiary"]
