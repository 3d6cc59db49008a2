"""GET /currencies: the limits and fees of each asset, taken from the active fee products (decisions R7, M13, M15)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from typing_extensions import TypedDict

from simulator.engine.records.conditions import field_values
from simulator.engine.records.listing import Filter, Listing, ListRequest, by_field, page_of
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.text.shapes import AmountText, Assumed, Clauses, Count, Number, OneOf, Page, page_shape
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import Currency, format_decimal
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.fees.pricing import formula, match
from simulator.providers.ramp.fees.records import FeeProduct
from simulator.providers.ramp.reference import ASSETS, LISTINGS, CurrencyListing, mid_rate, network_status
from simulator.providers.ramp.shapes import ASSET_CODES, WALLET_NETWORKS, AssetText, WalletNetwork, upper

USD = "USD"
LISTED_FIAT = "KES"
"""The fiat currency that `buy_fees` refers to."""
LISTED = {"active": "Wallet operations can use it.", "inactive": "Its network is down."}


class Price(TypedDict):
    """The price of one unit of an asset."""

    currency: str
    """The currency of `amount`, which is always the US dollar."""
    amount: AmountText
    """The price of one unit."""


class CurrencyRecord(TypedDict):
    """An asset on a network, with its status, limits and costs."""

    symbol: AssetText
    """The code of the asset."""
    network: WalletNetwork
    """The network, spelled as in wallet operations."""
    name: str
    """A display name."""
    decimals: Count
    """The number of decimals that an amount may have."""
    status: Annotated[str, OneOf(LISTED)]
    """The status for wallet operations. An asset is inactive if its network is down."""
    price: Price
    """The value of one unit."""
    min_withdraw: AmountText | None
    """The smallest amount of a send, in the asset. Null if the asset cannot currently be sent."""
    max_withdraw: AmountText | None
    """The largest amount of a send, in the asset. Null if the asset cannot currently be sent."""
    send_fees: AmountText | None
    """The fee for the smallest send, in the asset. Null if the asset cannot currently be sent."""
    deposit_fees: AmountText
    """The fee for a deposit, in the asset."""
    swap_fees: AmountText | None
    """The platform fee for a swap from this asset, in percent. Null if the asset cannot currently be swapped."""
    buy_fees: AmountText | None
    """The platform fee for a purchase of this asset, in percent. Null if the asset cannot currently be bought."""
    slippage: Number
    """The default slippage tolerance of a swap quote, in percent."""
    confirmations: Count
    """The number of confirmations that an on-chain deposit needs to be credited."""


CurrencyList = page_shape(
    "CurrencyList", CurrencyRecord, "the currency listing", "The assets of this page, each on one network."
)


@dataclass(frozen=True, slots=True)
class CurrencyRow:
    """One item of the currency listing, for sorting and filtering."""

    asset: Currency
    listing: CurrencyListing
    symbol: str
    network: str
    status: str
    sequence: int
    created_at_ms: int
    updated_at_ms: int


def _in_force(
    world: World, environment: str, product: str, currency: Currency, bought: Currency | None = None
) -> FeeProduct | None:
    """Return the active product that determines the price of an operation, or None. For a purchase, `bought` is the
    asset to buy, and the product for mobile money is used.
    """
    try:
        if bought is None:
            return match(world, environment, product, currency)
        network, asset = bought.network, bought.code
        return match(world, environment, product, currency, network=network, asset=asset, payment_method="mobile_money")
    except ApiError:
        return None


def render_currency(world: World, environment: str, row: CurrencyRow) -> CurrencyRecord:
    """Return one item of the currency listing. If there is no active product for a field, the field is null."""
    asset = row.asset
    sent = _in_force(world, environment, "send", asset)
    swapped = _in_force(world, environment, "swap", asset)
    bought = _in_force(world, environment, "buy", reference.FIATS[LISTED_FIAT], asset)
    least = None if sent is None else sent.limits.min_amount
    cost = None if sent is None else formula(world, environment, sent, asset)(sent.limits.min_amount).total
    return {
        "symbol": row.symbol,
        "network": row.network,
        "name": row.listing.name,
        "decimals": row.listing.decimals,
        "status": row.status,
        "price": {"currency": USD, "amount": format_decimal(mid_rate(world, environment, row.symbol, USD))},
        "min_withdraw": _shown(least),
        "max_withdraw": _shown(None if sent is None else sent.limits.max_amount),
        "send_fees": _shown(cost),
        "deposit_fees": format_decimal(row.listing.deposit_fees),
        "swap_fees": _shown(None if swapped is None else swapped.percentage),
        "buy_fees": _shown(None if bought is None else bought.percentage),
        "slippage": row.listing.slippage,
        "confirmations": row.listing.confirmations,
    }


def _shown(figure: Decimal | None) -> str | None:
    return None if figure is None else format_decimal(figure)


CURRENCIES = Listing[CurrencyRow](
    filters=(
        by_field("symbol", ASSET_CODES, description="Only this asset, on all its networks."),
        by_field("network", WALLET_NETWORKS, description="Only the assets of this network."),
        Filter(
            "status",
            field_values("status"),
            LISTED,
            many=True,
            description="Only assets that can, or cannot, be used now.",
        ),
    ),
    search=lambda row: (row.symbol, row.listing.name, row.network),
    searched="symbol, name and network",
    basis="R7",
)


@OperationDecorator("Reference data")(
    "GET /currencies",
    "The currency listing: assets by network with their limits and fees",
    answer=lambda: CurrencyList,
    query=CURRENCIES,
)
def list_currencies(call: Call[None, ListRequest, None]) -> Page[CurrencyRecord]:
    """Lists every asset on every network with its status, limits and costs. The limits and costs come from the active
    fee products. The status is `inactive` while the network is down.
    """
    world, environment = call.world, call.environment
    return page_of(call.query, _rows(world, environment), lambda row: render_currency(world, environment, row))


def _rows(world: World, environment: str) -> list[CurrencyRow]:
    """Return one item for each asset. A list starts with the highest number, which the file's first asset gets."""
    found, start_ms = [], world.started_at_ms
    for sequence, (code, network) in enumerate(reversed(ASSETS)):
        status = "inactive" if network_status(world, environment, network) == "down" else "active"
        asset, row = ASSETS[code, network], LISTINGS[code, network]
        found.append(CurrencyRow(asset, row, code, upper(network), status, sequence, start_ms, start_ms))
    return found


CURRENCY_CLAUSES: Clauses = {Assumed("R7"): (CurrencyRecord, Price), Assumed("L6"): (CurrencyList,)}
