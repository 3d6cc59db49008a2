"""The last use of worlds, and deleting unused ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from simulator.engine.server.app import Application
from tests.remote import EMPTY, Remote, running
from tests.support import QUOTE


class Later:
    """The clock of last uses, controlled by the test."""

    def __init__(self, application: Application) -> None:
        self.uses = application.runtime.meter.uses
        self._real = self.uses.seconds
        self.ahead = 0.0
        self.uses.seconds = lambda: self._real() + self.ahead


@pytest.fixture
def server(http: httpx.Client) -> Iterator[tuple[Remote, Later]]:
    with running(EMPTY) as (origin, application):
        yield Remote(origin, http), Later(application)


def used(remote: Remote) -> dict[str, Any]:
    return {row["id"]: row for row in remote.control("GET", "/usage").body["data"]}


def prune(remote: Remote, **body: Any) -> Any:
    return remote.control("POST", "/prune", body).body


def test_prune_deletes_only_worlds_idle_for_the_duration(server: tuple[Remote, Later]) -> None:
    remote, later = server
    old, steered = remote.another(id="old"), remote.another(id="steered")
    later.ahead = 7 * 86_400
    steered.control("GET", "/clock")
    fresh = remote.another(id="fresh")
    assert prune(remote, idle="6d23h", dry_run=True) == {"ended": ["old"], "dry_run": True}
    assert old.control("GET", "/worlds/old").status == 200
    assert prune(remote, idle="6d23h") == {"ended": ["old"], "dry_run": False}
    assert old.control("GET", "/worlds/old").status == 404
    assert set(used(remote)) == {"default", "steered", "fresh"}
    assert fresh.control("GET", "/clock").status == 200


def test_an_interface_call_is_a_use(server: tuple[Remote, Later]) -> None:
    remote, later = server
    world = remote.another(id="busy")
    later.ahead = 3600.0
    assert used(remote)["busy"]["idle_seconds"] in (3599, 3600, 3601)
    later.ahead = 0.0
    world.api("POST", "/quotes", QUOTE)
    later.ahead = 1800.0
    row = used(remote)["busy"]
    assert 1795 <= row["idle_seconds"] <= 1805
    assert row["objects"] == 3
    assert row["journal_bytes"] > 0


def test_timers_and_listing_worlds_do_not_count_as_use(server: tuple[Remote, Later]) -> None:
    remote, later = server
    remote.another(id="alone")
    later.ahead = 3600.0
    for path in ("/usage", "/worlds", "/health", "/worlds/alone"):
        remote.control("GET", path)
    assert used(remote)["alone"]["idle_seconds"] >= 3599


def test_a_world_that_is_reset_is_used(server: tuple[Remote, Later]) -> None:
    remote, later = server
    world = remote.another(id="again")
    later.ahead = 3600.0
    world.control("POST", "/reset")
    assert used(remote)["again"]["idle_seconds"] == 0


def test_the_default_world_stays(server: tuple[Remote, Later]) -> None:
    remote, later = server
    later.ahead = 1e9
    assert prune(remote, idle=0) == {"ended": [], "dry_run": False}
    assert set(used(remote)) == {"default"}


@pytest.mark.parametrize(("body", "code"), [({}, "missing_parameter"), ({"idle": "1M"}, "invalid_parameter")])
def test_the_duration_is_required(server: tuple[Remote, Later], body: dict[str, Any], code: str) -> None:
    assert server[0].control("POST", "/prune", body).refusal == (400, code, "idle")
