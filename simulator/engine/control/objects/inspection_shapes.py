"""What is shown of one resource: its moves and their causes, what followed, what is planned and related."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.shapes import AnyObject, Environment
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import shapes as webhooks


class CauseRequest(TypedDict):
    id: str
    """The request id of the interface call."""
    method: str
    """Its method."""
    path: str
    """Its path."""
    status: Count
    """The status it was answered with."""


class CauseControl(TypedDict):
    id: str
    """The id of the control call."""
    method: str
    """Its method."""
    path: str
    """Its path."""
    body: Any
    """What it sent."""


CAUSE_MEANINGS = {
    "request": "An interface call.",
    "law": "A timer of the service that fired.",
    "action": "An action that somebody asked for.",
    "rule": "A rule of a scenario.",
    "start": "The making of the world.",
}


class Cause(TypedDict):
    """Why something happened."""

    kind: Annotated[str, OneOf(CAUSE_MEANINGS)]
    """What sort of cause it was."""
    name: str
    """Which one: the operation, timer, action, or rule."""
    reference: str
    """Where to find it: a request id, or file and line of a rule."""
    text: str
    """The same in words."""
    file: NotRequired[str]
    """The file of the scenario, for a rule."""
    line: NotRequired[Count | None]
    """The line of the rule in it, from 1; null where it is not known."""
    condition: NotRequired[str]
    """What the rule asks for, in words; left out where that is nothing, or the scenario is not there any more."""
    request: NotRequired[CauseRequest]
    """The interface call, for a request that the journal still has."""
    control: NotRequired[CauseControl]
    """The control call, for an action that was asked for by one."""


class ResourceOrigin(TypedDict):
    """What made an object, and the only scenario that acts on it (null: all active ones do)."""

    at: Timestamp
    """When it was made."""
    cause: Cause | None
    """What made it; null when nobody knows any more."""
    body: AnyObject | None
    """The body of the request that made it; null when there was none."""
    scenario: str | None
    """The only scenario that acts on it; null: all active ones do."""


class HistoryStep(TypedDict):
    state: str
    """The state that it came into."""
    at: Timestamp
    """When it did."""
    trigger: str
    """The move of its state table."""
    cause: Cause
    """Why it moved."""


class RefusedAction(TypedDict):
    action: str
    """An action on this kind that is not possible now."""
    reason: str
    """Why it is not."""


class Traced(TypedDict):
    traceparent: NotRequired[str]
    """The trace that a request brought along, and that its webhooks go on with; left out without one."""


class StoryEvent(Traced):
    id: str
    """The event's id."""
    type: str
    """What it tells."""
    at: Timestamp
    """When it was emitted."""
    cause: Cause
    """Why it was."""


class PostingEntry(TypedDict):
    account: str
    """The account of the books."""
    currency: str
    """The currency, with its network."""
    amount: str
    """What is added to the account; negative where it is taken from it."""


class LedgerEntry(TypedDict):
    number: Count
    """The number of the entry in the books."""
    at: Timestamp
    """When it was made."""
    purpose: str
    """What the money moved for."""
    postings: list[PostingEntry]
    """Its postings, which sum up to zero in each currency."""


class StoryTimer(TypedDict):
    """A timer of the service, with what it does as `text`, or a step of a scenario.

    A step that waits for networks has no `due_at`.
    """

    due_at: Timestamp | None
    """When it fires; null while it waits for a network."""
    waiting_for: NotRequired[list[str]]
    """The networks it waits for; left out when it waits for none."""
    kind: str
    """What sort of timer it is."""
    text: NotRequired[str]
    """What the timer of the service does."""
    scenario: NotRequired[str]
    """The scenario, for a step of one."""
    part: NotRequired[str]
    """The place of the step in its document."""
    file: NotRequired[str]
    """The file of the scenario."""
    line: NotRequired[Count | None]
    """The line of the step in it, from 1; null where it is not known."""
    action: NotRequired[str]
    """The action that the step will perform."""
    parameters: NotRequired[AnyObject]
    """The parameters of that action."""


class RelatedResource(TypedDict):
    relation: str
    """How: `order`, what a field here names (`beneficiary`), or the kind of a resource that names this one."""
    id: str
    """Its id."""
    kind: str | None
    """What sort of resource it is; null when nobody knows it any more."""
    state: str | None
    """Its present state; null when nobody knows it any more."""


class ResourceStory(TypedDict):
    resource: AnyObject
    """The resource as the interface shows it, or its last state when it is deleted."""
    kind: str
    """What sort of resource it is."""
    user_id: str
    """The platform user whose it is."""
    environment: Environment
    """The environment that it lies in."""
    state: str
    """Its state in its state table, shown by the interface or not."""
    why: str
    """Why it stands where it does, in a sentence: what its state means, what brought it there, what comes next."""
    deleted: bool
    """Whether it has been deleted."""
    origin: ResourceOrigin
    """What made it."""
    history: list[HistoryStep]
    """Every state it came into, oldest first."""
    allowed: list[str]
    """The actions that are possible on it now."""
    refused: list[RefusedAction]
    """The actions on its kind that are not possible now."""
    events: list[StoryEvent]
    """The events about it, oldest first."""
    deliveries: list[webhooks.RecordedDelivery]
    """The attempts to deliver them, oldest first."""
    ledger_entries: list[LedgerEntry]
    """The entries of the books that it caused, oldest first."""
    timers: list[StoryTimer]
    """What is planned for it."""
    related: list[RelatedResource]
    """The resources that it names, and those that name it."""
