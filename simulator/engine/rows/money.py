"""The operations that quote, spend or transfer money, and the orders that they create."""

from __future__ import annotations

from typing import Literal, TypeAlias

from simulator.kernel.dataclass import dataclass

Source: TypeAlias = Literal["balance", "payer", "transfer"]
"""The source of an order's money: the account balance, a payer who is asked to pay, or an incoming transfer."""


@dataclass(frozen=True)
class OrderKind:
    """A kind of resource that transfers money."""

    kind: str
    """The name of the kind."""
    source: Source
    amount: str
    """The path of the recipient's amount in the order as rendered."""
    currency: str
    """The path of the currency of the amount."""
    to: str = ""
    """The field of the rendered order that contains the destination: an address, or a resource with details."""
    asked: str = ""
    """The request field that contains the destination, if the order does not contain it."""
    memo: str = ""
    """The path of the memo that identifies the transfer, in the order as rendered."""


@dataclass(frozen=True)
class MoneyRow:
    """Declares that an API operation quotes, spends or transfers money."""

    operation: str
    """The name of the operation."""
    prices: bool = False
    """True if the operation returns the price of an order."""
    uses_network: bool = False
    """True if the operation only quotes a price, and a network outage already affects the quote."""
    makes: tuple[OrderKind, ...] = ()
    """The kinds of orders that the operation creates, if it spends money."""
    standing: str = ""
    """The kind of standing order that the operation creates (or starts, if `starts` is True)."""
    starts: bool = False


@dataclass(frozen=True)
class Money:
    """The operations of a provider that involve money, and the names of fields that contain amounts."""

    rows: tuple[MoneyRow, ...] = ()
    reading: str = ""
    """The operation that reads one order by its id."""
    amounts: frozenset[str] = frozenset()
    """The names of fields that contain amounts of money."""
    in_events: frozenset[str] = frozenset()
    """The order fields that the specification lists for its events."""

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
        """The operations that a network outage affects: those that spend, and some that only quote a price."""
        return (*(row.operation for row in self.rows if row.uses_network), *self.spending)

    @property
    def from_balance(self) -> tuple[str, ...]:
        """The operations whose orders are always paid from the account balance."""
        rows = (row for row in self.rows if row.makes)
        return tuple(row.operation for row in rows if all(order.source == "balance" for order in row.makes))

    @property
    def drafting(self) -> tuple[str, ...]:
        """The operations that create a standing order without starting it, so that it spends nothing yet."""
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
