"""The parameters of the tools. The `description` of each field is written for a model."""

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
    Literal["sandbox", "production"],
    Field(description="Environment of the world. Both are simulated."),
]
MaxCharacters = Annotated[
    int, Field(ge=200, le=20_000, description="Limit of the response. Narrow the request before you raise it.")
]
Fields = Annotated[
    list[str] | None,
    Field(description='Only these fields of the response, by dotted path: ["id", "deposit.address"].'),
]


class ToolInput(Body):
    """Base class of tool parameters. Unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid")

    max_characters: MaxCharacters = 2_000


class WorldInput(ToolInput):
    do: Annotated[
        Literal["make", "use", "show", "list", "reset", "end", "keys"],
        Field(
            description="make: create a world and use it in later calls. use: switch to an existing world. show: "
            "clock, scenarios, counts. list: ids of all worlds. reset: initial state. end: delete. keys: configuration "
            "for an application under test."
        ),
    ]
    id: Annotated[str | None, Field(description="Id of the world. make: default is a random id.")] = None
    seed: Annotated[int | None, Field(ge=0, description="make: seed of random values. Default 1.")] = None
    now: Annotated[str | None, Field(description="make: start time, such as 2026-03-01T08:00:00Z.")] = None
    scenarios: Annotated[
        list[str] | None,
        Field(
            description="make: active scenarios. Default: autopilot (the happy path, as you advance time) and "
            "test-values (values in a request choose its outcome). With [], outside events happen only through `act`."
        ),
    ] = None
    settings: Annotated[
        JsonObject | None,
        Field(description='make: settings of the world, such as {"strict": true} or {"webhook_urls": "any"}.'),
    ] = None


class CallInput(ToolInput):
    method: Annotated[Literal["GET", "POST", "PUT", "PATCH", "DELETE"], Field(description="The HTTP method.")]
    path: Annotated[str, Field(description="The path below the base URL: /quotes, /transactions/txn_…; not /v1/…")]
    body: Annotated[JsonObject | None, Field(description='The JSON body. Amounts are strings: "30.00".')] = None
    query: Annotated[JsonObject | None, Field(description='Query parameters: {"status": "completed"}.')] = None
    idempotency_key: Annotated[
        str | None,
        Field(
            pattern=r"^[!-~]+$",
            description="Repeat the key to retry a POST safely. Default: a new key for each POST.",
        ),
    ] = None
    fields: Fields = None
    environment: Environment = "sandbox"
    world: World = None


class ActInput(ToolInput):
    target: Annotated[
        str | None, Field(description="Id of the object. Without `action`: lists its possible actions.")
    ] = None
    action: Annotated[
        str | None,
        Field(
            description="Action of a third party: payment_arrives, deposit_arrives, complete, fail, refund, "
            "set_network, set_rate, … Without it: lists the possible actions."
        ),
    ] = None
    parameters: Annotated[
        JsonObject | None, Field(description='Parameters of the action, such as {"failure_code": "payout_failed"}.')
    ] = None
    event: Annotated[
        str | None,
        Field(
            description="Instead of `action`: make the calls and actions that lead to this event, such as "
            "transaction.refunded; with `target`, for that object."
        ),
    ] = None
    environment: Environment = "sandbox"
    world: World = None


class AdvanceInput(ToolInput):
    by: Annotated[str | None, Field(description="A duration: 30s, 31m, 2h30m, 3d.")] = None
    to: Annotated[str | None, Field(description="A later time: 2026-01-06T08:00:00Z.")] = None
    next_timer: Annotated[bool, Field(description="Advance to the next timer.")] = False
    until_id: Annotated[str | None, Field(description="Advance until this object has the status `until_status`.")] = (
        None
    )
    until_status: Annotated[str | None, Field(description="The status that the object `until_id` must have.")] = None
    until_event: Annotated[
        str | None, Field(description="Advance until an event of this type occurs, for the object `until_id` if given.")
    ] = None
    world: World = None


What = Literal[
    "overview", "resource", "resources", "request", "requests", "events", "event", "deliveries", "inbox", "emails",
    "timers", "search", "reference",
]  # fmt: skip


class InspectInput(ToolInput):
    what: Annotated[
        What,
        Field(
            description="resource: one object with history, causes and possible actions (id). requests, events, "
            "deliveries, resources, emails, timers: lists, newest first. request, event: one item (id). "
            "inbox: messages of a built-in webhook receiver, with the result of signature verification (id: its name)."
            " search: everything with a reference, id, amount or phone number (query). reference: test values, banks, "
            "providers, rates. overview: counts."
        ),
    ]
    id: Annotated[str | None, Field(description="Id of the item. For lists: only rows about this object.")] = None
    type: Annotated[str | None, Field(description="events, resources: only this type.")] = None
    path: Annotated[str | None, Field(description="requests: only this path; * matches anything: */quotes*.")] = None
    status: Annotated[
        str | None, Field(description="requests: only this HTTP status. deliveries: succeeded or failed.")
    ] = None
    query: Annotated[str | None, Field(description="search: the search terms.")] = None
    cursor: Annotated[str | None, Field(description="next_cursor of the previous response, for older rows.")] = None
    fields: Fields = None
    world: World = None


class FaultInput(ToolInput):
    do: Annotated[Literal["add", "list", "remove"], Field(description="remove: without an id, removes all.")]
    fault: Annotated[
        JsonObject | None,
        Field(
            description='add: for calls {match: {method, path}, respond: {status, code} | delay: "2s" | drop: true, '
            "after_commit: true, times: 1}; path is below the base URL (/quotes/*). For webhooks {webhook: {event}, "
            'deliver: {copies: 2 | delay: "1h" | drop: true | corrupt_signature: true | stale_timestamp: true | '
            "reorder: true}, times: 1}. Or by name: {preset: webhook-forged, times: 1}."
        ),
    ] = None
    id: Annotated[str | None, Field(description="remove: the id of a fault.")] = None
    world: World = None


class ScenarioInput(ToolInput):
    do: Annotated[
        Literal["list", "show", "validate", "upload", "activate", "run"],
        Field(
            description="list: names. show: one, with its log. validate: problems of `yaml`, by line. upload: add "
            "`yaml` to the world. activate: exactly `names`, later ones have priority. run: run the drive of `name` or "
            "`yaml` in a new world and check its expectations."
        ),
    ]
    name: Annotated[str | None, Field(description="show, run: name of a scenario.")] = None
    names: Annotated[list[str] | None, Field(description="activate: names; [] for none.")] = None
    yaml: Annotated[str | None, Field(description="validate, upload, run: a scenario as YAML.")] = None
    cursor: Annotated[str | None, Field(description="list: next_cursor of the previous response.")] = None
    world: World = None


class Outcome(Body):
    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(description="Id of an object.")]
    status: Annotated[str, Field(description="The expected status.")]


class VerdictInput(ToolInput):
    outcomes: Annotated[
        list[Outcome] | None,
        Field(description='Expected outcomes: [{"id": "txn_…", "status": "completed"}].'),
    ] = None
    inbox: Annotated[
        str | None,
        Field(
            description="Name of a built-in inbox. Each of its messages must verify, and every outcome must have been "
            "reported there."
        ),
    ] = None
    advice_from: Annotated[
        Literal["info", "warning", "error", "never"],
        Field(description="Advice of this or a higher severity makes the verdict negative."),
    ] = "warning"
    coverage: Annotated[
        float | None, Field(ge=0, le=100, description="Required coverage of the contract in percent.")
    ] = None
    world: World = None
