"""The tools that do something: worlds, calls, actions, time, faults, scenarios."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.agents import inputs, missing
from simulator.agents.answers import page, picked
from simulator.agents.session import Session, ToolRefused, invalid, lacking
from simulator.engine.clients.address import inbox_path
from simulator.engine.clients.control import CallRefused, segment
from simulator.engine.text.json import JsonObject, Shown

if TYPE_CHECKING:
    from simulator.engine.scenario.files.library import ScenarioFile
    from simulator.host import Simulator

_MOST_EVENTS = 20
_SENDABLE = re.compile(r"[!-~]+")


def world(session: Session, given: inputs.WorldInput) -> JsonObject:
    """Make, choose, show, reset or end a world: an isolated simulation with its own clock, keys and data. Use it first
    (do: make), and once for each test. Answers with clock, keys as environment variables for the application under
    test, and the URL of an inbox that can be registered for webhooks. The clock is manual: nothing happens until
    `advance` or `act`.
    """
    if given.do == "list":
        rows = session.control().get("/worlds")["data"]
        return {"data": [{"id": row["id"], "now": row["clock"]["now"]} for row in rows], "current": session.world}
    if given.do == "make":
        made = session.control().post("/worlds", _new_world(given))
        session.world = made["id"]
        return {"made": made["id"], **_world(session, made), **_keys(session, made)}
    if given.do == "use" and given.id is None:
        known = [str(row["id"]) for row in session.control().get("/worlds")["data"]]
        raise ToolRefused("missing_parameter", "Say by `id` which world to use.", param="id", allowed=known)
    wanted = given.id or session.world
    if given.do == "reset":
        return {"reset": wanted, **_world(session, session.control(wanted).post("/reset"))}
    shown = session.world_object(wanted)
    if given.do == "end":
        session.control().call("DELETE", f"/worlds/{segment(wanted)}")
        session.world = "default" if wanted == session.world else session.world
        return {"ended": wanted, "current": session.world}
    if given.do == "use":
        session.world = wanted
    if given.do == "keys":
        return _keys(session, shown)
    return {"id": wanted, "current": session.world, **_world(session, shown)}


def _new_world(given: inputs.WorldInput) -> JsonObject:
    clock = {"mode": "manual"} if given.now is None else {"mode": "manual", "now": given.now}
    named = {"id": given.id, "scenarios": given.scenarios, "settings": given.settings}
    told = {name: value for name, value in named.items() if value is not None}
    return {"seed": 1 if given.seed is None else given.seed, "clock": clock, **told}


def _world(session: Session, shown: Shown) -> JsonObject:
    clock = shown["clock"]
    return {
        "clock": {"mode": clock["mode"], "now": clock["now"], "next_timer_at": clock["next_timer_at"]},
        "seed": shown["seed"],
        "scenarios": shown["scenarios"],
        "inbox": f"{session.url}{inbox_path(shown['id'], shown['id'])}",
    }


def _keys(session: Session, shown: Shown) -> JsonObject:
    """What an application is configured with, as the variables that the clients of the simulator read."""
    keys = shown["credentials"]["sandbox"]
    return {
        "keys": {
            "SIMULATOR_URL": session.url,
            "SIMULATOR_WORLD": shown["id"],
            "base_url": keys["base_url"],
            "SIMULATOR_PUBLIC_KEY": keys["public_key"],
            "SIMULATOR_SECRET_KEY": keys["secret_key"],
            "SIMULATOR_WEBHOOK_KEY": keys["webhook_key"],
        }
    }


def call(session: Session, given: inputs.CallInput) -> JsonObject:
    """Call the service's interface as an application would: POST /quotes, POST /quotes/{id}/confirm, GET
    /transactions/{id}, POST /beneficiaries, POST /webhooks, … Token and Idempotency-Key are taken care of. Answers with
    http_status and the members of the body; a refusal names the code, the parameter, and why.
    """
    path = given.path
    if not path.startswith("/") or path.startswith(("//", "/v1/", "/production/", "/_simulator")):
        raise invalid(
            "path",
            f"{path!r} is no path below the base URL. Give it without host and /v1, "
            "like /quotes; `environment` chooses production.",
        )
    if not _SENDABLE.fullmatch(path):
        raise invalid("path", f"{path!r} has characters that a path has not; write them like %20.")
    headers = {} if given.idempotency_key is None else {"Idempotency-Key": given.idempotency_key}
    reply = session.call(
        given.method, path, given.body, query=given.query, headers=headers, world=given.world,
        environment=given.environment,
    )  # fmt: skip
    body = reply.body
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        if body["error"].get("code") == missing.CODE:
            missing.refuse(missing.of_operation(given.method, path), given.body, reply.status)
        error = body["error"]
        code, message = str(error.get("code", reply.status)), str(error.get("message", ""))
        raise ToolRefused(code, message, param=error.get("param"), status=reply.status, allowed=error.get("allowed"))
    if isinstance(body, Mapping) and given.fields:
        return {"http_status": reply.status, **picked(body, given.fields)}
    if isinstance(body, Mapping):
        # A member `status` of the object is the object's own: the HTTP status stands beside it.
        return {"http_status": reply.status, **body}
    return {"http_status": reply.status, "body": body}


def act(session: Session, given: inputs.ActInput) -> JsonObject:
    """Let the outside world do something: a payer pays (payment_arrives), a chain confirms (deposit_arrives), a payout
    fails (fail), a network goes down (set_network). Without `action` it lists what is possible for `target` now. With
    `event` it walks to that event. Answers with the object afterwards and the events emitted.
    """
    control = session.control(given.world, given.environment)
    if given.event is not None:
        if given.action is not None:
            raise ToolRefused("invalid_parameter", "Give `action` or `event`, not both.", param="event")
        target = {} if given.target is None else {"target": given.target}
        return dict(control.post("/trigger?wait=true", {"event": given.event, **target}))
    rows = control.get("/actions")["data"]
    if given.action is None:
        return _possible(session, given, rows)
    if given.action not in {row["name"] for row in rows}:
        names = sorted(row["name"] for row in rows)
        raise ToolRefused(
            "not_found", f"There is no action {given.action!r}.", param="action", allowed=names, status=404
        )
    target = {} if given.target is None else {"target": given.target}
    try:
        done = control.post(f"/actions/{segment(given.action)}", {**(given.parameters or {}), **target})
    except CallRefused as refusal:
        if refusal.error.get("code") == missing.CODE:
            schema = next(row["parameters"] for row in rows if row["name"] == given.action)
            missing.refuse(missing.of_schemas(schema.get("anyOf") or [schema]), given.parameters, refusal.status)
        raise
    resource = done.get("resource") or {}
    return {
        "done": done["action"],
        "at": done["at"],
        "resource": resource,
        "events": [{"id": row["id"], "type": row["type"]} for row in done["events"]],
    }


def _possible(session: Session, given: inputs.ActInput, rows: list[JsonObject]) -> JsonObject:
    """The actions that are possible for a target now; without one, those on the world and all others by kind."""
    if given.target is None:
        return {
            "on_the_world": [_signature(row) for row in rows if not row["targets"]],
            "on_objects": {row["name"]: row["targets"] for row in rows if row["targets"]},
        }
    story = session.control(given.world).get(f"/resources/{segment(given.target)}")
    allowed = [_signature(row) for row in rows if row["name"] in story["allowed"]]
    refused = {row["action"]: row["reason"] for row in story["refused"]}
    return {"target": given.target, "state": story["state"], "possible": allowed, "not_now": refused}


def _signature(row: Shown) -> str:
    """`set_network(network: stellar|celo|bitcoin, status: operational|degraded|down)`."""
    schemas = row["parameters"].get("anyOf") or [row["parameters"]]
    properties: dict[str, Any] = {}
    for schema in schemas:
        properties |= schema.get("properties", {})
    required = set.intersection(*(set(schema.get("required", ())) for schema in schemas))
    told = [f"{name}{'' if name in required else '?'}{_choices(schema)}" for name, schema in properties.items()]
    return f"{row['name']}({', '.join(told)}): {row.get('does', '')}"


def _choices(schema: Shown) -> str:
    found = next((one for one in (schema, *schema.get("anyOf", ())) if "enum" in one), None)
    return f": {'|'.join(map(str, found['enum']))}" if found else ""


def advance(session: Session, given: inputs.AdvanceInput) -> JsonObject:
    """Move simulated time, in exactly one way: by, to, next_timer, until_id with until_status, or until_event. All that
    is due on the way happens, webhooks and their retries included, before it answers: no sleeping, no polling. Without
    arguments it shows the clock and what is due next. What never comes is refused: not_reached.
    """
    control = session.control(given.world)
    ways: list[JsonObject] = []
    if given.by is not None:
        ways.append({"by": given.by})
    if given.to is not None:
        ways.append({"to": given.to})
    if given.next_timer:
        ways.append({"to_next_timer": True})
    if given.until_event is not None:
        about = {} if given.until_id is None else {"object_id": given.until_id}
        ways.append({"until": {"event": given.until_event, **about}})
    elif given.until_id is not None or given.until_status is not None:
        if given.until_id is None or given.until_status is None:
            absent = "until_id" if given.until_id is None else "until_status"
            raise lacking(absent, "`until_id` and `until_status` go together: which object, which status.")
        ways.append({"until": {"resource": given.until_id, "status": given.until_status}})
    if not ways:
        clock, timers = control.get("/clock"), control.get("/timers", limit=5)["data"]
        return {"clock": clock, "next": timers}
    if len(ways) > 1:
        raise ToolRefused(
            "invalid_parameter", "Say how far in exactly one way.",
            allowed=["by", "to", "next_timer", "until_id and until_status", "until_event"],
        )  # fmt: skip
    receipt = control.post("/clock/advance?wait=true", ways[0])
    return {**receipt, "events": _told(session, given.world, receipt["events"])}


def _told(session: Session, world_id: str | None, ids: list[str]) -> list[str]:
    """Events in words: `transaction.completed of txn_…`; of many the newest."""
    if not ids:
        return []
    wanted = set(ids[-_MOST_EVENTS:])
    rows = [row for row in session.control(world_id).get("/events", limit=len(ids) + 50)["data"] if row["id"] in wanted]
    lines = [f"{row['type']} of {row['data']['object'].get('id', '')}" for row in rows]
    return lines if len(ids) <= _MOST_EVENTS else [f"… {len(ids) - _MOST_EVENTS} earlier", *lines]


def fault(session: Session, given: inputs.FaultInput) -> JsonObject:
    """Make the wire fail: refuse, delay, cut calls or lose their answers; double, delay, lose, forge webhooks. Use it
    to see whether an application survives. Answers with the id of the fault, and warnings where it may never be hit.
    """
    control = session.control(given.world)
    if given.do == "add":
        if given.fault is None:
            raise lacking("fault", "Say by `fault` what is to go wrong.")
        made = control.post("/faults", given.fault)
        return {"added": made["id"], "fault": given.fault, "warnings": made["warnings"]}
    if given.do == "remove":
        control.call("DELETE", "/faults" if given.id is None else f"/faults/{segment(given.id)}")
        return {"removed": given.id or "all"}
    return {"data": control.get("/faults")["data"]}


def scenario(session: Session, given: inputs.ScenarioInput) -> JsonObject:
    """What the outside world does by itself, and when, as YAML: list the ones that ship, validate or upload your own,
    choose which are active in the world, run one on its own. A validation answers with problems by line and column.
    """
    control = session.control(given.world)
    if given.do == "list":
        rows = control.get("/scenarios")["data"]
        shown = [{"name": row["name"], "does": row["description"], "active": row["active"]} for row in rows]
        active = [row["name"] for row in rows if row["active"]]
        return {"active": active, **_page(shown[::-1], given.cursor, given.max_characters)}
    if given.do == "show":
        return dict(control.get(f"/scenarios/{segment(_given(given, 'name'))}"))
    if given.do == "activate":
        if given.names is None:
            raise lacking("names", "Say by `names` which are to be active.")
        return dict(control.put("/scenarios/active", {"names": given.names}))
    if given.do == "upload":
        made = control.call("POST", "/scenarios", _read(_given(given, "yaml")).document)
        return {"uploaded": made["name"], "next": "activate it, or put one object under it by its `reference`"}
    if given.do == "validate":
        try:
            return {"valid": True, "name": _read(_given(given, "yaml")).document.get("name")}
        except ToolRefused as error:
            if error.code != "invalid_scenario":
                raise
            return {"valid": False, "problems": error.message.splitlines()}
    return _played(session, given)


def _page(rows: list[JsonObject], cursor: str | None, most: int) -> JsonObject:
    try:
        return page(rows, lambda row: str(row["name"]), cursor, most - 100)
    except LookupError:
        raise invalid("cursor", f"{cursor!r} is no next_cursor of this list.") from None


def _given(given: inputs.ScenarioInput, name: str) -> str:
    value: str | None = getattr(given, name)
    if value is None:
        raise lacking(name, f"{given.do} needs `{name}`.")
    return value


def _read(text: str, simulator: Simulator | None = None) -> ScenarioFile:
    """A scenario from its text; ToolRefused with every problem by line where it is not one."""
    from simulator import host
    from simulator.engine.scenario.files.loader import Loader, ScenarioError

    simulator = simulator or host.Simulator()
    try:
        return Loader(simulator.vocabulary).load(text, "yaml", simulator.library)
    except ScenarioError as error:
        raise ToolRefused("invalid_scenario", str(error), param="yaml") from None


def _played(session: Session, given: inputs.ScenarioInput) -> JsonObject:
    """Run a scenario by its own drive on the server of this session."""
    from simulator.engine.clients.asynchronous import HttpClient
    from simulator.engine.scenario.run import runner

    file = _file(given)

    async def play() -> Any:
        return await runner.run(file, HttpClient(session.url, session.token or ""), seed=1)

    result = asyncio.run(play())
    failed = [f"{check.name}: {check.problem}" for check in result.checks if not check.passed]
    return {"scenario": result.name, "passed": result.passed, "failed": failed, "timeline": result.readable()}


def _file(given: inputs.ScenarioInput) -> ScenarioFile:
    from simulator.engine.text.strict import similar
    from simulator.host import Simulator

    simulator = Simulator()
    if given.yaml is not None:
        return _read(given.yaml, simulator)
    name = _given(given, "name")
    if name not in simulator.library:
        near = similar(name, simulator.library)
        raise ToolRefused("not_found", f"No scenario {name!r} ships.", param="name", allowed=near)
    return simulator.library[name]
