"""Forms that depend on the chosen values, and files whose text does not change."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.service.http.busy import ok
from tests.tools.browser.screen import Screen


def test_the_effects_of_a_fault_are_form_fields(screen: Screen) -> None:
    page = screen.open("#/faults/new")
    page.locator("[name='act.action']").select_option("set_balance")
    page.locator("[name='act.parameters.symbol']").fill("USDC")
    page.locator("[name='act.parameters.network']").fill("celo")
    page.locator("[name='act.parameters.amount']").fill("1")
    screen.button("Add fault").click()
    expect(screen.detail()).to_contain_text("performs set balance first")
    fault = ok(screen.world.control("GET", "/faults"))["data"][-1]
    assert fault["act"] == {
        "action": "set_balance",
        "parameters": {"symbol": "USDC", "network": "celo", "amount": "1"},
    }


def test_a_copy_of_a_scenario_keeps_its_comments(screen: Screen) -> None:
    page = screen.open("#/scenarios/autopilot")
    written = ok(screen.world.control("GET", "/scenarios/autopilot"))["text"]
    page.get_by_role("link", name="Edit a copy").click()
    text = page.get_by_label("YAML or JSON")
    expect(text).to_have_value(written.replace("name: autopilot", "name: autopilot-copy", 1))
    screen.button("Upload only").click()
    expect(screen.detail().get_by_role("heading", name="autopilot-copy")).to_be_visible()
