"""Controlling a world with forms: faults, events on demand, snapshots, scenarios, actions."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support import QUOTE
from tests.tools.browser.screen import PHONE, Screen
from tests.tools.browser.stock import onramp

MISSPELT = """name: slow
description: <img src=x onerror=window.ran=1>
rules:
  - on: transaction.prosessing
    do: []
"""


def test_a_fault_is_made_by_its_form_and_seen_hit(screen: Screen) -> None:
    page = screen.open("#/faults")
    page.get_by_role("link", name="New fault").click()
    form = screen.detail()
    form.get_by_label("method").first.select_option("POST")
    form.get_by_label("path").first.fill("/quotes")
    form.get_by_label("times").first.fill("1")
    form.get_by_label("status").first.fill("503")
    form.get_by_label("code").first.fill("service_unavailable")
    screen.button("Add fault").click()
    expect(screen.said("Fault added")).to_be_visible()
    expect(screen.detail()).to_contain_text("Not applied yet")
    assert screen.world.api("POST", "/quotes", QUOTE).status == 503
    expect(page.locator("[data-hit]")).to_have_text("1 hit, exhausted")
    assert screen.world.api("POST", "/quotes", QUOTE).status == 201


def test_a_refused_fault_shows_the_error_at_its_field(screen: Screen) -> None:
    screen.open("#/faults/new")
    screen.detail().get_by_label("status").first.fill("503")
    screen.button("Add fault").click()
    expect(screen.detail().get_by_role("alert").first).to_be_visible()
    expect(screen.detail().get_by_label("code").first).to_have_attribute("aria-invalid", "true")


def test_an_event_is_brought_about(screen: Screen) -> None:
    page = screen.open("#/actions")
    page.get_by_label("event").select_option("transaction.refunded")
    screen.button("Cause the event").click()
    expect(page.get_by_role("heading", name="transaction.refunded occurred for")).to_be_visible()
    assert "transaction.refunded" in screen.world.event_types()


def test_a_state_is_kept_and_brought_back(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/snapshots")
    page.get_by_label("name").fill("before lunch")
    screen.button("Take a snapshot").click()
    expect(page.get_by_role("row").filter(has_text="before lunch")).to_be_visible()
    onramp(screen.world, "order-2")
    screen.button("Restore").click()
    screen.button("Restore", screen.dialog()).click()
    expect(screen.said("was restored")).to_be_visible()
    screen.go("#/resources")
    expect(page.get_by_role("link", name="order-1")).to_be_visible()
    expect(page.get_by_role("link", name="order-2")).to_have_count(0)


def test_a_refused_scenario_is_fixed_and_activated(screen: Screen) -> None:
    page = screen.open("#/scenarios")
    page.get_by_role("link", name="New scenario").click()
    text = page.get_by_label("YAML or JSON")
    text.fill(MISSPELT)
    screen.button("Upload and activate").click()
    expect(page.get_by_role("button", name="Line 4, column")).to_be_visible()
    text.fill("name: slow\ndescription: It does nothing.\nrules: []\n")
    screen.button("Upload and activate").click()
    expect(screen.said("slow is saved in this world and active")).to_be_visible()
    names = screen.world.control("GET", f"/worlds/{screen.world.world['id']}").body["scenarios"]
    assert names[-1] == "slow"


def test_the_world_outside_is_changed_by_a_form(screen: Screen) -> None:
    page = screen.open("#/actions")
    screen.button("set balance").click()
    for field, value in (("symbol", "USDC"), ("network", "STELLAR"), ("amount", "7.25")):
        screen.dialog().get_by_label(field).fill(value)
    screen.button("OK", screen.dialog()).click()
    expect(screen.said("set balance: done")).to_be_visible()
    screen.go("#/balances")
    expect(page.get_by_role("row").filter(has_text="7.25").first).to_be_visible()


def test_a_world_is_made_and_shown(screen: Screen) -> None:
    page = screen.open("#/worlds")
    page.get_by_role("link", name="New world").click()
    name = f"{screen.world.world['id']}-next"
    screen.detail().get_by_label("id", exact=True).fill(name)
    screen.button("Create and show").click()
    expect(page.get_by_role("combobox", name="World", exact=True)).to_have_value(name)


def test_a_refusal_goes_away_by_itself_and_when_something_else_is_opened(screen: Screen) -> None:
    screen.page.clock.install()
    page = screen.open("#/deliveries")
    refusal = page.locator(".toast[data-tone=bad]")
    page.route("**/clock/advance*", lambda route: route.fulfill(status=409, json={"error": {"message": "Not now."}}))
    screen.button("Next timer").click()
    expect(refusal).to_contain_text("Not now.")
    screen.go("#/events")
    expect(refusal).to_have_count(0)
    screen.button("Next timer").click()
    expect(refusal).to_be_visible()
    page.clock.fast_forward("00:20")
    expect(refusal).to_have_count(0)


def test_the_time_of_the_panel_is_that_of_the_bar_and_now_is_seen_on_a_phone(screen: Screen) -> None:
    screen.turn("light", PHONE)
    screen.page.clock.install()
    onramp(screen.world, "order-1")
    screen.world.control("PUT", "/clock", {"mode": "real"})
    page = screen.open("#/clock")
    shown, bar = page.locator("main strong").first, page.locator("output.now")
    first = shown.inner_text()
    page.clock.run_for(3000)
    expect(shown).not_to_have_text(first)
    expect(shown).to_have_text(bar.inner_text())
    now = page.locator(".timeline .now")
    expect(now).to_be_visible()
    label = now.bounding_box()
    assert label is not None
    for mark in page.locator(".timeline .past, .timeline .coming").all():
        box = mark.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= label["y"] + 1
