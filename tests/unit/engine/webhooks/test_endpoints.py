"""The operations on webhook endpoints (decisions W1, W3, W4, W9, W10, W12)."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine import webhooks
from simulator.engine.records.records import present
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Probe
from simulator.engine.text.json import loads
from simulator.engine.webhooks import webhook_key
from simulator.engine.webhooks.delivery import queue
from simulator.engine.webhooks.delivery.deliveries import deliveries_of
from simulator.engine.webhooks.shapes import WebhookEndpoint
from tests.calls import act, event_types
from tests.unit.engine.webhooks.support import (
    BROKEN,
    ROOMS,
    URL,
    call,
    drain,
    happen,
    probed,
    register,
    status_of,
    take,
    webhook_world,
)


def refused(world: Any, method: str, path: str, body: dict[str, Any], **more: Any) -> tuple[int, str, str | None]:
    before = world.store.tables()
    with pytest.raises(ApiError) as caught:
        call(world, method, path, body, **more)
    assert world.store.tables() == before
    return caught.value.status, caught.value.code, caught.value.param


def test_registration_tests_the_url_first() -> None:
    """Decision W4: neither event nor delivery."""
    world = webhook_world()
    answer = call(world, "POST", "/webhooks", {"url": URL, "events": ["*"], "description": "Mine"})
    assert isinstance(answer, Probe)
    assert answer.url == URL
    assert answer.key == webhook_key(world, "practice")
    envelope = loads(answer.raw)
    assert envelope["type"] == "webhook.test"
    assert envelope["open"] == "practice"
    assert envelope["data"]["object"]["url"] == URL
    assert call(world, "GET", "/webhooks")["data"] == []
    shown = probed(world, answer)
    assert shown == {
        "id": envelope["data"]["object"]["id"],
        "url": URL,
        "events": ["*"],
        "description": "Mine",
        "status": "enabled",
        "created_at": "2026-01-05T08:00:00.000Z",
    }
    assert set(shown) == set(WebhookEndpoint.__annotations__)
    assert event_types(world) == []
    assert webhooks.all_deliveries(world) == []
    assert not webhooks.may_take(world)


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (201, None, "201"),
        (204, None, "204"),
        (302, None, "302"),
        (500, None, "500"),
        (None, "connection refused", "connection refused"),
        (None, "timeout: no answer within 10 seconds", "timeout"),
    ],
)
def test_only_exactly_200_registers(status: int | None, error: str | None, says: str) -> None:
    """Decision W4."""
    world = webhook_world()
    answer = call(world, "POST", "/webhooks", {"url": URL, "events": ["*"]})
    with pytest.raises(ApiError) as caught:
        probed(world, answer, status, error)
    assert (caught.value.status, caught.value.code, caught.value.param) == (422, "invalid_webhook_url", "url")
    assert says in caught.value.message
    assert call(world, "GET", "/webhooks")["pagination"]["total"] == 0


def test_an_absent_local_receiver_gets_a_hint_about_containers() -> None:
    world = webhook_world()
    answer = call(world, "POST", "/webhooks", {"url": "http://localhost:9/", "events": ["*"]})
    with pytest.raises(ApiError, match=r"host\.docker\.internal"):
        probed(world, answer, None, "connection refused")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (400, "missing_parameter", "url")),
        ({"url": URL}, (400, "missing_parameter", "events")),
        ({"url": None, "events": ["*"]}, (400, "missing_parameter", "url")),
        ({"url": URL, "events": None}, (400, "missing_parameter", "events")),
        ({"url": 5, "events": ["*"]}, (400, "invalid_parameter", "url")),
        ({"url": URL, "events": []}, (400, "invalid_parameter", "events")),
        ({"url": URL, "events": "*"}, (400, "invalid_parameter", "events")),
        ({"url": URL, "events": [1]}, (400, "invalid_parameter", "events")),
        ({"url": URL, "events": [None]}, (400, "invalid_parameter", "events")),
        ({"url": URL, "events": {}}, (400, "invalid_parameter", "events")),
        ({"url": URL, "events": ["*"], "description": 5}, (400, "invalid_parameter", "description")),
        ({"url": URL, "events": ["money.arrived"]}, (422, "unsupported_event", "events")),
        ({"url": URL, "events": ["*", "Transaction.Created"]}, (422, "unsupported_event", "events")),
        ({"url": URL, "events": [""]}, (422, "unsupported_event", "events")),
        ({"url": "", "events": ["*"]}, (422, "invalid_webhook_url", "url")),
        ({"url": "http://example.com", "events": ["*"]}, (422, "invalid_webhook_url", "url")),
        ({"url": "https://10.0.0.1/", "events": ["*"]}, (422, "invalid_webhook_url", "url")),
    ],
)
def test_a_bad_registration_is_refused(body: dict[str, Any], expected: tuple[int, str, str]) -> None:
    """Decisions H5 and W3: a refused string is 422, anything else 400."""
    assert refused(webhook_world(), "POST", "/webhooks", body) == expected


def test_the_setting_decides_which_urls_are_allowed() -> None:
    """Decision W3."""
    local = {"url": "http://127.0.0.1:9000/", "events": ["*"]}
    private = {"url": "http://receiver:9000/", "events": ["*"]}
    assert isinstance(call(webhook_world(), "POST", "/webhooks", local), Probe)
    assert refused(webhook_world(webhook_urls="public"), "POST", "/webhooks", local)[1] == "invalid_webhook_url"
    assert refused(webhook_world(), "POST", "/webhooks", private)[1] == "invalid_webhook_url"
    assert isinstance(call(webhook_world(webhook_urls="any"), "POST", "/webhooks", private), Probe)


def test_endpoints_are_listed_newest_first_searched_and_filtered() -> None:
    world = webhook_world()
    first, second = register(world, "https://one.example.com/"), register(world, "https://two.example.com/")
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=first)

    def ids(**query: str) -> list[str]:
        return [row["id"] for row in call(world, "GET", "/webhooks", query=query)["data"]]

    assert ids() == [second, first]
    assert ids(sort_order="asc") == [first, second]
    assert ids(status="disabled") == [first]
    assert ids(search="TWO.") == [second]
    assert ids(size="1", page="2") == [first]
    with pytest.raises(ApiError, match="status"):
        ids(status="deleted")


def test_environments_do_not_mix() -> None:
    """Decision H16: webhook endpoints of the two never mix."""
    world = webhook_world()
    live = register(world, environment="open")
    assert call(world, "GET", "/webhooks")["data"] == []
    with pytest.raises(ApiError, match="not_found"):
        call(world, "GET", "/webhooks/{id}", id=live)
    happen(world)
    assert take(world) == []
    happen(world, environment="open")
    assert [attempt.endpoint_id for attempt in take(world)] == [live]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/webhooks/{id}"),
        ("PATCH", "/webhooks/{id}"),
        ("DELETE", "/webhooks/{id}"),
        ("POST", "/webhooks/{id}/test"),
        ("GET", "/webhooks/{id}/deliveries"),
    ],
)
def test_an_unknown_or_deleted_endpoint_is_not_found(method: str, path: str) -> None:
    world = webhook_world()
    gone = register(world)
    assert call(world, "DELETE", "/webhooks/{id}", id=gone) is None
    for identifier in (gone, "wh_unknown"):
        with pytest.raises(ApiError, match="not_found"):
            call(world, method, path, id=identifier)


def test_patch_changes_only_what_was_sent() -> None:
    world = webhook_world()
    endpoint = register(world)
    before = call(world, "GET", "/webhooks/{id}", id=endpoint)
    assert call(world, "PATCH", "/webhooks/{id}", {}, id=endpoint) == before
    changed = call(world, "PATCH", "/webhooks/{id}", {"events": ["news.good"], "description": "New"}, id=endpoint)
    assert changed == before | {"events": ["news.good"], "description": "New"}
    assert call(world, "PATCH", "/webhooks/{id}", {"description": None}, id=endpoint)["description"] is None
    assert call(world, "GET", "/webhooks/{id}", id=endpoint)["events"] == ["news.good"]


def test_patch_with_a_new_url_is_tested_again_and_an_old_one_is_not() -> None:
    """Decision W4."""
    world = webhook_world()
    endpoint = register(world)
    assert call(world, "PATCH", "/webhooks/{id}", {"url": URL}, id=endpoint)["url"] == URL
    moved = {"url": "https://new.example.com/", "status": "disabled"}
    answer = call(world, "PATCH", "/webhooks/{id}", moved, id=endpoint)
    assert answer.url == moved["url"]
    with pytest.raises(ApiError, match="invalid_webhook_url"):
        probed(world, answer, 404)
    assert call(world, "GET", "/webhooks/{id}", id=endpoint)["url"] == URL
    assert probed(world, answer)["status"] == "disabled"
    assert call(world, "GET", "/webhooks/{id}", id=endpoint)["url"] == moved["url"]


def test_an_endpoint_deleted_while_its_new_url_was_tested_is_not_found() -> None:
    world = webhook_world()
    endpoint = register(world)
    answer = call(world, "PATCH", "/webhooks/{id}", {"url": "https://new.example.com/"}, id=endpoint)
    call(world, "DELETE", "/webhooks/{id}", id=endpoint)
    with pytest.raises(ApiError, match="not_found"):
        probed(world, answer)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"url": None}, (400, "invalid_parameter", "url")),
        ({"url": "nonsense"}, (422, "invalid_webhook_url", "url")),
        ({"events": None}, (400, "invalid_parameter", "events")),
        ({"events": []}, (400, "invalid_parameter", "events")),
        ({"events": ["nothing"]}, (422, "unsupported_event", "events")),
        ({"status": None}, (400, "invalid_parameter", "status")),
        ({"status": "deleted"}, (400, "invalid_parameter", "status")),
        ({"description": 1}, (400, "invalid_parameter", "description")),
    ],
)
def test_a_bad_patch_is_refused(body: dict[str, Any], expected: tuple[int, str, str]) -> None:
    world = webhook_world()
    assert refused(world, "PATCH", "/webhooks/{id}", body, id=register(world)) == expected


def test_enabling_and_disabling_twice_changes_nothing_more() -> None:
    world = webhook_world()
    endpoint = register(world)
    for status in ("enabled", "disabled", "disabled", "enabled", "enabled"):
        assert call(world, "PATCH", "/webhooks/{id}", {"status": status}, id=endpoint)["status"] == status
    assert [step.state for step in world.journal.history(endpoint)] == ["enabled", "disabled", "enabled"]


def test_a_test_call_sends_an_event_to_that_endpoint_alone() -> None:
    """Decision W10: an event of the journal, whatever the endpoint subscribes to."""
    world = webhook_world()
    other, endpoint = register(world), register(world, events=("news.good",))
    envelope = call(world, "POST", "/webhooks/{id}/test", id=endpoint)
    assert envelope["type"] == "webhook.test"
    assert envelope["data"]["object"] == call(world, "GET", "/webhooks/{id}", id=endpoint)
    assert event_types(world) == ["webhook.test"]
    made = drain(world)
    assert [(attempt.endpoint_id, attempt.event_id) for attempt in made] == [(endpoint, envelope["id"])]
    assert call(world, "GET", "/webhooks/{id}/deliveries", id=other)["data"] == []


def test_a_disabled_endpoint_cannot_be_tested() -> None:
    """Decision W10."""
    world = webhook_world()
    endpoint = register(world)
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=endpoint)
    assert refused(world, "POST", "/webhooks/{id}/test", {}, id=endpoint) == (409, "invalid_state", None)


def test_deliveries_show_what_came_back() -> None:
    """Decision W12: every field of a record."""
    world = webhook_world()
    endpoint = register(world)
    event = happen(world)
    drain(world, BROKEN)
    (row,) = call(world, "GET", "/webhooks/{id}/deliveries", id=endpoint)["data"]
    assert row.pop("id").startswith("dlv_")
    assert row == {
        "event_id": event.id,
        "event_type": "loan.returned",
        "endpoint_id": endpoint,
        "url": URL,
        "attempt": 1,
        "status": "failed",
        "response_status": 500,
        "error": "the receiver answered 500 instead of 2xx",
        "duration_ms": 0,
        "attempted_at": "2026-01-05T08:00:00.000Z",
        "next_attempt_at": "2026-01-05T08:01:00.000Z",
    }


def test_deliveries_are_listed_and_filtered() -> None:
    world = webhook_world()
    endpoint = register(world)
    first, second = happen(world), happen(world, "news.good")
    drain(world, lambda attempt: BROKEN if attempt.event_id == first.id else webhooks.Outcome(204))

    def events(**query: str) -> list[str]:
        page = call(world, "GET", "/webhooks/{id}/deliveries", query=query, id=endpoint)
        return [row["event_id"] for row in page["data"]]

    assert events() == [second.id, first.id]
    assert events(sort_order="asc") == [first.id, second.id]
    assert events(status="succeeded") == [second.id]
    assert events(search="good") == [second.id]
    assert events(sort_by="updated_at", limit="1") == [second.id]


def test_rotating_the_key_replaces_that_of_one_environment() -> None:
    """Decision W1."""
    world = webhook_world()
    before = {environment: webhook_key(world, environment) for environment in world.environments}
    done = act(world, ROOMS, "rotate_webhook_key", environment="open")
    assert done.resource == {"webhook_key": webhook_key(world, "open")}
    assert webhook_key(world, "open") != before["open"]
    assert webhook_key(world, "practice") == before["practice"]
    again = act(world, ROOMS, "rotate_webhook_key", environment="open")
    assert again.resource != done.resource


def test_deleting_drops_every_retry_but_no_first_attempt() -> None:
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    drain(world, BROKEN)
    happen(world)
    happen(world)
    (flying,) = take(world)
    call(world, "DELETE", "/webhooks/{id}", id=endpoint)
    with world.change(world.cause):
        assert present(queue.report(world, flying, BROKEN)).next_attempt_at_ms is None
    assert len(drain(world, BROKEN)) == 1
    assert len(world.agenda) == 0
    made = deliveries_of(world, endpoint).values()
    assert [(one.attempt, one.next_attempt_at_ms) for one in made] == 3 * [(1, None)]


def test_an_endpoint_that_was_disabled_starts_with_new_events() -> None:
    """Decision W9."""
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    drain(world, BROKEN)
    happen(world)
    assert len(world.agenda) == 1
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=endpoint)
    assert len(world.agenda) == 0
    assert webhooks.all_deliveries(world)[0].next_attempt_at_ms is None
    happen(world)
    assert take(world) == []
    call(world, "PATCH", "/webhooks/{id}", {"status": "enabled"}, id=endpoint)
    assert take(world) == []
    fresh = happen(world)
    assert [attempt.event_id for attempt in drain(world)] == [fresh.id]
    assert status_of(world, endpoint) == "enabled"
