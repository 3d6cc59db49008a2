"""The dashboard: one page from which a person sees and steers the worlds of a running simulator.

It is a client of the control interface and of nothing else. The page itself holds no data and no secret, so it is
served to everybody; every call it makes is judged like any other, and it asks for the control token where one is set.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from simulator.control.operation import ControlCall, ControlOperation, Raw, any_text
from simulator.control.pages import HTML, HtmlPage, page_rows

PATH = "/dashboard"


@cache
def page() -> HtmlPage:
    """The page, its style and its script."""
    parts = files("simulator.dashboard") / "page"
    html, style, script = ((parts / f"dashboard.{kind}").read_bytes() for kind in ("html", "css", "js"))
    return HtmlPage(html, style, script)


async def dashboard(call: ControlCall) -> Raw[str]:
    return Raw(page().html)


DASHBOARD_ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "GET",
        PATH,
        "dashboard",
        "Seeing",
        "The dashboard",
        dashboard,
        open=True,
        query={"world": any_text("The world to show.")},
        media_type=HTML,
    ),
    *page_rows("dashboard", page),
)
