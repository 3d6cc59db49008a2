"""How beneficiaries are shown: the table "Beneficiary" and its details by type."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.resources.beneficiaries.records import (
    BankAccountDetails,
    Beneficiary,
    BeneficiaryType,
    Details,
    PhoneNumberDetails,
    WalletAddressDetails,
)
from simulator.wire.shapes import Clauses, Country, FiatCode, Pagination, Prefix, Timestamp


class BeneficiaryShape(TypedDict):
    id: Annotated[str, Prefix("ben_")]
    type: BeneficiaryType
    name: str
    country: Country | None
    fiat_currency: FiatCode | None
    details: Details
    created_at: Timestamp


class BeneficiaryPage(TypedDict):
    data: list[BeneficiaryShape]
    pagination: Pagination


def render_beneficiary(world: World, record: Beneficiary) -> BeneficiaryShape:
    return {
        "id": record.id,
        "type": record.type,
        "name": record.name,
        "country": record.country,
        "fiat_currency": record.fiat_currency,
        "details": record.details,
        "created_at": format_timestamp(record.created_at_ms),
    }


CLAUSES: Clauses = {
    "Beneficiary": (BeneficiaryShape, BankAccountDetails, PhoneNumberDetails, WalletAddressDetails),
}
