"""Account balances: opening balances, the action that sets a balance, and GET /wallet/assets (decision R8)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from simulator.engine.records.listing import DATES, Listing, ListRequest, page_of
from simulator.engine.records.records import present
from simulator.engine.rows.action import Action, ActionCall, Initial
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.text.fields import Wrong, wrong
from simulator.engine.text.shapes import Page
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import Clock
from simulator.kernel.journal import Cause
from simulator.kernel.ledger import OUTSIDE, Ledger, available, held
from simulator.kernel.money import Currency, subtract
from simulator.kernel.world import Wiring, World
from simulator.providers.ramp.balance import bodies, shapes
from simulator.providers.ramp.balance.records import AssetBalance
from simulator.providers.ramp.balance.rendering import render_asset
from simulator.providers.ramp.deposit_wallets import default_wallet
from simulator.providers.ramp.reference import ASSETS, asset
from simulator.providers.ramp.shapes import WALLET, upper
from simulator.providers.ramp.transactions import holder

OPENING = (
    ("USDC", "stellar", Decimal(1000)),
    ("XLM", "stellar", Decimal(5000)),
    ("CELO", "celo", Decimal(1000)),
    ("CUSD", "celo", Decimal(1000)),
    ("USDC", "celo", Decimal(1000)),
    ("USDT", "celo", Decimal(1000)),
    ("BTC", "bitcoin", Decimal("0.5")),
)

ASSET_LIST = Listing(
    search=lambda row: (row.symbol, upper(row.network), row.address, row.memo),
    searched="symbol, network, address and memo",
    sorts={**DATES, "amount": lambda row: row.amount},
    basis="L2",
)


def set_up(world: World) -> None:
    """Set the opening balances of a new account in both environments."""
    world.ledger.begin_as(_opening(world.now_ms, world.environments))


@lru_cache(maxsize=16)
def _opening(at_ms: int, environments: tuple[str, ...]) -> Ledger:
    """Return the opening ledger of an account that is created at the given time. Worlds that start at the same time
    share it: its entries are half of the time to create a world, and a third of the memory of an idle one.
    """
    fresh = World("", 0, Clock(at_ms), Wiring())
    with fresh.change(Cause("start", "world")):
        for environment in environments:
            owner = holder(environment)
            for code, network, amount in OPENING:
                key = ASSETS[code, network].key
                fresh.ledger.move(at_ms, "opening", owner, key, amount, OUTSIDE, available(owner))
    return fresh.ledger


def balance_of(world: World, environment: str, currency: Currency, sequence: int = 0) -> AssetBalance:
    """Return the current balance of one asset, with the deposit wallet for that asset."""
    owner, ledger = holder(environment), world.ledger
    network = present(currency.network)
    pots = (available(owner), held(owner))
    wallet = default_wallet(world, environment, network)
    return AssetBalance(
        id=currency.key,
        sequence=sequence,
        created_at_ms=world.started_at_ms,
        updated_at_ms=max(ledger.touched_at_ms(pot, currency.key) or world.started_at_ms for pot in pots),
        symbol=currency.code,
        network=network,
        available=ledger.balance(pots[0], currency.key),
        held=ledger.balance(pots[1], currency.key),
        address=None if wallet is None else wallet.address,
        memo=None if wallet is None else wallet.memo,
    )


@OperationDecorator("Reference data", group="wallet")(
    "GET /wallet/assets", "The balance of every asset", answer=lambda: shapes.AssetBalanceList, query=ASSET_LIST
)
def list_assets(call: Call[None, ListRequest, None]) -> Page[shapes.AssetBalanceShape]:
    """Lists the balance of every asset on every network, including zero balances. Each item contains the total
    balance, the available amount, the amount held for operations in progress, and the deposit address (and memo) for
    the asset.
    """
    balances = [
        balance_of(call.world, call.environment, currency, number) for number, currency in enumerate(ASSETS.values())
    ]
    if assumes(call.world, "asset-list", "only_what_is_held"):
        balances = [row for row in balances if row.amount]
    return page_of(call.query, balances, lambda row: render_asset(call.world, row))


def check_balance(values: bodies.BalanceParameters) -> Iterator[Wrong]:
    """Yield the errors in the parameters of set_balance."""
    currency = asset(values.symbol, WALLET[values.network]) if values.network in WALLET else None
    if values.network not in WALLET:
        yield wrong("network", f"it must be one of {', '.join(WALLET)}")
    elif currency is None:
        yield wrong("symbol", f"it is not available on {values.network}")
    elif not currency.accepts(values.amount):
        yield wrong("amount", f"{currency.code} amounts have at most {currency.decimals} decimals")


def set_balance(call: ActionCall[None, bodies.BalanceParameters]) -> shapes.AssetBalanceShape:
    """Set the available balance against the account for third parties. Held amounts do not change."""
    world, values = call.world, call.parameters
    currency = ASSETS[values.symbol, WALLET[values.network]]
    owner = holder(call.environment)
    pot = available(owner)
    change = subtract(Decimal(values.amount), world.ledger.balance(pot, currency.key))
    world.ledger.move(world.now_ms, "set_balance", owner, currency.key, change, OUTSIDE, pot)
    return render_asset(world, balance_of(world, call.environment, currency))


ACTIONS = (
    Action(
        "set_balance",
        "sets the available balance",
        set_balance,
        parameters=lambda: bodies.BalanceParameters,
        check=check_balance,
        initially=Initial("balances", "Balances that the account has", 2),
    ),
)
