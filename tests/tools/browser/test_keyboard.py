"""The dashboard with the keyboard alone: focus follows what is opened and closed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.tools.browser.screen import Screen
from tests.tools.browser.stock import onramp


def test_the_focus_goes_into_a_story_and_back_to_its_row(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    page.keyboard.press("j")
    row = page.get_by_role("link", name="order-1")
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(screen.detail()).to_be_focused()
    page.keyboard.press("Escape")
    expect(screen.detail()).to_have_count(0)
    expect(row).to_be_focused()
    page.keyboard.press("Enter")
    expect(screen.detail()).to_be_focused()
    page.get_by_role("link", name="Close").press("Enter")
    expect(row).to_be_focused()


def test_a_dialog_begins_at_its_first_field_and_gives_the_focus_back(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-1").click()
    button = screen.button("payment arrives")
    button.focus()
    page.keyboard.press("Enter")
    expect(screen.dialog().locator("input, select").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_after_an_action_the_detail_has_the_focus(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-1").click()
    screen.button("payment arrives").press("Enter")
    screen.button("OK", screen.dialog()).press("Enter")
    expect(screen.state()).to_have_text("processing")
    expect(screen.detail()).to_be_focused()


def test_an_irreversible_action_needs_more_than_two_enters(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open(f"#/worlds/{screen.world.world['id']}")
    reset = screen.button("Reset it")
    reset.press("Enter")
    expect(screen.button("Cancel", screen.dialog())).to_be_focused()
    page.keyboard.press("Enter")
    expect(screen.dialog()).to_have_count(0)
    expect(reset).to_be_focused()
    assert screen.world.event_types()


def test_a_missing_world_is_reported_once_and_can_be_created(screen: Screen) -> None:
    page = screen.page
    page.goto(f"{screen.world.origin}/_simulator/dashboard?world=never-made#/resources")
    expect(page.get_by_text("The world never-made does not exist.")).to_be_visible()
    page.get_by_role("button", name="Create an empty world").click()
    expect(page.get_by_role("heading", name="Resources")).to_be_visible()
    screen.settled()  # only who listens hears that the world goes away
    screen.world.control("DELETE", "/worlds/never-made")
    expect(page.get_by_text("The world never-made does not exist.")).to_be_visible()
    page.get_by_role("button", name=f"Show {screen.world.world['id']}").click()
    expect(page.get_by_role("heading", name=f"World {screen.world.world['id']}")).to_be_visible()


def test_transactions_are_shown_first_and_quotes_apart(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    rows = page.get_by_role("table", name="Resources").locator("tbody tr")
    expect(rows).to_have_count(1)
    kinds = page.get_by_role("group", name="Kind")
    kinds.get_by_role("link", name="Quotes").click()
    expect(rows.first).to_contain_text("quote")
    kinds.get_by_role("link", name="All", exact=True).click()
    expect(rows).not_to_have_count(1)
    kinds.get_by_role("combobox", name="Another kind").select_option("onramp")
    expect(rows).to_have_count(1)


@pytest.mark.parametrize("by_key", [True, False])
def test_the_keys_are_shown_and_lead_to_panels(screen: Screen, by_key: bool) -> None:
    page = screen.open("#/")
    if by_key:
        page.keyboard.press("?")
    else:
        screen.button("Keyboard shortcuts").click()
    expect(screen.dialog()).to_contain_text("g e go to Events")
    page.keyboard.press("Escape")
    expect(screen.dialog()).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("#/events$"))
