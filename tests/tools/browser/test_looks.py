"""Each panel looks as in its committed picture, roughly; README.md says how they are renewed."""

from __future__ import annotations

import pytest

from tests.tools.browser.pictures import Gallery
from tests.tools.browser.screen import PHONE, WIDE, Scheme, Screen
from tests.tools.browser.stock import REJECTED, inbox, offramp, onramp, subscribe


@pytest.fixture
def shop(screen: Screen) -> Screen:
    """A page on the world of a small shop, in which every run has the same bytes."""
    subscribe(screen.world)
    subscribe(screen.world, "broken", "transaction.completed")
    screen.world.call("PUT", inbox(screen.world, "broken"), json={"respond": [500, 500, 500, 500, 500]})
    for number in range(4):
        onramp(screen.world, f"order-{4000 + number}")
    for number in range(4):
        offramp(screen.world, f"order-{4998 + number}", REJECTED if number == 2 else "+254722000000")
    screen.world.advance(by="10m")
    onramp(screen.world, "order-5002")
    screen.world.act("set_network", network="celo", status="degraded")
    screen.world.advance(by="20s")
    return screen


PICTURES = [
    ("overview", "#/", "light", WIDE),
    ("resources", "#/resources", "light", WIDE),
    ("resources-phone", "#/resources", "dark", PHONE),
    ("requests", "#/requests", "dark", WIDE),
    ("deliveries", "#/deliveries", "light", WIDE),
    ("balances", "#/balances", "dark", WIDE),
    ("clock", "#/clock", "light", WIDE),
    ("fault", "#/faults/new", "light", WIDE),
    ("settings", "#/settings", "dark", WIDE),
]


@pytest.mark.parametrize(("name", "route", "scheme", "size"), PICTURES, ids=[row[0] for row in PICTURES])
def test_a_panel_looks_as_it_did(
    shop: Screen, gallery: Gallery, name: str, route: str, scheme: Scheme, size: tuple[int, int]
) -> None:
    shop.turn(scheme, size)
    shop.open(route)
    gallery.holds(shop.page, name)


def test_a_story_looks_as_it_did(shop: Screen, gallery: Gallery) -> None:
    shop.open("#/resources").get_by_role("link", name="order-5000").click()
    shop.settled()
    gallery.holds(shop.page, "story")
    shop.turn("light", PHONE)
    gallery.holds(shop.page, "story-phone")
