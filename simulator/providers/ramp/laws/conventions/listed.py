"""The lists under test: their filters, how to check that an item matches a filter, and how to create items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from simulator.conformance.bench import Bench, MissingData
from simulator.conformance.service import pages
from simulator.engine.text.json import Shown
from simulator.kernel.dataclass import dataclass
from simulator.providers.ramp.laws import stock

Matches = Callable[[Shown, str], bool]


def _is(name: str) -> Matches:
    return lambda row, value: row.get(name) in value.split(",")


def _same_network(name: str) -> Matches:
    """Return a function that checks an item's network against a filter value. The check ignores case, because wallet
    transactions use uppercase network names.
    """
    return lambda row, value: str(row.get(name) or "").lower() == value.lower()


def _swap_side(name: str, matches: Matches) -> Matches:
    """Return a function that checks an item with `matches`. A swap also passes if one of its two sides passes."""

    def either(row: Shown, value: str) -> bool:
        sides = [row.get("from"), row.get("to")]
        return matches(row, value) or any(isinstance(side, Mapping) and matches(side, value) for side in sides)

    return either


def _asset_of(row: Shown, value: str) -> bool:
    sides = [side.get("symbol") for side in (row.get("from"), row.get("to")) if isinstance(side, Mapping)]
    return value in [row.get("asset"), row.get("symbol"), *sides]


def amount_of(row: Shown) -> Decimal:
    """Return the amount by which lists filter and sort an item: source_amount if the item has this field, from.amount
    for a swap, and otherwise amount (decision L3).
    """
    side = row.get("from")
    value = row.get("source_amount") or (side.get("amount") if isinstance(side, Mapping) else None)
    return Decimal(str(value if value is not None else row["amount"]))


def _order_network(row: Shown, value: str) -> bool:
    return value.lower() in [str(row.get("network")).lower(), str(row.get("network_to")).lower()]


def _order_asset(row: Shown, value: str) -> bool:
    return value in [row.get("asset"), row.get("from_asset"), row.get("to_asset")]


def _null_or(name: str) -> Matches:
    """Return a function that checks an item's field against a filter value. Null passes, because null means that a fee
    product applies to all values.
    """
    return lambda row, value: row.get(name) in (value, None)


def _detail(name: str) -> Matches:
    return lambda row, value: row.get("details", {}).get(name) == value


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
            "type": _is("type"), "status": _is("status"), "network": _swap_side("network", _same_network("network")),
            "currency": _asset_of, "min_amount": lambda row, value: amount_of(row) >= Decimal(value),
            "max_amount": lambda row, value: amount_of(row) <= Decimal(value),
        },
        ("created_at", "updated_at", "amount"), "GET /transactions/{id}",
    ),
    Listed(
        "GET /orders",
        {"order_type": _is("order_type"), "status": _is("status"), "fiat_currency": _is("fiat_currency"),
         "network": _order_network, "asset": _order_asset},
        ("created_at",), "", "order_id",
    ),
    Listed(
        "GET /beneficiaries",
        {"type": _is("type"), "country": _is("country"), "fiat_currency": _is("fiat_currency"),
         "network": _detail("network")},
        ("created_at", "name"), "GET /beneficiaries/{id}",
    ),
    Listed("GET /wallets", {"network": _is("network")}, ("created_at",), "GET /wallets/{id}"),
    Listed(
        "GET /recurring-payments", {"type": _is("type"), "status": _is("status")}, ("created_at",),
        "GET /recurring-payments/{id}",
    ),
    Listed(
        "GET /fees",
        {"product": _is("product"), "network": _null_or("network"), "asset": _is("asset"),
         "fiat_currency": _is("fiat_currency"), "payment_method": _is("payment_method"), "status": _is("status")},
        (), "GET /fees/{id}", dates=False,
    ),
    Listed("GET /webhooks", {"status": _is("status")}, ("created_at",), "GET /webhooks/{id}"),
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
    stock.onramp(bench)
    stock.offramp(bench)
    stock.beneficiary(bench, stock.BANK_BENEFICIARY)
    stock.beneficiary(bench, stock.ADDRESS_BENEFICIARY)
    for _ in range(3):
        stock.sent(bench)
    stock.swap(bench)
    stock.buy(bench)
    stock.withdrawal(bench)
    for network in ("stellar", "celo", "bitcoin"):
        stock.wallet(bench, network)
    stock.recurring(bench)


def whole(bench: Bench, one: Listed, query: Mapping[str, object] | None = None) -> list[Shown]:
    if bench.total(one.operation, query) > WHOLE:
        raise MissingData(f"{one.operation} has more than {WHOLE} rows")
    return [row for page in pages(bench.service, one.operation, query) for row in page.items]
