"""Sites: the numbered calls, deliveries and transactions in a test, in each of which a fault can be injected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
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
    calls, deliveries = _calls(evidence["calls"]), _deliveries(evidence["deliveries"])
    transactions = ((row["type"], row) for row in evidence["transactions"])
    return [*_numbered("call", calls), *_numbered("delivery", deliveries), *_numbered("transaction", transactions)]


def every_site(evidence: Document) -> list[Site]:
    """Return all sites of a test, including its beginning, its worlds and the lines at which it can crash."""
    sites = sites_of(evidence)
    shown = [row["shown"] for row in evidence["transactions"]]
    start = [Site("start", "start", 1, {"world": "", "orders": shown})] if sites else []
    # One site stands for all calls in a world that caused deliveries.
    calls = dict.fromkeys(row["world"] for row in evidence["deliveries"] if row["by_call"])
    worlds = _numbered("world", (("all calls", {"world": world}) for world in calls))
    # The threads run at once, so the order in which they are recorded is not fixed.
    holds = sorted(evidence.get("holds", ()), key=lambda place: (place["until"] in _LATER, place["within"] == CALL))
    lines, held = (
        [(place["what"], {**place, "world": ""}) for place in places] for places in (evidence.get("lines", ()), holds)
    )
    killed = [site for site in sites if site.kind in ("call", "delivery")] if evidence.get("app") else []
    processes = (replace(site, kind="process", facts={**site.facts, "kind": site.kind}) for site in killed)
    return [*sites, *start, *worlds, *_numbered("line", lines), *_numbered("hold", held), *processes]


def _numbered(kind: str, rows: Iterable[tuple[str, Document]]) -> Iterator[Site]:
    """Yield a site for each row: its name, and the data that a fault needs. Equal names are numbered."""
    counts: Counter[str] = Counter()
    for what, facts in rows:
        counts[what] += 1
        yield Site(kind, what, counts[what], facts, facts.get("cause", ""))


def _calls(calls: list[Document]) -> Iterator[tuple[str, Document]]:
    standing: Document | None = None
    money = vocabulary().provider.money
    paths = {row.name: row.path for row in vocabulary().operations}
    for place, call in enumerate(calls):
        if call["operation"] in money.drafting:
            standing = call["spends"]
        template = paths.get(call["operation"] or "")
        if call["of_kit"] or template is None:
            continue
        glob = re.sub(r"\{[^}]*\}", "*", template)
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
        yield f"{call['method']} {template}", facts


def _deliveries(deliveries: list[Document]) -> Iterator[tuple[str, Document]]:
    there: Counter[tuple[str, str]] = Counter()
    early: Counter[tuple[str, str]] = Counter()
    for place, delivery in enumerate(deliveries):
        here = (delivery["world"], delivery["type"])
        before = sum(row["world"] == delivery["world"] for row in deliveries[:place])
        yield delivery["type"], {**delivery, "skip": there[here], "skip_early": early[here], "before": before}
        there[here] += 1
        early[here] += bool(delivery["by_call"])
