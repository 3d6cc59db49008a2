"""Waiting for an application whose work continues after its response, such as a queue with workers."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 10.0
_POLL_SECONDS = 0.02


def wait_until_quiet(is_quiet: Callable[[], object], seconds: float = _SECONDS) -> bool:
    """Check an application until its queue is empty, for at most this many real seconds. Return True if it is empty.
    Any result of the application's check except False means that the queue is empty.
    """
    for _ in range(max(1, round(seconds / _POLL_SECONDS))):
        if is_quiet() is not False:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def waiter(is_quiet: Callable[[], object]) -> Callable[[object], None]:
    """Return a listener for `World.on_advance` that waits until an application's queue is empty."""

    def wait(now: object) -> None:
        wait_until_quiet(is_quiet)

    return wait
