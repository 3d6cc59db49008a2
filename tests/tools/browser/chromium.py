"""The browser for the tests: Debian's Chromium, controlled with Playwright, which installs no browser itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

LACKING = "Chromium is not installed: `apt-get install --no-install-recommends chromium`"
# Nothing but the server under test is asked for anything, and the machine needs no graphics and no user of its own.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def require() -> str:
    """Where it is; without it a test is skipped, and fails where NEEDS_BROWSER is set, as CI does."""
    place = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if place is None:
        (pytest.fail if os.environ.get("NEEDS_BROWSER") else pytest.skip)(LACKING)
    return place


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for as long as it lasts."""
    place = require()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
