"""A provider's rules for sending webhooks: keys, signatures, envelopes, retries, and the disabling of endpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from simulator.engine.rows.signature import Signature
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


class Endpoint(Protocol):
    """The fields of a webhook endpoint that are needed for the e-mail about disabling it."""

    @property
    def id(self) -> str: ...
    @property
    def environment(self) -> str: ...
    @property
    def url(self) -> str: ...


@dataclass(frozen=True)
class Email:
    """An e-mail that the service would send."""

    subject: str
    body: str


@dataclass(frozen=True)
class Signing:
    """A provider's rules for sending webhooks."""

    signature: Signature
    """The signature format, which senders and receivers share."""
    new_key: Callable[[World, str, int], str]
    """Returns the webhook key, given the world, the environment and the number of earlier rotations."""
    retry_delays_ms: Callable[[World], Sequence[int]]
    """Returns the delay in milliseconds after each failed attempt. There is one more attempt than there are delays."""
    disables: Callable[[World], bool]
    """Returns True if an endpoint is disabled after an event's last attempt has failed."""
    disabled_email: Callable[[Endpoint], Email]
    """Returns the e-mail to the owner of an endpoint that was disabled after the last attempt."""
    timeout_seconds: float
    """The time limit for a receiver's response."""
    event_prefix: str
    """The prefix of event ids."""
    envelope: Callable[[str, str, int, str, Shown], JsonObject]
    """Returns the body of a webhook, given event id, event type, time in milliseconds, environment and object."""
