"""The shapes of GET /resources/{id}: a resource, its history with causes, and what is planned and related."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.shapes import AnyObject, Environment
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import shapes as webhooks


class CauseRequest(TypedDict):
    id: str
    """The request id."""
    method: str
    """The HTTP method."""
    path: str
    """The path."""
    status: Count
    """The response status."""


class CauseControl(TypedDict):
    id: str
    """The id of the control call."""
    method: str
    """The HTTP method."""
    path: str
    """The path below `/_simulator`."""
    body: Any
    """The body, with secrets masked."""


CAUSE_MEANINGS = {
    "request": "An API request.",
    "law": "A timer of the service that fired.",
    "action": "An action, performed by a control call.",
    "rule": "A rule of a scenario.",
    "start": "The creation of the world.",
}


class Cause(TypedDict):
    """Why something happened."""

    kind: Annotated[str, OneOf(CAUSE_MEANINGS)]
    """The sort of cause."""
    name: str
    """The operation, timer, action or scenario."""
    reference: str
    """The id of the request or control call, or the file and line of the rule."""
    text: str
    """A description of the cause."""
    file: NotRequired[str]
    """The file of the scenario, for a rule."""
    line: NotRequired[Count | None]
    """The line of the rule in the file, from 1; null if it is unknown."""
    condition: NotRequired[str]
    """The conditions of the rule in words; left out if it has none or the scenario no longer exists."""
    request: NotRequired[CauseRequest]
    """The API request, if the journal still has it."""
    control: NotRequired[CauseControl]
    """The control call, for an action that one performed."""


class ResourceOrigin(TypedDict):
    """The creation of a resource."""

    at: Timestamp
    """The simulated time of the creation."""
    cause: Cause | None
    """The cause of the creation; null if it is no longer known."""
    body: AnyObject | None
    """The body of the request that created it, with secrets masked; null without one."""
    scenario: str | None
    """The only scenario that acts on it; null if all active scenarios do."""


class HistoryStep(TypedDict):
    state: str
    """The new state."""
    at: Timestamp
    """The simulated time of the transition."""
    trigger: str
    """The trigger of the transition in the state table."""
    cause: Cause
    """The cause of the transition."""


class RefusedAction(TypedDict):
    action: str
    """An action on this kind that is not legal now."""
    reason: str
    """Why it is not legal."""


class Traced(TypedDict):
    traceparent: NotRequired[str]
    """The trace context of the request, which its webhooks continue; left out without one."""


class StoryEvent(Traced):
    id: str
    """The event's id."""
    type: str
    """The event type."""
    at: Timestamp
    """The simulated time at which it was emitted."""
    cause: Cause
    """The cause of the event."""


class PostingEntry(TypedDict):
    account: str
    """The ledger account."""
    currency: str
    """The currency, with its network."""
    amount: str
    """The amount added to the account; negative for a debit."""


class LedgerEntry(TypedDict):
    number: Count
    """The number of the entry in the ledger."""
    at: Timestamp
    """The simulated time of the entry."""
    purpose: str
    """The reason for the movement."""
    postings: list[PostingEntry]
    """The postings. They sum to zero in each currency."""


class StoryTimer(TypedDict):
    """A planned timer of the service, or a planned step of a scenario."""

    due_at: Timestamp | None
    """When it fires; null for a step that waits for a network."""
    waiting_for: NotRequired[list[str]]
    """The networks that a step waits for; left out if there are none."""
    kind: str
    """The kind of timer."""
    text: NotRequired[str]
    """A description of a timer of the service."""
    scenario: NotRequired[str]
    """The scenario of a step."""
    part: NotRequired[str]
    """The path of the step in the scenario document."""
    file: NotRequired[str]
    """The file of the scenario."""
    line: NotRequired[Count | None]
    """The line of the step in the file, from 1; null if it is unknown."""
    action: NotRequired[str]
    """The action that the step will perform."""
    parameters: NotRequired[AnyObject]
    """The parameters of that action."""


class RelatedResource(TypedDict):
    relation: str
    """`order`, the field here that refers to it (such as `beneficiary`), or the kind of a resource that refers here."""
    id: str
    """The id of the related resource."""
    kind: str | None
    """The kind of the related resource; null if it no longer exists."""
    state: str | None
    """The present state of the related resource; null if it no longer exists."""


class ResourceStory(TypedDict):
    resource: AnyObject
    """The resource as the API shows it. A deleted resource is shown as it was last."""
    kind: str
    """The kind of resource."""
    user_id: str
    """The platform user who owns it."""
    environment: Environment
    """The environment of the resource."""
    state: str
    """The state in its state table. The API may not show it."""
    why: str
    """A sentence that explains its state: its meaning, its cause and the next planned transition."""
    deleted: bool
    """Whether it has been deleted."""
    origin: ResourceOrigin
    """The creation of the resource."""
    history: list[HistoryStep]
    """The states it has been in, oldest first."""
    allowed: list[str]
    """The actions that are legal now."""
    refused: list[RefusedAction]
    """The actions on its kind that are not legal now."""
    events: list[StoryEvent]
    """The events about it, oldest first."""
    deliveries: list[webhooks.RecordedDelivery]
    """The delivery attempts of these events, oldest first."""
    ledger_entries: list[LedgerEntry]
    """The ledger entries that it caused, oldest first."""
    timers: list[StoryTimer]
    """The timers and scenario steps planned for it."""
    related: list[RelatedResource]
    """The resources that it refers to, and those that refer to it."""
