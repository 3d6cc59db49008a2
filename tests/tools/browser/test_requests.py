"""Requests: their results, filters that can be shared, and the link out of an empty list."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.service.http.busy import ok
from tests.support import QUOTE
from tests.tools.browser.screen import PHONE, Screen
from tests.tools.browser.stock import onramp


def test_a_request_shows_its_result_key_and_duration(screen: Screen) -> None:
    ok(screen.world.api("POST", "/quotes", QUOTE, headers={"Idempotency-Key": "order-7-quote"}))
    screen.world.api("POST", "/quotes", {"type": "unknown"})
    onramp(screen.world, "order-7")
    page = screen.open("#/requests")
    rows = page.locator("[data-row]")
    expect(rows.filter(has_text="400")).to_contain_text(re.compile(r"[a-z]+_[a-z]+.* ms"))
    expect(rows.filter(has_text="order-7-quote")).to_contain_text("Idempotency key")
    confirmed = rows.filter(has_text="/confirm")
    expect(confirmed.get_by_role("link", name="order-7")).to_have_attribute("href", re.compile("#/resources/txn_"))
    expect(confirmed).to_contain_text("awaiting payment")
    confirmed.get_by_role("link").first.click()
    expect(screen.detail()).to_contain_text(re.compile(r"Took\s*[<0-9]+ m?s"))
    expect(screen.detail()).to_contain_text("created the onramp")
    expect(screen.detail()).to_contain_text("changed the ramp quote")


def test_filters_of_requests_are_in_the_address(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    screen.world.advance(by="10m")
    onramp(screen.world, "order-2")
    page = screen.open("#/requests")
    rows = page.locator("[data-row]")
    page.get_by_role("combobox", name="Operation").select_option("confirm_quote")
    expect(rows).to_have_count(2)
    page.get_by_label("Order or text").fill("order-2")
    expect(rows).to_have_count(1)
    page.get_by_label("Order or text").fill("")
    now = screen.world.control("GET", "/clock").body["now"]
    page.get_by_label("From (UTC)").fill(now[:19])
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("order-2")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(rows).to_have_count(1)
    page.get_by_label("To (UTC)").fill("2020-01-01T00:00:00")
    expect(page.get_by_text("No requests match these filters.")).to_be_visible()
    page.get_by_role("link", name="Clear the filters").click()
    expect(rows.nth(3)).to_be_visible()
    assert page.url.endswith("#/requests")


def test_the_last_second_of_a_filter_counts(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    now = screen.world.control("GET", "/clock").body["now"]
    page = screen.open(f"#/requests?until={now[:19]}&operation=confirm_quote")
    expect(page.locator("[data-row]")).to_have_count(1)


def test_an_id_in_json_leads_to_its_own_page(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    page = screen.open("#/events")
    page.locator("[data-row] a").first.click()
    body = screen.detail().get_by_role("region", name="Event")
    expect(body.get_by_role("link").first).to_have_attribute("href", re.compile("#/resources/"))
    expect(body.get_by_role("link", name=re.compile("^evt_"))).to_have_count(0)


def test_the_rest_of_the_panels_is_behind_more(screen: Screen) -> None:
    page = screen.open("#/overview")
    expect(page.get_by_role("heading", name="World")).to_be_visible()
    rail = page.get_by_role("navigation", name="Panels")
    expect(rail.get_by_role("link", name="Snapshots")).to_have_count(0)
    screen.button("More").click()
    rail.get_by_role("link", name="Snapshots").click()
    expect(page.get_by_role("heading", name="Snapshots of")).to_be_visible()
    page.reload()
    expect(rail.get_by_role("link", name="Recording")).to_be_visible()
    screen.button("Fewer").click()
    expect(rail.get_by_role("link", name="Recording")).to_have_count(0)
    expect(rail.get_by_role("link", name="Snapshots")).to_have_attribute("aria-current", "page")


def test_on_a_phone_more_is_in_reach_and_closes_after_a_choice(screen: Screen) -> None:
    screen.turn("light", PHONE)
    page = screen.open("#/requests")
    rail = page.get_by_role("navigation", name="Panels")
    expect(screen.button("More")).to_be_in_viewport(ratio=1)
    screen.button("More").click()
    rail.get_by_role("link", name="Recording").click()
    expect(page.get_by_role("heading", name="Recording")).to_be_visible()
    expect(rail.get_by_role("link", name="Snapshots")).to_have_count(0)


def test_a_copy_button_covers_no_text(screen: Screen) -> None:
    screen.world.api("POST", "/quotes", {"type": "long " * 60})
    page = screen.open("#/requests")
    page.locator("[data-row] a").first.click()
    covered = page.locator(".json").first.evaluate("""(box) => {
      const range = document.createRange();
      range.selectNodeContents(box.querySelector("pre"));
      const button = box.querySelector("button").getBoundingClientRect();
      return [...range.getClientRects()].filter((line) => line.right > button.left && line.top < button.bottom).length;
    }""")
    assert covered == 0


def test_only_the_page_scrolls_what_is_open(screen: Screen) -> None:
    for number in range(12):
        onramp(screen.world, f"order-{number}")
    page = screen.open("#/resources")
    page.get_by_role("link", name="order-0").click()
    expect(screen.state()).to_be_visible()
    inner = "(all) => all.map((one) => [one.scrollHeight - one.clientHeight, getComputedStyle(one).overflowY])"
    boxes = page.locator(".split-detail, .split-detail pre").evaluate_all(inner)
    assert [over for over, how in boxes if over > 1 and how != "visible"] == []


def test_every_cell_has_a_label_on_a_phone(screen: Screen) -> None:
    onramp(screen.world, "order-1")
    screen.turn("light", PHONE)
    page = screen.open("#/requests")
    expect(page.locator("[data-row]").first).to_be_visible()
    labels = page.locator("main td:not(.grow):not(:empty)").evaluate_all(
        "(cells) => cells.map((cell) => getComputedStyle(cell, '::before').content)"
    )
    assert labels
    assert "none" not in labels
