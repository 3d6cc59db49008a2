"""The documentation in a running server. No token is required.

Only the assumptions page contains data from a world: which assumptions were observed. The caller must have access.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from starlette.responses import RedirectResponse, Response

from simulator.docs import layout, library, search, standings
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import ControlOperation, Handler, Query, Raw, any_text
from simulator.engine.control.pages import HTML, here
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import JsonObject, dumps

_PATH = "/docs"
_ASSETS = Path(__file__).parent / "page"
_RECIPES = Path(__file__).parent / "recipes"
_QUERY: Query = {"q": any_text("Words or prefixes.")}
_TEXT = "text/plain; charset=utf-8"
_HEADERS = {"x-content-type-options": "nosniff"}
MOST_CHARACTERS = 200
"""The longest search query."""


async def home(call: ControlCall) -> Response:
    """Redirect to the index with a trailing slash. Relative links on the index need the slash."""
    return RedirectResponse("docs/")


async def index(call: ControlCall) -> Raw[str]:
    return await _page(call, library.INDEX)


async def index_source(call: ControlCall) -> Response:
    return _source(call, library.INDEX)


async def page(call: ControlCall) -> Raw[str] | Response:
    """A documentation page, or its Markdown source if the path ends with `.md`."""
    path = f"{call.path['section']}/{call.path['page']}"
    name = path.removesuffix(".md")
    return await _page(call, path) if name == path else _source(call, name)


def _source(call: ControlCall, path: str) -> Response:
    found = library.pages_by_path().get(path)
    if found is None:
        raise _nothing(f"{path}.md")
    source = here(call, (_own(call, path) or found.source).encode())
    return Response(source, headers=_HEADERS, media_type="text/markdown; charset=utf-8")


async def recipe(call: ControlCall) -> Response:
    """A file from a recipe."""
    name = "/".join(call.path.values())
    file = _recipe_files().get(name)
    if file is None:
        raise _nothing(f"recipes/{name}")
    return Response(file.read_bytes(), headers=_HEADERS, media_type=_TEXT)


@cache
def _recipe_files() -> Mapping[str, Path]:
    """Return the recipe files by path. No other files are served."""
    return {
        file.relative_to(_RECIPES).as_posix(): file
        for file in sorted(_RECIPES.glob("*/**/*"))
        if file.is_file() and "__pycache__" not in file.parts
    }


async def found(call: ControlCall) -> Raw[JsonObject]:
    """The documentation passages that contain the words in `q`, best first."""
    words = call.query.get("q", "")
    if len(words) > MOST_CHARACTERS:
        raise invalid_parameter("q", f"it must have at most {MOST_CHARACTERS} characters")
    hits = await asyncio.to_thread(search.search, words)
    return Raw(dumps({"data": hits}))


async def style(call: ControlCall) -> Raw[str]:
    return Raw((_ASSETS / "docs.css").read_bytes())


async def script(call: ControlCall) -> Raw[str]:
    return Raw((_ASSETS / "docs.js").read_bytes())


async def _page(call: ControlCall, path: str) -> Raw[str]:
    if path not in library.pages_by_path():
        raise _nothing(path)
    own = _own(call, path)
    html = await asyncio.to_thread(layout.laid_out, path, own) if own else await asyncio.to_thread(layout.whole, path)
    return Raw(here(call, html))


def _own(call: ControlCall, path: str) -> str:
    """Return the source of a page for the caller's world, or "" if it is the same for all worlds."""
    notes = standings.standings_of(call) if path == standings.PAGE else {}
    return standings.with_standings(library.pages_by_path()[path].source, notes) if notes else ""


def _nothing(path: str) -> ApiError:
    return ApiError(
        "not_found", f"There is no page {path[:100]!r} in the documentation; /_simulator{_PATH}/ lists all pages."
    )


def _row(
    path: str, name: str, summary: str, handler: Handler, kind: str = HTML, query: Query | None = None
) -> ControlOperation:
    return ControlOperation(
        "GET", f"{_PATH}{path}", name, "Contract", summary, handler, open=True, query=query or {}, media_type=kind,
        shows_keys=True,
    )  # fmt: skip


DOCS_ROWS: tuple[ControlOperation, ...] = (
    _row("", "docs", "The documentation", home),
    _row("/", "docs_index", "The documentation", index),
    _row("/index.md", "docs_index_source", "Its source", index_source, "text/markdown; charset=utf-8"),
    _row("/search", "docs_search", "Search in the documentation", found, "application/json", _QUERY),
    _row("/docs.css", "docs_style", "The style of a page", style, "text/css; charset=utf-8"),
    _row("/docs.js", "docs_script", "The script of a page", script, "text/javascript; charset=utf-8"),
    _row("/{section}/{page}", "docs_page", "A page of the documentation", page),
    *(
        _row(f"/recipes/{{name}}/{below}", f"docs_recipe_{depth}", "A file of a recipe", recipe, _TEXT)
        for depth, below in enumerate(("{part0}", "{part0}/{part1}", "{part0}/{part1}/{part2}"), 1)
    ),
)
"""The pages contain only the well-known keys of the world `default`."""
