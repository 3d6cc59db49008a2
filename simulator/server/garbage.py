"""The garbage collector of a server, which looks at what is new and passes over what has stayed.

Rows live as long as their world, and a world that ends is freed by its last reference: it is in no cycle. Yet each
collection of the oldest generation looks at every row there is. While 40,000 runs of recurring payments went by, that
took a seventh of the time, and at a million objects one collection held up all calls for 360 ms. So what a collection
has looked at once is put aside; what then closes a cycle (the stream of a client that was there for long) waits for
one collection in a hundred, which looks at everything.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OLDEST = 2
WHOLE_EVERY = 100
"""Every so many-th collection of the oldest generation looks at all there is."""


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

    gc.freeze()
    gc.callbacks.append(collecting)
    try:
        yield
    finally:
        gc.callbacks.remove(collecting)
        gc.unfreeze()
