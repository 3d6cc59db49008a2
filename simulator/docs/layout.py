"""The layout around a page: navigation, table of contents, previous and next page."""

from __future__ import annotations

from functools import cache

import jinja2

from simulator.docs import library, markdown
from simulator.docs.library import INDEX, Page


@cache
def whole(path: str) -> bytes:
    """Return a documentation page as HTML. Raises KeyError if there is no such page."""
    return laid_out(path)


def laid_out(path: str, source: str = "") -> bytes:
    """Return a page as HTML. `source` replaces the content of its file."""
    page = library.pages_by_path()[path]
    rendered = markdown.render(page, source)
    order = list(library.all_pages())
    place = [one.path for one in order].index(path)
    return (
        _template()
        .render(
            page=page,
            title=rendered.title,
            body=rendered.html,
            headings=[one for one in rendered.headings if one.level <= 3],
            sections=library.sections(),
            before=order[place - 1] if place else None,
            after=order[place + 1] if place + 1 < len(order) else None,
            root="../" if "/" in path else "./",
            link=_link,
        )
        .encode()
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("simulator.docs", "page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html.j2")


def _link(page: Page) -> str:
    """Return a page's path relative to the root of the documentation."""
    return "" if page.path == INDEX else page.path
