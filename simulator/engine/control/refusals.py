"""Errors that several control calls raise."""

from __future__ import annotations

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ControlError, sentence
from simulator.engine.webhooks.courier.courier import Unanswered


def clock_busy() -> ControlError:
    """Return the error 409 clock_busy for a world whose clock another call is advancing."""
    return ControlError(409, "clock_busy", "The clock of this world is being advanced. Wait for that call to end.")


def unanswered(error: Unanswered) -> ControlError:
    """Return the error 409 clock_busy for a world whose webhooks a receiver does not respond to."""
    if error.waited_seconds is not None:
        why = (
            f"Webhook attempts were in flight for {error.waited_seconds:.0f} s without a break, most recently to "
            f"{error.url}. Wait for the receiver, or delete or disable its endpoint. To wait without a limit, add "
            "wait=true."
        )
    else:
        why = (
            f"The receiver {error.url} has not acknowledged a webhook that was sent before this call. A receiver must "
            "respond before it advances the clock or waits for deliveries. To wait for a slow receiver, add "
            "wait=true to the query."
        )
    return ControlError(409, "clock_busy", why)


def not_found(what: str, identifier: str, listed: str, param: str | None = None) -> ControlError:
    """Return the error 404 not_found for an object, such as a snapshot. `listed` is the path of the list of objects."""
    message = f"There is no {what} {identifier[:100]!r}. List them with GET {CONTROL_BASE}{listed}."
    return ControlError(404, "not_found", message, param)


def invalid_state(why: str, param: str | None = None) -> ControlError:
    """Return the error 409 invalid_state. `why` is a full sentence."""
    return ControlError(409, "invalid_state", why, param)


def replaced() -> ControlError:
    """Return the error 409 invalid_state for a world that was deleted or replaced while a call was waiting."""
    return invalid_state("The world was replaced during the call. Send the call again.")


def invalid_parameter(param: str, why: str) -> ControlError:
    """Return the error 400 invalid_parameter. `why` starts with a lower-case letter and has no full stop."""
    return ControlError(400, "invalid_parameter", sentence(f"The parameter `{param}` is not valid: {why}"), param)


def missing_parameter(param: str) -> ControlError:
    """Return the error 400 missing_parameter."""
    return ControlError(400, "missing_parameter", f"The required parameter `{param}` is missing.", param)
