"""Reference data: currencies, countries, providers, banks, rates, networks, addresses and phone numbers (section
"Reference data").
"""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.providers.ramp.reference import networks, operations, rates, shapes, states
from simulator.providers.ramp.reference.addresses import (
    checksummed,
    encode_segwit,
    encode_stellar,
    is_address,
    is_phone,
    is_tx_hash,
    new_address,
    new_memo,
    new_tx_hash,
    require_tx_hash,
)
from simulator.providers.ramp.reference.networks import DEGRADED_SLOWDOWN, network, network_status, require_network
from simulator.providers.ramp.reference.rates import (
    FIXED,
    LARGEST_RATE,
    SMALLEST_RATE,
    USD,
    convert_mid,
    cross_rates,
    mid_rate,
    put_rates,
    ramp_rate,
    rates_over_time,
    swap_rate,
)
from simulator.providers.ramp.reference.records import (
    ASSET_CODES,
    ASSETS,
    BANKS,
    COUNTRIES,
    COUNTRY_OF,
    FIAT_FACTS,
    FIATS,
    LISTINGS,
    NETWORK_ASSETS,
    NETWORK_FACTS,
    NETWORKS,
    PROVIDER_CODES,
    PROVIDERS,
    RAMP_ASSET_CODES,
    RAMP_ASSETS,
    CurrencyListing,
    RampAsset,
    asset,
    currency_of,
    fiat,
    has_method,
    require_account_number,
    require_bank,
)
from simulator.providers.ramp.reference.states import (
    INVALID_PHONE_NUMBER,
    INVALID_WALLET_ADDRESS,
    UNSUPPORTED_ASSET,
    UNSUPPORTED_NETWORK,
    UNSUPPORTED_PAIR,
)

ROOM = Room(
    "reference",
    (operations.get_network_stats, operations.get_rate),
    operations.ACTIONS,
    tables=(rates.RATES, rates.CHANGES, rates.BEFORE),
    kinds=(
        Kind(
            "network",
            networks.NETWORK_ROWS,
            lambda world, record: shapes.render_network(world, record),
            states.NETWORK,
            lambda: shapes.NetworkObject,
            example_of(__package__, "network"),
            standing=networks.standing_network,
        ),
    ),
    verify=lambda world: shapes.verify(world),
    clauses=lambda: shapes.CLAUSES,
    events=states.EVENTS,
    errors=states.ERRORS,
)
