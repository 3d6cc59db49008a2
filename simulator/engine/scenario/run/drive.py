"""The models of a file's `drive` (the steps of an integrator) and `expect`."""

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
    """An API call of the drive. It has exactly one method, whose value is the path below the base."""

    get: str | None = None
    """GET: the path below the base, with query."""
    post: str | None = None
    """POST: the path below the base. All attempts have the same Idempotency-Key."""
    put: str | None = None
    """PUT: the path below the base."""
    patch: str | None = None
    """PATCH: the path below the base."""
    delete: str | None = None
    """DELETE: the path below the base."""
    body: Any = None
    """The body. Strings may refer to responses of earlier steps: `${quote.id}`."""
    headers: dict[str, str] = {}
    """Additional headers."""
    environment: Environment = ""
    """The environment to call. Default: the first one."""
    retry: bool | None = None
    """Whether the call is repeated after 429 and 503, up to five attempts. Default: `retry` of the file."""
    status: int | None = None
    """The expected status. Default: any 2xx."""
    code: str | None = None
    """The expected error code, with `status`."""

    @property
    def method(self) -> str:
        return next((name for name in METHODS if getattr(self, name) is not None), "")

    @property
    def path(self) -> str:
        return str(getattr(self, self.method))


class Advance(Part):
    """Advances the simulated clock."""

    advance: DurationMs
    """The duration. Everything that is due in it happens, including webhooks."""


@dataclass(frozen=True, slots=True)
class Until:
    """Advances the clock to the timers of a resource. Files cannot have this step."""

    target: str
    timers: tuple[str, ...]
    """The kinds of timer."""
    most: int = 1
    """The maximum number of timers."""
    empty: bool = False
    """Whether the balance is empty while the timer fires, so that it fails. It is restored afterwards."""


class DriveAction(OpenPart):
    """An action of the control interface."""

    action: str
    """The action of a third party. Its parameters are fields of the step."""
    target: str | None = None
    """The id of the resource to act on, such as `${transaction.id}`. Actions on the whole world have none."""
    environment: Environment = ""
    """The environment of an action without target."""

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class ReceiverAnswers(Part):
    respond: Annotated[list[Annotated[int, Field(ge=200, le=599)]], Field(min_length=1)]
    """The statuses to return, in turn. The last one is repeated."""


class Receiver(Part):
    """Sets the responses of the run's own webhook receiver. Its endpoint is `${receiver.id}`."""

    receiver: ReceiverAnswers
    """The responses."""


def action(name: str, target: str | None = None, **parameters: Any) -> DriveAction:
    """Return the step that performs an action with these parameters."""
    return DriveAction.model_validate({"action": name, "target": target, **parameters})


UNNAMED_STEPS = ("advance", "action", "receiver", *METHODS)
"""The keys that begin a step without a name. They cannot be names of steps."""


def is_named(step: Mapping[str, object]) -> bool:
    """Return whether a step has the form `name: step`."""
    return len(step) == 1 and not set(UNNAMED_STEPS) & set(step)


def has_receiver(document: Mapping[str, object]) -> bool:
    """Return whether the run of a document needs a webhook receiver: its `drive` or `expect` refers to one."""
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


def _named_tag(value: Any) -> str:
    return "«action»" if isinstance(value, dict) and "action" in value else "«call»"


CallOrAction = Annotated[
    Annotated[DriveAction, Tag("«action»")] | Annotated[DriveCall, Tag("«call»")], Discriminator(_named_tag)
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
"""Steps that code creates: calls and actions, with names if later steps refer to them, and waits."""


class ExpectEvent(Part):
    """An event of this type whose object matches `where` was emitted, at least once or exactly `times`."""

    event: str
    """The event type."""
    where: Where = {}
    """The tests of its `data.object` by dotted path."""
    times: Annotated[int | None, Field(ge=0)] = None
    """The exact number; 0 means never. Default: at least once."""


class ExpectResource(Part):
    """A resource matches `where` at the end."""

    resource: str
    """The id of the resource: `${transaction.id}`."""
    where: Where
    """The tests of the resource, as the API shows it, by dotted path."""


class ExpectAnswer(Part):
    """The response to a named step of the drive matches `where`."""

    answer: str
    """The name of the step."""
    where: Where
    """The tests of the response body by dotted path."""


class ExpectDelivery(Part):
    """A delivery attempt for an event of this type matches `where`, at least once or exactly `times`."""

    delivery: str
    """The event type."""
    where: Where = {}
    """The tests of the attempt: `attempt`, `status`, `response_status`, `error` and other fields of a delivery."""
    times: Annotated[int | None, Field(ge=0)] = None
    """The exact number; 0 means never. Default: at least once."""


class ExpectWebhooks(Part):
    """Every webhook of the run was acknowledged with 2xx."""

    webhooks: Literal["delivered"]
    """Every event of the sandbox was acknowledged by all endpoints that subscribe to it."""


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
