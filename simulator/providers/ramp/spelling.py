"""Network codes: one canonical name inside (`stellar`, `celo`, `bitcoin`), four spellings in the API.

The table "Network code spelling differs by endpoint group" of the specification. Network stats, rates, ramp quotes and
the transactions filter use the canonical names, so they need no table here.
"""

from __future__ import annotations

WALLET = {"STELLAR": "stellar", "CELO": "celo", "BITCOIN": "bitcoin"}
"""Spelling of wallet operations and the currency listing."""

DEPOSIT = {"stellar": "stellar", "celo": "celo", "bitcoin": "bitcoin"}
"""Spelling of deposit wallets."""

SHORT = {"stellar": "stellar", "celo": "celo", "btc": "bitcoin"}
"""Spelling of fee products and of beneficiaries of type wallet_address."""


def upper(network: str) -> str:
    """Return a canonical network in the spelling of wallet operations."""
    return network.upper()


def short(network: str) -> str:
    """Return a canonical network in the spelling of fee products and beneficiaries."""
    return "btc" if network == "bitcoin" else network
