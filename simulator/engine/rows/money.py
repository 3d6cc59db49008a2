"""Money: which operations quote, spend or move it, from what, and what orders they make."""

from __future__ import annotations

from typing import Literal, TypeAlias

from simulator.kernel.dataclass import dataclass

Source: TypeAlias = Literal["balance", "payer", "transfer"]
"""From what an order is paid: the account's balance, a payer who is asked, or a transfer from outside."""


@dataclass(frozen=True)
class OrderKind:
    """A kind of resource that moves money."""

    kind: str
    """The name of its kind."""
    source: Source
    amount: str
    """The path of what the recipient gets, in the order as it is shown."""
    currency: str
    """The path of the currency that it is in."""
    to: str = ""
    """The member of the order as it is shown that says where the money goes: an address, or a resource with details."""
    asked: str = ""
    """The member of the request that says it, where the order does not."""
    memo: str = ""
    """The path of the memo by which the transfer is known, in the order as it is shown."""


@dataclass(frozen=True)
class MoneyRow:
    """One operation that quotes, spends or moves money."""

    operation: str
    """Its name."""
    prices: bool = False
    """It says what an order would cost."""
    uses_network: bool = False
    """It only quotes, and is where an outage of the order's network is first felt."""
    makes: tuple[OrderKind, ...] = ()
    """It spends: each of its orders is of one of these kinds."""
    standing: str = ""
    """The kind of the standing order that it makes, or starts where it `starts`."""
    starts: bool = False


@dataclass(frozen=True)
class Money:
    """The operations of a provider that have to do with money, and how amounts are shown."""

    rows: tuple[MoneyRow, ...] = ()
    amounts: frozenset[str] = frozenset()
    """Names of members that are amounts of money."""
    in_events: frozenset[str] = frozenset()
    """The members of an order that the specification names for its events."""

    @property
    def quoting(self) -> tuple[str, ...]:
        """The operations that say what an order would cost."""
        return tuple(row.operation for row in self.rows if row.prices)

    @property
    def spending(self) -> tuple[str, ...]:
        """The operations that make an order."""
        return tuple(row.operation for row in self.rows if row.makes)

    @property
    def using_networks(self) -> tuple[str, ...]:
        """The operations before which an outage of a network matters: those that spend, and the first before them."""
        return (*(row.operation for row in self.rows if row.uses_network), *self.spending)

    @property
    def from_balance(self) -> tuple[str, ...]:
        """The operations all of whose orders are paid from the balance."""
        rows = (row for row in self.rows if row.makes)
        return tuple(row.operation for row in rows if all(order.source == "balance" for order in row.makes))

    @property
    def drafting(self) -> tuple[str, ...]:
        """The operations that make a standing order, which spends nothing before it is started."""
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
