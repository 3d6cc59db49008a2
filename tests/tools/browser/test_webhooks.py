"""Webhooks: sending an event again."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.tools.browser.screen import Screen
from tests.tools.browser.stock import inbox, onramp, subscribe


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


def test_a_delivery_verifies_and_a_forged_one_does_not(screen: Screen) -> None:
    subscribe(screen.world)
    onramp(screen.world, "order-1")
    screen.world.advance(by="1h")
    page = screen.open("#/deliveries")
    screen.attempts("transaction.completed").get_by_role("link", name="Attempt 1").click()
    expect(page.locator(".verdict .status")).to_have_text("verifies")
    screen.button("Send with a fault").click()
    screen.button("Forged signature", screen.dialog()).click()
    expect(screen.said("Sent again")).to_be_visible()
    page.locator("main tr", has_text="fault").get_by_role("link").first.click()
    expect(page.locator(".verdict .status")).to_have_text("does not verify")
    assert len(_received(screen, "transaction.completed")) == 2


def test_deliveries_list_tells_a_retry_from_a_copy_and_names_the_fault(screen: Screen) -> None:
    subscribe(screen.world)
    asked = {"webhook": {"event": "transaction.completed"}, "deliver": {"copies": 2}}
    assert screen.world.control("POST", "/faults", asked).status == 201
    onramp(screen.world, "order-1")
    screen.world.advance(by="1h")
    page = screen.open("#/deliveries")
    expect(page.get_by_role("rowgroup").filter(has_text="transaction.completed")).to_contain_text("2 attempts")
    rows = screen.attempts("transaction.completed")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).not_to_contain_text("copy")
    expect(rows.nth(1)).to_contain_text("copy")
    expect(rows.get_by_role("link", name="fault: copies")).to_have_count(2)


def test_deliveries_and_events_say_what_they_are_about(screen: Screen) -> None:
    subscribe(screen.world)
    order = onramp(screen.world, "order-77")
    screen.world.advance(by="1h")
    for route in ("#/deliveries", "#/events"):
        page = screen.open(route)
        about = page.get_by_role("row").filter(has_text="transaction.completed").get_by_role("link", name="order-77")
        expect(about).to_have_attribute("href", f"#/resources/{order['id']}")


def test_failed_deliveries_to_an_inbox_are_retried(screen: Screen) -> None:
    page, name = screen.open("#/inbox"), f"{screen.world.world['id']}-shop"
    page.get_by_label("Name").fill(name)
    screen.button("Create and subscribe").click()
    page.get_by_label("Response statuses").fill("500 200")
    screen.button("Set").click()
    expect(screen.said("now responds with this status")).to_be_visible()
    onramp(screen.world, "order-1")
    screen.world.control("POST", "/settle")
    screen.go("#/deliveries")
    page.get_by_role("combobox", name="Status", exact=True).select_option("failed")
    page.locator("[data-row] a").first.click()
    expect(screen.state()).to_have_text("failed")
    expect(page.get_by_role("list", name="Attempts").get_by_text("next")).to_be_visible()
    screen.button("Send again").click()
    expect(screen.said("Sent again")).to_be_visible()
    page.get_by_role("combobox", name="Status", exact=True).select_option("succeeded")
    expect(page.locator("[data-row]").first).to_be_visible()
