"""Webhooks: an event that is sent again."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.screen import Screen
from tests.browser.stock import inbox, onramp, subscribe


def _received(screen: Screen, event: str) -> list[str]:
    messages = screen.world.call("GET", inbox(screen.world, "shop")).body["data"]
    return [message["body"] for message in messages if event in message["body"]]


def test_an_event_is_sent_again_with_the_same_bytes(screen: Screen) -> None:
    subscribe(screen.world)
    onramp(screen.world, "order-1")
    screen.world.advance(by="1h")
    page = screen.open("#/events")
    page.get_by_role("link", name="transaction.completed").click()
    screen.button("Send again").click()
    expect(screen.said("1 delivery attempt")).to_be_visible()
    first, again = _received(screen, "transaction.completed")
    assert first == again
