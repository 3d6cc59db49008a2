"""Deciding assumptions by a corpus, without any call to the service.

The recordings are replayed in worlds as assumed, and in worlds with one alternative. A feature of the responses
excludes an alternative if the recording has another value. It counts only if no undecided assumption changes it, and
if other reference data do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from simulator.engine.worlds.alternatives import Switches
from simulator.evidence.corpus import Corpus, Exchange, Recording
from simulator.evidence.corpus.known import known
from simulator.evidence.features import ABSENT, Features, features_of
from simulator.evidence.flow import Exchange as Seen
from simulator.evidence.flow import Reply, Step
from simulator.evidence.local import Simulators, recorded
from simulator.evidence.players import LocalPlayer
from simulator.evidence.probing import Verdict
from simulator.evidence.provided import Probing
from simulator.evidence.replaying import Replayed, Schedule, replay, scheduled
from simulator.evidence.search import AS_ASSUMED, combination
from simulator.kernel.dataclass import dataclass

Assumed: TypeAlias = tuple[tuple[str, str], ...]
_MOST_ROUNDS = 8
_CONTEXTS = 4
"""Random combinations of undecided assumptions under which evidence must persist."""
_MOST_SEEN = 3
"""The features that a verdict `neither` shows."""


class Run(NamedTuple):
    """One recording, replayed in one world."""

    features: Features
    statuses: Mapping[int, str]
    """By the number of the exchange."""
    consulted: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """A feature that excludes sides of an assumption."""

    case: int
    name: str
    exchange: int
    """The number in the recording."""


class Case:
    """A recording and its replays."""

    def __init__(self, recording: Recording, simulators: Simulators, probing: Probing) -> None:
        self._recording, self._simulators, self._probing = recording, simulators, probing
        self.name = recording.name
        self._runs: dict[tuple[Assumed, int], Run] = {}
        self.replay: list[Replayed] = []
        """The replay as assumed."""

    @cached_property
    def _schedule(self) -> Schedule:
        return scheduled(self._recording, lambda schedule: self._play({}, -1, schedule))

    def run(self, assumed: Mapping[str, str], data: int = -1) -> Run:
        """Replay with these alternatives. `data` is the index of other reference data, -1 for the shipped data."""
        key = (tuple(sorted(assumed.items())), data)
        if key not in self._runs:
            schedule = self._schedule
            consulted = recorded()
            played = self._play(assumed, data, schedule)
            if not key[0] and data < 0:
                self.replay = played
            exchanges = [one.played for one in played if one.played is not None]
            self._runs[key] = Run(
                features_in(exchanges),
                {one.n: str(one.status) for one in exchanges},
                frozenset(consulted),
            )
        return self._runs[key]

    def _play(self, assumed: Mapping[str, str], data: int, schedule: Schedule) -> list[Replayed]:
        player = LocalPlayer(self._simulators, self._recording.exchanges[0].at, assumed)
        try:
            if data >= 0:
                self._probing.other_data[data](player.read, player.act)
            return replay(self._recording, player, schedule)
        finally:
            player.close()

    @cached_property
    def seen(self) -> Features:
        """The features of the recording."""
        return features_in(
            [one for one in self._recording.exchanges if one.direction == "webhook" or one.status is not None]
        )

    @cached_property
    def by_number(self) -> Mapping[int, Exchange]:
        return {one.n: one for one in self._recording.exchanges}


def features_in(exchanges: Sequence[Exchange]) -> Features:
    """Return the features of each exchange, and of each with its predecessor. Names begin with `#` and a number."""
    found: Features = {}
    last: dict[str, tuple[str, Seen]] = {}
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
            both = features_of([last[key][1], seen], {})
            found |= {name: value for name, value in both.items() if name.endswith(f" {step.name}")}
        last[key] = step.name, seen
    return found


def _plain(value: object, name: str = "") -> object:
    """Replace words that the contract does not know: they are data, or pseudonyms."""
    if isinstance(value, Mapping):
        return {key: _plain(one, str(key)) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, name) for one in value]
    if isinstance(value, str) and value.isalpha() and name != "code" and value not in known().values:
        return "X x"
    return value


def number_of(name: str) -> int:
    """Return the number of the last exchange that a feature is about."""
    start = name.rindex("#") + 1
    end = start
    while end < len(name) and name[end].isdecimal():
        end += 1
    return int(name[start:end])


class Inference:
    """The verdicts that a corpus allows."""

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
        found: dict[str, tuple[set[str], dict[str, list[Evidence]], list[Evidence]]] = {}
        for number in range(_MOST_ROUNDS):
            self._report(f"round {number + 1}")
            found = self._round(decided)
            new = {one: next(iter(sides)) for one, (sides, _, _) in found.items() if len(sides) == 1}
            if new == decided:
                break
            decided = new
        for one in [*decided]:
            if not self._persists(one, decided, found[one][1]):
                del decided[one]
        return [self._verdict(one, decided, found.get(one)) for one in self._switches]

    def _world(self, decided: Mapping[str, str], **switched: str) -> dict[str, str]:
        return {one: side for one, side in {**decided, **switched}.items() if side != AS_ASSUMED}

    def _round(
        self, decided: Mapping[str, str]
    ) -> dict[str, tuple[set[str], dict[str, list[Evidence]], list[Evidence]]]:
        """Return by assumption the sides that remain, the evidence against the others, and what fits no side."""
        usual = self._world(decided)
        predictions: list[dict[str, dict[str, Run]]] = []
        for case in self.cases:
            base = case.run(usual)
            predictions.append(
                {
                    one: {side: case.run(self._world(decided, **{one: side})) for side in self._sides[one]}
                    for one in self._switches
                    if one in base.consulted
                }
            )
        found: dict[str, tuple[set[str], dict[str, list[Evidence]], list[Evidence]]] = {}
        strange = self._strange_operations(usual, predictions)
        for at, case in enumerate(self.cases):
            unstable = self._unstable(case, usual)
            affects: dict[str, set[str]] = {}
            for one, runs in predictions[at].items():
                for name in _differing(list(runs.values())):
                    affects.setdefault(name, set()).add(one)
            for name, ids in affects.items():
                number = number_of(name)
                exchange = case.by_number.get(number)
                if exchange is None or name in unstable or _operation(exchange) in strange:
                    continue
                for one in ids:
                    if any(other != one and other not in decided for other in ids):
                        continue
                    sides, against, unfit = found.setdefault(one, (set(self._sides[one]), {}, []))
                    runs = {
                        side: run for side, run in predictions[at][one].items()
                        if name.endswith(" status") or run.statuses.get(number) == str(exchange.status)
                    }  # fmt: skip
                    value = case.seen.get(name, ABSENT)
                    fitting = {side for side, run in runs.items() if run.features.get(name, ABSENT) == value}
                    evidence = Evidence(at, name, number)
                    if not fitting:
                        unfit.append(evidence)
                        continue
                    for side in runs.keys() - fitting:
                        sides.discard(side)
                        against.setdefault(side, []).append(evidence)
        return found

    def _unstable(self, case: Case, usual: Mapping[str, str]) -> set[str]:
        """Return the features that other reference data change."""
        return _differing([case.run(usual), *(case.run(usual, at) for at in range(len(self._probing.other_data)))])

    def _strange_operations(
        self, usual: Mapping[str, str], predictions: Sequence[Mapping[str, Mapping[str, Run]]]
    ) -> set[str]:
        """Return the operations with a recorded status that no world returns: the account has another state."""
        found = set()
        for at, case in enumerate(self.cases):
            runs = [case.run(usual), *(run for runs in predictions[at].values() for run in runs.values())]
            for number, status in runs[0].statuses.items():
                exchange = case.by_number[number]
                if all(run.statuses.get(number, status) != str(exchange.status) for run in runs):
                    found.add(_operation(exchange))
        return found

    def _persists(self, one: str, decided: Mapping[str, str], against: Mapping[str, Sequence[Evidence]]) -> bool:
        """Return True if evidence excludes each other side even if undecided assumptions or the data are different."""
        open_ = {other: switch for other, switch in self._switches.items() if other not in decided}
        contexts: list[tuple[Mapping[str, str], int]] = [
            (combination(open_, f"{one} {number}"), -1) for number in range(_CONTEXTS)
        ]
        contexts += [({}, data) for data in range(len(self._probing.other_data))]
        for side in self._sides[one]:
            if side == decided[one]:
                continue
            remaining = list(against.get(side, ()))
            for more, data in contexts:
                remaining = [
                    evidence for evidence in remaining if self._tells(one, side, decided, evidence, more, data)
                ]
            if not remaining:
                return False
        return True

    def _tells(
        self, one: str, side: str, decided: Mapping[str, str], evidence: Evidence, more: Mapping[str, str], data: int
    ) -> bool:
        case = self.cases[evidence.case]
        run = case.run({**more, **self._world(decided, **{one: side})}, data)
        return run.features.get(evidence.name, ABSENT) != case.seen.get(evidence.name, ABSENT)

    def _verdict(
        self,
        one: str,
        decided: Mapping[str, str],
        found: tuple[set[str], dict[str, list[Evidence]], list[Evidence]] | None,
    ) -> Verdict:
        verdict = Verdict(one, self._switches[one].assumed)
        if found is None:
            verdict.reason = "no-evidence"
            return verdict
        sides, against, _ = found
        every = [evidence for rows in against.values() for evidence in rows]
        verdict.exchanges = sorted({self._index(evidence) for evidence in every})
        if one in decided:
            side = decided[one]
            verdict.verdict = "holds" if side == AS_ASSUMED else "differs"
            verdict.alternative = side or None
        elif not sides:
            verdict.verdict = "neither"
            verdict.seen = "; ".join(self._shown(every))
        else:
            verdict.reason = "no-evidence"
        return verdict

    def _index(self, evidence: Evidence) -> int:
        """Return the index among the exchanges of all recordings."""
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


def _differing(runs: Sequence[Run]) -> set[str]:
    """Return the features that differ between runs."""
    first, *others = runs
    return {
        name
        for other in others
        for name in first.features.keys() | other.features.keys()
        if first.features.get(name, ABSENT) != other.features.get(name, ABSENT)
    }
