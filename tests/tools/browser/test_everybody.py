"""Every panel is accessible: axe-core finds nothing, in light and dark, on a wide screen and on a phone."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from tests.remote import Remote
from tests.service.http.busy import busy_morning
from tests.tools.browser.axe import COLOURS, violations
from tests.tools.browser.screen import PHONE, WIDE, Scheme, Screen
from tests.tools.browser.stock import inbox


@pytest.fixture(scope="module")
def autopilot_world(origin: str, http: httpx.Client) -> Remote:
    """A world that has a row of every sort; what is only looked at changes nothing in it."""
    world = Remote(origin, http).another(seed=1)
    busy_morning(world, inbox(world, "broken"), inbox(world, "shop"))
    return world


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_panel_is_accessible_and_fits_its_screen(screen: Screen, scheme: Scheme, size: tuple[int, int]) -> None:
    screen.turn(scheme, size)
    screen.open()
    # What does not differ between light and dark is looked at once.
    only = COLOURS if scheme == "dark" else None
    found, wide = {}, {}
    for route in screen.panels():
        screen.go(route)
        wide[route] = screen.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        found[route] = violations(screen.page, only)
        first = screen.page.locator("main [data-row] a").first
        if first.is_visible():
            first.click()
            screen.settled()
            found[f"{route}, one open"] = violations(screen.page, only)
    assert len(found) > 5
    assert "\n".join(f"{route}: {line}" for route, lines in found.items() for line in lines) == ""
    assert {route: more for route, more in wide.items() if more > 0} == {}


def test_a_long_world_name_breaks_no_line_on_a_phone(screen: Screen) -> None:
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
