"""Network codes: one canonical name in the code (`stellar`, `celo`, `bitcoin`), and four spellings in the API. Network
stats, rates, ramp quotes and the transactions filter use the canonical names and need no table in this module.
"""

from __future__ import annotations

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
