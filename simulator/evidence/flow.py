"""Flows: sequences of calls, waits and outside events, and the traces that they produce at a target.

A step is data. In a step, `${step.field}` refers to the response to an earlier step, and `${account.…}` to the
account and environment of the run. A target plays steps. It is a world of the simulator, or a service over HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import yaml

from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass, replace

ACCOUNT = "account"
"""The name that steps use for the account."""
AGAIN = "'"
"""The suffix of the name of a repeated step."""
AS_ASSUMED = ""
"""The side of a probe without any alternative."""

_MOST_REPEATS = 40
"""The number of calls after which a step with `until` fails, including the first one."""
_MOST_LOOKS = 25
"""The number of calls after which a step with `pending` fails."""
_REFERENCE = re.compile(r"\$\{([a-z_0-9]+)\.([a-zA-Z_0-9.]+)\}")


@dataclass(frozen=True)
class Step:
    """One call, wait or outside event."""

    name: str
    call: str = ""
    """The method, path and query of a call."""
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: str = ""
    """The duration or time to wait for."""
    act: str = ""
    """The name of an action."""
    target: str = ""
    """The id of the resource for the action."""
    parameters: Shown = field(default_factory=dict)
    after: tuple[str, ...] = ()
    """Steps that must come first, although the step does not refer to them."""
    spend: str = "nothing"
    """The effect on a real account, one of `Probing.spends`."""
    weight: int = 1
    """The cost of the step in the search."""
    undo: str = ""
    """The call that deletes the resource created by the step, or restores the values that the step changed."""
    undo_body: object = None
    until: int = 0
    """The status until which the call is repeated, or 0."""
    every: str = ""
    """The time between two calls of a step with `pending`."""
    pending: tuple[str, ...] = ()
    """The statuses of the resource with which the call is repeated."""
    reaches: tuple[str, ...] = ()
    """The statuses of the resource with which the step succeeds. A step with `reaches` watches the resource."""
    passed: tuple[str, ...] = ()
    """The statuses that follow those in `reaches`. The resource may have had the watched status between two calls."""
    optional: bool = False
    """True if the flow continues when a target cannot cause the outside event, because the event may have happened
    already.
    """
    why: str = ""
    """The text that distinguishes the call in the printed plan from other calls with the same path."""
    rows: tuple[str, ...] = ()
    """The fields that identify the rows in a list."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the earlier steps that this step depends on."""
        said = repr((self.call, self.body, self.headers, self.wait, self.target, self.parameters))
        referred = [name for name, _ in _REFERENCE.findall(said) if name != ACCOUNT]
        return tuple(dict.fromkeys([*referred, *self.after]))

    @property
    def most_calls(self) -> int:
        """The maximum number of calls that the step makes, including repetitions and the call that undoes it."""
        repeats = (_MOST_REPEATS - 1 if self.until else 0) + (_MOST_LOOKS if self.pending else 0)
        return bool(self.call) + repeats + bool(self.undo)


Steps: TypeAlias = Mapping[str, Step]
Flow: TypeAlias = tuple[str, ...]
"""The names of the steps, in order."""


@dataclass(frozen=True)
class Reply:
    """The response to a call. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: Any
    """The parsed JSON, or None."""


@dataclass(frozen=True)
class Exchange:
    """One step of a flow after it was played, with its response and the events that arrived."""

    step: Step
    reply: Reply | None = None
    """The response to a call, or None for waits and outside events."""
    refused: bool = False
    """True if the target could not perform a wait or an outside event, or if the resource did not reach
    a watched status."""
    events: Sequence[Shown] = ()
    """The envelopes that arrived during the step, in order."""

    @property
    def came_too_late(self) -> bool:
        """True if the resource already has a later status, so it had the expected one between two calls at most."""
        return self.refused and self.reply is not None and _status(self.reply) in self.step.passed


Trace: TypeAlias = Sequence[Exchange]


class Target(Protocol):
    """The service on which a flow is performed: makes calls, waits, causes outside events and receives webhooks."""

    @property
    def account(self) -> Mapping[str, str]:
        """The values that `${account.…}` refers to."""

    def call(self, method: str, path: str, body: object, headers: Mapping[str, str], *, obey: bool = True) -> Reply:
        """Make a call and return the response. If `obey` is True and the response is 429, wait and try again."""

    def wait(self, until: str) -> bool:
        """Wait for a duration, or until a timestamp. Return False if that is impossible."""

    def act(self, action: str, target: str, parameters: Shown) -> bool:
        """Cause an outside event: an action, or a control API call by its path. Return False if that is impossible."""

    def events(self) -> list[Shown]:
        """Return the envelopes that have arrived since the last call."""


class Unresolved(Exception):
    """Raised if a reference names a field that the response does not contain."""


def play(flow: Sequence[Step], target: Target, trace: list[Exchange] | None = None) -> list[Exchange]:
    """Play a flow to its end, or to the first step that cannot be played. Return the trace. `trace`: an empty list for
    the trace. It has the steps that were played even if the target raises an error.
    """
    values: JsonObject = {ACCOUNT: target.account}
    trace = [] if trace is None else trace
    target.events()
    for step in flow:
        try:
            exchange = _played(step, target, values)
        except Unresolved:
            break
        trace.append(exchange)
        if exchange.reply is not None:
            values[step.name] = exchange.reply.body
        if exchange.refused and not step.optional:
            break
    return trace


def _played(step: Step, target: Target, values: Shown) -> Exchange:
    if step.wait:
        done = target.wait(filled(step.wait, values))
        return Exchange(step, refused=not done, events=target.events())
    if step.act:
        done = target.act(step.act, filled(step.target, values), filled(step.parameters, values))
        return Exchange(step, refused=not done, events=target.events())
    method, _, path = filled(step.call, values).partition(" ")
    given = filled(step.body, values), filled(step.headers, values)
    reply = target.call(method, path, *given, obey=not step.until)
    for _ in range(_MOST_REPEATS - 1 if step.until else 0):
        if reply.status == step.until:
            break
        reply = target.call(method, path, *given, obey=False)
    for _ in range(_MOST_LOOKS if step.pending else 0):
        if _status(reply) not in step.pending or not target.wait(step.every):
            break
        reply = target.call(method, path, *given)
    missed = bool(step.reaches) and _status(reply) not in step.reaches
    return Exchange(step, reply, refused=missed, events=target.events())


def _status(reply: Reply) -> object:
    """Return the status of the resource in a response."""
    return reply.body.get("status") if isinstance(reply.body, Mapping) else None


def filled(value: object, values: Shown) -> Any:
    """Return a value with its references replaced. Raise `Unresolved` if a field is missing."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda found: _at(values, found[1], found[2]), value)
    if isinstance(value, Mapping):
        return {key: filled(one, values) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, values) for one in value]
    return value


def _at(values: Shown, name: str, path: str) -> str:
    value: object = values.get(name)
    for key in path.split("."):
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            raise Unresolved(f"{name}.{path}")
    return str(value)


def read_steps(path: Path) -> dict[str, Step]:
    """Return the steps in a YAML file, by name."""
    steps = {}
    rows: list[JsonObject] = yaml.safe_load(path.read_bytes())
    for row in rows:
        given = {"parameters" if key == "with" else key: value for key, value in row.items()}
        lists = {key: tuple(given.get(key, ())) for key in ("after", "rows", "pending", "reaches", "passed")}
        steps[given["name"]] = Step(**{**given, **lists})
    return steps


def steps_in(flow: Flow, steps: Steps) -> list[Step]:
    """Return the steps of a flow. A repeated step has a separate name."""
    return [replace(steps[name.rstrip(AGAIN)], name=name) for name in flow]
