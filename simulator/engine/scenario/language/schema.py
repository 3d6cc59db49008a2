"""The language of scenario files as pydantic models.

`parts` has the types of values, `run.drive` the models of drives and expectations. `checker` checks what needs the
vocabulary or other files: names of actions, events and scenarios, and parameters.
"""

# ruff: noqa: RUF012 — pydantic copies the defaults of its models.

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, create_model

from simulator.engine.faults import models as faults
from simulator.engine.rows.action import Initial
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language.parts import (
    DurationMs,
    Environment,
    OpenPart,
    Part,
    ScenarioName,
    SpanOf,
    Where,
)
from simulator.engine.scenario.play.script import Span
from simulator.engine.scenario.run.drive import DriveStep, Expectation
from simulator.engine.text.json import JsonObject


class RuleStep(OpenPart):
    """An action with its parameters, or a hand-over to another scenario."""

    after: SpanOf = Span()
    """The delay after the previous step, or after the event: `20s`, `2h30m`, seconds, or `{between: [20s, 60s]}`."""
    action: str | None = None
    """The action of a third party. Its parameters are fields of the step. An action that is illegal then is skipped."""
    scenario: str | None = None
    """Instead of an action: the scenario that alone acts on the object from now on."""
    target: str | None = None
    """The id of the resource to act on. Default: the object of the event."""
    environment: Environment | None = None
    """The environment of an action without target. Default: the environment of the event."""


class TimelineStep(OpenPart):
    """An action at a fixed time after the activation of the scenario."""

    at: SpanOf
    """The time since the activation of the scenario."""
    action: str
    """The action of a third party. Its parameters are fields of the step."""
    target: str | None = None
    """The id of the resource to act on. Actions on the whole world have none."""
    environment: Environment | None = None
    """The environment of an action without target. Default: the sandbox."""


class AnswerInstead(Part):
    """The error response to a request."""

    code: str
    """An error code of the API."""
    status: Annotated[int | None, Field(ge=400, le=599)] = None
    """The status. Default: the usual status of the code."""
    message: str | None = None
    """The message in the error envelope. Default: a message that names this rule."""
    param: str | None = None
    """The field that the error envelope names."""


EventNames = Annotated[
    Annotated[str, Tag("«one»")] | Annotated[list[str], Field(min_length=1), Tag("«many»")],
    Discriminator(lambda value: "«many»" if isinstance(value, list) else "«one»"),
]
"""The trigger of a rule: an event type, `created`, `request`, or a list of these."""


class Rule(Part):
    """A reaction to an event or request: if all of `where` holds, the rule plans steps or returns an error."""

    on: EventNames
    """The event types. `created` is for resources that are created without an event, `request` for calls."""
    where: Where = {}
    """The tests of the event's object by dotted path. All must pass."""
    times: Annotated[int | None, Field(ge=1)] = None
    """The maximum number of times that the rule fires. Default: no limit."""
    probability: Annotated[float | None, Field(ge=0, le=1)] = None
    """The probability that a matching rule fires, drawn from the world's seed. Otherwise the next rule is tried."""
    do: list[RuleStep] | None = None
    """The steps, in sequence. `[]` takes the event, so that no other rule sees it."""
    answer: AnswerInstead | None = None
    """Only `on: request`: the error response. The call then has no effect."""


# Faults have the fields of the control interface. Only durations are parsed as everywhere in a file.


class FaultMatch(Part, faults.Match):
    model_config = Part.model_config


class FaultRespond(Part, faults.Respond):
    model_config = Part.model_config


class WebhookFaultMatch(Part, faults.WebhookMatch):
    model_config = Part.model_config


class Deliver(Part, faults.Deliver):
    model_config = Part.model_config

    delay: DurationMs | None = None
    """The delay before it is sent, in simulated time."""
    slow: DurationMs | None = None
    """The delay before it is sent, in wall-clock time, at most one minute."""


class Fault(Part, faults.InterfaceFault):
    """A fault of API calls (`match`) or of webhook deliveries (`webhook`)."""

    model_config = Part.model_config

    match: FaultMatch | None = None  # type: ignore[assignment]  # a fault of deliveries has none
    """The calls to match: all given fields must match. `{}` matches every call."""
    respond: FaultRespond | None = None
    """The error to return instead of the real response."""
    delay: DurationMs | None = None
    """The delay of the call, in wall-clock time, at most 10 minutes."""
    webhook: WebhookFaultMatch | None = None
    """The deliveries to match: all given fields must match. `{}` matches every delivery."""
    deliver: Deliver | None = None
    """The effect on these deliveries."""


Factor = Annotated[float, Field(gt=0, le=1000)]


class Scenario(Part):
    """A scenario: what third parties do, and when."""

    name: ScenarioName
    """The name: letters, digits, `.`, `-` and `_`, but not `active`."""
    description: str = ""
    """A sentence about what it does."""
    world: JsonObject = {}
    """The state that is set up at activation."""
    rules: list[Rule] = []
    """Reactions to events and requests. They are tried from top to bottom, and the first match takes the event."""
    timeline: list[TimelineStep] = []
    """Actions at fixed times after activation."""
    faults: list[Fault] = []
    """Faults on the network while it is active. If several match, the first one acts."""
    drive: list[DriveStep] = []
    """The steps of an integrator, for `rampsim scenario run`."""
    expect: list[Expectation] = []
    """Expectations that are checked after the drive."""
    slowdown: dict[Literal["operational", "degraded", "down"], Factor] = {}
    """By network status: the factor that stretches the remaining delays of steps whose object uses that network."""
    below: Annotated[list[str], Field(alias="with")] = []
    """Scenarios that are active below this one when its drive is run."""
    retry: bool = True
    """Whether the drive repeats calls after 429 and 503, with growing waits on the simulated clock."""


def validated(document: object, vocabulary: Vocabulary) -> Scenario:
    """Validate a document with the names of a service. ValidationError."""
    return model(vocabulary).model_validate(document, context=vocabulary.names)


@lru_cache(maxsize=8)
def model(vocabulary: Vocabulary) -> type[Scenario]:
    """Return the model of a service's scenarios, whose `world` has a field for each action that sets up state."""
    fields: dict[str, Any] = {one.member: _world_field(one, action) for one, action in vocabulary.actions.initial}
    says = "The state that is set up at activation. Each entry has the parameters of one action."
    state = create_model("WorldState", __base__=Part, __doc__=says, **fields)
    return create_model("Scenario", __base__=Scenario, __doc__=Scenario.__doc__, world=(state, state()))


def _world_field(initial: Initial, action: str) -> tuple[object, Any]:
    if initial.is_list:
        return list[JsonObject], Field([], description=f"{initial.means}: each entry has the parameters of `{action}`.")
    return JsonObject | None, Field(None, description=f"{initial.means}: the parameters of `{action}`.")
