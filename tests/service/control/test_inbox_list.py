"""The list of inboxes, and registering an inbox as an endpoint."""

from __future__ import annotations

from urllib.parse import quote

from tests.remote import Remote


def names(world: Remote) -> dict[str, tuple[int, list[int]]]:
    own = world.control("GET", "/inbox").body["data"]
    return {row["name"]: (row["messages"], row["respond"]) for row in own if row["name"].endswith(world.world["id"])}


def test_inbox_list_shows_messages_of_the_world_and_statuses(world: Remote) -> None:
    used, set_up = f"used-{world.world['id']}", f"set-{world.world['id']}"
    assert names(world) == {}
    world.control("POST", f"/inbox/{used}", content=b"one")
    world.control("PUT", f"/inbox/{set_up}", {"respond": [500, 200]})
    assert names(world) == {used: (1, [200]), set_up: (0, [500, 200])}
    other = world.another(seed=3, scenarios=[])
    counted = {row["name"]: row["messages"] for row in other.control("GET", "/inbox").body["data"]}
    assert counted[used] == 0
    world.control("DELETE", f"/inbox/{used}")
    assert names(world) == {set_up: (0, [500, 200])}


def test_an_inbox_is_subscribed_like_any_receiver(world: Remote) -> None:
    name = f"mine-{world.world['id']}"
    made = world.control("POST", f"/inbox/{name}/subscribe", {"events": ["wallet.created"]})
    assert (made.status, made.body["status"], made.body["events"]) == (201, "enabled", ["wallet.created"])
    assert made.body["url"] == f"{world.origin}/_worlds/{world.world['id']}/_simulator/inbox/{name}"
    assert world.api("GET", f"/webhooks/{made.body['id']}").body == made.body
    world.api("POST", "/wallets", {"network": "stellar", "label": "late"})
    world.control("POST", "/settle")
    assert names(world) == {name: (2, [200])}, "the test request, and the event"
    world.control("DELETE", f"/inbox/{name}")
    assert names(world) == {name: (0, [200])}, "the address of an endpoint stays in the list"


def test_an_inbox_of_any_name_is_subscribed_at_its_own_address(world: Remote) -> None:
    name = f"a?b#c-{world.world['id']}"
    made = world.control("POST", f"/inbox/{quote(name)}/subscribe")
    assert made.body["url"] == f"{world.origin}/_worlds/{world.world['id']}/_simulator/inbox/{quote(name)}"
    assert names(world) == {name: (1, [200])}, "the test request"
    (shown,) = [row["url"] for row in world.control("GET", "/inbox").body["data"] if row["name"] == name]
    assert shown == made.body["url"]


def test_inbox_subscribes_to_all_events_by_default(world: Remote) -> None:
    made = world.control("POST", f"/inbox/all-{world.world['id']}/subscribe")
    assert (made.status, made.body["events"]) == (201, ["*"])


def test_an_inbox_is_refused_as_any_receiver_is(world: Remote) -> None:
    name = f"no-{world.world['id']}"
    unknown = world.control("POST", f"/inbox/{name}/subscribe", {"events": ["wallet.creatd"]})
    assert unknown.refusal == (409, "unsupported_event", "events")
    world.control("PUT", f"/inbox/{name}", {"respond": [500]})
    failed = world.control("POST", f"/inbox/{name}/subscribe")
    assert (failed.status, failed.code) == (409, "invalid_webhook_url")
    assert world.api("GET", "/webhooks").body["data"] == []
