"""The verdict on a run, based on the simulator's ledger and a comparison with the run without faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from simulator.exploration.runs.tasks import Document
from simulator.host import vocabulary
from simulator.kernel.dataclass import dataclass

ZERO = Decimal(0)
SURVIVED, NOT_REACHED, FAILED_LOUDLY = "survived", "not-reached", "failed-loudly"
HIDDEN_BY_SETTLE, ORDER_DEPENDENT, LATE = "hidden-by-settle", "order-dependent", "late"
VERDICTS = (
    "doubled", "lost", "forged-accepted", "disagrees", ORDER_DEPENDENT, "stuck", "hung", LATE, HIDDEN_BY_SETTLE,
    FAILED_LOUDLY, SURVIVED, NOT_REACHED,
)  # fmt: skip
"""The possible verdicts, most severe first."""
NO_FINDING = (SURVIVED, NOT_REACHED, FAILED_LOUDLY, HIDDEN_BY_SETTLE)
_DELIVERED = "completed"


class Problem(NamedTuple):
    """An order with a wrong amount. `expected`: the amount that the customer should have received. `actual`: the amount
    according to the ledger or the integrator's records.
    """

    verdict: str
    order: str
    expected: Decimal
    actual: Decimal
    currency: str
    note: str

    @classmethod
    def of_row(cls, row: Document) -> Problem:
        """Return a problem from its `row`."""
        return cls(**{**row, "expected": Decimal(row["expected"]), "actual": Decimal(row["actual"])})

    @property
    def row(self) -> dict[str, str]:
        """Return the problem as JSON, with amounts as decimal strings."""
        return {**self._asdict(), "expected": f"{self.expected:f}", "actual": f"{self.actual:f}"}


@dataclass(frozen=True)
class Verdict:
    """The verdict on a run. `money` is the amount for the affected order, or for all orders if no order is affected."""

    verdict: str
    expected: Decimal
    actual: Decimal
    currency: str
    note: str
    before: str = ""
    """The verdict before the integrator's job ran, or "" if it was not determined."""

    @property
    def is_finding(self) -> bool:
        return self.verdict not in NO_FINDING


def _worst(found: Sequence[Problem]) -> Verdict:
    worst = min(found, key=lambda one: VERDICTS.index(one.verdict))
    return Verdict(worst.verdict, worst.expected, worst.actual, worst.currency, worst.note)


def _paid_after(row: Document) -> bool:
    return bool(row.get("paid_after"))


def _is_gone(row: Document) -> bool:
    """Return True if a transaction has ended without paying out money."""
    return row["status"] in vocabulary().order_ends - {_DELIVERED}


class _Order:
    """The transactions of one order and their delivered amounts."""

    def __init__(self, rows: Sequence[Document]) -> None:
        self.rows = rows
        self.completed = [row for row in rows if row["status"] == _DELIVERED]
        self.delivered = sum((Decimal(row["amount"]) for row in self.completed), ZERO)
        self.delivered_in_test = sum((Decimal(row["amount"]) for row in self.completed if not _paid_after(row)), ZERO)
        """The delivered amount without transactions that were paid only after the test. Nobody expects their money."""
        self.open = [row for row in rows if row["status"] not in vocabulary().order_ends]
        self.kept = [row for row in rows if row["holds"] and _is_gone(row)]
        """The transactions whose money was received but neither delivered nor returned."""

    @property
    def currency(self) -> str:
        return self.rows[0]["currency"] if self.rows else ""

    @property
    def destinations(self) -> set[str]:
        return {row["destination"] for row in self.rows}

    @property
    def told(self) -> str:
        return ", ".join(f"{row['amount']} {row['currency']} {row['status']}" for row in self.rows) or "nothing"


class Orders:
    """A run's orders: transactions grouped by reference, or by amount and recipient if there is no reference."""

    def __init__(self, evidence: Document, *, by_reference: bool = True) -> None:
        rows: Sequence[Document] = evidence["transactions"]
        self.all = self._grouped(rows, lambda row: (by_reference and row["reference"]) or row["destination"])
        self.referenced = self._grouped((row for row in rows if row["reference"]), lambda row: row["reference"])
        self.to = self._grouped(rows, lambda row: row["destination"])
        self.standing = {row["reference"]: row["status"] for row in evidence["standing"]}
        self.books = _books(evidence)
        self.unread: str = evidence.get("unread", "")

    @staticmethod
    def _grouped(rows: Iterable[Document], key: Callable[[Document], str]) -> dict[str, _Order]:
        found: dict[str, list[Document]] = {}
        for row in rows:
            found.setdefault(key(row), []).append(row)
        return {name: _Order(group) for name, group in found.items()}

    def of(self, name: str) -> _Order:
        return self.all.get(name) or _Order([])

    def report(self, name: str, order: _Order) -> bool:
        """Return True if the integrator's records exist and contain at most the delivered amount of the order."""
        if self.books is None:
            return False
        names = {row["reference"] for row in order.rows} or {name}
        return sum((line["amount"] for of, line in self.books.items() if of in names), ZERO) <= order.delivered


def _books(evidence: Document) -> dict[str, Document] | None:
    if evidence["books"] is None:
        return None
    sums: dict[str, Document] = {}
    for row in evidence["books"]:
        before = sums.get(row["order"])
        amount = Decimal(row["amount"]) + (before["amount"] if before else ZERO)
        sums[row["order"]] = {**row, "amount": amount}
    return sums


def judge(
    baseline: Document, run: Document, *, passed: bool, hung: bool, strikes: bool, by_reference: bool = True
) -> Verdict:
    """Return the verdict on a run. `strikes`: True if the fault breaks a call or delivery, not what a third party does.
    `by_reference`: True if an order has the same reference in every run. Otherwise, orders are matched by amount and
    recipient.
    """
    before, after = (Orders(evidence, by_reference=by_reference) for evidence in (baseline, run))
    if not run["hits"]:
        return _whole(NOT_REACHED, before, after, "the fault never happened")
    if hung:
        return _whole("hung", before, after, "the test did not end in time")
    if run["not_genuine"]:
        note = f"a forged or stale {run['not_genuine'][0]} was acknowledged with 2xx"
        return _whole("forged-accepted", before, after, note)
    found = [
        *_wrong_with(before, after, passed=passed, strikes=strikes),
        *_switched_off(baseline, run),
        *_newly_wrong(before, after, by_reference=by_reference),
        *_late(baseline, run, by_reference=by_reference),
    ]
    if found:
        return _worst(found)
    if not passed:
        return _whole(FAILED_LOUDLY, before, after, run.get("failure") or "the test failed")
    if not strikes and run.get("effects") and run["effects"] == baseline.get("effects"):
        return _whole(NOT_REACHED, before, after, "no response, delivery or balance showed the fault")
    return _whole(SURVIVED, before, after, "")


def _newly_wrong(before: Orders, after: Orders, *, by_reference: bool) -> Iterator[Problem]:
    """Yield the orders that are wrong in the integrator's records and were less wrong without the fault."""
    known: dict[object, int] = {}
    for one in books_disagree(before):
        order, rank = by_reference and one.order, VERDICTS.index(one.verdict)
        known[order] = min(known.get(order, rank), rank)
    for one in books_disagree(after):
        if VERDICTS.index(one.verdict) < known.get(by_reference and one.order, len(VERDICTS)):
            yield one


def _late(baseline: Document, run: Document, *, by_reference: bool) -> Iterator[Problem]:
    """Yield the orders whose records differed from the ledger for too long, but not without the fault."""
    known = {by_reference and row["order"] for row in baseline.get("late", ())}
    for row in run.get("late", ()):
        if (by_reference and row["order"]) not in known:
            yield Problem.of_row(row)


def judge_baseline(baseline: Document) -> Verdict | None:
    """Return a verdict on errors in the integrator's records without a fault, or None if there are none."""
    found = [*books_disagree(Orders(baseline)), *map(Problem.of_row, baseline.get("late", ()))]
    return _worst(found) if found else None


def _whole(verdict: str, before: Orders, after: Orders, note: str) -> Verdict:
    currency = next((order.currency for order in before.all.values()), "")
    expected, actual = (
        sum((order.delivered for order in orders.all.values() if order.currency == currency), ZERO)
        for orders in (before, after)
    )
    return Verdict(verdict, expected, actual, currency, note)


def _switched_off(baseline: Document, run: Document) -> Iterator[Problem]:
    for name in run["switched_off"][len(baseline["switched_off"]) :][:1]:
        note = f"a {name} was refused for three days, so its endpoint is disabled and gets no more events"
        yield Problem("stuck", "", ZERO, ZERO, "", note)


def _wrong_with(before: Orders, after: Orders, *, passed: bool, strikes: bool) -> Iterator[Problem]:
    for name in dict.fromkeys([*before.all, *after.all]):
        was, now = before.of(name), after.of(name)
        told = f"{name}: without the fault {was.told}, now {now.told}"
        found = _wrong_with_order(was, now, before, after, passed=passed, strikes=strikes)
        if found and not (found == "lost" and after.report(name, now)):
            yield Problem(found, name, was.delivered, now.delivered, was.currency or now.currency, told)
    if passed:
        for reference, status in after.standing.items():
            was_status = before.standing.get(reference, "")
            if status == "draft" and was_status != "draft":
                note = f"{reference}: the status changed from {was_status} to draft"
                yield Problem("stuck", reference, ZERO, ZERO, "", note)
    if after.unread:
        note = f"the books of the application could not be read after the fault: {after.unread}"
        yield Problem("disagrees", "", ZERO, ZERO, "", note)


def _wrong_with_order(
    was: _Order, now: _Order, before: Orders, after: Orders, *, passed: bool, strikes: bool
) -> str | None:
    # If a payer or a bank acts differently, an order that ended without a delivery may still be delivered once. The
    # same applies to an order that is paid only because the test ended early, unless more was ordered than without
    # the fault.
    is_its_first = not strikes and was.rows and not was.completed and len(now.completed) == 1
    paid_after = sum(map(_paid_after, now.completed)) if len(now.rows) <= len(was.rows) else 0
    more = len(now.completed) - paid_after > len(was.completed)
    if more and now.delivered > was.delivered and not is_its_first:
        if not was.rows and _follows_a_late_payment(now, before, after):
            return None
        return "doubled" if was.rows or _doubles_elsewhere(now, before, after) else None
    if not passed:
        return None
    if strikes and len(now.kept) > len(was.kept):
        return "lost"
    if strikes and now.delivered < was.delivered_in_test and not now.open and not any(map(_is_gone, now.rows)):
        return None if _delivered_elsewhere(was, before, after) else "lost"
    return "stuck" if len(now.open) > len(was.open) else None


def _follows_a_late_payment(now: _Order, before: Orders, after: Orders) -> bool:
    """Return True if an order possibly exists only because another order was paid after the test. This is the case if
    both were paid after the test, and the earlier one was never paid without faults.
    """
    late = [name for name, one in after.all.items() if before.of(name).rows and any(map(_paid_after, one.completed))]
    return all(map(_paid_after, now.completed)) and any(not before.of(name).completed for name in late)


def _doubles_elsewhere(now: _Order, before: Orders, after: Orders) -> bool:
    """Return True if one of the recipients of the order received more money than in the run without faults."""
    return any(to not in before.to or after.to[to].delivered > before.to[to].delivered for to in now.destinations)


def _delivered_elsewhere(was: _Order, before: Orders, after: Orders) -> bool:
    """Return True if the recipients of the order received their amounts under another reference."""
    return all(to in after.to and after.to[to].delivered >= before.to[to].delivered for to in was.destinations)


def books_disagree(orders: Orders) -> list[Problem]:
    """Return the differences between the integrator's records and the simulator's ledger."""
    if orders.books is None:
        return []
    return [
        problem
        for name in dict.fromkeys([*orders.books, *orders.referenced])
        if (problem := _disagreement(name, orders.books.get(name), orders.referenced.get(name) or _Order([])))
    ]


def _disagreement(name: str, line: Document | None, order: _Order) -> Problem | None:
    booked, delivered = (line["amount"] if line else ZERO), order.delivered
    said = f"{booked} {line['currency']} {line['state']}".strip() if line else "no such order"
    note = f"{name}: the books say {said}, the simulator {order.told}"
    verdict = _between(booked, delivered, line["state"] if line else "", order)
    if verdict is None and booked and line and line["currency"].upper() not in ("", order.currency.upper()):
        verdict = "disagrees"
    return Problem(verdict, name, delivered, booked, order.currency, note) if verdict else None


def _between(booked: Decimal, delivered: Decimal, state: str, order: _Order) -> str | None:
    if delivered and booked >= 2 * delivered:
        return "doubled"
    if booked != delivered:
        return "disagrees" if booked > 0 else "lost"
    statuses = {row["status"] for row in order.rows}
    if state in vocabulary().order_begun and state not in statuses:
        return "stuck"  # no transaction of the order has this status, so no event will end the order
    return "disagrees" if state in vocabulary().order_ends and statuses and state not in statuses else None
