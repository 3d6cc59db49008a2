"""The dashboard: one page from which a person sees and steers the worlds of a running simulator.

It is a client of the control interface and of nothing else. The page itself holds no data and no secret, so it is
served to everybody; every call it makes is judged like any other, and it asks for the control token where one is set.
The page is a small house of ES modules that a browser takes as they stand: nothing is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from starlette.responses import Response

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation, Raw, any_text, calls_under
from simulator.engine.control.pages import HTML
from simulator.engine.rows.error import ControlError
from simulator.kernel.dataclass import dataclass

PATH = "/dashboard"
operation = calls_under("Seeing")
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "LICENSE": "text/plain; charset=utf-8",
}


@dataclass(frozen=True)
class PageFile:
    """A file that the page is made of, as it is sent."""

    content: bytes
    media_type: str
    etag: str


@cache
def page() -> bytes:
    """The page itself, which names its style and its first module."""
    return (files("simulator.dashboard") / "page" / "index.html").read_bytes()


@cache
def page_files() -> Mapping[str, PageFile]:
    """Every other file of the page by its path below it, `js/main.js`. Nothing else is served."""
    return MappingProxyType(dict(sorted(_files_below(files("simulator.dashboard") / "page"))))


def _files_below(directory: Traversable, prefix: str = "") -> Iterator[tuple[str, PageFile]]:
    for entry in directory.iterdir():
        name = f"{prefix}{entry.name}"
        media_type = _TYPES.get(entry.name.rpartition(".")[2])
        if entry.is_dir():
            yield from _files_below(entry, f"{name}/")
        elif media_type is not None:
            content = entry.read_bytes()
            yield name, PageFile(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')


@operation(f"GET {PATH}", "The dashboard", open=True, query={"world": any_text("The world to show.")}, media_type=HTML)
async def dashboard(call: ControlCall) -> Raw[str]:
    return Raw(page())


async def page_file(call: ControlCall) -> Response:
    """A file of the page. A browser keeps it, and asks each time whether it is still the same."""
    name = "/".join(call.path.values())
    found = page_files().get(name)
    if found is None:
        raise ControlError(404, "not_found", f"The dashboard has no file {name[:100]!r}.")
    headers = {"etag": found.etag, "cache-control": "no-cache", "x-content-type-options": "nosniff"}
    if found.etag in re.split(r"\s*,\s*", call.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)


DASHBOARD_ROWS: tuple[ControlOperation, ...] = (
    *operation.rows,
    *(
        ControlOperation(
            "GET", f"{PATH}{below}", name, "Seeing", "A file of the dashboard", page_file, open=True, media_type="*/*"
        )
        for name, below in (
            ("dashboard_file", "/{folder}/{name}"),
            ("dashboard_panel", "/{folder}/{name}/{part}"),
        )
    ),
)
