"""The garbage collector of a server, which looks at what is new and passes over what has stayed.

Rows live as long as their world, and a world that ends is freed by its last reference: it is in no cycle. Yet each
collection of the oldest generation looks at every row there is. While 40,000 runs of recurring payments went by, that
took a seventh of the time, and at a million objects one collection held up all calls for 360 ms. So what a collection
has looked at once is put aside; what then closes a cycle (the stream of a client that was there for long) waits for
one collection in a thousand, which looks at everything.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OLDEST = 2
WHOLE_EVERY = 1000
"""Every so many-th collection of the oldest generation looks at all there is."""
_THRESHOLDS = (10_000, 4, 1)
"""New objects before a collection, and collections before one of the next generation.

Hardly anything that calls make is a circle: to look for some every 700 objects took a twentieth of a call. And an
oldest generation of at most 100,000 holds up nobody for longer than 25 ms (at 400,000 it was 100 ms).
"""


@contextmanager
def passing_over_the_old() -> Iterator[None]:
    """Collect garbage this way as long as the block runs; what is there now counts as old."""
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
