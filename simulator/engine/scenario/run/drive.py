"""The pydantic models for the sections `drive` (the integrator's steps) and `expect` of a scenario file."""

# ruff: noqa: RUF012 — pydantic copies the defaults of its models.

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from simulator.engine.scenario.language.parts import DurationMs, Environment, OpenPart, Part, Where
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

METHODS = ("get", "post", "put", "patch", "delete")


class DriveCall(Part):
    """An API call in the `drive` of a scenario.

    Exactly one of the fields `get` to `delete` is set. Its value is the path relative to the base path.
    """

    get: str | None = None
    """GET: the path relative to the base path, including the query."""
    post: str | None = None
    """POST: the path relative to the base path. All attempts send the same Idempotency-Key."""
    put: str | None = None
    """PUT: the path relative to the base path."""
    patch: str | None = None
    """PATCH: the path relative to the base path."""
    delete: str | None = None
    """DELETE: the path relative to the base path."""
    body: Any = None
    """The body. Strings can refer to responses of earlier steps, for example `${quote.id}`."""
    headers: dict[str, str] = {}
    """Additional headers."""
    environment: Environment = ""
    """The environment to call. Default: the service's first environment."""
    retry: bool | None = None
    """Whether the call is repeated after 429 and 503, with at most five attempts. Default: the file's `retry`."""
    status: int | None = None
    """The expected HTTP status. Default: any 2xx status."""
    code: str | None = None
    """The expected error code. Use it together with `status`."""

    @property
    def method(self) -> str:
        return next((name for name in METHODS if getattr(self, name) is not None), "")

    @property
    def path(self) -> str:
        return str(getattr(self, self.method))


class Advance(Part):
    """A step that advances the simulated clock."""

    advance: DurationMs
    """The duration. Everything that is due in this time happens, including webhooks."""


@dataclass(frozen=True, slots=True)
class Until:
    """A step that advances the clock until certain timers of a resource have fired. Files cannot contain it."""

    target: str
    timers: tuple[str, ...]
    """The kinds of timer to wait for."""
    most: int = 1
    """The maximum number of timers to wait for."""
    empty: bool = False
    """Whether the balance is empty while the timer fires, so that the payment fails."""


class DriveAction(OpenPart):
    """A step that performs an action through the control API."""

    action: str
    """The third-party action. Its parameters are fields of the step."""
    target: str | None = None
    """The id of the resource to act on, such as `${transaction.id}`. Actions on the whole world have no target."""
    environment: Environment = ""
    """The environment of an action that has no target."""

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class ReceiverAnswers(Part):
    respond: Annotated[list[Annotated[int, Field(ge=200, le=599)]], Field(min_length=1)]
    """The statuses to return, in order. The last status is repeated."""


class Receiver(Part):
    """A step that sets the responses of the run's own webhook receiver. The id of its endpoint is `${receiver.id}`."""

    receiver: ReceiverAnswers
    """The responses to webhooks."""


def action(name: str, target: str | None = None, **parameters: Any) -> DriveAction:
    """Return a step that performs the action `name` with these parameters."""
    return DriveAction.model_validate({"action": name, "target": target, **parameters})


UNNAMED_STEPS = ("advance", "action", "receiver", *METHODS)
"""The first keys of steps without a name. They cannot be used as step names."""


def is_named(step: Mapping[str, object]) -> bool:
    """Return True if a step is written as `name: step`."""
    return len(step) == 1 and not set(UNNAMED_STEPS) & set(step)


def has_receiver(document: Mapping[str, object]) -> bool:
    """Return True if a run of this document needs a webhook receiver, because `drive` or `expect` refers to one."""
    for field, words in (("drive", {"receiver"}), ("expect", {"webhooks", "delivery"})):
        parts = document.get(field)
        if any(isinstance(part, dict) and words & set(part) for part in (parts if isinstance(parts, list) else ())):
            return True
    return False


def _drive_tag(value: Any) -> str:
    if not isinstance(value, dict):
        return "«call»"
    if is_named(value):
        return "«named»"
    return next((f"«{word}»" for word in UNNAMED_STEPS[:3] if word in value), "«call»")


CallOrAction = Annotated[
    Annotated[DriveAction, Tag("«action»")] | Annotated[DriveCall, Tag("«call»")],
    Discriminator(lambda value: "«action»" if isinstance(value, dict) and "action" in value else "«call»"),
]
NamedStep = Annotated[dict[str, CallOrAction], Field(min_length=1, max_length=1)]
DriveStep = Annotated[
    Annotated[Advance, Tag("«advance»")]
    | Annotated[DriveAction, Tag("«action»")]
    | Annotated[Receiver, Tag("«receiver»")]
    | Annotated[DriveCall, Tag("«call»")]
    | Annotated[NamedStep, Tag("«named»")],
    Discriminator(_drive_tag),
]


Drive: TypeAlias = "tuple[DriveCall | DriveAction | Mapping[str, DriveCall | DriveAction] | Until, ...]"
"""Steps that are created in code: calls and actions, with a name if later steps refer to them, and waits."""


class ExpectEvent(Part):
    """An event of this type, whose object matches `where`, was emitted at least once or exactly `times` times."""

    event: str
    """The event type."""
    where: Where = {}
    """The tests for the event's `data.object`, by dotted path."""
    times: Annotated[int | None, Field(ge=0)] = None
    """The exact number of times. 0 means never. Default: at least once."""


class ExpectResource(Part):
    """A resource matches `where` at the end of the run."""

    resource: str
    """The id of the resource, such as `${transaction.id}`."""
    where: Where
    """The tests for the resource as the API returns it, by dotted path."""


class ExpectAnswer(Part):
    """An expectation that the response to the call in a named step matches `where`."""

    answer: str
    """The name of the step."""
    where: Where
    """The tests for the response body, by dotted path."""


class ExpectDelivery(Part):
    """A delivery attempt for an event of this type matches `where`, at least once or exactly `times` times."""

    delivery: str
    """The event type."""
    where: Where = {}
    """The tests for the attempt: `attempt`, `status`, `response_status`, `error` and other fields of a delivery."""
    times: Annotated[int | None, Field(ge=0)] = None
    """The exact number of times. 0 means never. Default: at least once."""


class ExpectWebhooks(Part):
    """Every webhook in the run was acknowledged with a 2xx status."""

    webhooks: Literal["delivered"]
    """Every event in the sandbox was acknowledged by all endpoints that subscribe to it."""


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
