"""What calls and flags may set of a world: `model_of` makes the model with the assumptions of a service.

`settings` keeps what is in force.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, create_model

from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import Meanings, OneOf
from simulator.engine.worlds.alternatives import Alternatives, Switch

RATE_LIMIT_PATTERN = r"^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}$"

RateLimit = Annotated[str, StringConstraints(pattern=RATE_LIMIT_PATTERN)]
"""`N/SECONDS`: at most N calls in so many seconds, for each key pair."""


RateLimitClock = Annotated[
    Literal["simulated", "wall"],
    Meanings({"simulated": "The clock of the world.", "wall": "The clock of the machine."}),
]
WebhookUrls = Annotated[
    Literal["public", "local", "any"],
    Meanings(
        {
            "public": "Public HTTPS URLs only, as at the service.",
            "local": "Those, and any URL of this machine.",
            "any": "Any URL.",
        }
    ),
]
WebhookTimestamp = Annotated[
    Literal["wall", "simulated"],
    Meanings(
        {
            "wall": "The clock of the machine, which receivers compare it with.",
            "simulated": "The clock of the world, for receivers whose time is frozen with it.",
        }
    ),
]


class _Assumptions(Body, extra="forbid"):
    """The alternative that is to be in force, by the id of the assumption."""


def _member(switch: Switch) -> Any:
    def known(name: str) -> str:
        if why := switch.why_not(name):
            raise ValueError(why)
        return name

    words = AfterValidator(known), OneOf(switch.alternatives), Field(description=switch.assumed)
    return Annotated[str, *words] | None, None


def _named(model: Body) -> dict[str, str]:
    return {name: getattr(model, name) for name in sorted(model.model_fields_set) if getattr(model, name) is not None}


class Settings(Body):
    """All settings with their defaults."""

    strict: bool = False
    """Whether unknown fields and query parameters are refused with 400 instead of ignored."""
    rate_limit: RateLimit | None = None
    """How many calls a key pair may make in how many seconds, as N/SECONDS; null: no limit."""
    rate_limit_clock: RateLimitClock = "simulated"
    """The clock that the windows of the rate limit are counted by."""
    webhook_urls: WebhookUrls = "local"
    """Which URLs may receive webhooks."""
    webhook_timestamp: WebhookTimestamp = "wall"
    """The clock that X-Timestamp is taken from."""
    journal_limit: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """How many interface calls the journal keeps, and as many control calls."""
    journal_bytes: Annotated[int, Field(ge=65_536, le=2**40)] = 64 * 1024 * 1024
    """How many bytes of each it keeps."""
    timers_per_instant: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """How many timers may fire at one instant before the world is taken to run in circles."""
    quota_calls_per_second: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many interface calls a second of real time may be made; null: as many as the server's own quota allows."""
    quota_objects: Annotated[int, Field(ge=10, le=1_000_000_000)] | None = None
    """How many resources the world may have, keys and deleted ones too; null: as many as the server's own quota."""
    quota_journal_bytes: Annotated[int, Field(ge=65_536, le=2**40)] | None = None
    """The most that `journal_bytes` comes to; null: as much as the server's own quota allows."""
    quota_snapshots: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many snapshots the world may have; null: as many as the server's own quota allows."""
    quota_scenarios: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many uploaded scenarios the world may have; null: as many as the server's own quota allows."""
    quota_events: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """How many events the world may have for `emit` to add one; null: as many as the server's own quota allows."""
    quota_bytes: Annotated[int, Field(ge=65_536, le=2**40)] | None = None
    """How many bytes snapshots, uploaded scenarios and events may take together; null: the server's own quota."""
    assumptions: dict[str, str] = Field(default_factory=dict)
    """What is to be assumed otherwise than usual, by the id of the assumption; what is not named is as usual."""


@cache
def model_of(alternatives: Alternatives) -> type[Settings]:
    """The settings of worlds of a service: a member for each of its assumptions, so that errors tell it by name."""
    members = {switch.id: _member(switch) for switch in alternatives().values()}
    assumptions = create_model("Assumptions", __base__=_Assumptions, **members)
    field: Any = Annotated[assumptions, AfterValidator(_named)], Settings.model_fields["assumptions"]
    return create_model("Settings", __base__=Settings, __doc__=Settings.__doc__, assumptions=field)
