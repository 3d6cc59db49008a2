"""Garbage collection in a server. Objects that have survived one collection are skipped.

Rows live as long as their world. A world is not part of any reference cycle, so it is freed with its last reference.
Nevertheless, each collection of the oldest generation visits all rows. During 40,000 runs of recurring payments, these
visits took a seventh of the time. With a million objects, one collection delayed all calls by 360 ms. Every collection
therefore freezes the survivors. Cycles of frozen objects, such as a long-lived stream, are freed by one collection in a
thousand, which visits everything.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OLDEST = 2
WHOLE_EVERY = 1000
"""The interval of full collections: one in this many collections of the oldest generation visits all objects."""
_THRESHOLDS = (10_000, 4, 1)
"""The thresholds of the three generations.

The first number is the number of new objects that triggers a collection. Each further number is the number of
collections of one generation before a collection of the next. Calls create hardly any cycles. With a collection every
700 objects, collections took a twentieth of a call's time. An oldest generation of at most 100,000 objects delays
calls by at most 25 ms. With 400,000 objects, the delay was 100 ms.
"""


@contextmanager
def passing_over_the_old() -> Iterator[None]:
    """Return a context manager. Inside the block, garbage collections skip all objects that existed before the block,
    and all objects that have survived one collection.
    """
    looked = 0

    def collecting(phase: str, info: dict[str, int]) -> None:
        nonlocal looked
        if info["generation"] != _OLDEST:
            return
        if phase == "stop":
            gc.freeze()
            return
        looked += 1
        if looked % WHOLE_EVERY == 0:
            gc.unfreeze()

    before = gc.get_threshold()
    gc.freeze()
    gc.callbacks.append(collecting)
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(collecting)
        gc.unfreeze()
