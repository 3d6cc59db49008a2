"""Decides assumptions with calls to a target: plans the flows, runs them, and determines the verdicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import field
from itertools import combinations

from simulator.engine.text.json import Shown
from simulator.engine.worlds.alternatives import Switches
from simulator.engine.worlds.observations import Result
from simulator.evidence.features import ABSENT, Features, ReplyForm, features_of, reply_forms, tells
from simulator.evidence.flow import AS_ASSUMED, Exchange, Steps, Unresolved, filled, play, steps_in
from simulator.evidence.interrupts import Interrupted
from simulator.evidence.planning import Options, Planned, blocked
from simulator.evidence.provided import Probing
from simulator.evidence.remote import NotTheService, RemoteService, SpentBudget
from simulator.kernel.dataclass import dataclass

_REASONS = (
    "unreachable", "budget", "interrupted", "needs-permission", "needs-spend", "needs-time", "needs-event",
    "inconclusive", "no-probe",
)  # fmt: skip
"""The reasons for the verdict `undecided`, in order of priority."""
_EVENT = re.compile(r"event \S+ [a-z_]+\.[a-z_]+")
"""The name of a feature that says whether an event arrived during a step."""
_MOST_TRIES = 4
"""The number of times that a flow watches for a status that it may miss between two calls."""
_MOST_FAILURES = 3
"""The run ends after this number of consecutive flows without a response from the target."""


@dataclass
class Verdict:
    """The verdict on one assumption."""

    id: str
    assumed: str
    verdict: Result = "undecided"
    alternative: str | None = None
    seen: str | None = None
    reason: str | None = None
    probe: str | None = None
    exchanges: list[int] = field(default_factory=list)


class Decisions:
    """The verdicts of a run. Each probe excludes alternatives until one remains."""

    def __init__(self, document: Shown, switches: Switches, options: Options, formulas: Container[str] = ()) -> None:
        """`formulas`: the names of the features that are absent if a trace lacks a value needed to compute them."""
        self._switches, self._formulas = switches, formulas
        self._blocked = blocked(document, switches, options)
        wanted = list(filter(options.wants, switches))
        self._open: dict[str, set[str]] = {one: {AS_ASSUMED, *switches[one].alternatives} for one in wanted}
        self._reasons: dict[str, set[str]] = {one: set(self._blocked.get(one, {}).values()) for one in wanted}
        self.verdicts = {one: Verdict(one, switches[one].assumed) for one in wanted}
        for one in wanted:
            self._settle(one)

    def is_open(self, identifier: str) -> bool:
        return identifier in self.verdicts and self.verdicts[identifier].verdict == "undecided"

    def useful(self, probe: Shown) -> bool:
        """Return True if a probe can exclude an alternative (or the default) that is still possible."""
        identifier = probe["assumption"]
        if not self.is_open(identifier):
            return False
        # The verdicts must exclude all alternatives under which the probe decides nothing.
        for other, broken in probe["unless"].items():
            if other not in self._open or not self._open[other].isdisjoint({*broken, "?"}):
                return False
        sides = [probe["predictions"][side] for side in self._open[identifier]]
        return any(tells(name, a, b) for a, b in combinations(sides, 2) for name in a)

    def take(self, verdict: Verdict) -> None:
        """Adopt a verdict from an earlier run."""
        if verdict.verdict in ("holds", "differs"):
            self._open[verdict.id] = {verdict.alternative or AS_ASSUMED}
        if verdict.id in self.verdicts:
            self.verdicts[verdict.id] = verdict

    def failed(self, reason: str, *probes: Shown) -> None:
        """Add the reason why these probes did not decide their assumptions."""
        for identifier in (probe["assumption"] for probe in probes):
            if self.is_open(identifier):
                self._reasons[identifier].add(reason)
                self._settle(identifier)

    def judge(
        self,
        probe: Shown,
        flow: Sequence[str],
        trace: Sequence[Exchange],
        features: Features,
        at: list[int],
        *,
        by_listener: bool = False,
    ) -> None:
        """Exclude alternatives of an assumption (or its default) with the result of a probe. `by_listener`: True if
        events arrive over a network, so that they can arrive during another step.
        """
        identifier = probe["assumption"]
        if reason := _unprepared(probe, trace, features):
            broken = any(one.reply is not None and one.reply.status >= 500 for one in trace)
            self.failed("unreachable" if broken else reason, probe)
            return
        verdict = self.verdicts[identifier]
        predictions = probe["predictions"]
        seen = {name: features.get(name, ABSENT) for name in next(iter(predictions.values()))}
        matching = {
            side
            for side in self._open[identifier]
            if all(value in predictions[side][name] for name, value in seen.items())
        }
        strange = _strange(probe, features)
        if by_listener and misplaced(seen, features):
            self.failed("inconclusive", probe)
            return
        if not matching or strange:
            if reason := self._no_behaviour(flow, trace, seen):
                self.failed(reason, probe)
                return
            matching = set()
        self._open[identifier] = matching
        verdict.probe, verdict.exchanges = probe["id"], at
        if not matching:
            verdict.seen = "; ".join(f"{name}: {value}" for name, value in (strange or seen).items())
        self._settle(identifier)

    def _no_behaviour(self, flow: Sequence[str], trace: Sequence[Exchange], seen: Features) -> str:
        """Return why a trace that matches no prediction must be ignored, or "" if it counts as evidence."""
        statuses = {one.reply.status for one in trace if one.reply is not None}
        if any(name in self._formulas for name, value in seen.items() if value == ABSENT):
            return "needs-event" if any(one.refused for one in trace) else "inconclusive"
        if max(statuses, default=0) >= 500:
            return "unreachable"
        if 429 in statuses:
            return "budget"
        # If a step is missing in the trace, a value that it needed was missing.
        if statuses & {401, 403} or {one.step.name for one in trace} < set(flow):
            return "needs-permission"
        return ""

    def _settle(self, identifier: str) -> None:
        verdict, sides = self.verdicts[identifier], self._open[identifier]
        verdict.reason = None
        if not sides:
            verdict.verdict = "neither"
        elif sides == {AS_ASSUMED}:
            verdict.verdict = "holds"
        elif len(sides) == 1:
            verdict.verdict, verdict.alternative = "differs", next(iter(sides))
        else:
            reasons = self._reasons[identifier]
            verdict.reason = next((one for one in _REASONS if one in reasons), "no-probe")


def _unprepared(probe: Shown, trace: Sequence[Exchange], features: Features) -> str:
    """Return the reason why the steps of a flow did not create the state that its probe needs, or ""."""
    played = {one.step.name: one for one in trace}
    if any(one.refused and one.step.reaches for one in trace):
        return "needs-event"  # the resource was not seen in the watched status
    for name, succeeds in probe["expected"].items():
        exchange = played.get(name)
        if exchange is None:
            return "needs-permission"
        if exchange.refused:
            return "needs-time" if exchange.step.wait else "needs-event"
        if exchange.reply is not None and (exchange.reply.status < 400) != succeeds:
            return "needs-event" if exchange.step.until else "needs-permission"
    if any(features.get(name, ABSENT) not in values for name, values in probe["states"].items()):
        return "needs-event"  # a resource has a different status than when the probe was computed
    return ""


def misplaced(seen: Features, features: Features) -> bool:
    """Return True if a missing response feature can be explained by timing: its event arrived during another step, or
    did not arrive at all.
    """
    came = {name for name, value in features.items() if value != ABSENT and _EVENT.fullmatch(name)}
    types = {name.split()[2] for name in came}
    return any(
        value == ABSENT
        and (event := _EVENT.match(name))
        and event[0] not in came
        and (event[0] != name or name.split()[2] in types)
        for name, value in seen.items()
    )


def _strange(probe: Shown, features: Features) -> Features:
    """Return the features in which the form of a response differs from every form that the probe predicts."""
    found = {}
    for step, form in reply_forms(features).items():
        known = probe["replies"].get(step)
        if known is None or ReplyForm(frozenset(known["answers"]), frozenset(known["fields"])).covers(form):
            continue
        found[f"{step} status"] = next(iter(form.answers))
        found |= {f"{step} body.{name}": ABSENT for name in sorted(set(known["fields"]) - form.fields)}
    return found


def decide(
    planned: Iterable[Planned],
    decisions: Decisions,
    target: RemoteService,
    probing: Probing,
    steps: Steps,
    *,
    decided: Callable[[], None] = lambda: None,
    report: Callable[[str], None] = lambda _: None,
) -> str:
    """Run the flows. Return a one-line reason if the run ended early, else "". `decided` is called after each flow."""
    failures, ended = 0, ""
    tried: Counter[str] = Counter()
    late: set[str] = set()
    rows = list(planned)
    for row in _MOST_TRIES * rows:  # some probes rest on assumptions that other probes decide
        probes = [
            probe
            for probe in row.probes
            if tried[probe["id"]] < 1 + (_MOST_TRIES - 1) * (row.name in late) and decisions.useful(probe)
        ]
        if not probes:
            continue
        tried.update(probe["id"] for probe in probes)
        if ended:
            decisions.failed("budget" if failures == 0 else "unreachable", *probes)
            continue
        if not target.can_listen(len(row.flow)):
            decisions.failed("needs-time", *(probe for probe in probes if probe["needs_webhook"]))
            probes = [probe for probe in probes if not probe["needs_webhook"]]
            if not probes:
                continue
        target.listens = any(probe["needs_webhook"] for probe in probes)
        report(f"{row.name}: {' '.join(row.flow)}")
        before = len(target.exchanges)
        try:
            trace = _played(row, target, steps)
            at = list(range(before, len(target.exchanges)))
            if any(one.reply is not None and one.reply.status == 401 for one in trace):
                target.check_access()  # a 401 is evidence only if the right keys still work
        except SpentBudget as error:
            failures, ended = 0, str(error)
            decisions.failed("budget", *probes)
            continue
        except NotTheService as error:
            failures += 1
            decisions.failed("unreachable", *probes)
            if failures >= _MOST_FAILURES:
                ended = str(error)
            continue
        except Interrupted:
            decisions.failed("interrupted", *(probe for later in rows for probe in later.probes))
            raise
        failures = 0
        if any(one.came_too_late for one in trace):
            late.add(row.name)
        features = features_of(trace, probing.formulas)
        for probe in probes:
            decisions.judge(probe, row.flow, trace, features, at, by_listener=target.is_slow)
        decided()
    return ended


def _played(row: Planned, target: RemoteService, steps: Steps) -> Sequence[Exchange]:
    """Play a flow and undo it, even if it ends early. The calls that undo it are reserved in advance."""
    target.prepare()
    target.saved()
    flow = steps_in(row.flow, steps)
    trace: list[Exchange] = []
    reserved = sum(bool(step.undo) for step in flow)
    target.calls_left -= reserved
    try:
        play(flow, target, trace)
    finally:
        target.calls_left += reserved
        try:
            with target.interrupts.cleaning():
                _undo(trace, target)
        finally:
            target.restored()
    replies = [(one.step, one.reply) for one in trace if one.reply is not None]
    if replies and all(reply.status >= 500 for _, reply in replies):
        step, reply = replies[-1]
        raise NotTheService(f"every call failed; the last one, {step.call.partition('?')[0]}, returned {reply.status}")
    return trace


def _undo(trace: Sequence[Exchange], target: RemoteService) -> None:
    """Delete the resources that a flow created, newest first."""
    values = {one.step.name: one.reply.body for one in trace if one.reply is not None and one.reply.status < 400}
    for one in reversed(trace):
        if one.step.undo and one.step.name in values:
            try:
                method, _, path = str(filled(one.step.undo, values)).partition(" ")
                body = filled(one.step.undo_body, values)
            except Unresolved:
                continue
            target.clean_up(method, path, body)
