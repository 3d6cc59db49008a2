"""Pictures of the dashboard, compared loosely with the committed ones.

A picture is saved in a small size (a few KB) and compared as a coarse grid of colours. The comparison detects elements
in the wrong place, but not how a machine draws its fonts. `RENEW_PICTURES=1` writes the pictures again.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent / "pictures"
PIXELS = 60_000
READABLE_PIXELS = 1_200_000
"""The size of a picture that people look at, in the README."""
CELL = 10
MOST_DIFFERENCE = 0.04
"""Allowed difference of a cell, as a fraction of the range of a colour."""
MOST_CELLS = 0.15
"""Allowed fraction of cells that differ by more than that. Other fonts change a tenth of the cells, a missing list a
fifth and more, a page without its rail a quarter, a page without styles a third."""

# The browser can already decode, shrink and compare pictures: no library is needed for it.
_SHRINK, _COMPARE = ((Path(__file__).parent / name).read_text("utf-8") for name in ("shrink.js", "compare.js"))


def _url(picture: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


class Gallery:
    """The committed pictures, and a browser page that compares others with them."""

    def __init__(self, browser: Browser, seen: Path) -> None:
        self._bench = browser.new_context().new_page()
        self._seen = seen

    def _shrunk(self, picture: bytes, pixels: int, kind: str = "png") -> bytes:
        return base64.b64decode(self._bench.evaluate(_SHRINK, [_url(picture, kind), pixels]))

    def holds(self, page: Page, name: str, pixels: int = PIXELS) -> None:
        """Assert that the page looks like the committed picture of this name."""
        now = self._shrunk(page.screenshot(animations="disabled", caret="hide"), pixels)
        kept = HERE / f"{name}.webp"
        if os.environ.get("RENEW_PICTURES"):
            HERE.mkdir(exist_ok=True)
            kept.write_bytes(now)
            return
        beside = self._seen / f"{name}.webp"
        beside.write_bytes(now)
        renew = "look at both, and if the new one is right: RENEW_PICTURES=1 make browser PYTEST_ARGS='-k looks'"
        assert kept.exists(), f"{kept} is missing. The page now: {beside}. {renew}"
        pair = [kept.read_bytes(), now]
        if pixels != PIXELS:
            pair = [self._shrunk(picture, PIXELS, "webp") for picture in pair]
        urls = [_url(picture, "webp") for picture in pair]
        found = self._bench.evaluate(_COMPARE, [*urls, CELL, MOST_DIFFERENCE])
        assert found["part"] <= MOST_CELLS, (
            f"{found['part']:.0%} of {name} ({found['size']}) look different: {kept} is now {beside}; {renew}"
        )
