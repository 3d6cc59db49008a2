"""The lists under test: their filters, how to check that an item matches a filter, and how to create items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial

from simulator.conformance.bench import Bench, MissingData
from simulator.conformance.service import pages
from simulator.engine.text.json import Shown
from simulator.kernel.dataclass import dataclass
from simulator.providers.ramp.laws import stock

Matches = Callable[[Shown, str], bool]


def _is(*places: str, any_case: bool = False, or_null: bool = False) -> Matches:
    """Return a function that returns True if one of these fields of an item has one of the values of a filter.

    With `any_case`, case is ignored, because wallet transactions use uppercase network names. With `or_null`, null also
    passes, because null means that a fee product applies to all values.
    """

    def matches(row: Shown, value: str) -> bool:
        found = {string_at(row, place) for place in places}
        if any_case:
            found, value = {text.lower() for text in found}, value.lower()
        return not found.isdisjoint(value.split(",")) or (or_null and found == {""})

    return matches


_is_network = partial(_is, any_case=True)


def string_at(row: Shown, place: str) -> str:
    """Return the string at a dotted path in an item, or "" if there is none."""
    value: object = row
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return str(value or "")


def amount_of(row: Shown) -> Decimal:
    """Return the amount by which lists filter and sort an item: source_amount if the item has this field, from.amount
    for a swap, and otherwise amount (decision L3).
    """
    side = row.get("from")
    value = row.get("source_amount") or (side.get("amount") if isinstance(side, Mapping) else None)
    return Decimal(str(value if value is not None else row["amount"]))


@dataclass(frozen=True)
class Listed:
    """A list operation under test, with its filters and sort fields."""

    operation: str
    filters: Mapping[str, Matches]
    sorts: tuple[str, ...] = ("created_at",)
    shown: str = ""
    """The operation that reads an item by its id."""
    key: str = "id"
    dates: bool = True


LISTS = (
    Listed(
        "GET /transactions",
        {
            "type": _is("type"), "status": _is("status"),
            "network": _is_network("network", "from.network", "to.network"),
            "currency": _is("asset", "symbol", "from.symbol", "to.symbol"),
            "min_amount": lambda row, value: amount_of(row) >= Decimal(value),
            "max_amount": lambda row, value: amount_of(row) <= Decimal(value),
        },
        ("created_at", "updated_at", "amount"), "GET /transactions/{id}",
    ),
    Listed(
        "GET /orders",
        {"order_type": _is("order_type"), "status": _is("status"), "fiat_currency": _is("fiat_currency"),
         "network": _is_network("network", "network_to"), "asset": _is("asset", "from_asset", "to_asset")},
        key="order_id",
    ),
    Listed(
        "GET /beneficiaries",
        {"type": _is("type"), "country": _is("country"), "fiat_currency": _is("fiat_currency"),
         "network": _is("details.network")},
        ("created_at", "name"), "GET /beneficiaries/{id}",
    ),
    Listed("GET /wallets", {"network": _is("network")}, shown="GET /wallets/{id}"),
    Listed("GET /recurring-payments", {"type": _is("type"), "status": _is("status")},
           shown="GET /recurring-payments/{id}"),
    Listed(
        "GET /fees",
        {"product": _is("product"), "network": _is("network", or_null=True), "asset": _is("asset"),
         "fiat_currency": _is("fiat_currency"), "payment_method": _is("payment_method"), "status": _is("status")},
        (), "GET /fees/{id}", dates=False,
    ),
    Listed("GET /webhooks", {"status": _is("status")}, shown="GET /webhooks/{id}"),
)  # fmt: skip

VALUES = {
    "type": ("onramp", "offramp", "deposit", "withdraw", "send", "buy", "swap", "bank_account", "phone_number",
             "wallet_address", "phone_number,wallet_address"),
    "order_type": ("swap", "send", "buy", "withdraw", "onramp"),
    "status": ("awaiting_payment", "awaiting_deposit", "processing", "completed", "failed", "expired", "refunded",
               "awaiting_payment,processing", "successful,pending", "successful", "pending", "active", "draft",
               "paused", "inactive", "enabled", "disabled"),
    "network": ("stellar", "celo", "bitcoin", "btc"),
    # A buy does not contain its fiat currency, so only assets can be checked.
    "currency": ("USDC", "USDT"),
    "asset": ("USDC", "BTC"),
    "fiat_currency": ("KES", "NGN"),
    "country": ("KE", "NG"),
    "min_amount": ("100",),
    "max_amount": ("100",),
    "product": ("onramp", "swap,send", "deposit"),
    "payment_method": ("bank_account", "phone_number"),
}  # fmt: skip
"""Values for the filters. A list may refuse some of them. These values are skipped."""

SEARCHED = {
    "GET /transactions": ("reference", "id", "order_id", "tx_hash"),
    "GET /beneficiaries": ("name", "details.phone_number", "details.account_number", "details.bank_name",
                           "details.wallet_address"),
    "GET /wallets": ("reference",),
    "GET /recurring-payments": ("reference",),
}  # fmt: skip
"""The lists that support a search, and the fields that are searched."""

WHOLE = 500
"""The maximum number of items in a list that is read completely."""


def stocked(bench: Bench) -> None:
    """Create items so that each filter excludes some of them."""
    if not bench.writes or (bench.total("GET /transactions") >= 12 and bench.total("GET /beneficiaries") >= 5):
        return
    stock.transactions(bench)
    for body in (stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY):
        stock.beneficiary(bench, body)
    for _ in range(2):
        stock.sent(bench)
    for network in ("stellar", "celo", "bitcoin"):
        stock.wallet(bench, network)
    stock.recurring(bench)


def whole(bench: Bench, one: Listed, query: Mapping[str, object] | None = None) -> list[Shown]:
    if bench.total(one.operation, query) > WHOLE:
        raise MissingData(f"{one.operation} has more than {WHOLE} rows")
    return [row for page in pages(bench.service, one.operation, query) for row in page.items]
