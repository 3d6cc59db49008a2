"""The request bodies of POST /beneficiaries: the shared fields, and the fields of each type."""

from typing import Annotated, Literal

from simulator.engine.text.fields import Body, FreeText, Name
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.providers.ramp.beneficiaries.records import TYPE_MEANINGS, BeneficiaryType
from simulator.providers.ramp.shapes import Country, ShortNetwork


class BankAccount(Body):
    """A bank account that receives fiat payouts."""

    bank_code: str
    """The code of the bank in `country`."""
    account_number: str
    """The account number, in the format used in `country`."""
    account_name: Name
    """The account holder's name, as registered with the bank."""


class PhoneNumber(Body):
    """A mobile money account that receives fiat payouts."""

    phone_number: str
    """The phone number, in international format. It must be valid in `country`."""
    provider: str
    """The code of the mobile money provider. The provider must operate in `country`."""


class WalletAddress(Body):
    """An external wallet."""

    wallet_address: str
    """The address of the wallet on `network`. Its checksum is verified."""
    network: ShortNetwork
    """The network of the wallet."""
    asset: str
    """The asset that the wallet receives. It must be available on the network."""
    memo: FreeText | None = None
    """The memo for transfers to the wallet. On stellar, exchanges and custodial wallets need one."""


class AnyBeneficiary(Body):
    """The fields that all types share. Fields of other types are ignored."""

    type: Annotated[BeneficiaryType, Meanings(TYPE_MEANINGS)]
    """The type of beneficiary. The details go into the field with the same name."""
    name: Name
    """The full name of the recipient, or a label for a wallet."""
    country: object = None
    """The country of the account or phone number (ISO 3166-1 alpha-2). Not used for wallets."""
    fiat_currency: object = None
    """The payout currency. It must be the currency of `country`. Not used for wallets."""
    bank_account: object = None
    """The account. Required if the type is `bank_account`."""
    phone_number: object = None
    """The phone number and its provider. Required if the type is `phone_number`."""
    wallet_address: object = None
    """The address. Required if the type is `wallet_address`."""


class CreateBankAccountBeneficiary(AnyBeneficiary):
    """The request to save a bank account."""

    type: Literal["bank_account"]
    country: Annotated[Country, Assumed("R1", "enum")]
    """The country of the account (ISO 3166-1 alpha-2)."""
    fiat_currency: str
    """The payout currency, which is the currency of `country`."""
    bank_account: BankAccount
    """The account."""


class CreatePhoneNumberBeneficiary(AnyBeneficiary):
    """The request to save a mobile money number."""

    type: Literal["phone_number"]
    country: Annotated[Country, Assumed("R1", "enum")]
    """The country of the phone number (ISO 3166-1 alpha-2)."""
    fiat_currency: str
    """The payout currency, which is the currency of `country`."""
    phone_number: PhoneNumber
    """The phone number and its provider."""


class CreateWalletAddressBeneficiary(AnyBeneficiary):
    """The request to save a crypto address."""

    type: Literal["wallet_address"]
    wallet_address: WalletAddress
    """The address."""


BY_TYPE: dict[str, type[AnyBeneficiary]] = {
    "bank_account": CreateBankAccountBeneficiary,
    "phone_number": CreatePhoneNumberBeneficiary,
    "wallet_address": CreateWalletAddressBeneficiary,
}
