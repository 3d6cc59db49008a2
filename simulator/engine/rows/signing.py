"""Rules for sending webhooks: key, signature, envelope, retries, and disabling of endpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from simulator.engine.rows.signature import Signature
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


class Endpoint(Protocol):
    """A disabled endpoint."""

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
    """The rules by which a provider sends webhooks."""

    signature: Signature
    """The form of the signature, which senders and receivers share."""
    new_key: Callable[[World, str, int], str]
    """Return the webhook key of an environment, from world, environment and the number of rotations before it."""
    retry_delays_ms: Callable[[World], Sequence[int]]
    """The delay after each failed attempt in milliseconds. There is one more attempt than delays."""
    disables: Callable[[World], bool]
    """Whether an endpoint is disabled after the last attempt of an event has failed."""
    disabled_email: Callable[[Endpoint], Email]
    """Return the e-mail to the owner of an endpoint that was disabled after its last attempt."""
    timeout_seconds: float
    """How long a receiver may take to respond."""
    event_prefix: str
    """The prefix of the id of an event."""
    envelope: Callable[[str, str, int, str, Shown], JsonObject]
    """Return the body of a webhook, from event id, event type, time in milliseconds, environment and object."""
