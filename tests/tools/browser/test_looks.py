"""Each panel looks roughly like its committed picture. README.md explains how to renew the pictures."""

from __future__ import annotations

import httpx
import pytest

from tests.remote import Remote
from tests.tools.browser.pictures import READABLE_PIXELS, Gallery
from tests.tools.browser.screen import PHONE, WIDE, Scheme, Screen
from tests.tools.browser.stock import REJECTED, inbox, offramp, onramp, subscribe


@pytest.fixture(scope="module")
def autopilot_world(origin: str, http: httpx.Client) -> Remote:
    """The world of a small shop, identical in each run. Taking pictures does not change it."""
    world = Remote(origin, http).another(seed=1)
    subscribe(world)
    subscribe(world, "broken", "transaction.completed")
    world.call("PUT", inbox(world, "broken"), json={"respond": [500, 500, 500, 500, 500]})
    for number in range(4):
        onramp(world, f"order-{4000 + number}")
    for number in range(4):
        offramp(world, f"order-{4998 + number}", REJECTED if number == 2 else "+254722000000")
    world.advance(by="10m")
    onramp(world, "order-5002")
    world.act("set_network", network="celo", status="degraded")
    world.advance(by="20s")
    return world


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
    screen: Screen, gallery: Gallery, name: str, route: str, scheme: Scheme, size: tuple[int, int]
) -> None:
    screen.turn(scheme, size)
    screen.open(route)
    gallery.holds(screen.page, name)


def test_picture_of_the_readme_is_current(screen: Screen, gallery: Gallery) -> None:
    screen.turn("light", (1280, 900))
    screen.open("#/resources").get_by_role("link", name="order-5000").click()
    screen.settled()
    gallery.holds(screen.page, "refunded-order", READABLE_PIXELS)


def test_a_story_looks_as_it_did(screen: Screen, gallery: Gallery) -> None:
    screen.open("#/resources").get_by_role("link", name="order-5000").click()
    screen.settled()
    gallery.holds(screen.page, "story")
    screen.turn("light", PHONE)
    gallery.holds(screen.page, "story-phone")
