"""The dashboard: a page that shows and controls the worlds of a running simulator. It consists of ES modules without a
build step, contains no data or secrets, and uses only the control interface, with the control token if there is one.
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
    """A file of the page, ready to send."""

    content: bytes
    media_type: str
    etag: str


@cache
def page() -> bytes:
    """Return the HTML page, which loads its style and its first module."""
    return (files("simulator.dashboard") / "page" / "index.html").read_bytes()


@cache
def page_files() -> Mapping[str, PageFile]:
    """Return the files that the dashboard's HTML page loads, by path, such as `js/main.js`."""
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
    """A file of the page. A browser caches it and revalidates it each time."""
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
        for name, below in (("dashboard_file", "/{folder}/{name}"), ("dashboard_panel", "/{folder}/{name}/{part}"))
    ),
)
