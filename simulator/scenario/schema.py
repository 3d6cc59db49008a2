"""The language of scenario files as pydantic models.

`parts` has what they are made of, `drive` what an integrator would do. What needs more than one file to judge (names of
actions, events and scenarios, parameters of actions) is the judge's.
"""

# ruff: noqa: RUF012 — pydantic copies the defaults of its models.

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from simulator.scenario.drive import DriveStep, Expectation
from simulator.scenario.parts import DurationMs, Environment, Part, ScenarioName, SpanOf, Where
from simulator.scenario.script import Span
from simulator.wire import faults
from simulator.wire.json import JsonObject


class RuleStep(BaseModel):
    """An action with its parameters, or a hand-over to another scenario; `after` counts from the step before."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    after: SpanOf = Span()
    action: str | None = None
    scenario: str | None = None
    target: str | None = None
    environment: Environment | None = None

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class TimelineStep(BaseModel):
    """An action at a fixed time after the scenario became active."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    at: SpanOf
    action: str
    target: str | None = None
    environment: Environment | None = None

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class AnswerInstead(Part):
    """What a request is answered with; the status is the catalogue's unless another is given."""

    code: str
    status: Annotated[int | None, Field(ge=400, le=599)] = None
    message: str | None = None
    param: str | None = None


EventNames = Annotated[
    Annotated[str, Tag("«one»")] | Annotated[list[str], Field(min_length=1), Tag("«many»")],
    Discriminator(lambda value: "«many»" if isinstance(value, list) else "«one»"),
]
"""What a rule listens to: an event type, `created`, `request`, or a list of such."""


class Rule(Part):
    """A reaction: when this happens and everything in `where` holds, do these steps, or answer."""

    on: EventNames
    where: Where = {}
    times: Annotated[int | None, Field(ge=1)] = None
    probability: Annotated[float | None, Field(ge=0, le=1)] = None
    do: list[RuleStep] | None = None
    answer: AnswerInstead | None = None

    @property
    def events(self) -> tuple[str, ...]:
        return (self.on,) if isinstance(self.on, str) else tuple(self.on)


class InitialState(Part):
    """State set up when the scenario becomes active: each entry holds the parameters of one action."""

    rates: Annotated[list[JsonObject], Field(description="parameters of set_rate")] = []
    balances: Annotated[list[JsonObject], Field(description="parameters of set_balance")] = []
    networks: Annotated[list[JsonObject], Field(description="parameters of set_network")] = []
    limits: Annotated[JsonObject | None, Field(description="parameters of set_limits")] = None
    kyc: Annotated[JsonObject | None, Field(description="parameters of set_kyc")] = None


# The members of faults are those of the control interface; only durations are read as everywhere in a file.


class FaultMatch(Part, faults.Match):
    model_config = Part.model_config


class FaultRespond(Part, faults.Respond):
    model_config = Part.model_config


class WebhookFaultMatch(Part, faults.WebhookMatch):
    model_config = Part.model_config


class Deliver(Part, faults.Deliver):
    model_config = Part.model_config

    delay: DurationMs | None = None
    slow: DurationMs | None = None


class Fault(Part, faults.InterfaceFault):
    """A disturbance of interface calls (`match`) or of webhook deliveries (`webhook`)."""

    model_config = Part.model_config

    match: FaultMatch | None = None  # type: ignore[assignment]  # a fault of deliveries has none
    respond: FaultRespond | None = None
    delay: DurationMs | None = None
    webhook: WebhookFaultMatch | None = None
    deliver: Deliver | None = None


Factor = Annotated[float, Field(gt=0, le=1000)]


class Scenario(Part):
    """A scenario: what the outside world does, and when."""

    name: ScenarioName
    description: str = ""
    world: InitialState = InitialState()
    rules: list[Rule] = []
    timeline: list[TimelineStep] = []
    faults: list[Fault] = []
    drive: list[DriveStep] = []
    expect: list[Expectation] = []
    slowdown: Annotated[
        dict[Literal["operational", "degraded", "down"], Factor],
        Field(description="stretches what is left of a rule's delays while the object's network has that status"),
    ] = {}
    below: Annotated[
        list[str],
        Field(alias="with", description="scenarios that are active below this one when it is run with its drive"),
    ] = []
    retry: Annotated[bool, Field(description="false: the drive does not try 429 and 503 again")] = True
