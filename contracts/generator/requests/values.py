"""Restrictions of request fields: codes, amounts, addresses, phone numbers, days."""

from __future__ import annotations

from typing import Any

from contracts.generator.schemas import Schema
from simulator.engine.text.shapes import explained
from simulator.host import vocabulary
from simulator.providers.ramp import reference
from simulator.providers.ramp.shapes import CURRENCY_CODES, WALLET_NETWORKS

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
    "KE": r"^\+254(7[0-9]{2}|10[0-8]|11[0-9])[0-9]{6}$",
    "TZ": r"^\+255(6[125-9]|7[0-9])[0-9]{7}$",
    "NG": r"^\+234(70[13-9]|71[0-9]|80[1-9]|81[0-8]|90[1-9]|91[0-6])[0-9]{7}$",
    "ZA": r"^\+27(6[0-9]|7[0-9]|8[1-5])[0-9]{7}$",
    "ZM": r"^\+260(5[5-8]|7[5-9]|9[5-8])[0-9]{7}$",
}
"""The mobile numbers of each country, as its numbering plan has them."""


STABLE = ("USDC", "USDT", "CUSD")


FIATS = tuple(reference.FIATS)


MOBILE = tuple(code for code in FIATS if reference.has_method(code, "mobile_money"))


FIAT_DECIMALS = 2


def amount(decimals: int) -> Schema:
    """An amount with at most so many decimals (decision H7)."""
    return {"type": "string", "pattern": rf"^[0-9]{{1,18}}(\.[0-9]{{1,{decimals}}})?$"}


def one(value: str) -> Schema:
    return {"type": "string", "const": value}


_MEANINGS = {
    **CURRENCY_CODES,
    **WALLET_NETWORKS,
    **vocabulary().event_meanings,
    "*": "All events, those too that are new.",
}
"""The meanings of codes in string fields."""


def some(values: Any) -> Schema:
    """One of several codes, each with its meaning."""
    values = list(values)
    if len(values) == 1:
        return one(values[0])
    schema = {"type": "string", "enum": values}
    return explained(schema, _MEANINGS) if all(value in _MEANINGS for value in values) else schema


def decimals_of(network: str) -> int:
    """All assets of a network have the same precision (decision H8)."""
    (found,) = {currency.decimals for (_, where), currency in reference.ASSETS.items() if where == network}
    return found


def methods(mobile: str = "mobile_money", bank: str = "bank_transfer") -> list[tuple[str, tuple[str, ...]]]:
    return [(mobile, MOBILE), (bank, FIATS)]


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

ZONE = {"type": "string", "pattern": r"^[A-Z][A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$"}
"""The name of a time zone in the IANA database, as far as a pattern can say it."""

LIGHTNING_ADDRESS = {"type": "string", "pattern": r"^[a-z0-9._-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$"}
