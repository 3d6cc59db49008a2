"""The part of a scenario file that needs no integrator: what one would do (`drive`), and what must be true then."""

# ruff: noqa: RUF012 — pydantic copies the defaults of its models.

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from simulator.engine.scenario.language.parts import DurationMs, Environment, Part, Where
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

METHODS = ("get", "post", "put", "patch", "delete")


class DriveCall(Part):
    """An interface call of the drive; exactly one method, its value the path below the base."""

    get: str | None = None
    """Call GET: the path below the base, with its query."""
    post: str | None = None
    """Call POST: the path below the base. It goes with an Idempotency-Key, the same for each try."""
    put: str | None = None
    """Call PUT: the path below the base."""
    patch: str | None = None
    """Call PATCH: the path below the base."""
    delete: str | None = None
    """Call DELETE: the path below the base."""
    body: Any = None
    """The body; texts in it may name what earlier steps brought: `${quote.id}`."""
    headers: dict[str, str] = {}
    """Headers besides those that every call has."""
    environment: Environment = ""
    """Which keys and base to call with."""
    retry: bool | None = None
    """Whether 429 and 503 are tried again, five times at most; as the whole file says when left out."""
    status: int | None = None
    """The status that is expected; without it any 2xx."""
    code: str | None = None
    """The error code that is expected along with `status`."""

    @property
    def method(self) -> str:
        return next((name for name in METHODS if getattr(self, name) is not None), "")

    @property
    def path(self) -> str:
        return str(getattr(self, self.method))


class Advance(Part):
    """Move the simulated clock."""

    advance: DurationMs
    """How far; everything that is due on the way happens, webhooks too."""


@dataclass(frozen=True, slots=True)
class Until:
    """Let the clock reach what a resource waits for, `most` such timers one after another: no file has this step.

    `timers` are their kinds. `empty`: the balance is empty while
    the timer fires and as it was afterwards, so that a run fails.
    """

    target: str
    timers: tuple[str, ...]
    most: int = 1
    empty: bool = False


class DriveAction(BaseModel):
    """An action of the control interface, at this point of the drive."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, protected_namespaces=())

    action: str
    """What happens in the outside world; its parameters stand beside it."""
    target: str | None = None
    """The id of what it acts on: `${transaction.id}`; left out by actions on the world as a whole."""
    environment: Environment = ""
    """Where an action without a target applies."""

    @property
    def parameters(self) -> JsonObject:
        return dict(self.model_extra or {})


class ReceiverAnswers(Part):
    respond: Annotated[list[Annotated[int, Field(ge=200, le=599)]], Field(min_length=1)]
    """Statuses, one after another; the last one stays."""


class Receiver(Part):
    """What the run's own webhook receiver answers from now on; its endpoint is `${receiver.id}`."""

    receiver: ReceiverAnswers
    """What it answers."""


def action(name: str, target: str | None = None, **parameters: Any) -> DriveAction:
    """The step that performs an action with these parameters."""
    return DriveAction.model_validate({"action": name, "target": target, **parameters})


UNNAMED_STEPS = ("advance", "action", "receiver", *METHODS)
"""The first words of steps without a name; no step can be named so."""


def is_named(step: Mapping[str, object]) -> bool:
    """Whether a step of the drive is `name: step`."""
    return len(step) == 1 and not set(UNNAMED_STEPS) & set(step)


def has_receiver(document: Mapping[str, object]) -> bool:
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
"""Steps made here and not read from a file: calls and actions, named where a later step refers to them, and waits."""


class ExpectEvent(Part):
    """An event of this type whose object fits `where` was emitted: at least once, or exactly `times`."""

    event: str
    """The type of the event."""
    where: Where = {}
    """What must hold of its `data.object`, by dotted paths."""
    times: Annotated[int | None, Field(ge=0)] = None
    """How often exactly; at least once when left out, never when 0."""


class ExpectResource(Part):
    """A resource fits `where` now."""

    resource: str
    """The id of the resource: `${transaction.id}`."""
    where: Where
    """What must hold of it as the interface shows it, by dotted paths."""


class ExpectAnswer(Part):
    """The answer to a named step of the drive fits `where`."""

    answer: str
    """The name of the step."""
    where: Where
    """What must hold of the body of its answer, by dotted paths."""


class ExpectDelivery(Part):
    """A webhook attempt for an event of this type fits `where`: at least one does, or exactly `times`."""

    delivery: str
    """The type of the event."""
    where: Where = {}
    """What must hold of the attempt: `attempt`, `status`, `response_status`, `error` and the others of a delivery."""
    times: Annotated[int | None, Field(ge=0)] = None
    """How often exactly; at least once when left out, never when 0."""


class ExpectWebhooks(Part):
    """Every webhook of this run got its 2xx."""

    webhooks: Literal["delivered"]
    """Every event of the sandbox was acknowledged by every endpoint that wants it."""


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
