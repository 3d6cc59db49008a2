"""Sites: the numbered calls, deliveries and transactions in a test, in each of which a fault can be injected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from simulator.exploration.arming import Site
from simulator.exploration.runs.tasks import Document
from simulator.exploration.runs.tracing.scenes import CALL
from simulator.host import vocabulary

_LATER = ("call", "queue", "worker", "event")
"""The holds that are listed after the others."""


def sites_of(evidence: Document) -> list[Site]:
    """Return all sites of a test: calls, then deliveries, then transactions."""
    return [*_calls(evidence["calls"]), *_deliveries(evidence["deliveries"]), *_transactions(evidence["transactions"])]


def every_site(evidence: Document) -> list[Site]:
    """Return all sites of a test, including its beginning, its worlds and the lines at which it can crash."""
    sites = sites_of(evidence)
    processes = _processes(sites) if evidence.get("app") else ()
    worlds = _worlds(evidence["deliveries"])
    return [*sites, *_start(evidence, sites), *worlds, *_lines(evidence), *processes]


def _start(evidence: Document, sites: list[Site]) -> Iterator[Site]:
    """Yield one site for the beginning of a test, if the test uses the service."""
    if sites:
        yield Site("start", "start", 1, {"world": "", "orders": [row["shown"] for row in evidence["transactions"]]})


def _worlds(deliveries: Sequence[Document]) -> Iterator[Site]:
    """Yield one site for each world in which API calls caused webhook deliveries. The site stands for all calls in that
    world.
    """
    for number, world in enumerate(dict.fromkeys(row["world"] for row in deliveries if row["by_call"]), 1):
        yield Site("world", "all calls", number, {"world": world})


def _processes(sites: list[Site]) -> Iterator[Site]:
    """Yield the calls and deliveries at which an application started by explore can be killed."""
    for site in sites:
        if site.kind in ("call", "delivery"):
            yield replace(site, kind="process", facts={**site.facts, "kind": site.kind})


def _lines(evidence: Document) -> Iterator[Site]:
    """Yield the lines at which an application can crash, as `runs.tracing.crashing` records them, and then the places
    at which it can be held back, as `runs.tracing.holding` records them.
    """
    # The threads run at once, so the order in which they are recorded is not fixed.
    holds = sorted(evidence.get("holds", ()), key=lambda place: (place["until"] in _LATER, place["within"] == CALL))
    for kind, lines in (("line", evidence.get("lines", ())), ("hold", holds)):
        counts: Counter[str] = Counter()
        for line in lines:
            counts[line["what"]] += 1
            yield Site(kind, line["what"], counts[line["what"]], {**line, "world": ""})


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
    for place, delivery in enumerate(deliveries):
        what = delivery["type"]
        here = (delivery["world"], what)
        before = sum(row["world"] == delivery["world"] for row in deliveries[:place])
        facts = {**delivery, "skip": there[here], "skip_early": early[here], "before": before}
        yield Site("delivery", what, counts[what] + 1, facts)
        counts[what] += 1
        there[here] += 1
        early[here] += bool(delivery["by_call"])


def _transactions(transactions: list[Document]) -> Iterator[Site]:
    counts: dict[str, int] = {}
    for transaction in transactions:
        number = counts[transaction["type"]] = counts.get(transaction["type"], 0) + 1
        yield Site("transaction", transaction["type"], number, transaction)
