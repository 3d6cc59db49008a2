"""The effects of a fault on a delivery that act as they are given.

`models.Deliver` validates them, and `in_force.DeliveryPlan` saves them with a waiting attempt. Both inherit the fields.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Effects:
    """The effects on a delivery that need no conversion. A field here is a member of faults and of plans."""

    copies: Annotated[int, Field(ge=1, le=100)] | None = None
    """The total number of times that the event is sent."""
    reorder: bool = False
    """Whether to hold the delivery until the next first attempt to the endpoint has been completed.

    Attempts that are held themselves do not count. Attempts during the `delay` of this fault do.
    """
    before_answer: bool = False
    """Whether to send the delivery and wait for the receiver before the response to the API call that causes it is
    sent.

    This applies only to the first attempts of events that an API call itself causes.
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
    """Whether to send an X-Timestamp that is 10 minutes old, with a valid signature for it."""
    alter_body: bool = False
    """Whether to send a body that differs from the signed body."""


OF_FIRST_ATTEMPTS = ("reorder", "hold", "before_answer")
"""Members that change the order of first attempts. A resend is not a first attempt."""
APART = {"before_answer": ("delay", "reorder", "hold", "drop"), "two_at_once": ("copies",), "reorder": ("hold",)}
"""Members of a delivery fault that contradict each other."""
IDLE = {"copies": 1}
"""Values that have no effect, in addition to null and false."""
