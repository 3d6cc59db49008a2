"""Beneficiaries: saved bank accounts, mobile money numbers and wallet addresses."""

from __future__ import annotations

from simulator.resources.beneficiaries.records import BENEFICIARIES, Beneficiary, beneficiary
from simulator.resources.beneficiaries.routes import OPERATIONS
from simulator.resources.beneficiaries.shapes import CLAUSES, BeneficiaryShape, render_beneficiary
from simulator.resources.beneficiaries.states import BENEFICIARY
from simulator.wire.assumptions import assume
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

ASSUMPTIONS = assume(
    "beneficiaries",
    "Save, list, sort and delete recipients in the real sandbox, with one thing wrong at a time.",
    ("beneficiary-other-fields", "Members that belong to another type of beneficiary are ignored, also when strict."),
    (
        "beneficiary-order",
        "Checks go fiat_currency, bank code; phone number, provider; asset, address: the first failing one answers.",
    ),
    (
        "beneficiary-status",
        "A beneficiary shows no status; lists take the status `active`, which all listed ones have.",
    ),
    ("beneficiary-name-order", "Sorting by name ignores upper and lower case."),
    ("beneficiary-duplicates", "The same recipient may be saved more than once; each has an id of its own."),
    ("beneficiary-memo", "A memo is kept as given on every network."),
)

__all__ = ["ROOM", "Beneficiary", "beneficiary"]
