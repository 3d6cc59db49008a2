"""A browser for each worker, a server for each module, and for each test a page with a separate world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simulator.engine.server.config import Config
from tests.remote import Remote, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.tools.browser.pictures import Gallery
    from tests.tools.browser.screen import Screen

HERE = Path(__file__).parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Other runs do without Playwright, which comes with the extra `judges` and takes a while to import."""
    return None if config.option.markexpr == "browser" else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from tests.tools.browser.chromium import chromium

    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with running(Config(clock="manual")) as (address, _):
        yield address


@pytest.fixture
def screen(browser: Browser, autopilot_world: Remote) -> Iterator[Screen]:
    """A page on a fresh world with autopilot and test values, on which nothing may go wrong."""
    from tests.tools.browser.screen import WIDE, new_screen

    context = browser.new_context(
        viewport={"width": WIDE[0], "height": WIDE[1]}, locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=autopilot_world.origin)
    shown = new_screen(context, autopilot_world)
    yield shown
    context.close()
    assert shown.defects == []


@pytest.fixture(scope="session")
def gallery(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    from tests.tools.browser.pictures import Gallery

    return Gallery(browser, tmp_path_factory.mktemp("pictures"))
