"""Everybody can use every panel: axe-core finds nothing, light and dark, on a wide screen and on a phone."""

from __future__ import annotations

import pytest

from tests.browser.axe import COLOURS, violations
from tests.browser.screen import PHONE, WIDE, Scheme, Screen
from tests.browser.stock import inbox
from tests.http.busy import busy_morning


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
