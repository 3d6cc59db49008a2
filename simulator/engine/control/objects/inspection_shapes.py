"""Response types of GET /resources/{id}: a resource, its history with causes, planned timers and related resources."""

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
    """The cause of a change or an event."""

    kind: Annotated[str, OneOf(CAUSE_MEANINGS)]
    """The type of cause."""
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
    """The conditions of the rule as text; omitted if there are none or the scenario no longer exists."""
    request: NotRequired[CauseRequest]
    """The API request, if the journal still contains it."""
    control: NotRequired[CauseControl]
    """The control call that performed the action, if there is one."""


class ResourceOrigin(TypedDict):
    """The creation of a resource."""

    at: Timestamp
    """The simulated time of the creation."""
    cause: Cause | None
    """The cause of the creation; null if it is no longer known."""
    body: AnyObject | None
    """The body of the request that created the resource, with secrets masked; null if no request did."""
    scenario: str | None
    """The only scenario that acts on the resource; null if all active scenarios do."""


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
    """An action for this kind that is not legal in the current state."""
    reason: str
    """Why the action is not legal."""


class Traced(TypedDict):
    traceparent: NotRequired[str]
    """The `traceparent` of the request. Its webhooks belong to the same trace. Omitted if the request has none."""


class StoryEvent(Traced):
    id: str
    """The event's id."""
    type: str
    """The event type."""
    at: Timestamp
    """The simulated time at which the event was emitted."""
    cause: Cause
    """The cause of the event."""


class PostingEntry(TypedDict):
    account: str
    """The ledger account."""
    currency: str
    """The currency, including the network of an asset."""
    amount: str
    """The amount added to the account; negative for a debit."""


class LedgerEntry(TypedDict):
    number: Count
    """The sequence number of the entry in the ledger."""
    at: Timestamp
    """The simulated time of the entry."""
    purpose: str
    """The purpose of the entry."""
    postings: list[PostingEntry]
    """The postings, which sum to zero in each currency."""


class StoryTimer(TypedDict):
    """A planned service timer, or a planned scenario step."""

    due_at: Timestamp | None
    """When the timer fires; null for a step that waits for an unavailable network."""
    waiting_for: NotRequired[list[str]]
    """The unavailable networks that a step waits for; omitted if there are none."""
    kind: str
    """The kind of timer."""
    text: NotRequired[str]
    """A description of the timer. Omitted for scenario steps."""
    scenario: NotRequired[str]
    """The scenario that the step belongs to."""
    part: NotRequired[str]
    """The path of the step in the scenario document."""
    file: NotRequired[str]
    """The file of the scenario."""
    line: NotRequired[Count | None]
    """The line of the step in the file, from 1; null if it is unknown."""
    action: NotRequired[str]
    """The action that the step will perform."""
    parameters: NotRequired[AnyObject]
    """The parameters of the action."""


class RelatedResource(TypedDict):
    relation: str
    """The relation to this resource. One of: the word `order`; the name of the field that refers to the related
    resource, such as `beneficiary`; or the kind of a resource that refers to this one.
    """
    id: str
    """The id of the related resource."""
    kind: str | None
    """The kind of the related resource; null if it no longer exists."""
    state: str | None
    """The state of the related resource; null if the resource no longer exists."""


class ResourceStory(TypedDict):
    resource: AnyObject
    """The resource as the API shows it. A deleted resource appears in its last state."""
    kind: str
    """The kind of resource."""
    user_id: str
    """The platform user who owns the resource."""
    environment: Environment
    """The environment of the resource."""
    state: str
    """The state of the resource in its state table. The API does not show every state."""
    why: str
    """Text that explains the state: its meaning, its cause and the next planned transition."""
    deleted: bool
    """Whether the resource has been deleted."""
    origin: ResourceOrigin
    """The creation of the resource."""
    history: list[HistoryStep]
    """The states that the resource has been in, oldest first."""
    allowed: list[str]
    """The actions that are legal in the current state."""
    refused: list[RefusedAction]
    """The actions for its kind that are not legal in the current state."""
    events: list[StoryEvent]
    """The events about the resource, oldest first."""
    deliveries: list[webhooks.RecordedDelivery]
    """The delivery attempts of these events, oldest first."""
    ledger_entries: list[LedgerEntry]
    """The ledger entries that the resource caused, oldest first."""
    timers: list[StoryTimer]
    """The timers and scenario steps planned for the resource."""
    related: list[RelatedResource]
    """The resources that this resource refers to, and the resources that refer to it."""
