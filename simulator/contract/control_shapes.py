"""What control calls answer, as shapes, and the queries they take: the page of the control interface as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.contract.schemas import Schema
from simulator.resources.webhooks import RecordedDelivery
from simulator.wire.shapes import AssetText, Count, CurrencyText, FiatText, Format, RateText, Timestamp

Mode = Literal["real", "manual", "scaled"]
Environment = Literal["sandbox", "production"]
AnyObject = dict[str, Any]


class Health(TypedDict):
    status: Literal["ok"]
    version: str
    worlds: Count


class ClockState(TypedDict):
    mode: Mode
    now: Timestamp
    rate: float
    timers: Count
    next_timer_at: Timestamp | None


class KeySet(TypedDict):
    public_key: str
    secret_key: str
    webhook_key: str
    base_url: Annotated[str, Format("uri")]


class CredentialSet(TypedDict):
    sandbox: KeySet
    production: KeySet


class PlatformUserEntry(TypedDict):
    user_id: str
    email: str
    phone_number: str


class SettingSet(TypedDict):
    strict: bool
    rate_limit: Annotated[str, Format(pattern="^[1-9][0-9]*/[1-9][0-9]*$")] | None
    webhook_urls: Literal["public", "local", "any"]
    webhook_timestamp: Literal["wall", "simulated"]
    journal_limit: Count


class WorldObject(TypedDict):
    id: str
    seed: Count
    clock: ClockState
    credentials: CredentialSet
    platform_users: list[PlatformUserEntry]
    scenarios: list[str]
    settings: SettingSet
    created_at: Timestamp


class WorldList(TypedDict):
    data: list[WorldObject]


class SnapshotEntry(TypedDict):
    id: str
    name: str | None
    at: Timestamp
    world: str


class SnapshotList(TypedDict):
    data: list[SnapshotEntry]


class RateEntry(TypedDict):
    asset: AssetText
    fiat_currency: FiatText
    rate: RateText
    updated_at: Timestamp


class RateSide(TypedDict):
    symbol: AssetText
    network: Literal["STELLAR", "CELO", "BITCOIN"]


SwapRateEntry = TypedDict(
    "SwapRateEntry", {"from": RateSide, "to": RateSide, "rate": RateText, "updated_at": Timestamp}
)


class AllRates(TypedDict):
    mid: list[RateEntry]
    onramp: list[RateEntry]
    offramp: list[RateEntry]
    swap: list[SwapRateEntry]


class DigitRange(TypedDict):
    min: Count
    max: Count


class BankEntry(TypedDict):
    country: str
    bank_code: str
    bank_name: str
    account_number_digits: DigitRange


class ProviderEntry(TypedDict):
    country: str
    provider: str
    name: str


class CountryEntry(TypedDict):
    country: str
    name: str
    fiat_currency: FiatText
    methods: list[Literal["mobile_money", "bank_transfer"]]


class ReferenceCurrency(TypedDict):
    symbol: CurrencyText
    network: Literal["STELLAR", "CELO", "BITCOIN"] | None
    name: str
    decimals: Count


class ReferenceData(TypedDict):
    banks: list[BankEntry]
    providers: list[ProviderEntry]
    countries: list[CountryEntry]
    currencies: list[ReferenceCurrency]


AdvanceReceipt = TypedDict(
    "AdvanceReceipt",
    {
        "from": Timestamp,
        "now": Timestamp,
        "fired": Count,
        "events": list[str],
        "deliveries": Count,
        "reached": NotRequired[bool],
        "stopped": NotRequired[str],
    },
)


class TimerEntry(TypedDict):
    due_at: Timestamp
    kind: str
    target: str | None


class TimerList(TypedDict):
    data: list[TimerEntry]


class EnvelopeData(TypedDict):
    object: AnyObject


class Envelope(TypedDict):
    id: str
    type: str
    created_at: Timestamp
    livemode: bool
    data: EnvelopeData


class EnvelopeList(TypedDict):
    data: list[Envelope]


class ActionAnswer(TypedDict):
    action: str
    target: str | None
    at: Timestamp
    resource: AnyObject | None
    events: list[Envelope]


class ActionEntry(TypedDict):
    name: str
    does: str
    targets: list[str]
    parameters: Annotated[AnyObject, Field(description="A JSON Schema.")]


class ActionList(TypedDict):
    data: list[ActionEntry]


class Cause(TypedDict):
    kind: Literal["request", "law", "action", "rule", "start"]
    name: str
    reference: str


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
    due_at: Timestamp
    kind: str


class ResourceStory(TypedDict):
    resource: AnyObject
    kind: str
    user_id: str
    environment: Environment
    state: str
    deleted: bool
    history: list[HistoryStep]
    allowed: list[str]
    refused: list[RefusedAction]
    events: list[StoryEvent]
    deliveries: list[RecordedDelivery]
    ledger_entries: list[LedgerEntry]
    timers: list[StoryTimer]


class ShownResource(TypedDict):
    kind: str
    user_id: str
    environment: Environment


class ResourceList(TypedDict):
    data: list[ShownResource]


class ScenarioEntry(TypedDict):
    name: str
    description: str
    source: str
    active: bool


class ScenarioList(TypedDict):
    data: list[ScenarioEntry]


class ActiveNames(TypedDict):
    names: list[str]


class ScenarioProgress(ScenarioEntry):
    rules_fired: list[AnyObject]
    steps_done: list[AnyObject]
    skipped: list[AnyObject]
    pending: list[AnyObject]


class FaultEntry(TypedDict):
    id: str
    times_left: Count | None
    hits: Count
    scenario: str | None


class FaultList(TypedDict):
    data: list[FaultEntry]


class JournalEntry(TypedDict):
    id: str
    at: Timestamp
    environment: Environment
    public_key: str | None
    operation: str | None
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    status: Count
    response: Any
    duration_ms: float
    advice: list[Any]


class JournalList(TypedDict):
    data: list[JournalEntry]


class DeliveryCount(TypedDict):
    deliveries: Count


class DeliveryList(TypedDict):
    data: list[RecordedDelivery]


class AdviceList(TypedDict):
    data: list[AnyObject]


class EmailEntry(TypedDict):
    id: str
    at: Timestamp
    to: str
    subject: str
    body: str


class EmailList(TypedDict):
    data: list[EmailEntry]


class InboxMessage(TypedDict):
    at: Timestamp
    headers: dict[str, str]
    body: str
    status: Count


class InboxList(TypedDict):
    data: list[InboxMessage]


class InboxStatuses(TypedDict):
    respond: list[Count]


class InboxReceipt(TypedDict):
    received: Literal[True]


ANSWERS: Mapping[str, Any] = {
    "health": Health,
    "create_world": WorldObject,
    "list_worlds": WorldList,
    "get_world": WorldObject,
    "reset": WorldObject,
    "take_snapshot": SnapshotEntry,
    "list_snapshots": SnapshotList,
    "restore": WorldObject,
    "put_state": WorldObject,
    "get_settings": SettingSet,
    "patch_settings": SettingSet,
    "rates": AllRates,
    "reference": ReferenceData,
    "get_clock": ClockState,
    "put_clock": ClockState,
    "advance": AdvanceReceipt,
    "timers": TimerList,
    "list_actions": ActionList,
    "perform": ActionAnswer,
    "trigger": ActionAnswer,
    "list_resources": ResourceList,
    "get_resource": ResourceStory,
    "list_scenarios": ScenarioList,
    "upload_scenario": ScenarioEntry,
    "activate": ActiveNames,
    "get_scenario": ScenarioProgress,
    "create_fault": FaultEntry,
    "list_faults": FaultList,
    "requests": JournalList,
    "events": EnvelopeList,
    "wait_for_event": Envelope,
    "get_event": Envelope,
    "resend_event": DeliveryCount,
    "deliveries": DeliveryList,
    "advice": AdviceList,
    "list_emails": EmailList,
    "settle": DeliveryCount,
    "inbox_receive": InboxReceipt,
    "inbox_read": InboxList,
    "inbox_wait": InboxList,
    "inbox_answer": InboxStatuses,
}
"""The answer of each control call by its name; a call that is not here answers some JSON object."""

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_ENVIRONMENT: Schema = {"type": "string", "enum": ["sandbox", "production"]}
_SECONDS: Schema = {"type": "number", "minimum": 0}

QUERIES: Mapping[str, Mapping[str, Schema]] = {
    "list_resources": {"type": _TEXT, "user_id": _TEXT},
    "requests": {"method": _TEXT, "path": _TEXT, "status": _WHOLE},
    "events": {"type": _TEXT, "object_id": _TEXT, "environment": _ENVIRONMENT},
    "wait_for_event": {"type": _TEXT, "object_id": _TEXT, "environment": _ENVIRONMENT, "timeout": _SECONDS},
    "deliveries": {
        "event_id": _TEXT,
        "endpoint_id": _TEXT,
        "status": {"type": "string", "enum": ["succeeded", "failed"]},
    },
    "inbox_wait": {"timeout": _SECONDS, "count": _WHOLE},
}
"""The query parameters of control calls besides `limit`, which every list takes."""

_DURATION: Schema = {
    "anyOf": [
        {"type": "string", "examples": ["500ms", "20s", "2h30m", "3d", "PT90S"]},
        {"type": "number", "minimum": 0, "description": "Seconds."},
    ]
}

ADVANCE: Schema = {
    "title": "Advance",
    "oneOf": [
        {"type": "object", "required": ["by"], "properties": {"by": _DURATION}},
        {"type": "object", "required": ["to"], "properties": {"to": {"type": "string", "format": "date-time"}}},
        {"type": "object", "required": ["to_next_timer"], "properties": {"to_next_timer": {"const": True}}},
        {
            "type": "object",
            "required": ["until"],
            "properties": {
                "until": {
                    "oneOf": [
                        {
                            "type": "object",
                            "required": ["event"],
                            "properties": {"event": _TEXT, "object_id": {"type": ["string", "null"]}},
                        },
                        {
                            "type": "object",
                            "required": ["resource", "status"],
                            "properties": {"resource": _TEXT, "status": _TEXT},
                        },
                    ]
                }
            },
        },
    ],
}
"""The body of POST /_simulator/clock/advance: exactly one way to say how far."""
