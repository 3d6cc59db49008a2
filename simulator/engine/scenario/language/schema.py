"""The language of scenario files as pydantic models.

`parts` has what they are made of, `drive` what an integrator would do. What needs more than one file to judge (names of
actions, events and scenarios, parameters of actions) is the judge's.
"""

# ruff: noqa: RUF012 — pydantic copies the defaults of its models.

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from simulator.engine.faults import models as faults
from simulator.engine.rows.action import Initial
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language.parts import DurationMs, Environment, Part, ScenarioName, SpanOf, Where
from simulator.engine.scenario.play.script import Span
from simulator.engine.scenario.run.drive import DriveStep, Expectation
from simulator.engine.text.json import JsonObject


class RuleStep(BaseModel):
    """An action with its parameters, or a hand-over to another scenario; `after` counts from the step before."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    after: SpanOf = Span()
    """How long after the step before, or after the event: `20s`, `2h30m`, seconds, or `{between: [20s, 60s]}`."""
    action: str | None = None
    """What happens in the outside world; its parameters stand beside it. One that is not possible then is skipped."""
    scenario: str | None = None
    """In place of an action: the scenario that has the object from now on, alone."""
    target: str | None = None
    """The id of what it acts on; the object of the event when left out."""
    environment: Environment | None = None
    """Where an action without a target applies; where the event was when left out."""

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class TimelineStep(BaseModel):
    """An action at a fixed time after the scenario became active."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    at: SpanOf
    """How long after the scenario became active."""
    action: str
    """What happens in the outside world; its parameters stand beside it."""
    target: str | None = None
    """The id of what it acts on; left out by actions on the world as a whole."""
    environment: Environment | None = None
    """Where an action without a target applies; the sandbox when left out."""

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class AnswerInstead(Part):
    """What a request is answered with; the status is the catalogue's unless another is given."""

    code: str
    """The error code, one of the catalogue."""
    status: Annotated[int | None, Field(ge=400, le=599)] = None
    """The status; that of the code when left out."""
    message: str | None = None
    """The message in the error envelope; one that names this rule when left out."""
    param: str | None = None
    """The field that the error envelope names."""


EventNames = Annotated[
    Annotated[str, Tag("«one»")] | Annotated[list[str], Field(min_length=1), Tag("«many»")],
    Discriminator(lambda value: "«many»" if isinstance(value, list) else "«one»"),
]
"""What a rule listens to: an event type, `created`, `request`, or a list of such."""


class Rule(Part):
    """A reaction: when this happens and everything in `where` holds, do these steps, or answer."""

    on: EventNames
    """The event that it reacts to, or a list; `created` for what is made without an event, `request` for calls."""
    where: Where = {}
    """What must hold of the object of the event, by dotted paths; all of it."""
    times: Annotated[int | None, Field(ge=1)] = None
    """How often it fires at most; without end when left out."""
    probability: Annotated[float | None, Field(ge=0, le=1)] = None
    """How likely it fires when it matches, drawn from the world's seed; else the next rule is looked at."""
    do: list[RuleStep] | None = None
    """What happens then, one step after another; `[]` takes the event, so that no other rule sees it."""
    answer: AnswerInstead | None = None
    """Of a rule `on: request`: the error that the call gets in place of its answer. Nothing of it is done then."""

    @property
    def events(self) -> tuple[str, ...]:
        return (self.on,) if isinstance(self.on, str) else tuple(self.on)


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
    """How long it is held back: simulated time."""
    slow: DurationMs | None = None
    """How long to wait before it is sent: wall time, at most one minute."""


class Fault(Part, faults.InterfaceFault):
    """A disturbance of interface calls (`match`) or of webhook deliveries (`webhook`)."""

    model_config = Part.model_config

    match: FaultMatch | None = None  # type: ignore[assignment]  # a fault of deliveries has none
    """Which calls: all that is named must fit. `{}` means every call."""
    respond: FaultRespond | None = None
    """The error to answer instead of the true answer."""
    delay: DurationMs | None = None
    """How long to hold the call back: wall time, at most 10 minutes."""
    webhook: WebhookFaultMatch | None = None
    """Which deliveries: all that is named must fit. `{}` means every delivery."""
    deliver: Deliver | None = None
    """What happens to these deliveries."""


Factor = Annotated[float, Field(gt=0, le=1000)]


class Scenario(Part):
    """A scenario: what the outside world does, and when."""

    name: ScenarioName
    """Names it: letters, digits, `.`, `-` and `_`, not `active`."""
    description: str = ""
    """What it shows, in a sentence."""
    world: JsonObject = {}
    """State that is laid down when it becomes active."""
    rules: list[Rule] = []
    """What happens when something happens: from top to bottom, and the first rule that matches takes the event."""
    timeline: list[TimelineStep] = []
    """What happens at fixed times after it became active."""
    faults: list[Fault] = []
    """What goes wrong on the wire while it is active; of several that match, the first acts."""
    drive: list[DriveStep] = []
    """What an integrator would do, so that `rampsim scenario run` needs none."""
    expect: list[Expectation] = []
    """What must be true when the drive has ended."""
    slowdown: dict[Literal["operational", "degraded", "down"], Factor] = {}
    """By status of the object's network: how much longer what is left of a rule's delays takes meanwhile."""
    below: Annotated[list[str], Field(alias="with")] = []
    """Scenarios that are active below this one when it is run with its drive."""
    retry: bool = True
    """Whether the drive tries 429 and 503 again, with growing waits on the simulated clock."""


def validated(document: object, vocabulary: Vocabulary) -> Scenario:
    """The scenario of a document, by the names of a service; ValidationError."""
    return model(vocabulary).model_validate(document, context=vocabulary.names)


@lru_cache(maxsize=8)
def model(vocabulary: Vocabulary) -> type[Scenario]:
    """Scenarios of a service: `world` has a member for each action that sets up state."""
    members: dict[str, Any] = {one.member: _member(one, action) for one, action in vocabulary.actions.initial}
    says = "State set up when the scenario becomes active: each entry holds the parameters of one action."
    state = create_model("WorldState", __base__=Part, __doc__=says, **members)
    return create_model("Scenario", __base__=Scenario, __doc__=Scenario.__doc__, world=(state, state()))


def _member(initial: Initial, action: str) -> tuple[object, Any]:
    if initial.is_list:
        return list[JsonObject], Field([], description=f"{initial.means}: each entry has the parameters of `{action}`.")
    return JsonObject | None, Field(None, description=f"{initial.means}: the parameters of `{action}`.")
