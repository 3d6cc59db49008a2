"""The search for probes: flows and robust features that distinguish an assumption from its alternatives.

The sides of an assumption are its default and its alternatives. A feature is robust if it distinguishes the sides
whatever the other assumptions and the account's reference data are. `probes` writes the result, which is
deterministic.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypeAlias

import yaml

from contracts.generator.predictions import differences, fewest, is_of_event, is_robust, same, told
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.alternatives import Switches
from simulator.evidence.features import ABSENT, Features, ReplyForm, features_of, reply_forms
from simulator.evidence.flow import AGAIN, AS_ASSUMED, Flow, Steps, play, steps_in
from simulator.evidence.local import START, LocalWorld, Simulators, combination, invented
from simulator.evidence.provided import Probing
from simulator.kernel.clock import parse_timestamp

Assumed: TypeAlias = tuple[tuple[str, str], ...]
"""The alternatives in force, sorted: (id, alternative)."""

_STATE = " body.status"
"""The suffix of names of features that contain the status of a resource."""
_HOOK = "hook}"
"""The suffix of a reference to the address of a webhook receiver."""
_MOST_STEPS = 10
_UNCAUSED = -2
_COMBINATIONS = 20
_MOST_BREAKING = 3
"""The maximum number of alternatives to other assumptions that a probe may depend on."""
_LEAST_SHARE_PLAYED = 0.6
"""The share of contexts in which the preparing steps of a probe must succeed."""


class Run(NamedTuple):
    """The result of performing a flow in a world."""

    features: Features
    succeeded: Mapping[str, bool]
    """True if the step was accepted, by step name."""
    consulted: frozenset[str]
    """The assumptions that the simulator consulted."""
    waited_seconds: int


class Search:
    """Plays flows in worlds of the simulator and finds the probes."""

    def __init__(self, probing: Probing, switches: Switches, steps: Steps, *, deep: bool = False) -> None:
        """`deep`: True to also try all flows with one changed step. This takes hours."""
        self.probing, self.switches, self.steps = probing, switches, steps
        self._is_deep = deep
        self._simulators = Simulators()
        self._ran: dict[tuple[Flow, Assumed, int, int], Run] = {}
        self.played = 0

    def close(self) -> None:
        self._simulators.close()

    def run(self, flow: Flow, assumed: Mapping[str, str], *, data: int = -1, seed: int = 1) -> Run:
        """Perform a flow in a new world, and return the result.

        `data`: -1 for the shipped reference data, otherwise the index of a variant. The variants are first other
        reference data, then histories (flows that are played first), then a world without scenarios, like a real
        service. With `_UNCAUSED`, the optional outside events do not happen.
        """
        key = (flow, tuple(sorted(assumed.items())), data, seed)
        if key not in self._ran:
            self._ran[key] = self._play(flow, assumed, data, seed)
        return self._ran[key]

    def _play(self, flow: Flow, assumed: Mapping[str, str], data: int, seed: int) -> Run:
        self.played += 1
        self._simulators.consulted.clear()
        is_bare = data == len(self.probing.other_data) + len(self.probing.histories)
        world = LocalWorld(self._simulators, assumed, seed=seed, scenarios=[] if is_bare else None)
        try:
            if data >= 0 and not is_bare:
                self._prepare(world, data)
            begun = _now(world)
            steps = [one for one in steps_in(flow, self.steps) if data != _UNCAUSED or not (one.act and one.optional)]
            trace = play(steps, world)
            waited = _now(world) - begun
        finally:
            world.close()
        succeeded = {one.step.name: not one.refused and (one.reply is None or one.reply.status < 400) for one in trace}
        features = features_of(trace, self.probing.formulas)
        return Run(features, succeeded, frozenset(self._simulators.consulted), waited // 1000)

    def _prepare(self, world: LocalWorld, data: int) -> None:
        changes, histories = self.probing.other_data, self.probing.histories
        if data < len(changes):
            changes[data](world.read, world.act)
            return
        history = histories[data - len(changes)]
        play(steps_in(history, self.steps), world)
        world.account |= invented(START, str(data))
        world.account |= self.probing.surroundings(world.read)

    def flows(self) -> Iterator[list[Flow]]:
        """Yield the flows to try, level by level. Within a level, the cheapest flows come first."""
        levels = (self._alone, self._known)
        for level in (*levels, self._with_one_change, self._read_twice) if self._is_deep else levels:
            yield sorted(
                {flow for flow in level() if len(flow) <= _MOST_STEPS}, key=lambda flow: (self.cost(flow), flow)
            )

    def cost(self, flow: Flow) -> tuple[int, int, int]:
        """Return a sort key for the cost of a flow with a real account: the number of outside events, then the severity
        of the flow's effects, then the weight of its steps.
        """
        steps = [self.steps[name.rstrip(AGAIN)] for name in flow]
        acts = sum(bool(step.act) and not step.optional for step in steps)
        effect = max(self.probing.spends.index(step.spend) for step in steps)
        return acts, effect, sum(step.weight for step in steps)

    def _known(self) -> Iterator[Flow]:
        yield from read_flows(self.probing.flows)

    def _alone(self) -> Iterator[Flow]:
        for name in self.steps:
            yield tuple(closure(name, self.steps))

    @cached_property
    def _changes(self) -> list[str]:
        nothing = self.probing.spends[0]
        return [name for name, step in self.steps.items() if step.act or step.wait or step.spend != nothing]

    def _with_one_change(self) -> Iterator[Flow]:
        """Yield flows with one modifying call before the last call."""
        for last, step in self.steps.items():
            if not step.call:
                continue
            base = list(closure(last, self.steps))
            for change in self._changes:
                if change not in base:
                    extra = [name for name in closure(change, self.steps, base) if name not in base[:-1]]
                    yield from self._possible((*base[:-1], *extra, last))

    def _read_twice(self) -> Iterator[Flow]:
        """Yield flows that read before and after a modifying call."""
        for read, step in self.steps.items():
            if not step.call.startswith("GET"):
                continue
            for change in self._changes:
                base = list(closure(change, self.steps))
                if read not in base:
                    before = [*base[:-1], *closure(read, self.steps, base[:-1])]
                    yield from self._possible((*before, base[-1], read + AGAIN))

    def _possible(self, flow: Flow) -> Iterator[Flow]:
        if len(flow) == len(set(flow)) and all(
            need in flow[:at] for at, name in enumerate(flow) for need in self.steps[name.rstrip(AGAIN)].needs
        ):
            yield flow

    def probe(self, flow: Flow, identifier: str) -> JsonObject | None:
        """Return the probe that decides an assumption by performing a flow, or None if the flow cannot decide it.

        A probe may depend on other assumptions. The probe's field `unless` contains the alternatives to them under
        which the probe decides nothing.
        """
        if (found := self._probe(flow, identifier, {})) is not None:
            return found
        unless = self._breaking(flow, identifier)
        return self._probe(flow, identifier, unless) if unless else None

    def _breaking(self, flow: Flow, identifier: str) -> dict[str, list[str]]:
        """Return the smallest set of alternatives to other assumptions that prevents a feature from being robust."""
        sides = (AS_ASSUMED, *self.switches[identifier].alternatives)
        first = {side: self.run(flow, _switched({}, identifier, side)) for side in sides}
        pairs = [(a, b) for a, b in combinations(sides, 2) if a == AS_ASSUMED]
        found: dict[str, list[tuple[str, str]]] = {}
        for a, b in pairs:
            for name in differences(first[a].features, first[b].features):
                found[name] = []
        for assumed, data, seed in self._contexts(flow, identifier, first):
            if len(assumed) > 1:
                break
            runs = {s: self.run(flow, _switched(assumed, identifier, s), data=data, seed=seed) for s in sides}
            if self._misses_more(flow, runs, first):
                continue
            for name in list(found):
                if name not in self.probing.formulas and any(
                    runs[s].features.get(name, ABSENT) != first[s].features.get(name, ABSENT) for s in sides
                ):
                    if not assumed:
                        del found[name]
                    else:
                        found[name] += assumed.items()
        fewest = min((sorted(broken) for broken in found.values() if broken), key=len, default=[])
        unless: dict[str, list[str]] = {}
        for other, alternative in fewest if len(fewest) <= _MOST_BREAKING else ():
            unless.setdefault(other, []).append(alternative)
        return unless

    def _probe(self, flow: Flow, identifier: str, unless: Mapping[str, Sequence[str]]) -> JsonObject | None:
        """Return the probe that decides an assumption with a flow, or None if the flow has no robust features.

        A feature is robust if, under each alternative, its value does not depend on the other assumptions and the
        reference data. Only replays in which the preparing steps of the flow succeed are compared.
        """
        switch = self.switches[identifier]
        sides = (AS_ASSUMED, *switch.alternatives)
        first = {side: self.run(flow, _switched({}, identifier, side)) for side in sides}
        expected = {
            name: first[AS_ASSUMED].succeeded[name]
            for name in flow
            if len({one.succeeded.get(name) for one in first.values()}) == 1 and name in first[AS_ASSUMED].succeeded
            if not self.steps[name.rstrip(AGAIN)].optional
        }
        names = {name for one in first.values() for name in one.features}
        values = {side: {name: {one.features.get(name, ABSENT)} for name in names} for side, one in first.items()}
        alike = same({side: one.features for side, one in first.items()})
        names -= alike
        if self.watches(flow):
            names = {name for name in names if self._is_lasting(name)}
        states = {name: {first[AS_ASSUMED].features[name]} for name in alike if name.endswith(_STATE)}
        forms: dict[str, ReplyForm] = {}
        for one in first.values():
            _join(forms, one.features)
        contexts = played = 0
        for assumed, data, seed in self._contexts(flow, identifier, first):
            if any(assumed.get(other) in broken for other, broken in unless.items()):
                continue
            contexts += 1
            runs = {s: self.run(flow, _switched(assumed, identifier, s), data=data, seed=seed) for s in sides}
            if any(one.succeeded.get(name) != ok for one in runs.values() for name, ok in expected.items()):
                continue
            if self._misses_more(flow, runs, first):
                continue
            played += 1
            for one in runs.values():
                _join(forms, one.features)
            for name in list(states):
                here = {runs[side].features.get(name, ABSENT) for side in sides}
                states[name] |= here
                if len(here) > 1:
                    del states[name]
            for name in names:
                for side in sides:
                    value = runs[side].features.get(name, ABSENT)
                    if not (data == _UNCAUSED and value == ABSENT and name in self.probing.formulas):
                        values[side][name].add(value)
            names = {
                name
                for name in names
                if self._is_robust(name, {side: values[side][name] for side in sides}, self._missing(flow, first))
            }
            if not names:
                return None
        if played < contexts * _LEAST_SHARE_PLAYED:
            return None
        predictions = {side: {name: sorted(values[side][name]) for name in names} for side in sides}
        chosen = fewest(names, predictions)
        pairs = told(chosen, predictions)
        distinct = [one for one in switch.alternatives if (AS_ASSUMED, one) in pairs]
        if not distinct:
            return None
        steps = [self.steps[name.rstrip(AGAIN)] for name in flow]
        only = [side for side in sides if side not in self._missing(flow, first)] if self.watches(flow) else []
        named = {*chosen, *(word for name in chosen for word in name.split())}
        return {
            "assumption": identifier,
            "alternatives": distinct,
            "flow": list(flow),
            "spend": self.probing.spends[max(self.probing.spends.index(step.spend) for step in steps)],
            "wait_seconds": max(first[side].waited_seconds for side in only or sides),
            "needs_event": any(step.act and not step.optional for step in steps)
            or self._is_exact([name for name in chosen if any(ABSENT in one[name] for one in predictions.values())]),
            "needs_webhook": any(map(is_of_event, chosen)),
            "needs_hook": any(_HOOK in repr(step) for step in steps),
            **({"decides": only} if only else {}),
            "unless": dict(unless),
            "expected": expected,
            "replies": {
                name: {"answers": sorted(form.answers), "fields": sorted(form.fields)}
                for name, form in sorted(forms.items())
                if name in named or named & self.probing.formulas.keys()
            },
            "states": {name: sorted(found) for name, found in sorted(states.items())},
            "predictions": {side: {name: predictions[side][name] for name in chosen} for side in sides},
        }

    def watches(self, flow: Flow) -> bool:
        """Return True if a step of a flow watches a resource."""
        return any(self.steps[name.rstrip(AGAIN)].reaches for name in flow)

    def misses(self, flow: Flow, run: Run) -> bool:
        """Return True if a resource did not reach the status that a step waits for. Such a run cannot exclude an
        alternative.
        """
        return any(self.steps[name.rstrip(AGAIN)].reaches and not run.succeeded.get(name) for name in flow)

    def _misses_more(self, flow: Flow, runs: Mapping[str, Run], first: Mapping[str, Run]) -> bool:
        """Return True if one of `runs` misses a watched status, but the run in `first` for the same side does not."""
        return any(self.misses(flow, runs[side]) and not self.misses(flow, one) for side, one in first.items())

    def _is_lasting(self, name: str) -> bool:
        """Return True if the value of a feature does not depend on the time of the call, in a flow that watches a
        resource.

        This is the case for formulas and for fields of the watched resource. It is not the case for the balance, which
        also changes with other transactions.
        """
        step = self.steps.get(name.split()[0].rstrip(AGAIN))
        return name in self.probing.formulas or (
            step is not None and bool(step.reaches) and " body" in name and not {":", "=", "+"} & set(name.split())
        )

    def _is_exact(self, absent: Sequence[str]) -> bool:
        """Return True if an event must be absent at an exact time, so that the probe needs control of the clock."""
        return any(is_of_event(name) and self.steps[name.split()[1].rstrip(AGAIN)].wait[:1] == "$" for name in absent)

    def _is_robust(self, name: str, values: Mapping[str, set[str]], missing: Container[str]) -> bool:
        """Return True if the values of a feature distinguish at least two of an assumption's default and alternatives.

        A feature that is a formula must also be computable under the default and under every alternative, except those
        in `missing`.
        """
        formula = [one for side, one in values.items() if name in self.probing.formulas and side not in missing]
        return is_robust([*values.values()]) and not any(ABSENT in one for one in formula)

    def _missing(self, flow: Flow, first: Mapping[str, Run]) -> set[str]:
        """Return the alternatives under which a resource does not reach a watched status."""
        return {side for side, one in first.items() if self.misses(flow, one)}

    def _contexts(
        self, flow: Flow, identifier: str, first: Mapping[str, Run]
    ) -> Iterator[tuple[Mapping[str, str], int, int]]:
        """Yield the conditions under which a probe must give the same verdict: alternatives, the index of the reference
        data, and the seed.
        """
        consulted = frozenset().union(*(one.consulted for one in first.values()))
        for data in range(len(self.probing.other_data) + len(self.probing.histories) + 1):
            yield {}, data, 1
        yield {}, -1, 2
        acts = [step.optional for step in steps_in(flow, self.steps) if step.act]
        if acts and all(acts):
            yield {}, _UNCAUSED, 1
        for other, switch in self.switches.items():
            if other != identifier and other in consulted:
                for alternative in switch.alternatives:
                    yield {other: alternative}, -1, 1
        for at in range(_COMBINATIONS):
            yield combination(self.switches, f"{identifier} {at}", without=identifier), -1, 1


def _join(forms: dict[str, ReplyForm], features: Features) -> None:
    for step, form in reply_forms(features).items():
        if known := forms.get(step):  # both forms are allowed
            fields = known.fields & form.fields if known.fields and form.fields else known.fields | form.fields
            form = ReplyForm(known.answers | form.answers, fields)
        forms[step] = form


def _now(world: LocalWorld) -> int:
    return parse_timestamp(world.control("GET", "/clock", None).body["now"])


def _switched(assumed: Mapping[str, str], identifier: str, side: str) -> dict[str, str]:
    return {**assumed, identifier: side} if side else dict(assumed)


def closure(name: str, steps: Steps, done: Sequence[str] = ()) -> Iterator[str]:
    """Yield the steps that a step depends on, and then the step itself. Steps in `done` are omitted."""
    seen = set(done)

    def visit(one: str) -> Iterator[str]:
        if one in seen:
            return
        seen.add(one)
        for need in steps[one].needs:
            yield from visit(need)
        yield one

    yield from visit(name)


def read_flows(path: Path) -> list[Flow]:
    """Return the flows in a YAML file."""
    rows: list[list[str]] = yaml.safe_load(path.read_bytes())
    return [tuple(row) for row in rows]
