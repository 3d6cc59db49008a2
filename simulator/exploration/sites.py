"""Sites where something can go wrong: numbered calls, deliveries and transactions in a run without faults."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

from simulator.exploration.arming import Site
from simulator.exploration.runs.tasks import Document
from simulator.host import vocabulary


def sites_of(evidence: Document) -> list[Site]:
    """Return all sites of a test: calls, then deliveries, then transactions."""
    return [*_calls(evidence["calls"]), *_deliveries(evidence["deliveries"]), *_transactions(evidence["transactions"])]


def _calls(calls: list[Document]) -> Iterator[Site]:
    counts: dict[str, int] = {}
    standing: Document | None = None
    money = vocabulary().provider.money
    paths = {row.name: row.path for row in vocabulary().operations}
    for place, call in enumerate(calls):
        if call["operation"] in money.drafting:
            standing = call["spends"]
        template = paths.get(call["operation"] or "")
        if call["of_kit"] or template is None:
            continue
        glob, what = re.sub(r"\{[^}]*\}", "*", template), f"{call['method']} {template}"
        number = counts[what] = counts.get(what, 0) + 1
        before = [other for other in calls[:place] if other["world"] == call["world"]]
        alike = (other["method"] == call["method"] and fnmatchcase(other["path"], glob) for other in before)
        facts = {
            **call,
            "glob": glob,
            "spends": standing if call["operation"] in money.starting else call["spends"],
            "skip": sum(alike),
            "calls_before": len(before),
            "tokens_before": sum(not other["token"] for other in before),
        }
        yield Site("call", what, number, facts, call["cause"])


def _deliveries(deliveries: list[Document]) -> Iterator[Site]:
    counts: Counter[str] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    early: Counter[tuple[str, str]] = Counter()
    for delivery in deliveries:
        what = delivery["type"]
        here = (delivery["world"], what)
        yield Site("delivery", what, counts[what] + 1, {**delivery, "skip": there[here], "skip_early": early[here]})
        counts[what] += 1
        there[here] += 1
        early[here] += bool(delivery["by_call"])


def _transactions(transactions: list[Document]) -> Iterator[Site]:
    counts: dict[str, int] = {}
    for transaction in transactions:
        number = counts[transaction["type"]] = counts.get(transaction["type"], 0) + 1
        yield Site("transaction", transaction["type"], number, transaction)
