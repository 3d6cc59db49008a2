"""Refusals that many control calls share."""

from __future__ import annotations

from simulator.engine.rows.error import ControlError, sentence
from simulator.engine.webhooks.courier.courier import Unanswered


def clock_busy() -> ControlError:
    """Return 409 clock_busy for a world whose clock is being advanced."""
    return ControlError(409, "clock_busy", "The clock of this world is being advanced; wait for that call to end.")


def unanswered(error: Unanswered) -> ControlError:
    """Return 409 clock_busy for a world that does not come to rest because of a receiver."""
    if error.waited_seconds is not None:
        return ControlError(
            409,
            "clock_busy",
            f"Webhook attempts were in flight for {error.waited_seconds:.0f} s without a pause, now to {error.url}. "
            "Wait for the receiver, or end or disable its endpoint; to wait however long it takes, add wait=true.",
        )
    return ControlError(
        409,
        "clock_busy",
        f"The receiver {error.url} has not answered a webhook that was sent before this call came. A receiver must "
        "answer before it moves the clock or waits for deliveries; to wait for a slow one, add wait=true to the query.",
    )


def wrong(param: str, why: str) -> ControlError:
    """400 invalid_parameter."""
    return ControlError(400, "invalid_parameter", sentence(f"The parameter `{param}` is not valid: {why}"), param)


def absent(param: str) -> ControlError:
    """400 missing_parameter."""
    return ControlError(400, "missing_parameter", f"The required parameter `{param}` is missing.", param)
