"""The language of scenario files as pydantic models, and the JSON Schema made from them.

Durations are validated where they stand and kept as spans of milliseconds. What needs more than one file to judge
(names of actions, events and scenarios, parameters of actions) is the loader's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StringConstraints,
    Tag,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue

from simulator.kernel.clock import parse_duration
from simulator.wire.errors import CATALOGUE
from simulator.wire.events import EVENT_TYPES
from simulator.wire.triggers import TriggerTable

CREATED = "created"
REQUEST = "request"
METHODS = ("get", "post", "put", "patch", "delete")
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"

DURATION_SCHEMA: JsonSchemaValue = {
    "anyOf": [
        {"type": "string", "examples": ["20s", "2h30m", "PT90S"]},
        {"type": "number", "minimum": 0, "description": "seconds"},
    ]
}
_SPAN_SCHEMA: JsonSchemaValue = {
    "anyOf": [
        *DURATION_SCHEMA["anyOf"],
        {
            "type": "object",
            "properties": {
                "between": {"type": "array", "items": DURATION_SCHEMA, "minItems": 2, "maxItems": 2},
            },
            "required": ["between"],
            "additionalProperties": False,
        },
    ]
}


@dataclass(frozen=True, slots=True)
class Span:
    """A duration in milliseconds, or a pair of bounds between which chance decides."""

    low_ms: int = 0
    high_ms: int = 0


def _duration(value: Any) -> int:
    return parse_duration(value)


def _span(value: Any) -> Span:
    if not isinstance(value, dict):
        span_ms = parse_duration(value)
        return Span(span_ms, span_ms)
    bounds = value.get("between")
    if set(value) != {"between"} or not isinstance(bounds, list) or len(bounds) != 2:
        raise ValueError("write a duration (20s) or {between: [20s, 60s]}")
    low_ms, high_ms = (parse_duration(bound) for bound in bounds)
    if low_ms > high_ms:
        raise ValueError("the first bound of `between` must not exceed the second")
    return Span(low_ms, high_ms)


def _regex(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


def _bound(value: Any) -> Decimal:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            number = Decimal("NaN")
        if number.is_finite():
            return number
    raise ValueError("it must be a number, or one written as a string")


def _scalar(value: Any) -> Any:
    if isinstance(value, dict | list):
        raise ValueError("it must be a single value")
    return value


DurationMs = Annotated[int, PlainValidator(_duration), WithJsonSchema(DURATION_SCHEMA)]
SpanOf = Annotated[Span, PlainValidator(_span), WithJsonSchema(_SPAN_SCHEMA)]
Regex = Annotated[str, AfterValidator(_regex)]
Bound = Annotated[Decimal, PlainValidator(_bound), WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})]
ScenarioName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Environment = Literal["sandbox", "production"]
Scalar = Annotated[
    str | bool | int | float | None,
    PlainValidator(_scalar),
    WithJsonSchema({"type": ["string", "boolean", "number", "null"]}),
]


class Part(BaseModel):
    """Base of all parts: strict types, no unknown members."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=(), populate_by_name=True)


class Tests(Part):
    """What a value must pass; all members that are given must hold."""

    starts_with: str | None = None
    ends_with: str | None = None
    matches: Annotated[Regex | None, Field(description="a regular expression; its named groups serve in steps")] = None
    gt: Bound | None = None
    gte: Bound | None = None
    lt: Bound | None = None
    lte: Bound | None = None
    exists: bool | None = None
    names_scenario: Annotated[
        bool | None,
        Field(description="whether the value, or the group `name` of `matches`, is the name of a scenario"),
    ] = None

    @property
    def given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Tests.model_fields if getattr(self, name) is not None}


def _matcher_tag(value: Any) -> str:
    if isinstance(value, dict):
        return "«tests»"
    return "«list»" if isinstance(value, list) else "«scalar»"


Matcher = Annotated[
    Annotated[Tests, Tag("«tests»")] | Annotated[list[Scalar], Tag("«list»")] | Annotated[Scalar, Tag("«scalar»")],
    Discriminator(_matcher_tag),
]
Where: TypeAlias = "dict[str, Matcher]"


class Step(BaseModel):
    """An action with its parameters, or a hand-over to another scenario; `after` counts from the step before."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    after: SpanOf = Span()
    action: str | None = None
    scenario: str | None = None
    target: str | None = None
    environment: Environment | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class TimelineStep(BaseModel):
    """An action at a fixed time after the scenario became active."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    at: SpanOf
    action: str
    target: str | None = None
    environment: Environment | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class AnswerInstead(Part):
    """What a request is answered with; the status is the catalogue's unless another is given."""

    code: str
    status: Annotated[int | None, Field(ge=400, le=599)] = None
    message: str | None = None
    param: str | None = None


Trigger = Annotated[
    Annotated[str, Tag("«one»")] | Annotated[list[str], Field(min_length=1), Tag("«many»")],
    Discriminator(lambda value: "«many»" if isinstance(value, list) else "«one»"),
]
"""What a rule listens to: an event type, `created`, `request`, or a list of such."""


class Rule(Part):
    """A reaction: when this happens and everything in `where` holds, do these steps, or answer."""

    on: Trigger
    where: Where = {}
    times: Annotated[int | None, Field(ge=1)] = None
    probability: Annotated[float | None, Field(ge=0, le=1)] = None
    do: list[Step] | None = None
    answer: AnswerInstead | None = None

    @property
    def events(self) -> tuple[str, ...]:
        return (self.on,) if isinstance(self.on, str) else tuple(self.on)


class WorldState(Part):
    """State laid down when the scenario becomes active: each entry holds the parameters of one action."""

    rates: Annotated[list[dict[str, Any]], Field(description="parameters of set_rate")] = []
    balances: Annotated[list[dict[str, Any]], Field(description="parameters of set_balance")] = []
    networks: Annotated[list[dict[str, Any]], Field(description="parameters of set_network")] = []
    limits: Annotated[dict[str, Any] | None, Field(description="parameters of set_limits")] = None
    kyc: Annotated[dict[str, Any] | None, Field(description="parameters of set_kyc")] = None


WORLD_ACTIONS: Mapping[str, str] = {
    "rates": "set_rate",
    "balances": "set_balance",
    "networks": "set_network",
    "limits": "set_limits",
    "kyc": "set_kyc",
}
"""The action behind each member of `world`."""


class FaultMatch(Part):
    method: str | None = None
    path: str | None = None
    public_key: str | None = None


class FaultRespond(Part):
    status: Annotated[int, Field(ge=200, le=599)]
    code: Annotated[str, Field(min_length=1)]
    message: str | None = None
    retry_after: Annotated[int | None, Field(ge=0)] = None


class WebhookFaultMatch(Part):
    event: str | None = None
    endpoint_id: str | None = None


class Deliver(Part):
    copies: Annotated[int | None, Field(ge=1, le=100)] = None
    delay: DurationMs | None = None
    reorder: bool = False
    drop: bool = False
    corrupt_signature: bool = False
    stale_timestamp: bool = False
    alter_body: bool = False


class Fault(Part):
    """A disturbance of interface calls (`match`) or of webhook deliveries (`webhook`)."""

    match: FaultMatch | None = None
    respond: FaultRespond | None = None
    delay: DurationMs | None = None
    drop: bool = False
    malformed: Literal["truncate", "garbage"] | None = None
    after_commit: bool = False
    webhook: WebhookFaultMatch | None = None
    deliver: Deliver | None = None
    times: Annotated[int | None, Field(ge=1)] = None
    probability: Annotated[float | None, Field(ge=0, le=1)] = None


class Call(Part):
    """An interface call of the drive; exactly one method, its value the path below the base."""

    get: str | None = None
    post: str | None = None
    put: str | None = None
    patch: str | None = None
    delete: str | None = None
    body: Any = None
    headers: dict[str, str] = {}
    environment: Environment = "sandbox"
    retry: Annotated[bool | None, Field(description="false: 429 and 503 are not tried again")] = None
    status: Annotated[int | None, Field(description="the status that is expected; without it any 2xx")] = None
    code: Annotated[str | None, Field(description="the error code that is expected along with `status`")] = None

    @property
    def method(self) -> str:
        return next((name for name in METHODS if getattr(self, name) is not None), "")

    @property
    def path(self) -> str:
        return str(getattr(self, self.method))


class Advance(Part):
    """Move the simulated clock."""

    advance: DurationMs


class DriveAction(BaseModel):
    """An action of the control interface, at this point of the drive."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    action: str
    target: str | None = None
    environment: Environment = "sandbox"

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ReceiverAnswers(Part):
    respond: Annotated[
        list[Annotated[int, Field(ge=200, le=599)]],
        Field(min_length=1, description="statuses, one after another; the last one stays"),
    ]


class Receiver(Part):
    """What the run's own webhook receiver answers from now on; its endpoint is `${receiver.id}`."""

    receiver: ReceiverAnswers


UNNAMED_STEPS = ("advance", "action", "receiver", *METHODS)
"""The first words of steps without a name; no step can be named so."""


def is_named(step: Mapping[str, Any]) -> bool:
    """Whether a step of the drive is `name: step`."""
    return len(step) == 1 and not set(UNNAMED_STEPS) & set(step)


def has_receiver(document: Mapping[str, Any]) -> bool:
    """Whether the run of a scenario, given as written, has a webhook receiver: its drive or its `expect` names it."""
    for member, words in (("drive", {"receiver"}), ("expect", {"webhooks", "delivery"})):
        parts = document.get(member)
        if any(isinstance(part, dict) and words & set(part) for part in (parts if isinstance(parts, list) else ())):
            return True
    return False


def _drive_tag(value: Any) -> str:
    if not isinstance(value, dict):
        return "«call»"
    if is_named(value):
        return "«named»"
    return next((f"«{word}»" for word in UNNAMED_STEPS[:3] if word in value), "«call»")


def _named_tag(value: Any) -> str:
    return "«action»" if isinstance(value, dict) and "action" in value else "«call»"


CallOrAction = Annotated[
    Annotated[DriveAction, Tag("«action»")] | Annotated[Call, Tag("«call»")], Discriminator(_named_tag)
]
NamedStep = Annotated[dict[str, CallOrAction], Field(min_length=1, max_length=1)]
DriveStep = Annotated[
    Annotated[Advance, Tag("«advance»")]
    | Annotated[DriveAction, Tag("«action»")]
    | Annotated[Receiver, Tag("«receiver»")]
    | Annotated[Call, Tag("«call»")]
    | Annotated[NamedStep, Tag("«named»")],
    Discriminator(_drive_tag),
]


class ExpectEvent(Part):
    """An event of this type whose object fits `where` was emitted: at least once, or exactly `times`."""

    event: str
    where: Where = {}
    times: Annotated[int | None, Field(ge=0)] = None


class ExpectResource(Part):
    """A resource fits `where` now."""

    resource: str
    where: Where


class ExpectAnswer(Part):
    """The answer to a named step of the drive fits `where`."""

    answer: str
    where: Where


class ExpectDelivery(Part):
    """A webhook attempt for an event of this type fits `where`: at least one does, or exactly `times`."""

    delivery: str
    where: Where = {}
    times: Annotated[int | None, Field(ge=0)] = None


class ExpectWebhooks(Part):
    """Every webhook of this run got its 2xx."""

    webhooks: Literal["delivered"]


def _expect_tag(value: Any) -> str:
    found = value if isinstance(value, dict) else {}
    return next((f"«{key}»" for key in ("resource", "answer", "delivery", "webhooks") if key in found), "«event»")


Expectation = Annotated[
    Annotated[ExpectEvent, Tag("«event»")]
    | Annotated[ExpectResource, Tag("«resource»")]
    | Annotated[ExpectAnswer, Tag("«answer»")]
    | Annotated[ExpectDelivery, Tag("«delivery»")]
    | Annotated[ExpectWebhooks, Tag("«webhooks»")],
    Discriminator(_expect_tag),
]

Factor = Annotated[float, Field(gt=0, le=1000)]


class Scenario(Part):
    """A scenario: what the outside world does, and when."""

    name: ScenarioName
    description: str = ""
    world: WorldState = WorldState()
    rules: list[Rule] = []
    timeline: list[TimelineStep] = []
    faults: list[Fault] = []
    drive: list[DriveStep] = []
    expect: list[Expectation] = []
    slowdown: Annotated[
        dict[Literal["operational", "degraded", "down"], Factor],
        Field(description="stretches the steps of rules while the object's network has that status"),
    ] = {}
    beneath: Annotated[
        list[str],
        Field(alias="with", description="scenarios that are active below this one when it is run with its drive"),
    ] = []
    retry: Annotated[bool, Field(description="false: the drive does not try 429 and 503 again")] = True


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario that was read: its models, the document as written, where it came from, and its lines.

    `lines` has the line (from 1) of every rule, timeline step and part of `world` by path (`rules[0]`).
    """

    scenario: Scenario
    document: dict[str, Any]
    source: str
    lines: Mapping[str, int]

    @property
    def name(self) -> str:
        return self.scenario.name

    def place(self, path: str) -> str:
        """`file:line` of a part."""
        return f"{self.source}:{self.lines.get(path, 1)}"


class Library(dict[str, ScenarioFile]):
    """Scenarios by name."""


def json_schema(triggers: TriggerTable | None = None) -> JsonSchemaValue:
    """The JSON Schema of scenario files; with a trigger table the actions and their parameters are in it."""
    schema = Scenario.model_json_schema(by_alias=True)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario",
        "description": "What the outside world does to the simulated service, and when.",
        **{key: value for key, value in schema.items() if key not in ("title", "description")},
    }
    definitions = schema["$defs"]
    events = {"enum": [*EVENT_TYPES, CREATED, REQUEST]}
    definitions["Rule"]["properties"]["on"] = {"anyOf": [events, {"type": "array", "items": events}]}
    definitions["ExpectEvent"]["properties"]["event"] = {"enum": list(EVENT_TYPES)}
    definitions["ExpectDelivery"]["properties"]["delivery"] = {"enum": list(EVENT_TYPES)}
    definitions["AnswerInstead"]["properties"]["code"] = {"enum": list(CATALOGUE)}
    definitions["Call"]["properties"]["code"] = {"anyOf": [{"enum": list(CATALOGUE)}, {"type": "null"}]}
    if triggers is not None:
        for name in ("Step", "TimelineStep", "DriveAction"):
            _add_actions(definitions[name], triggers)
    return schema


def _add_actions(definition: JsonSchemaValue, triggers: TriggerTable) -> None:
    names = {"enum": list(triggers.rows)}
    optional = "anyOf" in definition["properties"]["action"]
    definition["properties"]["action"] = {"anyOf": [names, {"type": "null"}]} if optional else names
    definition["allOf"] = [
        {
            "if": {"properties": {"action": {"const": name}}, "required": ["action"]},
            "then": {"properties": {parameter: {} for row in rows for parameter in _parameters(row.parameters)}},
        }
        for name, rows in triggers.rows.items()
    ]


def _parameters(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
