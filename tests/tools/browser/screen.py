"""The dashboard as a user sees it: one page with one world, and any errors in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

from tests.remote import Remote

WIDE = (1400, 900)
PHONE = (420, 860)
Scheme = Literal["light", "dark"]


@dataclass
class Screen:
    """One page of a context of its own.

    `defects` is what no visit may leave behind: errors of scripts, anything on the console, what the content security
    policy refused, requests that leave the server.
    """

    page: Page
    world: Remote
    defects: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(20_000)
        expect.set_options(timeout=20_000)
        context = self.page.context
        context.on("weberror", lambda error: self.defects.append(f"script: {error.error}"))
        context.on("console", self._console)
        context.on("request", self._request)
        context.on("dialog", lambda dialog: self._unexpected(dialog))

    def _unexpected(self, dialog: Any) -> None:
        self.defects.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        place = urlsplit(message.location.get("url", ""))
        # The browser itself notes every refusal. What a control call refuses is shown on the page, and is no defect.
        is_refusal = message.text.startswith("Failed to load resource: the server responded with a status of 4")
        if is_refusal and not place.path.endswith((".js", ".css", ".html")):
            return
        self.defects.append(f"console: {message.text} ({place.path})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.world.origin + "/", "data:", "blob:")):
            self.defects.append(f"it asked {request.url}")

    def open(self, route: str = "") -> Page:
        """Show a route of the dashboard, as `#/requests`, and wait until what it shows has been read."""
        self.page.goto(f"{self.world.origin}/_simulator/dashboard?world={self.world.world['id']}{route}")
        assert self.defects == []
        self.settled()
        return self.page

    def turn(self, scheme: Scheme, size: tuple[int, int]) -> None:
        """Light or dark, and how wide and high in pixels."""
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def go(self, route: str) -> None:
        """To another panel of the page that is open, as its address."""
        self.page.evaluate("(route) => { location.hash = route; }", route)
        here = self.page.locator("nav [aria-current=page]")
        expect(here).to_have_attribute("href", route)
        self.settled()

    def panels(self) -> list[str]:
        """Return the addresses of all panels. The documentation is not a panel."""
        self.button("More").click()
        links = self.page.get_by_role("navigation", name="Panels").get_by_role("link")
        addresses = [str(link.get_attribute("href")) for link in links.all()]
        return [address for address in addresses if address.startswith("#")]

    def settled(self) -> None:
        """Wait until nothing on the page is being read."""
        expect(self.page.locator("main")).to_be_visible()
        expect(self.page.locator(".connection")).to_have_attribute("data-state", "live")
        expect(self.page.locator(".loading, [aria-busy=true]")).to_have_count(0)

    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def detail(self) -> Locator:
        """The detail next to a list."""
        return self.page.get_by_role("article")

    def attempts(self, event: str) -> Locator:
        """The rows of the delivery attempts of the events of this type."""
        return self.page.get_by_role("rowgroup").filter(has_text=event).locator("[data-row]")

    def state(self) -> Locator:
        """The status in the heading of what is open."""
        return self.detail().get_by_role("heading").first.locator(".status")

    def said(self, text: str) -> Locator:
        """A message that tells what a button did."""
        return self.page.locator(".toast", has_text=text)

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page.locator("body")).get_by_role("button", name=name, exact=True)


def new_screen(context: BrowserContext, world: Remote) -> Screen:
    return Screen(context.new_page(), world)
