"""Functions that create the resource kinds of transactions and quotes. Each package supplies its own state table and
response model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.engine.rows.kind import Arrival, Kind
from simulator.engine.text.json import Shown
from simulator.kernel.machine import Machine
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.transactions.quotes import QUOTE, Q
from simulator.providers.ramp.transactions.records import TRANSACTIONS, Transaction


def transaction_kind(
    name: str,
    render: Callable[[World, Transaction], Shown],
    machine: Machine,
    shape: Callable[[], object],
    *,
    listed_as: tuple[str, ...] = (),
    example: Callable[[], Mapping[str, object]] = dict,
    receives: Callable[[World, Transaction, Arrival], bool] | None = None,
) -> Kind:
    """Return the resource kind for one type of transaction."""
    return Kind(
        name,
        TRANSACTIONS,
        render,
        machine,
        shape,
        example,
        family="transaction",
        listed_as=listed_as,
        prefix="txn_",
        refers=("quote_id", "beneficiary_id", "deposit_id", "recurring_payment_id"),
        parent="recurring_payment_id",
        receives=receives,
    )


def quote_kind(
    name: str,
    table: TableKey[Q],
    render: Callable[[World, Q], Shown],
    shape: Callable[[], object],
    prefix: str,
    *,
    short: str = "",
    refers: tuple[str, ...] = (),
    example: Callable[[], Mapping[str, object]] = dict,
) -> Kind:
    """Return the resource kind for one type of quote."""
    return Kind(
        name,
        table,
        render,
        QUOTE,
        shape,
        example,
        family="quote",
        prefix=prefix,
        short=short,
        refers=refers,
        named_by=("quote_id",),
    )
