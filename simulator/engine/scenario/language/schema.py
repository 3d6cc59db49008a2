"""The scenario language as pydantic models. `run.drive` contains the models for `drive` and `expect`."""

# ruff: noqa: RUF012 — pydantic copies the defaults of its models.

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, create_model

from simulator.engine.faults import models as faults
from simulator.engine.rows.action import Initial
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
from simulator.engine.vocabulary.vocabulary import Vocabulary


class RuleStep(OpenPart):
    """An action with its parameters, or a handover to another scenario."""

    after: SpanOf = Span()
    """The delay after the previous step, or after the event if this is the first step.

    Write `20s`, `2h30m`, seconds, or `{between: [20s, 60s]}`.
    """
    action: str | None = None
    """The third-party action.

    Its parameters are fields of the step. If the action is illegal at that time, the step is skipped.
    """
    scenario: str | None = None
    """The scenario to hand over to, instead of an action. From then on, only that scenario acts on the object."""
    target: str | None = None
    """The id of the resource to act on. Default: the event's object."""
    environment: Environment | None = None
    """The environment of an action that has no target. Default: the event's environment."""


class TimelineStep(OpenPart):
    """An action at a fixed time after the scenario is activated."""

    at: SpanOf
    """The time since the scenario was activated."""
    action: str
    """The third-party action. Its parameters are fields of the step."""
    target: str | None = None
    """The id of the resource to act on. Actions on the whole world have no target."""
    environment: Environment | None = None
    """The environment of an action that has no target. Default: the sandbox."""


class AnswerInstead(Part):
    """The error response to a request."""

    code: str
    """An error code of the API."""
    status: Annotated[int | None, Field(ge=400, le=599)] = None
    """The HTTP status. Default: the usual status for the code."""
    message: str | None = None
    """The message in the error response. Default: a message that names this rule."""
    param: str | None = None
    """The value of `param` in the error response: the field that is at fault."""


EventNames = Annotated[
    Annotated[str, Tag("«one»")] | Annotated[list[str], Field(min_length=1), Tag("«many»")],
    Discriminator(lambda value: "«many»" if isinstance(value, list) else "«one»"),
]
"""The trigger or triggers of a rule: an event type, `created`, `request`, or a list of these."""


class Rule(Part):
    """A reaction to an event or request. If all tests in `where` pass, the rule plans steps or returns an error."""

    on: EventNames
    """The event types.

    Use `created` for resources that are created without an event, and `request` for API requests.
    """
    where: Where = {}
    """The tests for the event's object, by dotted path. All must pass."""
    times: Annotated[int | None, Field(ge=1)] = None
    """The maximum number of times that the rule can fire. Default: no limit."""
    probability: Annotated[float | None, Field(ge=0, le=1)] = None
    """The probability that a matching rule fires. The decision is generated from the world's seed.

    If the rule does not fire, the next rule is tried.
    """
    do: list[RuleStep] | None = None
    """The steps, in order. With `[]`, the rule handles the event by doing nothing, and no other rule is tried."""
    answer: AnswerInstead | None = None
    """The error response. Allowed only with `on: request`. The request then has no effect."""


# A fault has the same fields as in the control API, but the configuration of `Part`, which is therefore the last base
# class. Its durations use the syntax of all other durations in the file.


class FaultMatch(faults.Match, Part): ...


class FaultRespond(faults.Respond, Part): ...


class WebhookFaultMatch(faults.WebhookMatch, Part): ...


class Deliver(faults.Deliver, Part):
    delay: DurationMs | None = None
    """The delay before the webhook is sent, in simulated time."""
    slow: DurationMs | None = None
    """The delay before the webhook is sent, in wall-clock time. At most one minute."""


class Fault(faults.InterfaceFault, Part):
    """A fault in API calls (`match`) or in webhook deliveries (`webhook`)."""

    match: FaultMatch | None = None  # type: ignore[assignment]  # a fault of deliveries has none
    """The calls to match. All given fields must match. `{}` matches every call."""
    respond: FaultRespond | None = None
    """The error to return instead of the real response."""
    delay: DurationMs | None = None
    """The delay of the call in wall-clock time. At most 10 minutes."""
    webhook: WebhookFaultMatch | None = None
    """The deliveries to match. All given fields must match. `{}` matches every delivery."""
    deliver: Deliver | None = None
    """The effect on the matching deliveries."""


Factor = Annotated[float, Field(gt=0, le=1000)]


class Scenario(Part):
    """A scenario: what third parties do and when."""

    name: ScenarioName
    """The scenario's name. The name can contain letters, digits, `.`, `-` and `_`, and cannot be `active`."""
    description: str = ""
    """A one-sentence description of the scenario."""
    world: JsonObject = {}
    """The state that is set up when the scenario is activated."""
    rules: list[Rule] = []
    """Reactions to events and requests.

    Rules are tried from top to bottom. Only the first matching rule handles the event.
    """
    timeline: list[TimelineStep] = []
    """Actions at fixed times after the scenario is activated."""
    faults: list[Fault] = []
    """Network faults while the scenario is active. If several faults match, only the first one takes effect."""
    drive: list[DriveStep] = []
    """The integrator's steps, run by `rampsim scenario run`."""
    expect: list[Expectation] = []
    """The expectations that are checked after the drive."""
    slowdown: dict[Literal["operational", "degraded", "down"], Factor] = {}
    """A factor for each network status.

    The factor multiplies the remaining delay of steps on objects that use a network with that status.
    """
    below: Annotated[list[str], Field(alias="with")] = []
    """The scenarios that are also active, with lower priority, during the drive of this scenario."""
    retry: bool = True
    """Whether the drive repeats calls after 429 and 503, with increasing waits on the simulated clock."""


def validated(document: object, vocabulary: Vocabulary) -> Scenario:
    """Validate a document against a service's vocabulary. Raise `ValidationError` if it is invalid."""
    return model(vocabulary).model_validate(document, context=vocabulary.names)


@lru_cache(maxsize=8)
def model(vocabulary: Vocabulary) -> type[Scenario]:
    """Return the model for scenarios of a service. Its `world` has a field for each action that sets up a world."""
    fields: dict[str, Any] = {one.member: _world_field(one, action) for one, action in vocabulary.actions.initial}
    says = "The state to set up when the scenario is activated. Each entry has the parameters of one action."
    state = create_model("WorldState", __base__=Part, __doc__=says, **fields)
    return create_model("Scenario", __base__=Scenario, __doc__=Scenario.__doc__, world=(state, state()))


def _world_field(initial: Initial, action: str) -> tuple[object, Any]:
    if initial.is_list:
        return list[JsonObject], Field([], description=f"{initial.means}: each entry has the parameters of `{action}`.")
    return JsonObject | None, Field(None, description=f"{initial.means}: the parameters of `{action}`.")
