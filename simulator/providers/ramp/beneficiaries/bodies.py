"""The bodies of POST /beneficiaries: what all types of recipient share, and what each adds."""

from typing import Annotated, Literal

from simulator.engine.text.fields import Body, FreeText, Name
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.providers.ramp.beneficiaries.records import TYPE_MEANINGS, BeneficiaryType
from simulator.providers.ramp.shapes import Country, ShortNetwork


class BankAccount(Body):
    """A bank account that fiat is to be paid to."""

    bank_code: str
    """The bank, by its code in `country`."""
    account_number: str
    """The number of the account, in the form of `country`."""
    account_name: Name
    """Whose account it is, as the bank knows it."""


class PhoneNumber(Body):
    """A mobile money account that fiat is to be paid to."""

    phone_number: str
    """The number to pay, in international format; a valid number of `country`."""
    provider: str
    """The mobile money provider, by its code; one that works in `country`."""


class WalletAddress(Body):
    """A wallet outside of the service."""

    wallet_address: str
    """The address of the wallet, in the form of `network`; its checksum is checked."""
    network: ShortNetwork
    """The network of the wallet."""
    asset: str
    """What is to be sent there; it must be available on the network."""
    memo: FreeText | None = None
    """The memo that is to go with what is sent there; exchanges and custodial wallets need one on stellar."""


class AnyBeneficiary(Body):
    """What all types share. The members of other types are known, and not looked at."""

    type: Annotated[BeneficiaryType, Meanings(TYPE_MEANINGS)]
    """What is saved; it names the member that has the details."""
    name: Name
    """The full name of who is paid, or a label for a wallet."""
    country: object = None
    """The country of the account or number (ISO 3166-1 alpha-2); not of a wallet."""
    fiat_currency: object = None
    """The currency to be paid in: the one of `country`; not of a wallet."""
    bank_account: object = None
    """The account; required with the type `bank_account`."""
    phone_number: object = None
    """The number and its provider; required with the type `phone_number`."""
    wallet_address: object = None
    """The address; required with the type `wallet_address`."""


class CreateBankAccountBeneficiary(AnyBeneficiary):
    """A bank account to be saved."""

    type: Literal["bank_account"]
    country: Annotated[Country, Assumed("R1", "enum")]
    """The country of the account (ISO 3166-1 alpha-2)."""
    fiat_currency: str
    """The currency to be paid in: the one of `country`."""
    bank_account: BankAccount
    """The account."""


class CreatePhoneNumberBeneficiary(AnyBeneficiary):
    """A mobile money number to be saved."""

    type: Literal["phone_number"]
    country: Annotated[Country, Assumed("R1", "enum")]
    """The country of the number (ISO 3166-1 alpha-2)."""
    fiat_currency: str
    """The currency to be paid in: the one of `country`."""
    phone_number: PhoneNumber
    """The number and its provider."""


class CreateWalletAddressBeneficiary(AnyBeneficiary):
    """A crypto address to be saved."""

    type: Literal["wallet_address"]
    wallet_address: WalletAddress
    """The address."""


BY_TYPE: dict[str, type[AnyBeneficiary]] = {
    "bank_account": CreateBankAccountBeneficiary,
    "phone_number": CreatePhoneNumberBeneficiary,
    "wallet_address": CreateWalletAddressBeneficiary,
}
