"""The bodies of beneficiaries by type of recipient."""

from __future__ import annotations

from typing import Any, Literal

from simulator.resources.beneficiaries.shapes import (
    BeneficiaryType,
    Country,
    ShortNetwork,
)
from simulator.wire.fields import Body, FreeText, Name


class BankAccount(Body):
    bank_code: str
    account_number: str
    account_name: Name


class PhoneNumber(Body):
    phone_number: str
    provider: str


class WalletAddress(Body):
    wallet_address: str
    network: ShortNetwork
    asset: str
    memo: FreeText | None = None


class AnyBeneficiary(Body):
    """What all types share. The members of other types are known, and not looked at."""

    type: BeneficiaryType
    name: Name
    country: Any = None
    fiat_currency: Any = None
    bank_account: Any = None
    phone_number: Any = None
    wallet_address: Any = None


class BankAccountBeneficiary(AnyBeneficiary):
    type: Literal["bank_account"]
    country: Country
    fiat_currency: str
    bank_account: BankAccount


class PhoneNumberBeneficiary(AnyBeneficiary):
    type: Literal["phone_number"]
    country: Country
    fiat_currency: str
    phone_number: PhoneNumber


class WalletAddressBeneficiary(AnyBeneficiary):
    type: Literal["wallet_address"]
    wallet_address: WalletAddress
