"""The fixed reference data, loaded once from `reference.json` (section "Reference data"; decisions H8, M1, M13, R1 to
R3, R7).

Amounts in the file are decimal strings. `per_usd` is the price of one US dollar in the fiat currency. The fixed mid
rate of a pair is the asset's price in US dollars multiplied by `per_usd`. The fees of the currency listing, except
`deposit_fees`, come from `fees.json`. Each bank has its own number of digits for account numbers.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from simulator.engine.rows.error import invalid
from simulator.engine.rows.kind import Record
from simulator.engine.text.json import loads
from simulator.engine.text.shapes import OneOf
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import Currency
from simulator.kernel.patterns import compile_late
from simulator.providers.ramp.reference.states import INVALID_BANK_ACCOUNT
from simulator.providers.ramp.shapes import ASSET_CODES as CODES
from simulator.providers.ramp.shapes import Country, FiatCode

NETWORKS = ("stellar", "celo", "bitcoin")
"""The canonical names of all networks."""

RAMP_NETWORKS = ("stellar", "celo")
"""The networks that network stats, rates and ramp quotes support."""

METHODS = ("mobile_money", "bank_transfer")

_DIGITS = compile_late(r"[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fiat:
    """A fiat currency with its country (ISO 3166-1 alpha-2), the price of one US dollar, and its payment methods."""

    code: FiatCode
    name: str
    country: Country
    country_name: str
    per_usd: Decimal
    methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """The constant properties of a network. `height` is the latest block on 2026-01-01."""

    native_asset: str
    native_fee: Decimal
    block_seconds: int
    confirmation_seconds: int
    height: int


@dataclass(frozen=True, slots=True)
class CurrencyListing:
    """One item of the currency listing (decision R7). `network` is the canonical name.

    `min_withdraw` and `max_withdraw` are the limits of sends in a new world, and `slippage` is a percentage.
    """

    symbol: str
    network: str
    name: str
    decimals: int
    min_withdraw: Decimal
    max_withdraw: Decimal
    deposit_fees: Decimal
    slippage: Decimal
    confirmations: int


@dataclass(frozen=True, slots=True)
class Provider:
    """A mobile money provider in one country (decision R2)."""

    country: str
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank in one country, and the number of digits of its account numbers (decision R3)."""

    country: str
    code: str
    name: str
    min_digits: int
    max_digits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Network(Record):
    """The status of one network in one environment. `name` is the canonical name of the network."""

    kind = "network"
    name: str


_LISTED_FIGURES = ("min_withdraw", "max_withdraw", "deposit_fees", "slippage")


def _listing(row: dict[str, Any]) -> CurrencyListing:
    return CurrencyListing(**row | {name: Decimal(row[name]) for name in _LISTED_FIGURES})


_DATA: dict[str, Any] = loads(Path(__file__).with_name("reference.json").read_bytes())

FIAT_FACTS = {
    row["code"]: Fiat(**row | {"per_usd": Decimal(row["per_usd"]), "methods": tuple(row["methods"])})
    for row in _DATA["fiats"]
}
FIATS = {code: Currency(code, 2) for code in FIAT_FACTS}
"""The five fiat currencies, by code."""

COUNTRIES: dict[str, FiatCode] = {fact.country: code for code, fact in FIAT_FACTS.items()}
"""Maps a country to its fiat currency."""

COUNTRY_OF = {code: fact.country for code, fact in FIAT_FACTS.items()}
"""Maps a fiat currency to its country."""

USD_PRICES = {code: Decimal(price) for code, price in _DATA["prices"].items()}
"""Maps an asset code to its price in US dollars when a world starts."""

NETWORK_FACTS = {
    name: NetworkFacts(**row | {"native_fee": Decimal(row["native_fee"])}) for name, row in _DATA["networks"].items()
}

LISTINGS = {(row["symbol"], row["network"]): _listing(row) for row in _DATA["currencies"]}
"""Maps (code, canonical network) to an item of the currency listing, in table order."""

ASSETS = {(code, network): Currency(code, row.decimals, network) for (code, network), row in LISTINGS.items()}
"""Maps (code, canonical network) to an asset."""

ASSET_CODES = tuple(USD_PRICES)

NETWORK_ASSETS = {name: tuple(code for code, where in ASSETS if where == name) for name in NETWORKS}
"""Maps a canonical network to its asset codes, including bitcoin."""

RAMP_ASSETS = {name: NETWORK_ASSETS[name] for name in RAMP_NETWORKS}
"""Maps a ramp network to its asset codes."""

RAMP_ASSET_CODES = {code: text for code, text in CODES.items() if any(code in codes for codes in RAMP_ASSETS.values())}
"""The assets that ramps support, each with its description."""
RampAsset = Annotated[str, OneOf(RAMP_ASSET_CODES)]

PROVIDERS = {
    country: {code: Provider(country, code, name) for code, name in _DATA["providers"].get(country, {}).items()}
    for country in COUNTRIES
}
"""Maps a country to its mobile money providers by code. A country without mobile money has an empty entry."""

PROVIDER_CODES = {
    code: f"Operates in {', '.join(country for country in PROVIDERS if code in PROVIDERS[country])}."
    for providers in PROVIDERS.values()
    for code in providers
}
"""The provider codes of all countries, each with the countries that use it."""

BANKS = {
    country: {
        code: Bank(country, code, name, *_DATA["banks"][country]["account_digits"])
        for code, name in _DATA["banks"][country]["names"].items()
    }
    for country in COUNTRIES
}
"""Maps a country to its banks by code."""


def asset(code: str, network: str) -> Currency | None:
    """Return the asset with the given code on a canonical network, or None if there is none."""
    return ASSETS.get((code, network))


def fiat(code: str) -> Currency | None:
    """Return the fiat currency with the given code, or None if there is none."""
    return FIATS.get(code)


def currency_of(code: str, network: str | None) -> Currency:
    """Return an asset on its network, or a fiat currency if the network is None. Raise `KeyError` if there is none."""
    return FIATS[code] if network is None else ASSETS[code, network]


def has_method(fiat_code: str, method: str) -> bool:
    """Return True if a fiat currency supports the payment method `mobile_money` or `bank_transfer` (decision R1)."""
    facts = FIAT_FACTS.get(fiat_code)
    return facts is not None and method in facts.methods


def require_bank(country: str, code: str, param: str) -> Bank:
    """Return a country's bank with the given code. Raise `ApiError` 422 invalid_bank_account if there is none."""
    found = BANKS.get(country, {}).get(code)
    if found is None:
        raise INVALID_BANK_ACCOUNT.error(f"There is no bank with the code {code!r} in {country}.", param)
    return found


def require_account_number(country: str, text: str, param: str) -> None:
    """Raise `ApiError` 400 if an account number has the wrong format for its country."""
    any_bank = next(iter(BANKS[country].values()))
    least, most = any_bank.min_digits, any_bank.max_digits
    if _DIGITS.fullmatch(text) is None or not least <= len(text) <= most:
        digits = str(least) if least == most else f"{least} to {most}"
        raise invalid(param, f"an account number in {country} must have {digits} digits")
