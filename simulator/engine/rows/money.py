"""Money: which operations quote, spend or move it, its source, and the orders they create."""

from __future__ import annotations

from typing import Literal, TypeAlias

from simulator.kernel.dataclass import dataclass

Source: TypeAlias = Literal["balance", "payer", "transfer"]
"""The source of an order's money: the account's balance, a payer who is asked, or a transfer from outside."""


@dataclass(frozen=True)
class OrderKind:
    """A kind of resource that moves money."""

    kind: str
    """The name of its kind."""
    source: Source
    amount: str
    """The path of the recipient's amount in the rendered order."""
    currency: str
    """The path of the currency of that amount."""
    to: str = ""
    """The field of the rendered order with the destination: an address, or a resource with details."""
    asked: str = ""
    """The field of the request with the destination, if the order has none."""
    memo: str = ""
    """The path of the memo that identifies the transfer, in the rendered order."""


@dataclass(frozen=True)
class MoneyRow:
    """One operation that quotes, spends or moves money."""

    operation: str
    """The name of the operation."""
    prices: bool = False
    """Whether it returns the price of an order."""
    uses_network: bool = False
    """Whether it only quotes, and is the first call that an outage of the order's network affects."""
    makes: tuple[OrderKind, ...] = ()
    """The kinds of orders that it creates, if it spends."""
    standing: str = ""
    """The kind of the standing order that it creates, or starts if `starts` is set."""
    starts: bool = False


@dataclass(frozen=True)
class Money:
    """The operations of a provider that involve money, and how amounts are shown."""

    rows: tuple[MoneyRow, ...] = ()
    amounts: frozenset[str] = frozenset()
    """The names of fields with amounts of money."""
    in_events: frozenset[str] = frozenset()
    """The fields of an order that the specification lists for its events."""

    @property
    def quoting(self) -> tuple[str, ...]:
        """The operations that return the price of an order."""
        return tuple(row.operation for row in self.rows if row.prices)

    @property
    def spending(self) -> tuple[str, ...]:
        """The operations that create an order."""
        return tuple(row.operation for row in self.rows if row.makes)

    @property
    def using_networks(self) -> tuple[str, ...]:
        """The operations that an outage of a network affects: those that spend, and the first before them."""
        return (*(row.operation for row in self.rows if row.uses_network), *self.spending)

    @property
    def from_balance(self) -> tuple[str, ...]:
        """The operations all of whose orders are paid from the balance."""
        rows = (row for row in self.rows if row.makes)
        return tuple(row.operation for row in rows if all(order.source == "balance" for order in row.makes))

    @property
    def drafting(self) -> tuple[str, ...]:
        """The operations that create a standing order, which spends nothing before it is started."""
        return tuple(row.operation for row in self.rows if row.standing and not row.starts)

    @property
    def starting(self) -> tuple[str, ...]:
        """The operations that start a standing order."""
        return tuple(row.operation for row in self.rows if row.starts)

    @property
    def standing(self) -> tuple[str, ...]:
        """The kinds of standing orders."""
        return tuple(dict.fromkeys(row.standing for row in self.rows if row.standing))

    @property
    def orders(self) -> dict[str, OrderKind]:
        """The kinds of orders, by name."""
        return {order.kind: order for row in self.rows for order in row.makes}
