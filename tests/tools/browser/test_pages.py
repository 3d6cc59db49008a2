"""The other pages of the server have no errors either."""

from __future__ import annotations

import pytest

from tests.tools.browser.axe import COLOURS, violations
from tests.tools.browser.screen import Screen


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["coverage.html", "reference.html"])
def test_a_page_has_no_error_and_everybody_can_use_it(screen: Screen, name: str, scheme: str) -> None:
    screen.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    screen.page.goto(f"{screen.world.origin}/_simulator/{name}?world={screen.world.world['id']}")
    # What does not differ between light and dark is looked at once.
    assert violations(screen.page, COLOURS if scheme == "dark" else None) == []
