"""The `rampsim explore` run that this test process belongs to, if any."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter

_BASE_OF_A_WORLD = re.compile(r"https?://[^/]+/_worlds/(?P<id>[^/]+)/?")
_made: Counter[str] = Counter()


class Died(BaseException):
    """Raised by `rampsim explore` to end an application in the test process, as if its process had been killed."""


def has_died(error: BaseException) -> bool:
    """Return True for `Died`, even inside an exception group."""
    return isinstance(error, Died) or (isinstance(error, BaseExceptionGroup) and any(map(has_died, error.exceptions)))


def own_world() -> str:
    """Return the id of the world in SIMULATOR_URL (`http://HOST:PORT/_worlds/ID`), or "" if it contains none."""
    found = _BASE_OF_A_WORLD.fullmatch(os.environ.get("SIMULATOR_URL", ""))
    return found["id"] if found else ""


def run() -> str:
    """Return the id of the `rampsim explore` run that this process belongs to, or "" outside such a run. Its faults are
    injected into every world. All worlds are on the run's server, and a test can create any number.
    """
    return own_world() if os.environ.get("SIMULATOR_PLAN") else ""


def is_at(url: str) -> bool:
    """Return True if the run's server is at this address."""
    return bool(run()) and os.environ["SIMULATOR_URL"].startswith(f"{url}/")


def world_id(test: str) -> str:
    """Return the id of a test's next world. The id depends only on the run and the test, not on the process."""
    _made[test] += 1
    return f"{hashlib.sha256(test.encode()).hexdigest()[:8]}-{_made[test]}-{run()}"
