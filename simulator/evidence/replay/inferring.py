"""Decides assumptions with a corpus, without any call to the service.

The recordings are replayed in worlds with the usual assumptions, and in worlds with one alternative. A response
feature excludes an alternative if the recording contains another value. The feature counts only if undecided
assumptions and other reference data do not change it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from simulator.engine.worlds.alternatives import Switches
from simulator.evidence.corpus import Corpus, Exchange, Recording
from simulator.evidence.corpus.known import known
from simulator.evidence.features import ABSENT, Features, features_of
from simulator.evidence.flow import AS_ASSUMED, Reply, Step
from simulator.evidence.flow import Exchange as Seen
from simulator.evidence.local import Simulators, combination
from simulator.evidence.probing import Verdict
from simulator.evidence.provided import Probing
from simulator.evidence.replay.players import LocalPlayer
from simulator.evidence.replay.replaying import replay
from simulator.evidence.replay.schedule import Replayed, Schedule, scheduled
from simulator.kernel.dataclass import dataclass

Assumed: TypeAlias = tuple[tuple[str, str], ...]
_MOST_ROUNDS = 8
_CONTEXTS = 8
"""Evidence in a long recording must persist under this many random combinations of undecided assumptions."""
_LONG = 80
"""The number of exchanges above which a recording is long."""
_MOST_TRIED = 4
"""The maximum number of evidence items examined for each side, from the shortest recordings first."""
_MANY_FIELDS = 5
_MOST_SEEN = 3
"""The maximum number of features in a verdict `neither`."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")


class Run(NamedTuple):
    """One recording, replayed in one world."""

    features: Features
    statuses: Mapping[int, str]
    """Features by exchange number."""
    consulted: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """A response feature that excludes alternatives of an assumption (or its default)."""

    case: int
    name: str
    exchange: int
    """The number in the recording."""


class Found(NamedTuple):
    """The alternatives to one assumption that are still possible, and the evidence against the others."""

    sides: set[str]
    """The alternatives, including the default, that no evidence excludes."""
    against: dict[str, list[Evidence]]
    """The evidence that excludes an alternative, by alternative."""

    def take(self, evidence: Evidence, runs: Mapping[str, Run], seen: Features, status: str) -> None:
        """Compare the value of one feature in the recording with its value in the runs under each alternative. If it is
        equal under at least one alternative, exclude the alternatives under which it differs.
        """
        comparable = {
            side: run
            for side, run in runs.items()
            if evidence.name.endswith(" status") or run.statuses.get(evidence.exchange) == status
        }
        value = seen.get(evidence.name, ABSENT)
        fitting = {side for side, run in comparable.items() if run.features.get(evidence.name, ABSENT) == value}
        for side in comparable.keys() - fitting if fitting else ():
            self.sides.discard(side)
            self.against.setdefault(side, []).append(evidence)


class Case:
    """A recording and its replays."""

    def __init__(self, recording: Recording, simulators: Simulators, probing: Probing) -> None:
        self._recording, self._simulators, self._probing = recording, simulators, probing
        self.name = recording.name
        self._runs: dict[tuple[Assumed, int], Run] = {}
        self.replay: list[Replayed] = []
        """The replay with the usual assumptions."""

    @cached_property
    def _schedule(self) -> Schedule:
        return scheduled(self._recording, lambda schedule: self._play({}, -1, schedule))

    def run(self, assumed: Mapping[str, str], data: int = -1) -> Run:
        """Replay the recording in a world with these alternatives. `data`: the index of other reference data, or -1 for
        the shipped data.
        """
        key = (tuple(sorted(assumed.items())), data)
        if key not in self._runs:
            schedule = self._schedule  # computed here, because the replays for it also consult assumptions
            self._simulators.consulted.clear()
            played = self._play(assumed, data, schedule)
            if not key[0] and data < 0:
                self.replay = played
            exchanges = [one.played for one in played if one.played is not None]
            statuses = {one.n: str(one.status) for one in exchanges}
            self._runs[key] = Run(features_in(exchanges), statuses, frozenset(self._simulators.consulted))
        return self._runs[key]

    def _play(self, assumed: Mapping[str, str], data: int, schedule: Schedule) -> list[Replayed]:
        player = LocalPlayer(self._simulators, schedule.begins, assumed)
        try:
            if data >= 0:
                self._probing.other_data[data](player.read, player.act)
            return replay(self._recording, player, schedule)
        finally:
            player.close()

    def is_certain(self, number: int) -> bool:
        """Return True if the time of an exchange is known."""
        return self._schedule.is_certain(list(self.by_number).index(number))

    @cached_property
    def seen(self) -> Features:
        """The features (comparable properties) of the recorded traffic."""
        exchanges = self._recording.exchanges
        return features_in([one for one in exchanges if one.direction == "webhook" or one.status is not None])

    @cached_property
    def by_number(self) -> Mapping[int, Exchange]:
        return {one.n: one for one in self._recording.exchanges}


def features_in(exchanges: Sequence[Exchange]) -> Features:
    """Return the features of each exchange, and of each exchange compared with the previous exchange of the same call.
    The name of a feature contains `#` and the number of its exchange.
    """
    found: Features = {}
    last: dict[str, Seen] = {}
    for one in exchanges:
        headers = {name: value or "-" for name, value in one.response_headers.items()}
        step = Step(f"#{one.n}")
        if one.direction == "webhook":
            plain = _plain(one.request)
            found |= features_of([Seen(step, events=[plain] if isinstance(plain, dict) else [])], {})
            continue
        seen = Seen(step, Reply(one.status or 0, headers, _plain(one.response)))
        found |= features_of([seen], {})
        key = f"{one.method} {one.path} {one.headers.get('idempotency-key')}"
        if key in last:
            both = features_of([last[key], seen], {})
            found |= {name: value for name, value in both.items() if name.endswith(f" {step.name}")}
        last[key] = seen
    return found


def _plain(value: object, name: str = "") -> object:
    """Replace times and words that are not in the contract with others in the same format."""
    if isinstance(value, Mapping):
        return {key: _plain(one, str(key)) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, name) for one in value]
    if isinstance(value, str) and value.isalpha() and name != "code" and value not in known().values:
        return "X x"
    if isinstance(value, str) and (found := _TIME.fullmatch(value)):  # a replay cannot reproduce all event times
        return f"2001-01-01T00:00:00{'.000' if found[1] else ''}{found[2]}"
    return value


def number_of(name: str) -> int:
    """Return the number of the last exchange that a feature refers to."""
    return int(re.findall("#([0-9]+)", name)[-1])


class Inference:
    """Decides assumptions by comparing a corpus with its replays."""

    def __init__(
        self, corpus: Corpus, probing: Probing, switches: Switches, *, report: Callable[[str], None] = lambda _: None
    ) -> None:
        self._probing, self._switches, self._report = probing, switches, report
        self._simulators = Simulators()
        self.cases = [Case(one, self._simulators, probing) for one in corpus.recordings if one.exchanges]
        self._sides = {one.id: (AS_ASSUMED, *one.alternatives) for one in switches.values()}

    def close(self) -> None:
        self._simulators.close()

    def verdicts(self) -> list[Verdict]:
        """Return a verdict on each assumption."""
        decided: dict[str, str] = {}
        found: dict[str, Found] = {}
        for number in range(_MOST_ROUNDS):
            self._report(f"round {number + 1}")
            found = self._round(decided)
            new = {one: next(iter(row.sides)) for one, row in found.items() if len(row.sides) == 1}
            if new == decided:
                break
            decided = new
        for one in [*decided]:
            others = set(self._sides[one]) - {decided[one]}
            if not all(self._is_excluded(one, side, decided, found[one]) for side in others):
                del decided[one]
        return [self._verdict(one, decided, found.get(one)) for one in self._switches]

    def _world(self, decided: Mapping[str, str], **switched: str) -> dict[str, str]:
        return {one: side for one, side in {**decided, **switched}.items() if side != AS_ASSUMED}

    def _round(self, decided: Mapping[str, str]) -> dict[str, Found]:
        """Return the features that exclude alternatives, by assumption id. `decided`: the verdicts so far."""
        usual = self._world(decided)
        predictions = [self._predictions(case, decided) for case in self.cases]
        affects = [_affects(one) for one in predictions]
        strange = self._strange_operations(usual, predictions)
        formal = self._formal(affects, predictions)
        found: dict[str, Found] = {}
        for at, case in enumerate(self.cases):
            data = range(len(self._probing.other_data))
            unstable = _differing([case.run(usual), *(case.run(usual, at) for at in data)])
            for name, ids in affects[at].items():
                exchange = case.by_number.get(number_of(name))
                if exchange is None or name in unstable or _operation(exchange) in strange:
                    continue
                if not case.is_certain(exchange.n):
                    continue
                for one in ids:
                    is_shared = any(other != one and other not in decided for other in ids)
                    if is_shared or (one not in formal and _is_weak(name, predictions[at][one])):
                        continue
                    own = found.setdefault(one, Found(set(self._sides[one]), {}))
                    own.take(Evidence(at, name, exchange.n), predictions[at][one], case.seen, str(exchange.status))
        return found

    def _formal(
        self, affects: Sequence[Mapping[str, set[str]]], predictions: Sequence[Mapping[str, Mapping[str, Run]]]
    ) -> set[str]:
        """Return the assumptions whose alternatives differ only in the format of decimals, in at least `_MANY_FIELDS`
        fields.
        """
        forms: dict[str, set[str]] = {}
        others: set[str] = set()
        for at, ids_by_name in enumerate(affects):
            for name, ids in ids_by_name.items():
                for one in ids:
                    if _is_weak(name, predictions[at][one]):
                        forms.setdefault(one, set()).add(name.rpartition(".")[2])
                    else:
                        others.add(one)
        return {one for one, fields in forms.items() if len(fields) >= _MANY_FIELDS and one not in others}

    def _predictions(self, case: Case, decided: Mapping[str, str]) -> dict[str, dict[str, Run]]:
        """Replay a recording under the default and under each alternative of every assumption that affects the replay.
        Return the replays by assumption and alternative.
        """
        consulted = case.run(self._world(decided)).consulted
        return {
            one: {side: case.run(self._world(decided, **{one: side})) for side in self._sides[one]}
            for one in self._switches
            if one in consulted
        }

    def _strange_operations(
        self, usual: Mapping[str, str], predictions: Sequence[Mapping[str, Mapping[str, Run]]]
    ) -> set[str]:
        """Return the operations for which the recording contains an HTTP status that no replay returned. The cause must
        be a difference in the account's state.
        """
        found = set()
        for at, case in enumerate(self.cases):
            runs = [case.run(usual), *(run for runs in predictions[at].values() for run in runs.values())]
            for number, status in runs[0].statuses.items():
                exchange = case.by_number[number]
                if all(run.statuses.get(number, status) != str(exchange.status) for run in runs):
                    found.add(_operation(exchange))
        return found

    def _is_excluded(self, one: str, side: str, decided: Mapping[str, str], found: Found) -> bool:
        """Return True if a recording contradicts an alternative for all tried reference data and for all tried
        alternatives to other assumptions (see `_contexts`).
        """
        rows = sorted(found.against.get(side, ()), key=lambda row: (len(self.cases[row.case].by_number), row.case))
        world = self._world(decided, **{one: side})
        for row in rows[:_MOST_TRIED]:
            case = self.cases[row.case]
            seen = case.seen.get(row.name, ABSENT)
            contexts = self._contexts(one, side, decided, case)
            if all(case.run({**more, **world}, at).features.get(row.name, ABSENT) != seen for more, at in contexts):
                return True
        return False

    def _contexts(
        self, one: str, side: str, decided: Mapping[str, str], case: Case
    ) -> Iterator[tuple[Mapping[str, str], int]]:
        """Yield the conditions under which evidence against an alternative is tested again: other reference data, or
        an alternative to an undecided assumption. For a long recording, several such alternatives are combined.
        """
        for data in range(len(self._probing.other_data)):
            yield {}, data
        consulted = case.run(self._world(decided, **{one: side})).consulted
        open_ = {
            other: switch
            for other, switch in self._switches.items()
            if other not in decided and other != one and other in consulted
        }
        if len(case.by_number) <= _LONG:
            yield from (({other: name}, -1) for other, switch in open_.items() for name in switch.alternatives)
        else:
            yield from ((combination(open_, f"{one} {number}", share=0.5), -1) for number in range(_CONTEXTS))

    def _verdict(self, one: str, decided: Mapping[str, str], found: Found | None) -> Verdict:
        verdict = Verdict(one, self._switches[one].assumed, reason="no-evidence")
        if found is None:
            return verdict
        every = [evidence for rows in found.against.values() for evidence in rows]
        verdict.exchanges = sorted({self._index(evidence) for evidence in every})
        if one in decided:
            verdict.verdict = "holds" if decided[one] == AS_ASSUMED else "differs"
            verdict.alternative, verdict.reason = decided[one] or None, None
        elif not found.sides and all(self._is_excluded(one, side, decided, found) for side in self._sides[one]):
            verdict.verdict, verdict.seen, verdict.reason = "neither", "; ".join(self._shown(every)), None
        return verdict

    def _index(self, evidence: Evidence) -> int:
        """Return the number of the exchange that an evidence item refers to, counted from 0 over all recordings."""
        before = sum(len(case.by_number) for case in self.cases[: evidence.case])
        return before + list(self.cases[evidence.case].by_number).index(evidence.exchange)

    def left_out(self) -> list[str]:
        """Return one line for each exchange that was not replayed, with the reason."""
        return [
            f"{case.name}:{one.recorded.n}: {one.recorded.method} {one.recorded.path}: {one.why_not}"
            for case in self.cases
            for one in case.replay
            if one.why_not
        ]

    @property
    def replayed(self) -> int:
        """The number of calls that were replayed."""
        return sum(one.played is not None for case in self.cases for one in case.replay)

    def _shown(self, evidence: Sequence[Evidence]) -> Iterator[str]:
        for row in evidence[:_MOST_SEEN]:
            case = self.cases[row.case]
            exchange = case.by_number[row.exchange]
            yield f"{exchange.method} {exchange.path}: {row.name}: {case.seen.get(row.name, ABSENT)}"


def _operation(exchange: Exchange) -> str:
    return exchange.operation or f"{exchange.method} {exchange.path}"


def _affects(predictions: Mapping[str, Mapping[str, Run]]) -> dict[str, set[str]]:
    """Map each feature to the assumptions whose alternatives change its value."""
    found: dict[str, set[str]] = {}
    for one, runs in predictions.items():
        for name in _differing(list(runs.values())):
            found.setdefault(name, set()).add(one)
    return found


def _is_weak(name: str, runs: Mapping[str, Run]) -> bool:
    """Return True if the alternatives differ only in the format of a decimal. This is weak evidence, because the number
    itself can also cause the difference.
    """
    return all(run.features.get(name, ABSENT).startswith("decimal") for run in runs.values())


def _differing(runs: Sequence[Run]) -> set[str]:
    """Return the features that differ between runs."""
    first, *others = runs
    return {
        name
        for other in others
        for name in first.features.keys() | other.features.keys()
        if first.features.get(name, ABSENT) != other.features.get(name, ABSENT)
    }
