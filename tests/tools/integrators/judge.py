"""Compares a shop's books with the simulator's ledger, to the cent. All tests in this package use this comparison."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from simulator.testing import Delivery, World
from simulator.testing.books import Ledger
from tests.tools.integrators.shop.books import Books

ZERO = Decimal(0)
DELIVERING = ("onramp", "offramp", "withdraw")
"""The types of transactions by which customers receive something."""


class Finding(NamedTuple):
    """A difference. `order` is None if it does not concern an order."""

    verdict: str
    """`doubled`, `lost`, `disagrees`, `forged-accepted`, `not-kept` or `switched-off`."""
    order: str | None
    note: str


def judge(world: World, books: Books, deliveries: Iterable[Delivery] = ()) -> list[Finding]:
    """Compare the books with the simulator's ledger and transactions, and look at what was acknowledged."""
    made, ledger = transactions_of(world), world.ledger()
    references = dict.fromkeys([order.reference for order in books.orders()] + list(made))
    findings = [finding for name in references for finding in _judge_order(ledger, books, name, made.get(name, []))]
    return findings + _judge_deliveries(world, books, deliveries)


def transactions_of(world: World) -> dict[str, list[dict[str, Any]]]:
    """The transactions of a world that deliver something, by the reference that they were given."""
    found: dict[str, list[dict[str, Any]]] = {}
    for resource in world.control("GET", "/resources")["data"]:
        if resource["kind"] in DELIVERING and resource["reference"] is not None:
            found.setdefault(resource["reference"], []).append(resource)
    return found


def _judge_order(ledger: Ledger, books: Books, reference: str, made: list[dict[str, Any]]) -> Iterable[Finding]:
    completed = [transaction for transaction in made if transaction["status"] == "completed"]
    delivered = sum((Decimal(transaction["destination_amount"]) for transaction in completed), ZERO)
    order = next((order for order in books.orders() if order.reference == reference), None)
    money = books.booked(reference)
    booked = money.received if money else ZERO
    told = f"the books say {booked} and {order.state if order else 'know no such order'}, the service has " + (
        ", ".join(f"{one['destination_amount']} {one['status']}" for one in made) or "nothing"
    )
    if len(completed) > 1 or (delivered and booked >= 2 * delivered):
        yield Finding("doubled", reference, told)
    elif booked < delivered and not booked:
        yield Finding("lost", reference, told)
    elif booked != delivered or (order and made and order.state not in {transaction["status"] for transaction in made}):
        yield Finding("disagrees", reference, told)
    else:
        yield from _judge_ledger(ledger, reference, made, money.paid if money else ZERO, money.fee if money else ZERO)


def _judge_ledger(
    ledger: Ledger, reference: str, made: list[dict[str, Any]], paid: Decimal, fee: Decimal
) -> Iterable[Finding]:
    """Check the paid amount and the fee with the ledger's entries alone."""
    postings = [row for one in made for entry in ledger.of(one["id"]) for row in entry["postings"]]

    def moved(*accounts: str) -> Decimal:
        return sum((row["amount"] for row in postings if row["account"] in accounts), ZERO)

    if moved("fees") != fee:
        yield Finding("disagrees", reference, f"the books say a fee of {fee}, the ledger {moved('fees')}")
    from_balance = -moved("available", "held")
    if any(one["type"] == "withdraw" for one in made) and from_balance != paid:
        yield Finding("disagrees", reference, f"the books say {paid} was paid, the ledger {from_balance}")


def _judge_deliveries(world: World, books: Books, deliveries: Iterable[Delivery]) -> list[Finding]:
    findings = []
    for delivery in deliveries:
        accepted = delivery.status is not None and 200 <= delivery.status < 300
        if accepted and not delivery.genuine:
            findings.append(Finding("forged-accepted", None, f"a {delivery['type']} that is not genuine was accepted"))
        elif accepted and not books.has_event(delivery["id"]):
            findings.append(Finding("not-kept", None, f"{delivery['type']} {delivery['id']} is acknowledged and gone"))
    for resource in world.control("GET", "/resources")["data"]:
        if resource["kind"] == "webhook" and resource["status"] == "disabled":
            findings.append(Finding("switched-off", None, "the endpoint has failed for three days and is disabled"))
    return findings
