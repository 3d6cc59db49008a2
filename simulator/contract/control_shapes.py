"""What control calls answer, as shapes: the page of the control interface as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.contract.control_insight import AdviceList, CoverageReport
from simulator.contract.control_scenarios import ActiveNames, ScenarioList, ScenarioProgress, ScenarioUploaded
from simulator.contract.control_story import (
    AnyObject,
    ControlCallList,
    Envelope,
    EnvelopeList,
    Environment,
    ResourceStory,
    StoppedScenario,
    TriggerAnswer,
)
from simulator.resources.webhooks import RecordedDelivery
from simulator.wire.shapes import AssetText, Count, CurrencyText, FiatText, Format, RateText, Timestamp

Mode = Literal["real", "manual", "scaled"]


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
    ended: NotRequired[str]


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
    rate_limit_clock: Literal["simulated", "wall"]
    webhook_urls: Literal["public", "local", "any"]
    webhook_timestamp: Literal["wall", "simulated"]
    journal_limit: Count
    journal_bytes: Count
    timers_per_instant: Count


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


class DocumentClock(TypedDict):
    mode: Mode
    now: Timestamp
    rate: str


class DocumentBlueprint(TypedDict):
    seed: Count
    clock: DocumentClock
    scenarios: list[str]
    settings: SettingSet


class StateDocument(TypedDict):
    """A whole world. Tables are lists of [key, row], because their order counts."""

    format: Literal["rampsim.state"]
    version: Literal[1]
    simulator: str
    world: str
    keys_of: str
    seed: Count
    clock: DocumentClock
    started_at: Timestamp
    blueprint: DocumentBlueprint
    tables: dict[str, list[tuple[str, Any]]]
    requests: list[Any]


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
        "reached": bool,
        "stopped": NotRequired[str],
        "cancelled": NotRequired[Literal[True]],
        "stopped_scenarios": NotRequired[list[StoppedScenario]],
    },
)


class TimerEntry(TypedDict):
    """A timer, or a step without due time because it waits for networks."""

    due_at: Timestamp | None
    kind: str
    target: str | None
    waiting_for: NotRequired[list[str]]


class TimerList(TypedDict):
    data: list[TimerEntry]


class ActionAnswer(TypedDict):
    action: str
    target: str | None
    at: Timestamp
    resource: AnyObject | None
    events: list[Envelope]
    stopped_scenarios: NotRequired[list[StoppedScenario]]


class ActionEntry(TypedDict):
    name: str
    does: str
    targets: list[str]
    parameters: Annotated[AnyObject, Field(description="A JSON Schema.")]


class ActionList(TypedDict):
    data: list[ActionEntry]


class ShownResource(TypedDict):
    kind: str
    user_id: str
    environment: Environment


class ResourceList(TypedDict):
    data: list[ShownResource]


class FaultEntry(TypedDict):
    """A fault as it was given, and how it stands."""

    id: str
    match: NotRequired[AnyObject]
    respond: NotRequired[AnyObject]
    delay: NotRequired[str | float]
    drop: NotRequired[bool]
    malformed: NotRequired[Literal["truncate", "garbage"]]
    after_commit: NotRequired[bool]
    webhook: NotRequired[AnyObject]
    deliver: NotRequired[AnyObject]
    times: NotRequired[Count]
    probability: NotRequired[float]
    times_left: Count | None
    hits: Count
    scenario: str | None


class MadeFault(FaultEntry):
    """`warnings`: why it may never be hit as the world is now."""

    warnings: list[str]


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
    query: str
    headers: dict[str, str]
    body: Any
    status: Count
    response: Any
    duration_ms: float
    advice: list[str]
    unknown_fields: list[str]


class JournalList(TypedDict):
    data: list[JournalEntry]
    dropped: Count


class DeliveryCount(TypedDict):
    deliveries: Count


class DeliveryList(TypedDict):
    data: list[RecordedDelivery]


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
    truncated: bool


class InboxList(TypedDict):
    data: list[InboxMessage]
    dropped: Count


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
    "get_snapshot": StateDocument,
    "restore": WorldObject,
    "get_state": StateDocument,
    "put_state": WorldObject,
    "get_settings": SettingSet,
    "patch_settings": SettingSet,
    "rates": AllRates,
    "reference": ReferenceData,
    "get_clock": ClockState,
    "put_clock": ClockState,
    "advance": AdvanceReceipt,
    "cancel_advance": AdvanceReceipt,
    "timers": TimerList,
    "list_actions": ActionList,
    "perform": ActionAnswer,
    "trigger": TriggerAnswer,
    "control_calls": ControlCallList,
    "list_resources": ResourceList,
    "get_resource": ResourceStory,
    "list_scenarios": ScenarioList,
    "upload_scenario": ScenarioUploaded,
    "activate": ActiveNames,
    "get_scenario": ScenarioProgress,
    "create_fault": MadeFault,
    "list_faults": FaultList,
    "requests": JournalList,
    "events": EnvelopeList,
    "wait_for_event": Envelope,
    "get_event": Envelope,
    "resend_event": DeliveryCount,
    "deliveries": DeliveryList,
    "advice": AdviceList,
    "coverage": CoverageReport,
    "list_emails": EmailList,
    "settle": DeliveryCount,
    "inbox_receive": InboxReceipt,
    "inbox_read": InboxList,
    "inbox_wait": InboxList,
    "inbox_answer": InboxStatuses,
}
"""The answer of each control call by its name; a call that is not here answers some JSON object."""
