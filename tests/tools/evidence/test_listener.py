"""The listener of `rampsim probe`: only signed webhooks are evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from simulator.evidence.listener import DEAD, FAILING, Listener
from simulator.service import SIGNATURE

KEY = "whk_test_listener"
EVENT = {"id": "evt_1", "type": "quote.expired", "data": {"object": {}}}
SENT_MS = 1_700_000_000_000


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener("127.0.0.1", 0, "", KEY)
    yield made
    made.close()


def deliver(listener: Listener, event: object, key: str | None, path: str = "", sent: bytes | None = None) -> int:
    """Post an event signed with `key`, or `sent` in its place; return the status."""
    raw = json.dumps(event).encode()
    headers = {} if key is None else dict(SIGNATURE.headers(key, SENT_MS, raw))
    request = Request(f"{listener.hooks['hook']}{path}", sent or raw, headers, method="POST")
    try:
        with urlopen(request, timeout=10) as response:
            return int(response.status)
    except HTTPError as error:
        with error:
            return error.code


def test_signed_event_is_taken_once(listener: Listener) -> None:
    assert deliver(listener, EVENT, KEY) == 200
    assert deliver(listener, EVENT, KEY) == 200, "a second delivery of the same event"
    assert listener.taken() == [EVENT]
    assert listener.unverified == 0


@pytest.mark.parametrize("key", [None, "whk_test_other"])
def test_event_of_another_sender_is_no_evidence(listener: Listener, key: str | None) -> None:
    assert deliver(listener, EVENT, key) == 401
    assert listener.taken() == []
    assert listener.unverified == 1


def test_changed_event_is_no_evidence(listener: Listener) -> None:
    changed = json.dumps({**EVENT, "type": "quote.created"}).encode()
    assert deliver(listener, EVENT, KEY, sent=changed) == 401
    assert listener.taken() == []


@pytest.mark.parametrize("path", [DEAD, FAILING])
def test_failing_addresses_refuse_events_and_keep_none(listener: Listener, path: str) -> None:
    assert deliver(listener, EVENT, KEY, path) == 500
    assert listener.taken() == []
