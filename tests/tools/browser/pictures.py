"""Pictures of the dashboard, compared loosely with those that are committed.

A picture is kept shrunk (a few KB), and compared as a coarse grid of colours: what is looked at is whether
things are where they were, not how a machine's fonts draw them. `RENEW_PICTURES=1` writes them anew.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent / "pictures"
PIXELS = 60_000
CELL = 10
MOST_DIFFERENCE = 0.04
"""How much a cell may differ, as a part of the whole range of a colour."""
MOST_CELLS = 0.15
"""Which part of all cells may differ by more than that. Other fonts made a tenth differ, a list that was not there a
fifth and more, a page without its rail a quarter, one without any style a third."""

# The browser can already decode, shrink and compare pictures: no library is needed for it.
_SHRINK, _COMPARE = ((Path(__file__).parent / name).read_text("utf-8") for name in ("shrink.js", "compare.js"))


def _url(picture: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


class Gallery:
    """The committed pictures, and a page on which others are compared with them."""

    def __init__(self, browser: Browser, seen: Path) -> None:
        self._bench = browser.new_context().new_page()
        self._seen = seen

    def _shrunk(self, picture: bytes) -> bytes:
        return base64.b64decode(self._bench.evaluate(_SHRINK, [_url(picture, "png"), PIXELS]))

    def holds(self, page: Page, name: str) -> None:
        """The page looks as in the committed picture of this name."""
        now = self._shrunk(page.screenshot(animations="disabled", caret="hide"))
        kept = HERE / f"{name}.webp"
        if os.environ.get("RENEW_PICTURES"):
            HERE.mkdir(exist_ok=True)
            kept.write_bytes(now)
            return
        beside = self._seen / f"{name}.webp"
        beside.write_bytes(now)
        renew = "look at both, and if the new one is right: RENEW_PICTURES=1 make browser PYTEST_ARGS='-k looks'"
        assert kept.exists(), f"there is no picture {kept}; the page now: {beside}; {renew}"
        found = self._bench.evaluate(
            _COMPARE, [_url(kept.read_bytes(), "webp"), _url(now, "webp"), CELL, MOST_DIFFERENCE]
        )
        assert found["part"] <= MOST_CELLS, (
            f"{found['part']:.0%} of {name} ({found['size']}) look different: {kept} is now {beside}; {renew}"
        )
