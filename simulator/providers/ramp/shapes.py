"""Values that several packages share, with their descriptions: currencies, countries, payment methods and networks.

A network has one canonical name in the code (`stellar`, `celo`, `bitcoin`), and four spellings in the API.
"""

from __future__ import annotations

from typing import Annotated, Literal

from simulator.engine.text.shapes import Assumed, Format, Meanings, OneOf

FIAT_CODES = {
    "KES": "Kenyan shilling.",
    "TZS": "Tanzanian shilling.",
    "NGN": "Nigerian naira.",
    "ZAR": "South African rand.",
    "ZMW": "Zambian kwacha.",
}
COUNTRY_CODES = {"KE": "Kenya.", "TZ": "Tanzania.", "NG": "Nigeria.", "ZA": "South Africa.", "ZM": "Zambia."}
ASSET_CODES = {
    "XLM": "Lumen, the native asset of stellar.",
    "USDC": "USD Coin, worth a US dollar; on stellar and celo.",
    "CELO": "The native asset of celo.",
    "USDT": "Tether, worth a US dollar; on celo.",
    "CUSD": "Celo Dollar, worth a US dollar; on celo.",
    "BTC": "Bitcoin.",
}
CURRENCY_CODES = {**FIAT_CODES, **ASSET_CODES}
DIRECTIONS = {
    "onramp": "Fiat becomes crypto, delivered to an external wallet.",
    "offramp": "Crypto becomes fiat, paid out to a saved beneficiary.",
}
METHODS = {
    "mobile_money": "A mobile money account, reached by its phone number.",
    "bank_transfer": "A transfer from or to a bank account.",
}
RAMP_NETWORKS = {"stellar": "Stellar, with XLM and USDC.", "celo": "Celo, with CELO, USDT, USDC and CUSD."}
CANONICAL_NETWORKS = {**RAMP_NETWORKS, "bitcoin": "Bitcoin, with BTC."}
SHORT_NETWORKS = {**RAMP_NETWORKS, "btc": "Bitcoin, with BTC."}
WALLET_NETWORKS = {name.upper(): text for name, text in CANONICAL_NETWORKS.items()}
FiatCode = Annotated[Literal["KES", "TZS", "NGN", "ZAR", "ZMW"], Meanings(FIAT_CODES)]
Country = Annotated[Literal["KE", "TZ", "NG", "ZA", "ZM"], Meanings(COUNTRY_CODES)]
Direction = Annotated[Literal["onramp", "offramp"], Meanings(DIRECTIONS)]
Method = Annotated[Literal["mobile_money", "bank_transfer"], Meanings(METHODS)]
RampNetwork = Annotated[Literal["stellar", "celo"], Meanings(RAMP_NETWORKS)]
ShortNetwork = Annotated[Literal["stellar", "celo", "btc"], Meanings(SHORT_NETWORKS)]
CountryText = Annotated[str, OneOf(COUNTRY_CODES), Assumed("R1", "enum")]
WalletNetwork = Annotated[str, OneOf(WALLET_NETWORKS)]
"""A network, spelled as in wallet operations and the currency listing."""
ShortNetworkText = Annotated[str, OneOf(SHORT_NETWORKS)]
FiatText = Annotated[str, OneOf(FIAT_CODES)]
AssetText = Annotated[str, OneOf(ASSET_CODES)]
CurrencyText = Annotated[str, OneOf(CURRENCY_CODES)]
PhoneText = Annotated[str, Format(pattern=r"^\+[1-9][0-9]{6,14}$"), Assumed("R4", "pattern")]
OrderNumber = Annotated[str, Format(pattern=r"^ORD-[0-9]{8,}$"), Assumed("order-number", "pattern")]

WALLET = {"STELLAR": "stellar", "CELO": "celo", "BITCOIN": "bitcoin"}
"""The spelling in wallet operations and the currency listing."""
DEPOSIT = {"stellar": "stellar", "celo": "celo", "bitcoin": "bitcoin"}
"""The spelling in deposit wallets."""
SHORT = {"stellar": "stellar", "celo": "celo", "btc": "bitcoin"}
"""The spelling in fee products, and in beneficiaries of type wallet_address."""


def upper(network: str) -> str:
    """Return the name of a network in wallet operations, given its canonical name."""
    return network.upper()


def short(network: str) -> str:
    """Return the name of a network in fee products and beneficiaries, given its canonical name."""
    return "btc" if network == "bitcoin" else network
