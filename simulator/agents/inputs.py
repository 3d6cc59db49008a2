"""What the tools take. The texts beneath the fields are all that a model knows of them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from simulator.engine.text.fields import Body
from simulator.engine.text.json import JsonObject

World = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z0-9._-]{1,64}$", description="Id of the world to act in; else the one made or chosen last."
    ),
]
Environment = Annotated[
    Literal["sandbox", "production"],
    Field(description="Environment of the world; both are simulated."),
]
MaxCharacters = Annotated[
    int, Field(ge=200, le=20_000, description="How long the answer may be. Ask narrower before you ask for more.")
]
Fields = Annotated[
    list[str] | None,
    Field(description='Only these members of the answer, by dotted places: ["id", "deposit.address"].'),
]


class ToolInput(Body):
    """Base of what tools take: a member that is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    max_characters: MaxCharacters = 2_000


class WorldInput(ToolInput):
    do: Annotated[
        Literal["make", "use", "show", "list", "reset", "end", "keys"],
        Field(
            description="make: a fresh world, which all later calls mean. use: mean a world that exists. show: clock, "
            "scenarios, counts. list: ids of all worlds. reset: as it was made. end: it is gone. keys: what an "
            "application under test is configured with."
        ),
    ]
    id: Annotated[str | None, Field(description="Id of the world; make draws one where it is left out.")] = None
    seed: Annotated[int | None, Field(ge=0, description="make: the same seed, the same bytes; else 1.")] = None
    now: Annotated[str | None, Field(description="make: when its clock begins, like 2026-03-01T08:00:00Z.")] = None
    scenarios: Annotated[
        list[str] | None,
        Field(
            description="make: scenarios active in it. autopilot (the happy path happens by itself as time is advanced)"
            " and test-values (outcomes chosen by request data) unless said otherwise; [] for none: then only `act` "
            "moves anything."
        ),
    ] = None
    settings: Annotated[
        JsonObject | None, Field(description='make: like {"strict": true} or {"webhook_urls": "any"}.')
    ] = None


class CallInput(ToolInput):
    method: Annotated[Literal["GET", "POST", "PUT", "PATCH", "DELETE"], Field(description="The method.")]
    path: Annotated[str, Field(description="The path below the base URL: /quotes, /transactions/txn_…; not /v1/…")]
    body: Annotated[JsonObject | None, Field(description='The JSON body. Amounts are strings: "30.00".')] = None
    query: Annotated[JsonObject | None, Field(description='Query parameters: {"status": "completed"}.')] = None
    idempotency_key: Annotated[
        str | None,
        Field(
            pattern=r"^[!-~]+$",
            description="Repeat one to retry a POST safely; without it a POST gets a fresh one.",
        ),
    ] = None
    fields: Fields = None
    environment: Environment = "sandbox"
    world: World = None


class ActInput(ToolInput):
    target: Annotated[
        str | None, Field(description="Id of the object to act on. Without `action`: lists what is possible for it.")
    ] = None
    action: Annotated[
        str | None,
        Field(
            description="What the outside world does: payment_arrives, deposit_arrives, complete, fail, refund, "
            "set_network, set_rate, … Without it: lists what is possible."
        ),
    ] = None
    parameters: Annotated[
        JsonObject | None, Field(description='Parameters of the action: {"failure_code": "payout_failed"}.')
    ] = None
    event: Annotated[
        str | None,
        Field(
            description="In place of `action`: walk by calls and actions to where this event is emitted, like "
            "transaction.refunded; with `target` for that object."
        ),
    ] = None
    environment: Environment = "sandbox"
    world: World = None


class AdvanceInput(ToolInput):
    by: Annotated[str | None, Field(description="A duration: 30s, 31m, 2h30m, 3d.")] = None
    to: Annotated[str | None, Field(description="A moment ahead: 2026-01-06T08:00:00Z.")] = None
    next_timer: Annotated[bool, Field(description="To the next thing that is due.")] = False
    until_id: Annotated[str | None, Field(description="Until this object …")] = None
    until_status: Annotated[str | None, Field(description="… has this status.")] = None
    until_event: Annotated[
        str | None, Field(description="Until an event of this type (about `until_id`, if given) is emitted.")
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
            description="resource: one object with its story, causes and what is possible now (id). requests, events, "
            "deliveries, resources, emails, timers: lists, newest first. request, event: one of them whole (id). "
            "inbox: webhooks that the built-in receiver got, each with whether its signature verifies (id: its name)."
            " search: everything that has a reference, id, amount or phone (query). reference: test values, banks, "
            "providers, rates. overview: all of it in counts."
        ),
    ]
    id: Annotated[str | None, Field(description="Id of what is meant; of lists, only rows about this object.")] = None
    type: Annotated[str | None, Field(description="events, resources: only of this type.")] = None
    path: Annotated[str | None, Field(description="requests: only of this path, * for anything: */quotes*.")] = None
    status: Annotated[
        str | None, Field(description="requests: only of this HTTP status. deliveries: succeeded or failed.")
    ] = None
    query: Annotated[str | None, Field(description="search: what to look for.")] = None
    cursor: Annotated[str | None, Field(description="next_cursor of the answer before, for older rows.")] = None
    fields: Fields = None
    world: World = None


class FaultInput(ToolInput):
    do: Annotated[Literal["add", "list", "remove"], Field(description="remove without an id ends all.")]
    fault: Annotated[
        JsonObject | None,
        Field(
            description='add: for calls {match: {method, path}, respond: {status, code} | delay: "2s" | drop: true, '
            "after_commit: true, times: 1}; path is below the base (/quotes/*). For webhooks {webhook: {event}, "
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
            description="list: names. show: one with what it has done. validate: problems of `yaml`, by line. upload: "
            "`yaml` into the world. activate: exactly `names`, later ones win. run: play `name` or `yaml` by its own "
            "drive in a world of its own and check what it expects."
        ),
    ]
    name: Annotated[str | None, Field(description="show, run: name of a scenario.")] = None
    names: Annotated[list[str] | None, Field(description="activate: names; [] for none.")] = None
    yaml: Annotated[str | None, Field(description="validate, upload, run: a scenario as YAML.")] = None
    cursor: Annotated[str | None, Field(description="list: next_cursor of the answer before.")] = None
    world: World = None


class Outcome(Body):
    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(description="Id of an object.")]
    status: Annotated[str, Field(description="The status that it must have.")]


class VerdictInput(ToolInput):
    outcomes: Annotated[
        list[Outcome] | None,
        Field(description='What must have come about: [{"id": "txn_…", "status": "completed"}].'),
    ] = None
    inbox: Annotated[
        str | None,
        Field(
            description="Name of the built-in inbox that takes the webhooks: then each message must verify, and every "
            "outcome must have been told there."
        ),
    ] = None
    advice_from: Annotated[
        Literal["info", "warning", "error", "never"],
        Field(description="Findings about the traffic that are at least as severe as this are a no."),
    ] = "warning"
    coverage: Annotated[
        float | None, Field(ge=0, le=100, description="Percent of the contract that must have been exercised.")
    ] = None
    world: World = None
