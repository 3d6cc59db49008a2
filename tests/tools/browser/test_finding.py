"""Finding things: one order among many in four clicks, with search, with the keyboard alone, and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.tools.browser.screen import PHONE, WIDE, Screen
from tests.tools.browser.stock import REJECTED, crowd, offramp, onramp

COUNT_CLICKS = "addEventListener('click', () => { window.clicks = (window.clicks ?? 0) + 1; }, true)"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_why_an_order_was_refunded_is_found_in_four_clicks(screen: Screen, size: tuple[int, int]) -> None:
    crowd(screen.world, 100)
    order = offramp(screen.world, "order-5000", REJECTED)
    crowd(screen.world, 100)
    screen.world.advance(by="1h")
    screen.turn("light", size)
    page = screen.open()
    page.evaluate(COUNT_CLICKS)
    page.get_by_role("combobox", name="Search everything").click()
    page.keyboard.type("order-5000")
    page.get_by_role("option", name="order-5000").first.click()
    why = screen.detail().get_by_text("Refunded because")
    expect(why).to_be_in_viewport()
    expect(why).to_contain_text("payout_failed")
    expect(why).to_contain_text("0001")
    expect(screen.detail()).to_contain_text(order["id"])
    assert page.evaluate("() => window.clicks") <= 4


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("order-71", "order-71"), ("+254712345678", "order-71"), ("transaction.completed", "transaction.completed")],
)
def test_search_finds_by_reference_amount_or_phone(screen: Screen, text: str, wanted: str) -> None:
    onramp(screen.world, "order-71")
    screen.world.advance(by="1h")
    page = screen.open()
    page.keyboard.press("/")
    page.keyboard.type(text)
    expect(page.get_by_role("option", name=wanted).first).to_be_visible()
    page.keyboard.press("Enter")
    expect(screen.detail()).to_be_visible()


def test_a_missing_object_is_reported(screen: Screen) -> None:
    page = screen.open()
    page.keyboard.press("/")
    page.keyboard.type("<b>nobody</b>")
    expect(page.get_by_text("No results in this world for “<b>nobody</b>”.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox", name="Results")).to_be_hidden()


def test_a_payment_is_followed_by_the_keyboard_alone(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    onramp(screen.world, "order-2")
    page = screen.open()
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Resources")).to_be_visible()
    expect(page.locator("[data-row]").first).to_be_visible()
    page.keyboard.press("j")
    first = page.locator("[data-row] a").first
    expect(first).to_be_focused()
    page.keyboard.press("j")
    expect(first).not_to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(screen.state()).to_have_text("awaiting payment")
    page.keyboard.press(".")
    expect(screen.said("fired")).to_be_visible()
    expect(screen.state()).to_have_text("processing")
    page.keyboard.press("Escape")
    expect(screen.detail()).to_have_count(0)
    page.keyboard.press("?")
    expect(screen.dialog()).to_contain_text("search everything")
    page.keyboard.press("Escape")
    expect(screen.dialog()).to_have_count(0)


def test_a_row_that_comes_in_takes_neither_the_focus_nor_the_place_of_what_is_read(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/resources")
    link = page.get_by_role("link", name="order-1")
    link.click()
    expect(screen.state()).to_be_visible()
    story = screen.detail().bounding_box()
    status = page.get_by_role("columnheader", name="Status").bounding_box()
    link.focus()
    onramp(screen.world, "order-2-with-a-much-longer-reference-than-the-first-one-has")
    expect(page.get_by_role("link", name="order-2")).to_be_visible()
    expect(link).to_be_focused()
    now = screen.detail().bounding_box()
    assert now is not None
    assert story is not None
    assert (now["x"], now["y"], now["width"]) == (story["x"], story["y"], story["width"])
    assert page.get_by_role("columnheader", name="Status").bounding_box() == status


def test_the_tour_is_taken_once(screen: Screen) -> None:
    page = screen.open()
    screen.button("Show me").click()
    for _ in range(4):
        screen.button("Next").click()
    screen.button("Done").click()
    expect(screen.dialog()).to_have_count(0)
    page.reload()
    screen.settled()
    expect(screen.button("Show me")).to_have_count(0)


def test_colours_are_chosen_and_kept(screen: Screen) -> None:
    screen.turn("light", WIDE)
    page = screen.open()
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Colours: system").click()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Colours: light").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    screen.settled()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Colours: dark").click()
    assert page.evaluate(ground) == light
