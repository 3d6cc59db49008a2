"""How beneficiaries are shown: the table "Beneficiary" and its details by type."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.resources.beneficiaries.records import Beneficiary
from simulator.resources.reference import PROVIDER_CODES
from simulator.wire.json import JsonObject
from simulator.wire.shapes import Format, OneOf, Pagination, PhoneText, Prefix, Timestamp

BeneficiaryType = Literal["bank_account", "phone_number", "wallet_address"]
Country = Literal["KE", "TZ", "NG", "ZA", "ZM"]
FiatCode = Literal["KES", "TZS", "NGN", "ZAR", "ZMW"]
ShortNetwork = Literal["stellar", "celo", "btc"]


class BankAccountDetails(TypedDict):
    bank_code: str
    bank_name: str
    account_number: Annotated[str, Format(pattern="^[0-9]{7,14}$")]
    account_name: str


class PhoneNumberDetails(TypedDict):
    phone_number: PhoneText
    provider: Annotated[str, OneOf(PROVIDER_CODES)]


class WalletAddressDetails(TypedDict):
    wallet_address: str
    network: ShortNetwork
    asset: Annotated[str, OneOf(("XLM", "USDC", "CELO", "USDT", "CUSD", "cUSD", "BTC"))]
    memo: str


class BeneficiaryShape(TypedDict):
    id: Annotated[str, Prefix("ben_")]
    type: BeneficiaryType
    name: str
    country: Country | None
    fiat_currency: FiatCode | None
    details: BankAccountDetails | PhoneNumberDetails | WalletAddressDetails
    created_at: Timestamp


class BeneficiaryPage(TypedDict):
    data: list[BeneficiaryShape]
    pagination: Pagination


def render_beneficiary(world: World, record: Beneficiary) -> JsonObject:
    shape: BeneficiaryShape = {
        "id": record.id,
        "type": cast(Any, record.type),
        "name": record.name,
        "country": cast(Any, record.country),
        "fiat_currency": cast(Any, record.fiat_currency),
        "details": cast(Any, dict(record.details)),
        "created_at": format_timestamp(record.created_at_ms),
    }
    return cast(JsonObject, shape)
