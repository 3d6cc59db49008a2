"""Advice: findings about the integrator's requests and webhook receivers, computed from the journals of a world. There
is one finding per kind and subject, including findings that providers recorded at run time (`records/advice`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.insight import conduct, lessons, receipts
from simulator.engine.insight.shapes import Finding
from simulator.engine.insight.traffic import SLICE, Signal, Signals, Traffic
from simulator.engine.records.advice import ADVICE, Advice, AdviceKind
from simulator.engine.rows.operation import Operation
from simulator.engine.text.citations import links_of
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.ids import derive, text_of
from simulator.kernel.world import DEFAULT_WORLD, World

MOST_EVIDENCE = 100
"""The maximum number of ids in a finding. The field `count` is not limited."""

MOST_LINKS = 5
"""The maximum number of requests that a finding links to."""


def findings(world: World, operations: Iterable[Operation]) -> list[Finding]:
    """Return all findings of a world, oldest first. Requests sent by the simulator's own tools are ignored."""
    found: list[Finding] = []
    for _ in _search(world, operations, found):
        pass
    return found


async def findings_in_slices(world: World, operations: Iterable[Operation]) -> list[Finding]:
    """Return the same findings as `findings`. The event loop can handle other requests during the search."""
    found: list[Finding] = []
    for _ in _search(world, operations, found):
        await asyncio.sleep(0)
    return found


def _search(world: World, operations: Iterable[Operation], found: list[Finding]) -> Iterator[None]:
    traffic = Traffic()
    yield from traffic.read(world, operations)
    # Detectors also read requests of tools, because an integrator's request may follow one of them. For example, a
    # tool may request a token after a 401.
    own = traffic.of_tools
    known = lessons.kinds(vocabulary_of(world))
    groups: dict[tuple[str, str], list[Signal]] = {}
    for signal in _signals(world, traffic):
        if signal is None:
            yield
        elif signal.kind in known and own.isdisjoint(signal.requests):
            groups.setdefault((signal.kind, signal.subject), []).append(signal)
    found += (_finding(world, known[kind], subject, group) for (kind, subject), group in groups.items())
    found += (one for one in _noted(world) if own.isdisjoint(one["requests"]))
    found.sort(key=lambda finding: (finding["last_at"] or "", finding["id"]))


def _signals(world: World, traffic: Traffic) -> Signals:
    for judge in conduct.SINGLE_CALLS:
        for call in traffic.calls:
            if call.place % SLICE == 0:
                yield None
            yield from judge(world, call)
    for detect in (*conduct.DETECTORS, *receipts.DETECTORS):
        yield None
        yield from detect(world, traffic)


def of_world(world_id: str, found: Iterable[Finding]) -> list[Finding]:
    """Return findings with the additional field `world`, for use in lists that cover several worlds."""
    return [{"id": row["id"], "world": world_id, **row} for row in found]


def _finding(world: World, kind: AdviceKind, about: str, signals: list[Signal]) -> Finding:
    last, lesson = signals[-1], lessons.lesson_of(signals[-1].kind)
    times = [signal.at_ms for signal in signals if signal.at_ms is not None]
    requests = _bounded(name for signal in signals for name in signal.requests)
    linked = [name for name in requests if name.startswith("req_")][-MOST_LINKS:]
    of_world = "" if world.id == DEFAULT_WORLD else f"?world={quote(world.id)}"
    return {
        "id": "adv_" + text_of(derive(last.kind, about)),
        "kind": last.kind,
        "severity": last.severity or kind.severity,
        "subject": last.subject,
        "message": kind.message.format(subject=last.subject, detail=last.detail),
        "what_to_do": kind.what_to_do,
        "clause": kind.clause,
        "count": len(signals),
        "requests": requests,
        "evidence": _bounded(name for signal in signals for name in signal.evidence),
        "first_at": format_timestamp(min(times)) if times else None,
        "last_at": format_timestamp(max(times)) if times else None,
        "why": lesson["why"],
        "changes": lesson["changes"],
        "clause_links": links_of(kind.clause) if kind.clause else [],
        "request_links": [f"{CONTROL_BASE}/dashboard{of_world}#/requests/{name}" for name in linked],
    }


def _bounded(names: Iterable[str]) -> list[str]:
    """Return at most `MOST_EVIDENCE` of the newest ids, without duplicates, oldest first."""
    return list(dict.fromkeys(names))[-MOST_EVIDENCE:]


def _noted(world: World) -> Iterator[Finding]:
    """Yield the findings about a world that provider packages recorded, one per kind and message."""
    clauses = vocabulary_of(world).provider.clauses
    groups: dict[tuple[str, str], list[Advice]] = {}
    for row in world.store[ADVICE].values():
        groups.setdefault((row["kind"], row["message"]), []).append(row)
    for (kind, message), rows in groups.items():
        shown = [tuple(row["requests"]) for row in rows]
        subject = next((names[0] for names in shown if names), kind)
        times = (parse_timestamp(row["at"]) for row in rows)
        pairs = zip(times, shown, strict=True)
        signals = [Signal(kind, subject, at_ms, names, names, message) for at_ms, names in pairs]
        kind_of_room = AdviceKind(rows[-1]["severity"], "{detail}", rows[-1]["what_to_do"], clauses.get(kind, ""))
        yield _finding(world, kind_of_room, message, signals)
