"""Untrusted strings are never executed: every panel shows them unchanged."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.remote import Remote
from tests.service.http.busy import ok
from tests.support import CELO
from tests.tools.browser.screen import Screen
from tests.tools.browser.stock import OFFRAMP, inbox, onramp

MARK = "window.ran=1"
IMAGE = f"<img src=x onerror={MARK}>"
SCRIPT = f"</code></script><script>{MARK}</script>"
LINK = f"javascript:{MARK}"


def _hostile(world: Remote) -> Any:
    """Everything in a world that somebody else names, named by somebody who means harm."""
    scenario = {"name": "harm", "description": IMAGE, "rules": []}
    ok(world.control("POST", "/scenarios", scenario))
    hook = {"url": f"{inbox(world, 'shop')}?{MARK}", "events": ["*"], "description": SCRIPT}
    ok(world.api("POST", "/webhooks", hook))
    number = {"phone_number": "+254722000001", "provider": "mpesa"}
    person = {"type": "phone_number", "name": SCRIPT, "country": "KE", "fiat_currency": "KES", "phone_number": number}
    beneficiary = ok(world.api("POST", "/beneficiaries", person))["id"]
    quote = ok(world.api("POST", "/quotes", OFFRAMP))
    body = {"beneficiary_id": beneficiary, "refund_address": CELO, "reference": IMAGE}
    order = ok(world.api("POST", f"/quotes/{quote['id']}/confirm", body))
    world.api("POST", f"/{IMAGE}", {SCRIPT: LINK})
    ok(world.control("POST", "/snapshots", {"name": IMAGE}))
    world.call("POST", inbox(world, "shop"), json={"text": SCRIPT}, headers={"X-Text": IMAGE})
    world.advance(by="1h")
    return order


def test_no_stored_text_runs_on_any_panel(screen: Screen) -> None:
    order = _hostile(screen.world)
    page = screen.open()
    for route in screen.panels():
        screen.go(route)
        first = page.locator("main [data-row] a").first
        if first.is_visible():
            first.click()
            screen.settled()
        assert page.evaluate("() => window.ran") is None, route
        assert page.locator("main img, main script, main a[href^='javascript']").count() == 0, route
    page.goto(f"{page.url.split('#')[0]}#/resources/{order['id']}")
    expect(screen.detail().get_by_role("heading").first).to_contain_text(IMAGE)
    assert page.evaluate("() => window.ran") is None


def test_a_text_that_turns_the_direction_of_writing_turns_nothing_else(screen: Screen) -> None:
    order = onramp(screen.world, "\u202eorder-1")
    page = screen.open(f"#/resources/{order['id']}")
    named, status = screen.detail().locator("h3 bdi").first.bounding_box(), screen.state().bounding_box()
    assert named is not None
    assert status is not None
    assert named["x"] + named["width"] <= status["x"]
    expect(page.get_by_role("region", name="Resource")).to_contain_text('"\\u202eorder-1"')


def test_no_text_of_an_address_runs(screen: Screen) -> None:
    for route in (
        f"#/resources/{IMAGE}",
        f"#/{IMAGE}",
        f"#{SCRIPT}",
        f"#/requests?path={IMAGE}",
        "#/%",
        "#/resources/%zz",
    ):
        screen.open(route)
        assert screen.page.evaluate("() => window.ran") is None, route
        expect(screen.page.locator("main")).not_to_be_empty()
