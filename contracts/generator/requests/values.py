"""What fields of request bodies are narrowed to: codes, amounts, addresses, phone numbers, days."""

from __future__ import annotations

from typing import Any

from contracts.generator.schemas import Schema
from simulator.resources import reference
from simulator.wire.spelling import upper

ADDRESSES = {
    "stellar": r"^G[A-Z2-7]{55}$",
    "celo": r"^0x[0-9a-fA-F]{40}$",
    "bitcoin": r"^(bc1[02-9ac-hj-np-z]{11,71}|[13][1-9A-HJ-NP-Za-km-z]{25,34})$",
}


ADDRESS_EXAMPLES = {
    "stellar": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
    "celo": "0x52908400098527886E0F7030069857D2E4169EE7",
    "bitcoin": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
}


PHONES = {
    "KE": r"^\+254[17][0-9]{8}$",
    "TZ": r"^\+255[67][0-9]{8}$",
    "NG": r"^\+234[789][01][0-9]{8}$",
    "ZA": r"^\+27[678][0-9]{8}$",
    "ZM": r"^\+260[79][5-7][0-9]{7}$",
}
"""The mobile numbers of each country; the service takes every number that is valid there."""


STABLE = ("USDC", "USDT", "CUSD")


FIATS = tuple(reference.FIATS)


MOBILE = tuple(code for code in FIATS if reference.has_method(code, "mobile_money"))


FIAT_DECIMALS = 2


def amount(decimals: int) -> Schema:
    """An amount with at most so many decimals (decision H7)."""
    return {"type": "string", "pattern": rf"^[0-9]{{1,18}}(\.[0-9]{{1,{decimals}}})?$"}


def one(value: str) -> Schema:
    return {"type": "string", "const": value}


def some(values: Any) -> Schema:
    values = list(values)
    return one(values[0]) if len(values) == 1 else {"type": "string", "enum": values}


def decimals_of(network: str) -> int:
    """All assets of a network have the same precision (decision H8)."""
    (found,) = {currency.decimals for (_, where), currency in reference.ASSETS.items() if where == network}
    return found


def methods(mobile: str = "mobile_money", bank: str = "bank_transfer") -> list[tuple[str, tuple[str, ...]]]:
    return [(mobile, MOBILE), (bank, FIATS)]


def method_of(code: str) -> Schema:
    return some([method for method, codes in methods() if code in codes])


def address(*networks: str) -> Schema:
    patterns = "|".join(ADDRESSES[network].strip("^$") for network in networks)
    return {
        "type": "string",
        "pattern": f"^({patterns})$",
        "examples": [ADDRESS_EXAMPLES[network] for network in networks],
    }


def phone(*countries: str) -> Schema:
    patterns = "|".join(PHONES[country].strip("^$") for country in countries)
    return {"type": "string", "pattern": f"^({patterns})$"}


MOBILE_COUNTRIES = tuple(reference.COUNTRY_OF[code] for code in MOBILE)


def identifier(prefix: str) -> Schema:
    return {"type": "string", "pattern": f"^{prefix}[0-9a-z]+$"}


_YEAR = "[1-9][0-9]{3}"
_LEAP_YEAR = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)"
DAY = (
    f"({_YEAR}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
    f"|{_LEAP_YEAR}-02-29)"
)
"""A day that exists, as YYYY-MM-DD."""


DATE = {"type": "string", "format": "date", "pattern": f"^{DAY}$"}


def placed(codes: Any, network: str, at: str = "") -> dict[str, Schema]:
    """The fields symbol and network of one or several assets; `at` is the object that has them (`source.`)."""
    return {f"{at}symbol": some([codes] if isinstance(codes, str) else codes), f"{at}network": one(upper(network))}


def counted(currencies: Any, network: str = "") -> dict[str, Schema]:
    """The fields of an amount in assets of a network, or in fiat currencies."""
    decimals = decimals_of(network) if network else FIAT_DECIMALS
    named = some([currencies] if isinstance(currencies, str) else currencies)
    return {"amount": amount(decimals), "amount_currency": named}


def stable_assets() -> list[tuple[str, str]]:
    return [(code, network) for code, network in reference.ASSETS if code in STABLE]
