"""The bodies of POST /beneficiaries: what all types of recipient share, and what each adds."""

from __future__ import annotations

from typing import Literal

from simulator.resources.beneficiaries.records import BeneficiaryType
from simulator.wire.fields import Body, FreeText, Name
from simulator.wire.shapes import Country, ShortNetwork


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
    country: object = None
    fiat_currency: object = None
    bank_account: object = None
    phone_number: object = None
    wallet_address: object = None


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


BY_TYPE: dict[str, type[AnyBeneficiary]] = {
    "bank_account": BankAccountBeneficiary,
    "phone_number": PhoneNumberBeneficiary,
    "wallet_address": WalletAddressBeneficiary,
}
