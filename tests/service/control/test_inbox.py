"""Inboxes: the world of a message, its stored form, and its lifetime."""

from __future__ import annotations

import pytest

from tests.remote import ENDINGS, Remote, end_world

WALLET = {"network": "stellar", "label": "late"}


def bodies(world: Remote, path: str, **headers: str) -> list[str]:
    return [row["body"] for row in world.call("GET", f"{world.origin}/_simulator{path}", headers=headers).body["data"]]


def test_a_message_belongs_to_the_world_whose_delivery_it_is(world: Remote) -> None:
    other, path = world.another(seed=2, scenarios=[]), f"/inbox/mine-{world.world['id']}"
    for one in (world, other):
        hook = {"url": f"{world.origin}/_simulator{path}", "events": ["wallet.created"]}
        assert one.api("POST", "/webhooks", hook).status == 201
        assert one.api("POST", "/wallets", WALLET).status == 201
        one.control("POST", "/settle")
    assert len(world.control("GET", path).body["data"]) == len(other.control("GET", path).body["data"]) > 0
    everything = bodies(world, path)
    assert len(everything) == 2 * len(world.control("GET", path).body["data"])
    assert world.control("POST", "/reset").status == 200
    assert world.control("GET", path).body["data"] == []
    assert bodies(world, path) == [row["body"] for row in other.control("GET", path).body["data"]]


def test_manual_message_belongs_to_its_world_or_default(world: Remote) -> None:
    path, mine = f"/inbox/hand-{world.world['id']}", world.world["id"]
    world.call("POST", f"{world.origin}/_simulator{path}", content=b"nobody's")
    world.control("POST", path, content=b"mine")
    assert bodies(world, path) == ["nobody's", "mine"]
    assert bodies(world, path, **{"X-Simulator-World": mine}) == ["mine"]
    assert bodies(world, path, **{"X-Simulator-World": "default"}) == ["nobody's"]
    assert world.control("GET", path, headers={"X-Simulator-World": "none"}).status == 404
    assert world.control("DELETE", path).status == 204
    assert bodies(world, path) == ["nobody's"]


PAGES = [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_message_of_a_foreign_page_is_refused(world: Remote, page: dict[str, str]) -> None:
    path = f"/inbox/page-{world.world['id']}"
    assert world.control("POST", path, headers=page).status == 403
    assert world.control("POST", path, headers={"Origin": world.origin}).status == 200
    assert len(world.control("GET", path).body["data"]) == 1


@pytest.mark.parametrize("how", ENDINGS)
def test_the_end_of_a_world_empties_its_inboxes(world: Remote, how: str) -> None:
    path = f"/inbox/end-{world.world['id']}"
    world.control("PUT", path, {"respond": [503]})
    assert world.control("POST", "/snapshots", {}).status == 201
    assert world.control("POST", path, content=b"mine").status == 503
    end_world(world, how)
    assert bodies(world, path) == []
    assert world.call("POST", f"{world.origin}/_simulator{path}", content=b"later").status == 200


def test_of_a_large_message_the_beginning_is_kept(world: Remote) -> None:
    path = f"/inbox/large-{world.world['id']}"
    assert world.control("POST", path, content=b"x" * (2 * 1024 * 1024)).status == 200
    assert world.control("POST", path, content=b"y").status == 200
    kept = world.control("GET", path).body["data"]
    assert [(len(row["body"]), row["truncated"]) for row in kept] == [(1024 * 1024, True), (1, False)]


def test_an_inbox_is_bounded_in_bytes(world: Remote) -> None:
    path = f"/inbox/full-{world.world['id']}"
    for _ in range(40):
        world.control("POST", path, content=b"x" * (1024 * 1024))
    kept = world.control("GET", path).body
    assert len(kept["data"]) + kept["dropped"] == 40
    assert 30 <= len(kept["data"]) <= 32
    world.control("DELETE", path)
