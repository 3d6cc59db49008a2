"""Everybody can use every panel: axe-core finds nothing, light and dark, on a wide screen and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.service.http.busy import busy_morning
from tests.tools.browser.axe import COLOURS, violations
from tests.tools.browser.screen import PHONE, WIDE, Scheme, Screen
from tests.tools.browser.stock import inbox


@pytest.fixture
def busy(screen: Screen) -> Screen:
    """A page on a world that has a row of every sort."""
    busy_morning(screen.world, inbox(screen.world, "broken"), inbox(screen.world, "shop"))
    return screen


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_panel_shuts_anybody_out(busy: Screen, scheme: Scheme, size: tuple[int, int]) -> None:
    busy.turn(scheme, size)
    busy.open()
    # What does not differ between light and dark is looked at once.
    only = COLOURS if scheme == "dark" else None
    found = {}
    for route in busy.panels():
        busy.go(route)
        found[route] = violations(busy.page, only)
        first = busy.page.locator("main [data-row] a").first
        if first.is_visible():
            first.click()
            busy.settled()
            found[f"{route}, one open"] = violations(busy.page, only)
    assert len(found) > 5
    assert "\n".join(f"{route}: {line}" for route, lines in found.items() for line in lines) == ""


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_no_panel_is_wider_than_its_screen(busy: Screen, size: tuple[int, int]) -> None:
    busy.turn("light", size)
    busy.open()
    wide = {}
    for route in busy.panels():
        busy.go(route)
        wide[route] = busy.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert {route: more for route, more in wide.items() if more > 0} == {}


def test_on_a_phone_no_name_of_a_world_pushes_what_stands_beside_it_into_a_line_of_its_own(screen: Screen) -> None:
    other = f"{screen.world.world['id']}-{'m' * 40}"
    assert screen.world.control("POST", "/worlds", {"id": other}).status == 201
    screen.turn("light", PHONE)
    page = screen.open()
    expect(page.get_by_role("combobox", name="World", exact=True)).to_contain_text(other)
    middles = page.locator(".bar h1, .bar .world, .bar .icon").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).filter((box) => box.width)"
        ".map((box) => Math.round((box.top + box.bottom) / 20))"
    )
    screen.world.control("DELETE", f"/worlds/{other}")
    assert len(middles) >= 4
    assert len(set(middles)) == 1, middles
