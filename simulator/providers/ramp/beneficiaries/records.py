"""Saved recipients of payouts and crypto transfers (table "Beneficiary" of the specification)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, final

from typing_extensions import TypedDict

from simulator.engine.records.records import require
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.rows.kind import Record
from simulator.engine.text.shapes import Assumed, Format, Known, OneOf
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from simulator.kernel.world import World
from simulator.providers.ramp.reference import PROVIDER_CODES
from simulator.providers.ramp.shapes import ASSET_CODES, SHORT, Country, FiatCode, Method, PhoneText, ShortNetwork

BeneficiaryType = Literal["bank_account", "phone_number", "wallet_address"]

METHODS: Mapping[BeneficiaryType, Method] = {"bank_account": "bank_transfer", "phone_number": "mobile_money"}
"""Maps the type of a fiat beneficiary to its payment method."""

TYPE_MEANINGS = {
    "bank_account": "A bank account, paid by bank_transfer.",
    "phone_number": "A mobile money number, paid by mobile_money.",
    "wallet_address": "An external crypto address. It receives no fiat.",
}
SAVED_ASSETS = {**ASSET_CODES, "cUSD": "Celo Dollar, the same as CUSD."}


@final
class BankAccountDetails(TypedDict):
    """A bank account that receives fiat payouts."""

    bank_code: str
    """The code of the bank in the beneficiary's country."""
    bank_name: str
    """The name of the bank with that code."""
    account_number: Annotated[str, Format(pattern="^[0-9]{7,14}$"), Assumed("R3", "pattern")]
    """The account number."""
    account_name: str
    """The account holder's name, as registered with the bank."""


@final
class PhoneNumberDetails(TypedDict):
    """A mobile money account that receives fiat payouts."""

    phone_number: PhoneText
    """The phone number, in international format."""
    provider: Annotated[str, Known(PROVIDER_CODES)]
    """The code of the mobile money provider."""


@final
class WalletAddressDetails(TypedDict):
    """An external wallet."""

    wallet_address: str
    """The address of the wallet on its network."""
    network: ShortNetwork
    """The network of the wallet."""
    asset: Annotated[str, OneOf(SAVED_ASSETS), Assumed("H5", "enum")]
    """The asset that the wallet receives, spelled as in the request."""
    memo: str
    """The memo for transfers to the wallet. Empty if none is needed."""


Details: TypeAlias = BankAccountDetails | PhoneNumberDetails | WalletAddressDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class Beneficiary(Record):
    """A saved recipient. For a wallet address, `country` and `fiat_currency` are None."""

    kind = "beneficiary"
    type: BeneficiaryType
    name: str
    country: Country | None
    fiat_currency: FiatCode | None
    details: Details

    @property
    def method(self) -> Method | None:
        """The payment method, `bank_transfer` or `mobile_money`, or None for a wallet address."""
        return METHODS.get(self.type)

    @property
    def account(self) -> str | None:
        """The account number or phone number, or None for a wallet address."""
        if "account_number" in self.details:
            return self.details["account_number"]
        if "phone_number" in self.details:
            return self.details["phone_number"]
        return None

    @property
    def network(self) -> str | None:
        """The canonical network of a wallet address, or None for other types."""
        return SHORT[self.details["network"]] if "network" in self.details else None


BENEFICIARIES = TableKey("beneficiaries", Beneficiary, per_environment=True)


def beneficiaries(world: World, environment: str) -> Table[Beneficiary]:
    """Return the beneficiaries of an environment, oldest first. Deleted beneficiaries are not included."""
    return world.store[BENEFICIARIES.of(environment)]


def beneficiary(world: World, environment: str, beneficiary_id: str) -> Beneficiary:
    """Return the beneficiary with the given id. Raise `ApiError` 404 not_found with the param `beneficiary_id` if it
    does not exist or was deleted (decision S23).
    """
    try:
        return require(beneficiaries(world, environment), beneficiary_id, "beneficiary", "beneficiary_id")
    except ApiError as error:
        if assumes(world, "S23", "answers_400"):
            raise invalid("beneficiary_id", "there is no such beneficiary") from None
        if assumes(world, "S23", "answers_422"):
            error.status = 422
        raise
