"""Changes that fail before they are complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest


class Refused(Exception):
    """The exception that aborts a change."""


@contextmanager
def broken_off(change: AbstractContextManager[None], error: type[BaseException] = Refused) -> Iterator[None]:
    """Run a block in a change (or an attempt) that breaks off at the end of the block, or at such an error in it."""
    try:
        with change:
            yield
            raise error
    except error:
        return
    pytest.fail("what broke the change off did not come out of it")
