"""The tools that change something: worlds, API calls, actions, time, faults, scenarios."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from simulator import host
from simulator.agents import inputs, missing
from simulator.agents.answers import page, picked
from simulator.agents.session import Session, ToolRefused, invalid, lacking
from simulator.engine.clients import asynchronous
from simulator.engine.clients.address import inbox_path
from simulator.engine.clients.control import CallRefused, segment
from simulator.engine.scenario.files import library, loader
from simulator.engine.scenario.run import runner
from simulator.engine.text import strict
from simulator.engine.text.json import JsonObject, Shown
from simulator.service import TOKEN_EXCHANGE

_MOST_EVENTS = 20
_SENDABLE = re.compile(r"[!-~]+")


def world(session: Session, given: inputs.WorldInput) -> JsonObject:
    """Create, choose, show, reset or delete a world: an isolated simulation with its own clock, keys and data. Use it
    first (do: make), and once for each test. Returns the clock, keys as environment variables for the application under
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
        raise ToolRefused("missing_parameter", "`use` needs `id`.", param="id", allowed=known)
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
    optional = {name: value for name, value in named.items() if value is not None}
    return {"seed": 1 if given.seed is None else given.seed, "clock": clock, **optional}


def _world(session: Session, shown: Shown) -> JsonObject:
    clock = shown["clock"]
    return {
        "clock": {"mode": clock["mode"], "now": clock["now"], "next_timer_at": clock["next_timer_at"]},
        "seed": shown["seed"],
        "scenarios": shown["scenarios"],
        "inbox": f"{session.url}{inbox_path(shown['id'], shown['id'])}",
    }


def _keys(session: Session, shown: Shown) -> JsonObject:
    """Return the environment variables that configure an application. The simulator's client libraries read these
    variables.
    """
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
    """Make an API call as an application would: POST /quotes, POST /quotes/{id}/confirm, GET /transactions/{id}, POST
    /beneficiaries, POST /webhooks, … Token and Idempotency-Key are added. Returns http_status and the fields of the
    body. An error has the code, the parameter and the reason.
    """
    path = given.path
    if not path.startswith("/") or path.startswith(("//", "/v1/", "/production/", "/_simulator")):
        raise invalid(
            "path",
            f"{path!r} is not a path below the base URL. Leave out the host and /v1, "
            "for example /quotes. For production, set `environment`.",
        )
    if not _SENDABLE.fullmatch(path):
        raise invalid("path", f"{path!r} has invalid characters. Percent-encode them: a space is %20.")
    headers = {} if given.idempotency_key is None else {"Idempotency-Key": given.idempotency_key}
    reply = session.call(
        given.method, path, given.body, query=given.query, headers=headers, world=given.world,
        environment=given.environment,
    )  # fmt: skip
    body = reply.body
    if not isinstance(body, Mapping):
        return {"http_status": reply.status, "body": body}
    if isinstance(error := body.get("error"), Mapping):
        if error.get("code") == missing.CODE:
            missing.refuse(missing.of_operation(given.method, path), given.body, reply.status)
        code, message = str(error.get("code", reply.status)), str(error.get("message", ""))
        raise ToolRefused(code, message, param=error.get("param"), status=reply.status, allowed=error.get("allowed"))
    # The object may have its own `status` field, so the HTTP status has a different name.
    return {"http_status": reply.status, **(picked(body, given.fields) if given.fields else body)}


def act(session: Session, given: inputs.ActInput) -> JsonObject:
    """Perform an action of a third party: a payer pays (payment_arrives), a chain confirms (deposit_arrives), a payout
    fails (fail), a network goes down (set_network). Without `action`, lists the possible actions of `target`. With
    `event`, makes the calls and actions that lead to that event. Returns the object afterwards and the new events.
    """
    control = session.control(given.world, given.environment)
    target = {} if given.target is None else {"target": given.target}
    if given.event is not None:
        if given.action is not None:
            raise ToolRefused("invalid_parameter", "Use `action` or `event`, not both.", param="event")
        return dict(control.post("/trigger?wait=true", {"event": given.event, **target}))
    rows = control.get("/actions")["data"]
    if given.action is None:
        return _possible(session, given, rows)
    if given.action not in {row["name"] for row in rows}:
        names = sorted(row["name"] for row in rows)
        raise ToolRefused(
            "not_found", f"There is no action {given.action!r}.", param="action", allowed=names, status=404
        )
    try:
        done = control.post(f"/actions/{segment(given.action)}", {**(given.parameters or {}), **target})
    except CallRefused as refusal:
        if refusal.error.get("code") == missing.CODE:
            schema = next(row["parameters"] for row in rows if row["name"] == given.action)
            missing.refuse(missing.of_schemas(schema.get("anyOf") or [schema]), given.parameters, refusal.status)
        raise
    events = [{"id": row["id"], "type": row["type"]} for row in done["events"]]
    return {"done": done["action"], "at": done["at"], "resource": done.get("resource") or {}, "events": events}


def _possible(session: Session, given: inputs.ActInput, rows: list[JsonObject]) -> JsonObject:
    """Return the actions that are possible on a target. Without a target, return the actions on the world, and the
    kinds of objects that each other action applies to.
    """
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
    """Return an action's signature: `set_network(network: stellar|celo|bitcoin, status: operational|degraded|down)`."""
    schemas = row["parameters"].get("anyOf") or [row["parameters"]]
    properties: JsonObject = {}
    for schema in schemas:
        properties |= schema.get("properties", {})
    required = missing.of_schemas(schemas)
    parameters = []
    for name, schema in properties.items():
        enums = [one["enum"] for one in (schema, *schema.get("anyOf", ())) if "enum" in one]
        choices = f": {'|'.join(map(str, enums[0]))}" if enums else ""
        parameters.append(f"{name}{'' if name in required else '?'}{choices}")
    return f"{row['name']}({', '.join(parameters)}): {row.get('does', '')}"


def advance(session: Session, given: inputs.AdvanceInput) -> JsonObject:
    """Advance simulated time, with exactly one of: by, to, next_timer, until_id with until_status, until_event.
    Everything due in between happens before it returns, including webhooks and retries, so never sleep or poll. Without
    arguments, shows the clock and the next timers. If the goal is never reached, the error is not_reached.
    """
    control = session.control(given.world)
    plain = {"by": given.by, "to": given.to, "to_next_timer": given.next_timer or None}
    ways: list[JsonObject] = [{name: value} for name, value in plain.items() if value is not None]
    if given.until_event is not None:
        about = {} if given.until_id is None else {"object_id": given.until_id}
        ways.append({"until": {"event": given.until_event, **about}})
    elif given.until_id is not None or given.until_status is not None:
        if given.until_id is None or given.until_status is None:
            absent = "until_id" if given.until_id is None else "until_status"
            raise lacking(absent, "Use `until_id` and `until_status` together.")
        ways.append({"until": {"resource": given.until_id, "status": given.until_status}})
    if not ways:
        return {"clock": control.get("/clock"), "next": control.get("/timers", limit=5)["data"]}
    if len(ways) > 1:
        raise ToolRefused(
            "invalid_parameter", "Use exactly one parameter.",
            allowed=["by", "to", "next_timer", "until_id and until_status", "until_event"],
        )  # fmt: skip
    receipt = control.post("/clock/advance?wait=true", ways[0])
    return {**receipt, "events": _event_lines(session, given.world, receipt["events"])}


def _event_lines(session: Session, world_id: str | None, ids: list[str]) -> list[str]:
    """Return one line for each of the newest events: `transaction.completed of txn_…`."""
    if not ids:
        return []
    wanted = set(ids[-_MOST_EVENTS:])
    rows = [row for row in session.control(world_id).get("/events", limit=len(ids) + 50)["data"] if row["id"] in wanted]
    lines = [f"{row['type']} of {row['data']['object'].get('id', '')}" for row in rows]
    return lines if len(ids) <= _MOST_EVENTS else [f"… {len(ids) - _MOST_EVENTS} earlier", *lines]


def fault(session: Session, given: inputs.FaultInput) -> JsonObject:
    """Inject faults: refuse, delay or disconnect calls, lose responses; duplicate, delay, lose or forge webhooks. Use
    it to test whether an application survives. Returns the id of the fault, and warnings if it may never apply.
    """
    control = session.control(given.world)
    if given.do == "add":
        if given.fault is None:
            raise lacking("fault", "`add` needs `fault`.")
        made = control.post("/faults", given.fault)
        return {"added": made["id"], "fault": given.fault, "warnings": made["warnings"]}
    if given.do == "remove":
        control.call("DELETE", "/faults" if given.id is None else f"/faults/{segment(given.id)}")
        return {"removed": given.id or "all"}
    return {"data": control.get("/faults")["data"]}


def scenario(session: Session, given: inputs.ScenarioInput) -> JsonObject:
    """Manage scenarios, YAML files that describe what third parties do and when. List the included scenarios, validate
    or upload your own, activate scenarios in the world, or run one. Validation returns problems with line and column.
    """
    control = session.control(given.world)
    if given.do == "list":
        rows = control.get("/scenarios")["data"]
        shown = [{"name": row["name"], "does": row["description"], "active": row["active"]} for row in rows]
        active = [row["name"] for row in rows if row["active"]]
        newest = page(shown[::-1], lambda row: str(row["name"]), given.cursor, given.max_characters - 100)
        return {"active": active, **newest}
    if given.do == "show":
        return dict(control.get(f"/scenarios/{segment(_given(given, 'name'))}"))
    if given.do == "activate":
        if given.names is None:
            raise lacking("names", "`activate` needs `names`.")
        return dict(control.put("/scenarios/active", {"names": given.names}))
    if given.do == "upload":
        made = control.call("POST", "/scenarios", _read(_given(given, "yaml")).document)
        return {"uploaded": made["name"], "next": "activate it, or assign one object to it with its `reference`"}
    if given.do == "validate":
        try:
            return {"valid": True, "name": _read(_given(given, "yaml")).document.get("name")}
        except ToolRefused as error:
            if error.code != "invalid_scenario":
                raise
            return {"valid": False, "problems": error.message.splitlines()}
    return _played(session, given)


def _given(given: inputs.ScenarioInput, name: str) -> str:
    value: str | None = getattr(given, name)
    if value is None:
        raise lacking(name, f"{given.do} needs `{name}`.")
    return value


def _read(text: str) -> library.ScenarioFile:
    """Read a scenario. If it is invalid, raise ToolRefused with all problems."""
    simulator = host.Simulator()
    try:
        return loader.Loader(simulator.vocabulary).load(text, "yaml", simulator.library)
    except loader.ScenarioError as error:
        raise ToolRefused("invalid_scenario", str(error), param="yaml") from None


def _played(session: Session, given: inputs.ScenarioInput) -> JsonObject:
    client = asynchronous.HttpClient(session.url, session.token or "")
    result = asyncio.run(runner.run(_file(given), client, TOKEN_EXCHANGE, seed=1))
    failed = [f"{check.name}: {check.problem}" for check in result.checks if not check.passed]
    return {"scenario": result.name, "passed": result.passed, "failed": failed, "timeline": result.readable()}


def _file(given: inputs.ScenarioInput) -> library.ScenarioFile:
    if given.yaml is not None:
        return _read(given.yaml)
    name, known = _given(given, "name"), host.Simulator().library
    if name not in known:
        near = strict.similar(name, known)
        raise ToolRefused("not_found", f"There is no built-in scenario {name!r}.", param="name", allowed=near)
    return known[name]
