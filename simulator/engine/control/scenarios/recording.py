"""GET /recording: a scenario that repeats the requests and control calls made in a world, without secrets, token
exchanges and webhook endpoints, whose URLs may contain secrets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.journal import CALLS, JournalledCall, began_ms, id_of, merged_journals
from simulator.engine.control.objects.actions import newest_first
from simulator.engine.control.operation import ControlOperation, Raw, RecordedAs, any_text, calls_under
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.records.records import INDEX, find, render
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.provider import split_base
from simulator.engine.scenario.files import loader
from simulator.engine.scenario.language import document, parts
from simulator.engine.scenario.language.bounds import FILE, MAX_DEPTH, UPLOAD
from simulator.engine.scenario.run import drive, recorder
from simulator.engine.text.json import JsonObject, value_in
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.worlds.simulator import Blueprint, Simulator, WorldState
from simulator.kernel.clock import MS_NS, format_timestamp, parse_nanoseconds
from simulator.kernel.world import World

operation = calls_under("Actions")

_QUERY = {
    "since": any_text("Start at this time, or at the request or control call with this id."),
    "name": any_text("The name of the scenario."),
}

_KEPT_HEADERS = {"idempotency-key": "Idempotency-Key", "x-simulator-scenario": "X-Simulator-Scenario"}
_ABOVE_BODY = 5
"""The nesting depth at which the body of a step under `drive` starts in a scenario document."""
_TOO_LARGE = (
    f"# Too large to upload: POST {CONTROL_BASE}/scenarios takes {UPLOAD.size // 1024} KB and {UPLOAD.values:,} values."
    " Run it as a file with `rampsim scenario run`, or record less with `since`."
)
_SETTINGS = ("strict", "rate_limit", "assumptions")

Rows: TypeAlias = Mapping[str, ControlOperation]
"""The operations of the control API, by name."""


@operation("GET /recording", "Record the world as a scenario", query=_QUERY, media_type="application/yaml")
async def recording(call: ControlCall) -> Raw[str]:
    """Return a scenario in YAML that repeats the API requests and control calls made in the world. Use the scenario to
    turn a manual session into a test. The scenario does not contain secrets, token exchanges or webhook endpoints.
    """
    name = call.given("name") or "recording"
    if not parts.is_name(name):
        why = "it must be a letter or digit, then letters, digits, `.`, `_` and `-`, and not `active`"
        raise invalid_parameter("name", why)
    simulator, since = call.simulator, call.given("since") or ""
    # This runs in a thread and reads a copy of the state, because the journals may be long.
    rows = {path: row for path, row in call.rows.items() if isinstance(row, ControlOperation)}
    text = await asyncio.to_thread(_text, simulator, simulator.state_of(call.world), rows, since, name)
    return Raw(text)


def _text(simulator: Simulator, state: WorldState, rows: Rows, since: str, name: str) -> bytes:
    world = simulator.from_state(state, state.world_id)
    collector = _Collector(simulator, world, state.blueprint, rows, since)
    text = recorder.Recorder(collector.recording(name), _locator(world)).text().encode()
    if len(text) > FILE.size:
        why = f"the recording is larger than the limit of {FILE.size // 1024**2} MB for a scenario; use a later `since`"
        raise invalid_parameter("since", why)
    return text if _can_be_uploaded(text) else text.replace(b"\n", f"\n{_TOO_LARGE}\n".encode(), 1)


def _can_be_uploaded(text: bytes) -> bool:
    """Return True if a recording is within the limits of `POST /scenarios`. A value takes two bytes or more."""
    return len(text) <= 2 * UPLOAD.values or (
        len(text) <= UPLOAD.size and document.read(text.decode(), UPLOAD).value is not None
    )


def _kinds(world: World) -> dict[str, str]:
    """Return the names of resource kinds by id prefix. The name is "" if several kinds share the prefix."""
    names: dict[str, str] = {}
    for kind in world.wiring.kinds.values():
        if kind.prefix:
            names[kind.prefix] = "" if kind.prefix in names else kind.short or kind.name
    return names


class _Collector:
    def __init__(self, simulator: Simulator, world: World, blueprint: Blueprint, rows: Rows, since: str) -> None:
        self._simulator, self._world, self._blueprint = simulator, world, blueprint
        self._rows, self._since = rows, since
        self._notes: list[str] = []
        self._polled: set[tuple[str, str, str, int]] = set()

    def recording(self, name: str) -> recorder.Recording:
        world = self._world
        rows = list(merged_journals(world))
        first, scenarios = self._begin(rows)
        calls, controls = requests_of(world).dropped, rows_dropped(world, CALLS)
        if first == 0 and (calls or controls):
            self._notes.append(
                f"the oldest {calls} API requests and {controls} control calls, which the journals have dropped "
                "(settings journal_limit and journal_bytes)"
            )
        start_ms = (
            world.started_at_ms if not self._since else (began_ms(rows[first]) if first < len(rows) else world.now_ms)
        )
        events = [event for event in world.journal.events() if event.at_ms >= start_ms and event.type != "webhook.test"]
        done = [] if self._since else list(self._initial_state(scenarios, start_ms))
        for row in rows[first:]:
            done += self._request(row) if isinstance(row, JournalEntry) else self._control_call(row)
        names = tuple(one for one in scenarios if one in self._simulator.shipped)
        return recorder.Recording(
            name=name,
            description=f"Recording of the manual steps in the world {world.id} from {format_timestamp(start_ms)} on.",
            seed=world.seed,
            environment=world.environments[0],
            start_ms=start_ms,
            end_ms=world.now_ms,
            scenarios=names if len(names) == len(scenarios) else (),
            done=tuple(done),
            known=_known_at_first(world),
            events=tuple(event.type for event in events),
            states=self._states(start_ms),
            notes=tuple(self._notes),
            kinds=_kinds(world),
        )

    def _begin(self, rows: list[JournalEntry | JournalledCall]) -> tuple[int, list[str]]:
        """Return the index of the first row to record, and the scenarios that are active before this row."""
        scenarios = list(self._blueprint.scenarios)
        if not self._since:
            return 0, scenarios
        try:
            from_ms: int | None = -(-parse_nanoseconds(self._since) // MS_NS)
        except ValueError:
            from_ms = None
        for index, row in enumerate(rows):
            if (from_ms is not None and began_ms(row) >= from_ms) or id_of(row) == self._since:
                return index, scenarios
            if not isinstance(row, JournalEntry) and self._recorded_as(row) == "activation":
                scenarios = _object(row)["names"]
        if from_ms is None:
            why = "it must be a timestamp, or the id of a request or control call of this world"
            raise invalid_parameter("since", why)
        return len(rows), scenarios

    def _initial_state(self, scenarios: list[str], start_ms: int) -> Iterator[recorder.Done]:
        """Yield control calls that select the settings and scenarios with which the recorded world began."""
        settings = self._blueprint.settings
        changed = {name: settings[name] for name in _SETTINGS if settings.get(name)}
        if changed:
            yield _control(start_ms, "PATCH", "/settings", changed)
        if not all(name in self._simulator.shipped for name in scenarios):
            for name in scenarios:
                if name not in self._simulator.shipped:
                    yield from self._upload(start_ms, self._simulator.engine.catalogue.file(self._world, name).document)
            yield _control(start_ms, "PUT", "/scenarios/active", {"names": scenarios})

    # Journal rows

    def _request(self, row: JournalEntry) -> Iterator[recorder.Done]:
        environment, path = split_base(self._simulator.provider.environments, row.path)
        if not (environment and path) or row.method.lower() not in drive.METHODS:
            return
        exchange = self._simulator.provider.identity.exchange
        if exchange is not None and path.startswith(exchange.path):
            return
        why = self._why_not(row, path)
        if why:
            self._notes.append(why)
            return
        key = (row.method, row.path, row.environment, row.status)
        if row.method != "GET":
            self._polled.clear()
        elif key in self._polled:
            return
        self._polled.add(key)
        answer = value_in(row.response)
        error = answer.get("error") if isinstance(answer, dict) else None
        code = str(error.get("code")) if isinstance(error, dict) else ""
        headers = {_KEPT_HEADERS[name]: value for name, value in row.headers if name in _KEPT_HEADERS}
        yield recorder.Done(
            at_ms=row.at_ms,
            until_ms=row.at_ms,
            method=row.method,
            path=path,
            environment=environment,
            body=value_in(row.body),
            headers={**headers, **({"Authorization": "Bearer none"} if row.status == 401 else {})},
            status=row.status,
            code=code if code in self._simulator.vocabulary.errors else None,
            answer=answer,
        )

    def _why_not(self, row: JournalEntry, path: str) -> str:
        """Return the reason why a request cannot be repeated, or "" if it can."""
        if path.partition("?")[0].startswith("/webhooks"):
            return "calls of /webhooks, because receivers are not part of a scenario"
        if row.status == 0:
            return f"{row.method} {path}, whose connection a fault cut"
        kind = dict(row.headers).get("content-type", "").partition(";")[0].strip().lower()
        if row.body and (value_in(row.body) is None or not kind.endswith("json")):
            return f"{row.method} {path} ({row.status}), whose body is not JSON"
        own = identity_of(self._world).credentials(self._world)[row.environment]["public_key"]
        if row.status == 403 and row.public_key not in (None, own):
            return f"{row.method} {path} (403), because another key pair was used"
        return ""

    def _control_call(self, row: JournalledCall) -> Iterator[recorder.Done]:
        self._polled.clear()
        body, ended_ms = _object(row), row["ended_ms"]
        match self._recorded_as(row):
            case "nothing":
                return
            case "time":
                yield recorder.Done(at_ms=ended_ms, until_ms=ended_ms)
            case "action":
                parameters = {key: value for key, value in body.items() if key != "target"}
                yield recorder.Done(
                    at_ms=ended_ms,
                    until_ms=ended_ms,
                    environment=row["environment"],
                    action=row["path"].rpartition("/")[2],
                    target=body.get("target"),
                    body=parameters,
                    answer=(row["answer"] or {}).get("resource"),
                )
            case "upload":
                yield from self._upload(ended_ms, self._read(str(row["body"])))
            case "settings":
                changed = {key: value for key, value in body.items() if key in _SETTINGS}
                if changed:
                    yield _control(ended_ms, "PATCH", "/settings", changed)
            case "fault" if (body.get("webhook") or {}).get("endpoint_id"):
                self._notes.append("a fault of one endpoint's deliveries, because receivers are not part of a scenario")
            case "call" | "activation" | "fault":
                yield recorder.Done(
                    at_ms=row["at_ms"],
                    until_ms=ended_ms,
                    method=row["method"],
                    path=CONTROL_BASE + row["path"],
                    environment=row["environment"],
                    body=body or None,
                    status=row["status"],
                    answer=row["answer"],
                )

    def _recorded_as(self, row: JournalledCall) -> RecordedAs:
        """Return how a control call is recorded. A call that this version does not know is repeated unchanged."""
        operation = self._rows.get(row["name"])
        return "call" if operation is None or operation.recorded_as is None else operation.recorded_as

    def _read(self, text: str) -> JsonObject:
        reader = loader.Loader(self._simulator.vocabulary)
        try:
            return reader.load(text, known=self._simulator.engine.catalogue.names(self._world)).document
        except loader.ScenarioError:
            return {}

    def _upload(self, at_ms: int, document: JsonObject) -> Iterator[recorder.Done]:
        """Yield an upload of a scenario without `drive` and `expect`, which did not affect the world."""
        rules = {key: value for key, value in document.items() if key not in ("drive", "expect", "with")}
        if _depth(rules) > MAX_DEPTH - _ABOVE_BODY:
            self._notes.append(f"the scenario {rules['name']}, because it is nested too deep")
        elif "${" in str(rules):
            self._notes.append(f"the scenario {rules['name']}, because it contains the characters ${{")
        elif rules:
            yield _control(at_ms, "POST", "/scenarios", rules, 201)

    def _states(self, start_ms: int) -> dict[str, str]:
        """Return the API status of each resource created since the start of the recording, by resource id."""
        states = {}
        for identifier in self._world.store[INDEX].rows:
            found = find(self._world, identifier)
            if found is None or found.created_at_ms < start_ms or found.kind in ("api_key", "webhook"):
                continue
            status = render(self._world, found).get("status")
            if isinstance(status, str):
                states[identifier] = status
        return states


def _object(row: JournalledCall) -> JsonObject:
    return row["body"] if isinstance(row["body"], dict) else {}


def _control(at_ms: int, method: str, path: str, body: JsonObject, status: int = 200) -> recorder.Done:
    return recorder.Done(at_ms=at_ms, until_ms=at_ms, method=method, path=CONTROL_BASE + path, body=body, status=status)


def _depth(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if items is None else 1 + max(map(_depth, items), default=0)


def _known_at_first(world: World) -> dict[str, str]:
    """Return the public keys and other users' ids that a scenario run knows at first, with their paths in it."""
    identity = identity_of(world)
    known = {
        pair["public_key"]: f"world.credentials.{environment}.public_key"
        for environment, pair in identity.credentials(world).items()
    }
    for number, user in enumerate(identity.other_users(world)):
        known[user.user_id] = f"world.platform_users.{number}.user_id"
    return known


def _locator(world: World) -> recorder.Locate:
    """Return a function that locates a resource by its position among all resources of its kind."""
    positions: dict[str, dict[str, int]] = {}

    def locate(identifier: str) -> tuple[str, str] | None:
        record = find(world, identifier)
        if record is None or record.kind in ("webhook", "api_key"):
            return None
        kind = record.kind
        if kind not in positions:
            positions[kind] = {one.id: number for number, one in enumerate(reversed([*newest_first(world, kind)]))}
        number = positions[kind].get(identifier)
        return None if number is None else (f"type={kind}", f"data.{number}.id")

    return locate
