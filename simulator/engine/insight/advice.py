"""Advice: findings about the integrator's conduct, computed from what a world remembers.

One finding per kind and subject, with everything that shows it (bounded) and the clause it rests on. What the rooms
noted themselves while they worked (`wire/advice`) is merged in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from urllib.parse import quote

from typing_extensions import TypedDict

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.insight import conduct, lessons, receipts
from simulator.engine.insight.shapes import Finding
from simulator.engine.insight.signals import Signal, kinds
from simulator.engine.insight.traffic import traffic_of
from simulator.engine.records.advice import ADVICE, Advice, AdviceKind, Severity
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.text.citations import links_of
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.ids import derive, text_of
from simulator.kernel.world import DEFAULT_WORLD, World

MOST_EVIDENCE = 100
"""How many ids a finding shows; `count` counts on."""

MOST_LINKS = 5
"""How many calls it links."""


def findings(world: World, operations: Iterable[Operation]) -> list[Finding]:
    """All findings of a world, the one shown last at the end. None is about calls of the simulator's own tools.

    Each: {id, kind, severity, subject, message, what_to_do, clause, count, requests, evidence, first_at, last_at}.
    `requests` are ids of calls, `evidence` ids of anything else; the times are null where none is known.
    """
    calls = traffic_of(world, operations)
    # Detectors see the calls of tools, which may be what an integrator's call follows: a sign-in after a 401, say.
    own = {call.row.id for call in calls if call.is_of_a_tool}
    signals = chain.from_iterable(detect(world, calls) for detect in (*conduct.DETECTORS, *receipts.DETECTORS))
    known = kinds(vocabulary_of(world))
    groups: dict[tuple[str, str], list[Signal]] = {}
    for signal in signals:
        if signal.kind in known and own.isdisjoint(signal.requests):
            groups.setdefault((signal.kind, signal.subject), []).append(signal)
    found = [_taught(world, _finding(known[kind], group)) for (kind, _), group in groups.items()]
    found += (_taught(world, one) for one in _noted(world) if own.isdisjoint(one["requests"]))
    return sorted(found, key=lambda finding: (finding["last_at"] or "", finding["id"]))


def findings_with_world(world: World, operations: Iterable[Operation]) -> list[Finding]:
    """The same, each also with `world`: for lists of several worlds."""
    return [{"id": row["id"], "world": world.id, **row} for row in findings(world, operations)]


class Bare(TypedDict):
    """A finding without what it teaches."""

    id: str
    kind: str
    severity: Severity
    subject: str
    message: str
    what_to_do: str
    clause: str
    count: int
    requests: list[str]
    evidence: list[str]
    first_at: str | None
    last_at: str | None


def _taught(world: World, bare: Bare) -> Finding:
    """A finding with why it hurts, the code to change, and where to read on."""
    lesson = lessons.lesson_of(bare["kind"])
    of_world = "" if world.id == DEFAULT_WORLD else f"?world={quote(world.id)}"
    shown = [name for name in bare["requests"] if name.startswith("req_")][-MOST_LINKS:]
    taught: Finding = {
        **bare,  # type: ignore[typeddict-item]  # it has no `world`, and needs none
        "why": lesson["why"],
        "changes": lesson["changes"],
        "clause_links": links_of(bare["clause"]) if bare["clause"] else [],
        "request_links": [f"{CONTROL_BASE}/dashboard{of_world}#/requests/{name}" for name in shown],
    }
    return taught


def _finding(kind: AdviceKind, signals: list[Signal]) -> Bare:
    last = signals[-1]
    times = [signal.at_ms for signal in signals if signal.at_ms is not None]
    return {
        "id": _identifier(last.kind, last.subject),
        "kind": last.kind,
        "severity": last.severity or kind.severity,
        "subject": last.subject,
        "message": kind.message.format(subject=last.subject, detail=last.detail),
        "what_to_do": kind.what_to_do,
        "clause": kind.clause,
        "count": len(signals),
        "requests": _bounded(name for signal in signals for name in signal.requests),
        "evidence": _bounded(name for signal in signals for name in signal.evidence),
        "first_at": format_timestamp(min(times)) if times else None,
        "last_at": format_timestamp(max(times)) if times else None,
    }


def _identifier(kind: str, subject: str) -> str:
    return "adv_" + text_of(derive(kind, subject))


def _bounded(names: Iterable[str]) -> list[str]:
    """The newest ids, each once, oldest first."""
    return list(dict.fromkeys(names))[-MOST_EVIDENCE:]


def _noted(world: World) -> Iterator[Bare]:
    """What the rooms noted, one finding per kind and message."""
    clauses = vocabulary_of(world).provider.clauses
    groups: dict[tuple[str, str], list[Advice]] = {}
    for row in world.store[ADVICE].values():
        groups.setdefault((row["kind"], row["message"]), []).append(row)
    for (kind, message), rows in groups.items():
        names = [name for row in rows for name in row["requests"]]
        times = [parse_timestamp(row["at"]) for row in rows]
        yield {
            "id": _identifier(kind, message),
            "kind": kind,
            "severity": rows[-1]["severity"],
            "subject": names[0] if names else kind,
            "message": message,
            "what_to_do": rows[-1]["what_to_do"],
            "clause": clauses.get(kind, ""),
            "count": len(rows),
            "requests": _bounded(names),
            "evidence": _bounded(names),
            "first_at": format_timestamp(min(times)),
            "last_at": format_timestamp(max(times)),
        }
