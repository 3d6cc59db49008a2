"""Response models for beneficiaries: the table "Beneficiary" and the details of each type."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from typing_extensions import TypedDict

from simulator.engine.records.records import present
from simulator.engine.text.shapes import Assumed, Clauses, Prefix, Timestamp, page_shape
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp.beneficiaries import records
from simulator.providers.ramp.beneficiaries.records import BankAccountDetails, PhoneNumberDetails, WalletAddressDetails
from simulator.providers.ramp.shapes import Country, FiatCode


class _Saved(TypedDict):
    id: Annotated[str, Prefix("ben_")]
    """The id of the beneficiary. Use it as `beneficiary_id` for offramps, withdrawals and recurring payments."""
    name: str
    """The full name of the recipient, or the label of a wallet."""
    created_at: Timestamp
    """The creation time."""


class _Fiat(_Saved):
    country: Annotated[Country, Assumed("R1", "enum")]
    """The country of the account or phone number (ISO 3166-1 alpha-2)."""
    fiat_currency: FiatCode
    """The payout currency."""


class BankAccountBeneficiary(_Fiat):
    """A bank account that receives fiat payouts."""

    type: Literal["bank_account"]
    details: BankAccountDetails
    """The account."""


class PhoneNumberBeneficiary(_Fiat):
    """A mobile money number that receives fiat payouts."""

    type: Literal["phone_number"]
    details: PhoneNumberDetails
    """The phone number and its provider."""


class WalletAddressBeneficiary(_Saved):
    """An external crypto address."""

    type: Literal["wallet_address"]
    country: None
    """Always null, because a crypto address has no country."""
    fiat_currency: None
    """Always null, because a crypto address does not receive fiat."""
    details: WalletAddressDetails
    """The address, its network and its asset."""


BeneficiaryShape: TypeAlias = BankAccountBeneficiary | PhoneNumberBeneficiary | WalletAddressBeneficiary
BeneficiaryPage = page_shape("BeneficiaryPage", BeneficiaryShape, "beneficiaries", "The beneficiaries of this page.")


def render_beneficiary(world: World, record: records.Beneficiary) -> BeneficiaryShape:
    """Return the beneficiary as the response model for its type."""
    details, created_at = record.details, format_timestamp(record.created_at_ms)
    if "network" in details:
        address: WalletAddressBeneficiary = {
            "id": record.id,
            "type": "wallet_address",
            "name": record.name,
            "country": None,
            "fiat_currency": None,
            "details": details,
            "created_at": created_at,
        }
        return address
    if "provider" in details:
        phone: PhoneNumberBeneficiary = {
            "id": record.id,
            "type": "phone_number",
            "name": record.name,
            "country": present(record.country),
            "fiat_currency": present(record.fiat_currency),
            "details": details,
            "created_at": created_at,
        }
        return phone
    bank: BankAccountBeneficiary = {
        "id": record.id,
        "type": "bank_account",
        "name": record.name,
        "country": present(record.country),
        "fiat_currency": present(record.fiat_currency),
        "details": details,
        "created_at": created_at,
    }
    return bank


CLAUSES: Clauses = {
    "Beneficiary": (
        BankAccountBeneficiary,
        PhoneNumberBeneficiary,
        WalletAddressBeneficiary,
        BankAccountDetails,
        PhoneNumberDetails,
        WalletAddressDetails,
    ),
    "Pagination envelope and error envelope": (BeneficiaryPage,),
}
