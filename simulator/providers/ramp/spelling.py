"""Network codes: one canonical name inside (`stellar`, `celo`, `bitcoin`), four spellings on the wire.

The table "Network code spelling differs by endpoint group" of the specification. Network stats, rates, ramp quotes and
the transactions filter spell the canonical names, so they need no table here.
"""

from __future__ import annotations

WALLET = {"STELLAR": "stellar", "CELO": "celo", "BITCOIN": "bitcoin"}
"""Wallet operations and the currency listing."""

DEPOSIT = {"stellar": "stellar", "celo": "celo", "bitcoin": "bitcoin"}
"""Deposit wallets."""

SHORT = {"stellar": "stellar", "celo": "celo", "btc": "bitcoin"}
"""Beneficiaries of type wallet_address and fee products."""


def upper(network: str) -> str:
    """The wallet operations' spelling of a canonical network."""
    return network.upper()


def short(network: str) -> str:
    """The spelling of fee products and beneficiaries."""
    return "btc" if network == "bitcoin" else network
