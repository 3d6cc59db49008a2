"""Scenarios as plain lists of calls, which any client can make: the collection and the flows are written from them.

What the runner of a scenario does by itself (a world, a token, a receiver of webhooks) is a call here like any other.
`${step.path}` stands for what an earlier step answered, as in a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl

from contracts.generator.evidence import SEED
from contracts.generator.openapi import operations
from simulator.contract.serving import CONTRACT_ROWS
from simulator.engine.clients.address import CONTROL_BASE, inbox_path
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.play.filling import PLACEHOLDER
from simulator.engine.scenario.run.drive import Advance, DriveAction, DriveCall, Receiver, has_receiver
from simulator.engine.text.json import with_texts
from simulator.engine.worlds.settings import MANUAL_START
from simulator.host import PROVIDER, control_rows
from simulator.kernel.clock import HOUR_MS, SECOND_MS

BASE = next(iter(PROVIDER.environments.values()))
WORLD_HEADER = "X-Simulator-World"
ORIGIN = "${origin}"
"""Stands for the address of the simulator."""
_TOKEN_LIFETIME_MS = HOUR_MS
_KEYS = {name: f"${{world.credentials.sandbox.{name}}}" for name in ("public_key", "secret_key")}


@dataclass(frozen=True)
class Step:
    """One call.

    `name` is what later steps call it by; its answers are at `within` where they are not the whole body. `operation` is
    an operation of the interface, or with `control` of the control interface; `path` is its template below the origin,
    `values` what stands for the variables of it. `status` is the answer that is expected, `checks` what its body has at
    which place (a dotted path), where that is one value. `used`: the dotted paths of its answer that later steps
    refer to.
    """

    name: str
    operation: str
    control: bool
    method: str
    path: str
    summary: str
    status: int
    tag: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    within: str = ""
    checks: Mapping[str, Any] = field(default_factory=dict)
    used: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flow:
    """A scenario as calls, in their order."""

    name: str
    summary: str
    steps: tuple[Step, ...]


class NotPlain(Exception):
    """A scenario does what a list of calls cannot say."""


def flow_of(file: ScenarioFile) -> Flow:
    """A scenario as calls; NotPlain where it calls production or paths that no operation has."""
    steps = list(_Writer(file).steps())
    return Flow(file.name, file.description, tuple(_with_uses(steps)))


@dataclass
class _Writer:
    """Writes the steps of one scenario. `token` is the step that made the last token, `elapsed_ms` its age."""

    file: ScenarioFile
    token: str = ""
    elapsed_ms: int = 0
    names: set[str] = field(default_factory=set)

    def steps(self) -> Iterator[Step]:
        yield from self._prelude()
        for part in self.file.scenario.drive:
            named = next(iter(part.items())) if isinstance(part, Mapping) else ("", part)
            name, step = named
            if self.elapsed_ms >= _TOKEN_LIFETIME_MS and isinstance(step, DriveCall):
                yield self._new_token()
            if isinstance(step, Advance):
                self.elapsed_ms += step.advance
                seconds = {"by": step.advance / SECOND_MS}
                yield self._control("advance", name, seconds, query={"wait": "true"})
            elif isinstance(step, DriveAction):
                body = {**({} if step.target is None else {"target": step.target}), **step.parameters}
                yield self._control(
                    *("perform", name or step.action, body, {"action": step.action}),
                    summary=f"What happens outside: {step.action.replace('_', ' ')}",
                    within="resource",
                )
            elif isinstance(step, Receiver):
                yield self._control("inbox_answer", name, {"respond": step.receiver.respond}, {"name": self.file.name})
            else:
                yield self._call(name, step)
        yield from self._expected()

    def _prelude(self) -> Iterator[Step]:
        names = [*self.file.scenario.below, self.file.name]
        clock = {"mode": "manual", "now": MANUAL_START}
        body = {"id": self.file.name, "replace": True, "seed": SEED, "clock": clock, "scenarios": names}
        yield self._control("create_world", "world", body)
        yield self._new_token()
        if has_receiver(self.file.document):
            url = f"{ORIGIN}{inbox_path(self.file.name, self.file.name)}"
            yield self._call("receiver", DriveCall(post="/webhooks", body={"url": url, "events": ["*"]}))

    def _new_token(self) -> Step:
        step = self._call("token", DriveCall(post="/auth/token", body=_KEYS))
        self.token, self.elapsed_ms = step.name, 0
        return step

    def _call(self, name: str, call: DriveCall) -> Step:
        path, _, query = call.path.partition("?")
        if call.environment not in ("", "sandbox"):
            raise NotPlain(f"{self.file.name} calls {call.environment}")
        for row in operations():
            values = _values(row.path, path) if row.method == call.method.upper() else None
            if values is not None:
                break
        else:
            raise NotPlain(f"{self.file.name}: no operation has {call.method} {path}")
        free = self._free(name or row.name)
        headers = dict(call.headers)
        if row.token:
            headers["Authorization"] = f"Bearer ${{{self.token}.access_token}}"
        if row.takes_key:
            headers.setdefault("Idempotency-Key", f"{self.file.name}-{free}")
        return Step(
            name=free,
            operation=row.name,
            control=False,
            method=row.method,
            path=BASE + row.path,
            summary=row.summary,
            status=row.status if call.status is None else call.status,
            tag=row.tag,
            values=values,
            query=dict(parse_qsl(query)),
            headers=headers,
            body=call.body,
            checks=self._answered(name) if call.code is None else {"error.code": call.code},
        )

    def _control(
        self,
        operation: str,
        name: str,
        body: Any = None,
        values: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        summary: str = "",
        **more: Any,
    ) -> Step:
        row = next(row for row in control_rows(CONTRACT_ROWS) if row.name == operation)
        return Step(
            name=self._free(name or operation),
            operation=operation,
            control=True,
            method=row.method,
            path=CONTROL_BASE + row.path,
            summary=summary or row.summary,
            status=201 if operation == "create_world" else 200,
            values=values or {},
            query=query or {},
            headers={} if operation == "create_world" else {WORLD_HEADER: self.file.name},
            body=body,
            **more,
        )

    def _free(self, name: str) -> str:
        """Return the name, with a number if an earlier step has it."""
        free, number = name, 1
        while free in self.names:
            number += 1
            free = f"{name}_{number}"
        self.names.add(free)
        return free

    def _answered(self, name: str) -> dict[str, Any]:
        """Return the expectations of the scenario for the response to a step."""
        parts = self.file.document.get("expect") or []
        return {
            key: value for part in parts if name and part.get("answer") == name for key, value in part["where"].items()
        }

    def _expected(self) -> Iterator[Step]:
        """Yield steps for expectations that a response can show: resources, first events, deliveries."""
        for part in self.file.document.get("expect") or []:
            where = part.get("where") or {}
            if "resource" in part:
                checks = _plain({f"resource.{path}": value for path, value in where.items()})
                yield self._control("get_resource", "", None, {"id": part["resource"]}, checks=checks)
            elif "event" in part and "times" not in part:
                query = {"type": part["event"], "limit": "1"}
                yield self._control("events", "", None, query=query, checks={"data.0.type": part["event"]})
            elif "webhooks" in part:
                yield self._control("settle", "", None, query={"wait": "true"})
                yield self._control("deliveries", "", None, query={"limit": "1"}, checks={"data.0.status": "succeeded"})


def _plain(checks: Mapping[str, Any]) -> dict[str, Any]:
    return {path: value for path, value in checks.items() if isinstance(value, str | int)}


def with_places(value: Any, whole: Callable[[str, str], Any], part: Callable[[str, str], str]) -> Any:
    """A value of a step with something else in place of each `${step.path}`, given the step and the path: `whole` where
    a text is nothing else, `part` inside of one. The address of the simulator is the step `origin`."""

    def put_in(text: str) -> Any:
        alone = PLACEHOLDER.fullmatch(text)
        if alone is not None:
            return whole(*_split(alone))
        return PLACEHOLDER.sub(lambda found: part(*_split(found)), text)

    return with_texts(value, put_in)


def _split(found: re.Match[str]) -> tuple[str, str]:
    step, _, path = found[1].partition(".")
    return step, path


def _values(template: str, path: str) -> dict[str, str] | None:
    """Return the values of a path template in a path, or None if it does not match."""
    pattern = re.sub(r"{(\w+)}", r"(?P<\1>\\$[{][^/]+[}]|[^/]+)", template)
    found = re.fullmatch(pattern, path)
    return None if found is None else found.groupdict()


def _with_uses(steps: list[Step]) -> Iterator[Step]:
    """The steps, each with what later ones use of its answer."""
    used: dict[str, dict[str, None]] = {}
    for step in steps:
        for place in PLACEHOLDER.findall(repr((step.values, step.query, step.headers, step.body, step.checks))):
            name, _, path = place.partition(".")
            if path:
                used.setdefault(name, {})[path] = None
    return (replace(step, used=tuple(used.get(step.name, ()))) for step in steps)
