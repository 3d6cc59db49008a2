"""The operations of beneficiaries: POST, GET and DELETE /beneficiaries."""

from __future__ import annotations

from typing import get_args

from simulator.resources.beneficiaries import actions
from simulator.resources.beneficiaries.bodies import BY_TYPE, AnyBeneficiary
from simulator.resources.beneficiaries.records import BENEFICIARIES, Beneficiary, BeneficiaryType
from simulator.resources.beneficiaries.shapes import BeneficiaryPage, BeneficiaryShape, render_beneficiary
from simulator.wire.handlers import body_by, by_id, listed, shown
from simulator.wire.listing import CREATION_DATES, Filter, Listing, by_field
from simulator.wire.operation import Operation
from simulator.wire.shapes import COUNTRY_CODES, FIAT_CODES, SHORT_NETWORKS

TAG = "Beneficiaries"


def _by_name(record: Beneficiary) -> str:
    return record.name.casefold()


LISTING = Listing[Beneficiary](
    filters=(
        by_field("type", get_args(BeneficiaryType), many=True),
        by_field("country", COUNTRY_CODES),
        by_field("fiat_currency", FIAT_CODES),
        Filter(
            "network",
            lambda record, values: record.details.get("network") in values,
            SHORT_NETWORKS,
        ),
    ),
    search=actions.searched,
    searched="name, phone number, account number, bank name and wallet address",
    sorts={**CREATION_DATES, "name": _by_name},
    statuses=("active",),
)

_FIND = by_id(BENEFICIARIES, "beneficiary")

OPERATIONS = (
    Operation(
        "POST",
        "/beneficiaries",
        "create_beneficiary",
        TAG,
        "Save a payout recipient or a wallet address",
        actions.save_beneficiary,
        BeneficiaryShape,
        status=201,
        body=AnyBeneficiary,
        bodies=tuple(BY_TYPE.values()),
        body_for=body_by("type", BY_TYPE, AnyBeneficiary),
        check=actions.check_account_number,
        group="beneficiaries",
        errors=(
            "unsupported_pair",
            "invalid_bank_account",
            "invalid_phone_number",
            "unsupported_provider",
            "unsupported_asset",
            "invalid_wallet_address",
        ),
    ),
    Operation(
        "GET",
        "/beneficiaries",
        "list_beneficiaries",
        TAG,
        "The saved beneficiaries, newest first",
        listed(BENEFICIARIES, render_beneficiary),
        BeneficiaryPage,
        query=LISTING,
        group="beneficiaries",
        reads=True,
    ),
    Operation(
        "GET",
        "/beneficiaries/{id}",
        "get_beneficiary",
        TAG,
        "One beneficiary",
        shown(render_beneficiary),
        BeneficiaryShape,
        load=_FIND,
        group="beneficiaries",
        reads=True,
        errors=("not_found",),
    ),
    Operation(
        "DELETE",
        "/beneficiaries/{id}",
        "delete_beneficiary",
        TAG,
        "Remove a beneficiary; past transactions are unaffected",
        actions.delete_beneficiary,
        status=204,
        load=_FIND,
        group="beneficiaries",
        errors=("not_found",),
    ),
)
