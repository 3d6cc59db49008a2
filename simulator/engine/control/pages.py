"""HTML pages that are written as one document, and served with separate style sheet and script: the content security
policy forbids inline code, so that the browser does not run code that was injected into the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation, Raw
from simulator.kernel.dataclass import dataclass

HTML = "text/html; charset=utf-8"
_PLAIN_ORIGIN = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~-]+)*", re.ASCII)
_STYLE = re.compile(r"<style>\n?(.*?)</style>", re.DOTALL)
_SCRIPT = re.compile(r"<script>\n?(.*?)</script>", re.DOTALL)


def here(call: ControlCall, document: bytes) -> bytes:
    """Replace the default server address in a document with this call's address, including the world's base path."""
    address = f"{call.origin}{call.below}"
    if _PLAIN_ORIGIN.fullmatch(address) is None:
        return document
    return document.replace(DEFAULT_URL.encode(), address.encode())


@dataclass(frozen=True)
class HtmlPage:
    """A page with links to a style sheet and a script, and the contents of these two files."""

    html: bytes
    style: bytes
    script: bytes


def apart(document: str, name: str) -> HtmlPage:
    """Move the style and script of a document to separate files: `NAME.css` and `NAME.js` in the same folder."""
    style, script = _STYLE.search(document), _SCRIPT.search(document)
    html = _STYLE.sub(f'<link rel="stylesheet" href="{name}.css">', document, count=1)
    html = _SCRIPT.sub(f'<script src="{name}.js" defer></script>', html, count=1)
    return HtmlPage(html.encode(), style[1].encode() if style else b"", script[1].encode() if script else b"")


def page_rows(name: str, make: Callable[[], HtmlPage]) -> tuple[ControlOperation, ...]:
    """Return the operations that serve a page's style sheet and script, which contain no world data."""

    def row(part: str, ending: str, kind: str) -> ControlOperation:
        async def content(call: ControlCall) -> Raw[str]:
            return Raw(getattr(make(), part))

        path, summary = f"/{name}.{ending}", f"The {part} of a page"
        media_type = f"text/{kind}; charset=utf-8"
        return ControlOperation(
            "GET", path, f"{name}_{part}", "Contract", summary, content, open=True, media_type=media_type
        )

    return row("style", "css", "css"), row("script", "js", "javascript")
