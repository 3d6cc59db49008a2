"""Reference data: currencies, countries, providers, banks, rates, networks, addresses and phone numbers.

Chapter "Reference data" of the specification, decisions H8, M1, R1 to R7 and S22.
"""

from __future__ import annotations

from simulator.resources.reference.addresses import is_address, new_address, new_memo, new_tx_hash
from simulator.resources.reference.networks import network_status, require_network
from simulator.resources.reference.phones import is_phone
from simulator.resources.reference.rates import convert_mid, mid_rate, ramp_rate, swap_rate
from simulator.resources.reference.records import (
    ASSET_CODES,
    ASSETS,
    BANKS,
    COUNTRIES,
    COUNTRY_OF,
    FIATS,
    METHODS,
    NETWORK_ASSETS,
    NETWORKS,
    PROVIDER_CODES,
    PROVIDERS,
    RAMP_ASSETS,
    RAMP_NETWORKS,
    Bank,
    CurrencyListing,
    Provider,
    asset,
    bank,
    fiat,
    has_method,
    is_account_number,
    listing,
    provider,
)
from simulator.wire.room import Room

ROOM = Room("reference")

ASSUMPTIONS: tuple[tuple[str, str], ...] = ()

__all__ = [
    "ASSETS",
    "ASSET_CODES",
    "ASSUMPTIONS",
    "BANKS",
    "COUNTRIES",
    "COUNTRY_OF",
    "FIATS",
    "METHODS",
    "NETWORKS",
    "NETWORK_ASSETS",
    "PROVIDERS",
    "PROVIDER_CODES",
    "RAMP_ASSETS",
    "RAMP_NETWORKS",
    "ROOM",
    "Bank",
    "CurrencyListing",
    "Provider",
    "asset",
    "bank",
    "convert_mid",
    "fiat",
    "has_method",
    "is_account_number",
    "is_address",
    "is_phone",
    "listing",
    "mid_rate",
    "network_status",
    "new_address",
    "new_memo",
    "new_tx_hash",
    "provider",
    "ramp_rate",
    "require_network",
    "swap_rate",
]
