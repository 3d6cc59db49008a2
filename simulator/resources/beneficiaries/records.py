"""Saved payout recipients and crypto addresses: the table "Beneficiary" of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, final

from typing_extensions import TypedDict

from simulator.kernel.store import Table, TableKey
from simulator.kernel.world import World
from simulator.resources.reference import PROVIDER_CODES
from simulator.wire.records import Record, require
from simulator.wire.shapes import Country, FiatCode, Format, Method, OneOf, PhoneText, ShortNetwork
from simulator.wire.spelling import SHORT

BeneficiaryType = Literal["bank_account", "phone_number", "wallet_address"]

METHODS: Mapping[BeneficiaryType, Method] = {"bank_account": "bank_transfer", "phone_number": "mobile_money"}
"""The payment method that pays out to each type of fiat beneficiary."""


@final
class BankAccountDetails(TypedDict):
    bank_code: str
    bank_name: str
    account_number: Annotated[str, Format(pattern="^[0-9]{7,14}$")]
    account_name: str


@final
class PhoneNumberDetails(TypedDict):
    phone_number: PhoneText
    provider: Annotated[str, OneOf(PROVIDER_CODES)]


@final
class WalletAddressDetails(TypedDict):
    wallet_address: str
    network: ShortNetwork
    asset: Annotated[str, OneOf(("XLM", "USDC", "CELO", "USDT", "CUSD", "cUSD", "BTC"))]
    memo: str


Details: TypeAlias = BankAccountDetails | PhoneNumberDetails | WalletAddressDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class Beneficiary(Record):
    """A saved recipient. `details` are as shown; `country` and `fiat_currency` are None for a wallet address."""

    type: BeneficiaryType
    name: str
    country: Country | None
    fiat_currency: FiatCode | None
    details: Details

    @property
    def kind(self) -> str:
        return "beneficiary"

    @property
    def method(self) -> Method | None:
        """`bank_transfer` or `mobile_money`, None for a wallet address."""
        return METHODS.get(self.type)

    @property
    def account(self) -> str | None:
        """The account or phone number that is paid, None for a wallet address."""
        if "account_number" in self.details:
            return self.details["account_number"]
        if "phone_number" in self.details:
            return self.details["phone_number"]
        return None

    @property
    def network(self) -> str | None:
        """The canonical network of a wallet address, else None."""
        return SHORT[self.details["network"]] if "network" in self.details else None


BENEFICIARIES = TableKey("beneficiaries", Beneficiary, per_environment=True)


def beneficiaries(world: World, environment: str) -> Table[Beneficiary]:
    """The beneficiaries of an environment that are not deleted, oldest first."""
    return world.store[BENEFICIARIES.of(environment)]


def beneficiary(world: World, environment: str, beneficiary_id: str) -> Beneficiary:
    """The beneficiary that a body names; 404 not_found, param beneficiary_id, also when deleted (decision S23)."""
    return require(beneficiaries(world, environment), beneficiary_id, "beneficiary", "beneficiary_id")
