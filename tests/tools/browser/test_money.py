"""Orders that are followed and controlled with clicks: an onramp, an offramp, a failing payout, an expiring quote."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.tools.browser.screen import Screen
from tests.tools.browser.stock import REJECTED, offramp, onramp


def test_an_onramp_is_paid_and_completed_by_two_buttons(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-1").click()
    expect(screen.state()).to_have_text("awaiting payment")
    screen.button("payment arrives").click()
    expect(screen.dialog()).to_be_visible()
    screen.button("OK", screen.dialog()).click()
    expect(screen.state()).to_have_text("processing")
    screen.button("complete").click()
    screen.button("OK", screen.dialog()).click()
    expect(screen.state()).to_have_text("completed")
    expect(screen.dialog()).to_have_count(0)
    assert "transaction.completed" in screen.world.event_types()


def test_a_refusal_is_shown_next_to_its_form(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-1").click()
    screen.button("payment arrives").click()
    screen.dialog().get_by_label("amount").fill("0")
    screen.button("OK", screen.dialog()).click()
    expect(screen.dialog().get_by_role("alert")).to_contain_text("amount")
    screen.page.keyboard.press("Escape")
    expect(screen.dialog()).to_have_count(0)
    expect(screen.state()).to_have_text("awaiting payment")


def test_an_offramp_continues_from_timer_to_timer(screen: Screen) -> None:
    offramp(screen.world, "order-2")
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-2").click()
    expect(screen.state()).to_have_text("awaiting deposit")
    for state in ("processing", "completed"):
        screen.button("Next timer").click()
        expect(screen.state()).to_have_text(state)
    expect(page.get_by_text("a rule of the scenario autopilot").first).to_be_visible()


def test_a_failed_payout_has_a_reason(screen: Screen) -> None:
    offramp(screen.world, "order-3", REJECTED)
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-3").click()
    screen.button("Advance by 1h").click()
    expect(screen.state()).to_have_text("refunded")
    expect(screen.detail()).to_contain_text("test-values")


def test_a_jump_of_the_clock_lets_a_quote_lapse(screen: Screen) -> None:
    offer = onramp(screen.world, "order-4")
    page = screen.open(f"#/resources/{offer['id']}")
    before = page.locator("output.now").inner_text()
    screen.world.control("PUT", "/scenarios/active", {"names": []})
    screen.button("Advance by 1d").click()
    expect(page.locator("output.now")).not_to_have_text(before)
    expect(screen.state()).not_to_have_text("awaiting payment")
    expect(screen.said("fired")).to_be_visible()
