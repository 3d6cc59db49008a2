"""What is shown of one resource: its moves and their causes, what followed, what is planned and related."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from simulator.control.shapes import AnyObject, Environment
from simulator.resources.webhooks import RecordedDelivery
from simulator.wire.shapes import Count, Timestamp


class CauseRequest(TypedDict):
    id: str
    method: str
    path: str
    status: Count


class CauseControl(TypedDict):
    id: str
    method: str
    path: str
    body: Any


class Cause(TypedDict):
    """Why something happened; `text` says it in words.

    `law`: a timer of the service fired. A rule has its file and line, a request or an action what was called.
    """

    kind: Annotated[str, WithJsonSchema({"enum": ["request", "law", "action", "rule", "start"], "type": "string"})]
    name: str
    reference: str
    text: str
    file: NotRequired[str]
    line: NotRequired[Count | None]
    request: NotRequired[CauseRequest]
    control: NotRequired[CauseControl]


class ResourceOrigin(TypedDict):
    """What made an object, and the only scenario that acts on it (null: all active ones do)."""

    at: Timestamp
    cause: Cause | None
    body: AnyObject | None
    scenario: str | None


class HistoryStep(TypedDict):
    state: str
    at: Timestamp
    trigger: str
    cause: Cause


class RefusedAction(TypedDict):
    action: str
    reason: str


class StoryEvent(TypedDict):
    id: str
    type: str
    at: Timestamp
    cause: Cause


class PostingEntry(TypedDict):
    account: str
    currency: str
    amount: str


class LedgerEntry(TypedDict):
    number: Count
    at: Timestamp
    purpose: str
    postings: list[PostingEntry]


class StoryTimer(TypedDict):
    """A timer of the service, with what it does as `text`, or a step of a scenario.

    A step that waits for networks has no `due_at`.
    """

    due_at: Timestamp | None
    waiting_for: NotRequired[list[str]]
    kind: str
    text: NotRequired[str]
    scenario: NotRequired[str]
    part: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[Count | None]
    action: NotRequired[str]
    parameters: NotRequired[AnyObject]


class RelatedResource(TypedDict):
    relation: str
    id: str
    kind: str | None
    state: str | None


class ResourceStory(TypedDict):
    resource: AnyObject
    kind: str
    user_id: str
    environment: Environment
    state: str
    deleted: bool
    origin: ResourceOrigin
    history: list[HistoryStep]
    allowed: list[str]
    refused: list[RefusedAction]
    events: list[StoryEvent]
    deliveries: list[RecordedDelivery]
    ledger_entries: list[LedgerEntry]
    timers: list[StoryTimer]
    related: list[RelatedResource]
