"""The documentation in a browser: accessible pages, search with the keyboard, and copy buttons."""

from __future__ import annotations

import pytest

from tests.tools.browser.axe import COLOURS, violations
from tests.tools.browser.screen import Screen


def read(screen: Screen, path: str) -> None:
    screen.page.goto(f"{screen.world.origin}/_simulator/docs/{path}")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 420)])
@pytest.mark.parametrize("path", ["", "tutorial/first-onramp", "reference/control", "reference/rules"])
def test_everybody_can_read_it_and_it_fits(screen: Screen, path: str, scheme: str, width: int) -> None:
    screen.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    screen.page.set_viewport_size({"width": width, "height": 900})
    read(screen, path)
    # What differs neither between light and dark nor by how wide it is is looked at once.
    assert violations(screen.page, (*COLOURS, "scrollable-region-focusable") if scheme == "dark" else None) == []
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width


SHORT_AND_BROKEN = """() => [...document.querySelectorAll("td code")]
    .filter((one) => one.textContent.length < 30 && !/[\\s-]/.test(one.textContent) && one.getClientRects().length > 1)
    .map((one) => one.textContent)"""


@pytest.mark.parametrize("path", ["reference/settings", "reference/errors", "reference/commands"])
def test_no_name_in_a_table_is_broken_on_a_phone(screen: Screen, path: str) -> None:
    screen.page.set_viewport_size({"width": 420, "height": 800})
    read(screen, path)
    assert screen.page.evaluate(SHORT_AND_BROKEN) == []
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= 420


def test_a_search_is_made_and_followed_by_the_keyboard(screen: Screen) -> None:
    read(screen, "")
    screen.page.keyboard.press("/")
    screen.page.keyboard.type("quotes-expiry")
    screen.page.get_by_role("option", name="quotes-expiry").first.wait_for()
    assert violations(screen.page) == []
    screen.page.keyboard.press("Enter")
    screen.page.wait_for_url("**/docs/reference/rules#quotes-expiry")


def test_a_search_without_hits_says_so_and_escape_closes_it(screen: Screen) -> None:
    read(screen, "reference/rules")
    screen.page.keyboard.press("/")
    screen.page.keyboard.type("xyzzyq")
    screen.page.get_by_text("Nothing has these words.").wait_for()
    screen.page.keyboard.press("Escape")
    assert not screen.page.get_by_text("Nothing has these words.").is_visible()


def test_code_is_copied_unchanged(screen: Screen) -> None:
    read(screen, "tutorial/first-onramp")
    screen.page.get_by_role("button", name="Copy").first.click()
    screen.page.get_by_role("button", name="Copied").wait_for()
    copied = screen.page.evaluate("navigator.clipboard.readText()")
    assert screen.world.origin in copied
    assert copied == screen.page.locator("pre code").first.text_content()


def test_the_pages_fold_on_a_phone(screen: Screen) -> None:
    screen.page.set_viewport_size({"width": 420, "height": 800})
    read(screen, "reference/rules")
    link = screen.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Errors", exact=True)
    assert not link.is_visible()
    screen.page.get_by_role("button", name="All pages").click()
    link.click()
    screen.page.wait_for_url("**/docs/reference/errors")


COLORED = """async () => {
  const source = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  const texts = (page) => [...page.querySelectorAll("pre > code")].map((code) => code.textContent);
  const colors = {};
  for (const span of document.querySelectorAll("pre > code > span")) {
    const language = span.parentElement.className.replace("language-", "");
    (colors[language] ??= {})[span.className] ??= span.textContent;
  }
  return [JSON.stringify(texts(source)) === JSON.stringify(texts(document)), colors];
}"""


def test_code_is_colored_and_its_text_stays_the_same(screen: Screen) -> None:
    found: dict[str, dict[str, str]] = {}
    for path in ("how-to/ci", "how-to/in-your-tests", "reference/verifiers", "how-to/failures", "reference/webhooks"):
        read(screen, path)
        same, colors = screen.page.evaluate(COLORED)
        assert same, path
        found = {language: {**colors.get(language, {}), **found.get(language, {})} for language in {*found, *colors}}
    assert found["http"]["word"] == "POST"
    assert found["json"]["key"].startswith('"')
    assert {"key", "string"} <= set(found["json"])
    assert "number" in found["go"]
    assert {"word", "string"} <= set(found["python"])
    assert found["yaml"]["key"] == "name"
    assert "key" in found["bash"]
    assert {"java", "go", "php", "ruby", "javascript"} <= set(found)
