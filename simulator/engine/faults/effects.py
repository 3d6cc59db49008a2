"""Fields of a webhook fault that `models.Deliver` validates in a request and `in_force.DeliveryPlan` saves."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Effects:
    """The effects on a delivery that `Deliver` (in a request) and `DeliveryPlan` (in a saved attempt) inherit."""

    copies: Annotated[int, Field(ge=1, le=100)] | None = None
    """The total number of times that the event is sent."""
    reorder: bool = False
    """Whether to hold the delivery until the next first attempt to the same endpoint is complete.

    Attempts that are themselves held do not count. Attempts made during the `delay` of this fault count.
    """
    before_answer: bool = False
    """Whether to send the delivery and wait for the receiver before responding to the API call that causes it.

    This applies only to first attempts to deliver events that the API call itself causes. If the call causes several
    events, they are delivered to an endpoint one after another.
    """
    two_at_once: bool = False
    """Whether to send the delivery twice at the same time. The second attempt is not retried."""
    acknowledgement_lost: bool = False
    """Whether to lose the receiver's 2xx response, so that the attempt fails and is retried."""
    drop: bool = False
    """Whether to drop the delivery without a retry."""
    corrupt_signature: bool = False
    """Whether to send a wrong X-Signature."""
    stale_timestamp: bool = False
    """Whether to send an X-Timestamp that is 10 minutes old, with a valid signature for this time."""
    alter_body: bool = False
    """Whether to send a body that differs from the signed body."""


OF_FIRST_ATTEMPTS = ("reorder", "hold", "before_answer")
"""The fields that change the order of first attempts. A resend is not a first attempt."""
APART = {"before_answer": ("delay", "reorder", "hold", "drop"), "two_at_once": ("copies",), "reorder": ("hold",)}
"""For a field of a delivery fault, the fields that must not be combined with it."""
IDLE = {"copies": 1}
"""The values that have no effect, in addition to null and false."""
