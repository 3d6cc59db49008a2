"""What a process of the tests knows of the run of `rampsim explore` that it is a part of, if it is one."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter

_BASE_OF_A_WORLD = re.compile(r"https?://[^/]+/_worlds/(?P<id>[^/]+)/?")
_made: Counter[str] = Counter()


def own_world() -> str:
    """The world of which SIMULATOR_URL is the base, `http://HOST:PORT/_worlds/ID`, by its id; "" without one."""
    found = _BASE_OF_A_WORLD.fullmatch(os.environ.get("SIMULATOR_URL", ""))
    return found["id"] if found else ""


def run() -> str:
    """The run that makes anything go wrong in whatever world is made here, by the id of its own world; "" in none.

    Then all worlds lie in the server of the run, and each test may have as many as it likes.
    """
    return own_world() if os.environ.get("SIMULATOR_PLAN") else ""


def is_at(url: str) -> bool:
    """Whether this is the server of the run."""
    return bool(run()) and os.environ["SIMULATOR_URL"].startswith(f"{url}/")


def world_id(test: str) -> str:
    """The id of the next world of a test: the same in every run but for the run's own, in whatever process it is."""
    _made[test] += 1
    return f"{hashlib.sha256(test.encode()).hexdigest()[:8]}-{_made[test]}-{run()}"
