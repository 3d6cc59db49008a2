"""The parameters of the tools. The string below each field is its description, written for a model."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from simulator.engine.text.fields import Body
from simulator.engine.text.json import JsonObject

World = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z0-9._-]{1,64}$",
        description="Id of the world. Default: the world that was created or selected last.",
    ),
]
Environment = Annotated[
    Literal["sandbox", "production"], Field(description="Environment of the world. Both are simulated.")
]
MaxCharacters = Annotated[
    int, Field(ge=200, le=20_000, description="Limit of the response. Narrow the request before you raise it.")
]
Fields = Annotated[
    list[str] | None, Field(description='Only these fields of the response, by dotted path: ["id", "deposit.address"].')
]


class ToolInput(Body):
    """Base class of tool parameters. Unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    max_characters: MaxCharacters = 2_000


class WorldInput(ToolInput):
    do: Literal["make", "use", "show", "list", "reset", "end", "keys"]
    """make: create a world and use it in later calls. use: switch to an existing world. show: clock, scenarios, counts.
    list: ids of all worlds. reset: initial state. end: delete. keys: configuration for an application under test.
    """
    id: str | None = None
    """Id of the world. make: default is a random id."""
    seed: Annotated[int | None, Field(ge=0)] = None
    """make: seed of random values. Default 1."""
    now: str | None = None
    """make: start time, such as 2026-03-01T08:00:00Z."""
    scenarios: list[str] | None = None
    """make: active scenarios. Default: autopilot (the happy path, as you advance time) and test-values (values in a
    request choose its outcome). With [], outside events happen only through `act`.
    """
    settings: JsonObject | None = None
    """make: settings of the world, such as {"strict": true} or {"webhook_urls": "any"}."""


class CallInput(ToolInput):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    """The HTTP method."""
    path: str
    """The path below the base URL: /quotes, /transactions/txn_…; not /v1/…"""
    body: JsonObject | None = None
    """The JSON body. Amounts are strings: "30.00"."""
    query: JsonObject | None = None
    """Query parameters: {"status": "completed"}."""
    idempotency_key: Annotated[str | None, Field(pattern=r"^[!-~]+$")] = None
    """Repeat the key to retry a POST safely. Default: a new key for each POST."""
    fields: Fields = None
    environment: Environment = "sandbox"
    world: World = None


class ActInput(ToolInput):
    target: str | None = None
    """Id of the object. Without `action`: lists its possible actions."""
    action: str | None = None
    """Action of a third party: payment_arrives, deposit_arrives, complete, fail, refund, set_network, set_rate, …
    Without it: lists the possible actions.
    """
    parameters: JsonObject | None = None
    """Parameters of the action, such as {"failure_code": "payout_failed"}."""
    event: str | None = None
    """Instead of `action`: make the calls and actions that lead to this event, such as transaction.refunded; with
    `target`, for that object.
    """
    environment: Environment = "sandbox"
    world: World = None


class AdvanceInput(ToolInput):
    by: str | None = None
    """A duration: 30s, 31m, 2h30m, 3d."""
    to: str | None = None
    """A later time: 2026-01-06T08:00:00Z."""
    next_timer: bool = False
    """Advance to the next timer."""
    until_id: str | None = None
    """Advance until this object has the status `until_status`."""
    until_status: str | None = None
    """The status that the object `until_id` must have."""
    until_event: str | None = None
    """Advance until an event of this type occurs, for the object `until_id` if given."""
    world: World = None


What = Literal[
    "overview", "resource", "resources", "request", "requests", "events", "event", "deliveries", "inbox", "emails",
    "timers", "search", "reference",
]  # fmt: skip


class InspectInput(ToolInput):
    what: What
    """resource: one object with history, causes and possible actions (id). requests, events, deliveries, resources,
    emails, timers: lists, newest first. request, event: one item (id). inbox: messages of a built-in webhook receiver,
    with the result of signature verification (id: its name). search: everything with a reference, id, amount or phone
    number (query). reference: test values, banks, providers, rates. overview: counts.
    """
    id: str | None = None
    """Id of the item. For lists: only rows about this object."""
    type: str | None = None
    """events, resources: only this type."""
    path: str | None = None
    """requests: only this path; * matches anything: */quotes*."""
    status: str | None = None
    """requests: only this HTTP status. deliveries: succeeded or failed."""
    query: str | None = None
    """search: the search terms."""
    cursor: str | None = None
    """next_cursor of the previous response, for older rows."""
    fields: Fields = None
    world: World = None


class FaultInput(ToolInput):
    do: Literal["add", "list", "remove"]
    """remove: without an id, removes all."""
    fault: JsonObject | None = None
    """add: for calls {match: {method, path}, respond: {status, code} | delay: "2s" | drop: true, after_commit: true,
    times: 1}; path is below the base URL (/quotes/*). For webhooks {webhook: {event}, deliver: {copies: 2 | delay: "1h"
    | drop: true | corrupt_signature: true | stale_timestamp: true | reorder: true}, times: 1}. Or by name: {preset:
    webhook-forged, times: 1}.
    """
    id: str | None = None
    """remove: the id of a fault."""
    world: World = None


class ScenarioInput(ToolInput):
    do: Literal["list", "show", "validate", "upload", "activate", "run"]
    """list: names. show: one, with its log. validate: problems of `yaml`, by line. upload: add `yaml` to the world.
    activate: exactly `names`, later ones have priority. run: run the drive of `name` or `yaml` in a new world and check
    its expectations.
    """
    name: str | None = None
    """show, run: name of a scenario."""
    names: list[str] | None = None
    """activate: names; [] for none."""
    yaml: str | None = None
    """validate, upload, run: a scenario as YAML."""
    cursor: str | None = None
    """list: next_cursor of the previous response."""
    world: World = None


class Outcome(Body):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    id: str
    """Id of an object."""
    status: str
    """The expected status."""


class VerdictInput(ToolInput):
    outcomes: list[Outcome] | None = None
    """Expected outcomes: [{"id": "txn_…", "status": "completed"}]."""
    inbox: str | None = None
    """Name of a built-in inbox. Each of its messages must verify, and every outcome must have been reported there."""
    advice_from: Literal["info", "warning", "error", "never"] = "warning"
    """Advice of this or a higher severity makes the verdict negative."""
    coverage: Annotated[float | None, Field(ge=0, le=100)] = None
    """Required coverage of the contract in percent."""
    world: World = None
