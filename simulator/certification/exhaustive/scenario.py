"""Converts a trace to a scenario file, with which a world delivers the events in the same sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.certification.exhaustive.bounds import ACKNOWLEDGEMENT_LOST, BEFORE_ANSWER, BEYOND_AGE, Bounds, Path
from simulator.certification.service import Flow, filled
from simulator.engine.text.json import JsonObject, with_texts
from simulator.engine.text.yaml import yaml_text
from simulator.kernel.dataclass import dataclass

_SLACK_S = 30
"""The time between a retry and the next delivery, in seconds."""
_AHEAD_S = 5
"""The time between an event and its delivery, in seconds."""


@dataclass(frozen=True)
class Trace:
    """A sequence of deliveries (path) in a flow, and the time of each event and delivery, in seconds after the order is
    created. The second and later copies of an event are retries after a lost acknowledgement. Faults delay each copy
    until its time on the path.
    """

    name: str
    says: str
    flow: Flow
    bounds: Bounds
    path: Path
    retries_s: Sequence[int]
    """The service's delays between the attempts to deliver an event."""

    @property
    def _gap_s(self) -> int:
        """The seconds between two deliveries on the path, longer than the delay before any retry on the path."""
        most = max((self._retries(event) for event in range(len(self.bounds.events))), default=0)
        return max((*self.retries_s[:most], 0)) + _SLACK_S

    def _retries(self, event: int) -> int:
        names = [move.name for move in self.path if move.event == event]
        return max(len(names) - 1 + names.count(BEYOND_AGE), 0)

    def _due_s(self, place: int) -> int:
        """Return the time of the delivery at this index of the path, in seconds."""
        return 0 if self.path[place].name == BEFORE_ANSWER else (place + 1) * self._gap_s

    def _step(self, event: int) -> int:
        steps = [step.event for step in self.flow.steps]
        name = self.bounds.events[event]
        return steps.index(name) if name in steps else 0

    def _happens_s(self) -> list[int]:
        """Return the time of each step in seconds: before the first delivery that needs it, or after the last one."""
        end, times = self._due_s(len(self.path) - 1) + self._gap_s if self.path else _SLACK_S, []
        due = [(self._due_s(place), self._step(move.event or 0)) for place, move in enumerate(self.path)]
        for number, step in enumerate(self.flow.steps):
            needed = [at for at, reached in due if reached >= number]
            times.append(max(min([*needed, end]) - _AHEAD_S, 0) if step.action else 0)
        return times

    def _is_unknown(self, event: int) -> bool:
        return self.bounds.events[event] not in {step.event for step in self.flow.steps}

    def _rule(self) -> JsonObject:
        """Return the scenario rule that performs the flow's actions at their times. If the path contains an event of an
        unknown type, the rule also emits the event that is delivered as such.
        """
        silent = [step.event for step in self.flow.steps if not step.action] or [self.flow.steps[0].event]
        planned = zip(self._happens_s(), self.flow.steps, strict=True)
        due: list[tuple[int, JsonObject]] = [(at, {"action": step.action}) for at, step in planned if step.action]
        unknown = [place for place, move in enumerate(self.path) if self._is_unknown(move.event or 0)]
        if unknown:
            at = self._due_s(unknown[0]) - _AHEAD_S
            due.append((at, {"action": "emit", "type": self.flow.steps[0].event}))
        before, steps = 0, []
        for at, step in sorted(due, key=lambda one: one[0]):
            steps.append({"after": f"{at - before}s", **step})
            before = at
        return {"on": silent[-1], "times": 1, "do": steps}

    def _faults(self) -> Iterator[JsonObject]:
        """Yield a fault for each delivery attempt that differs from an ordinary one."""
        happens = self._happens_s()
        for step in self.flow.steps:
            if step.event not in self.bounds.events:
                yield {"webhook": {"event": step.event}, "deliver": {"drop": True}}
        for event, name in enumerate(self.bounds.events):
            if self._is_unknown(event):
                continue
            places = [place for place, move in enumerate(self.path) if move.event == event]
            if not places:
                yield {"webhook": {"event": name}, "deliver": {"drop": True}}
            attempt, at = 0, happens[self._step(event)]
            for copy, place in enumerate(places):
                move, due = self.path[place].name, self._due_s(place)
                deliver: JsonObject = {"delay": f"{due - at}s"} if due > at else {}
                if move == BEFORE_ANSWER:
                    deliver = {"before_answer": True}
                if move == BEYOND_AGE:  # refused, and sent again with a fresh signature
                    yield _fault(name, {**deliver, "stale_timestamp": True})
                    due += self.retries_s[attempt]
                    deliver, attempt = {}, attempt + 1
                if copy + 1 < len(places) or move == ACKNOWLEDGEMENT_LOST:
                    deliver["acknowledgement_lost"] = True
                if deliver:
                    yield _fault(name, deliver)
                if move == ACKNOWLEDGEMENT_LOST and copy + 1 == len(places):
                    yield _fault(name, {"drop": True})
                at, attempt = max(due, at) + self.retries_s[min(attempt, len(self.retries_s) - 1)], attempt + 1

    def yaml(self) -> str:
        """Return the scenario file. The calls in its `drive` create the order, for runs without the application."""

        def fill(text: str) -> str:
            return filled(text, {"reference": self.name})

        drive: list[JsonObject] = [
            {name: {"post": fill(path), "body": with_texts(body, fill)}} for name, path, body in self.flow.calls
        ]
        longest = (len(self.path) + 2) * self._gap_s + _SLACK_S
        return yaml_text({
            "name": self.name,
            "description": self.says,
            "rules": [self._rule()],
            "faults": list(self._faults()),
            "drive": [*drive, {"advance": f"{longest}s"}],
            "expect": [{"event": step.event} for step in self.flow.steps],
        })  # fmt: skip


def _fault(name: str, deliver: JsonObject) -> JsonObject:
    return {"webhook": {"event": name}, "deliver": deliver, "times": 1}
