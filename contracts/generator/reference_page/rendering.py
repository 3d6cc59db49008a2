"""The reference page as HTML, without any outside resource."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from contracts.generator.reference_page.contents import Page
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.text.json import Shown


def page(document: Shown, evidence: Shown) -> str:
    """The whole page as HTML; it names the usual address and the keys of the default world."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(ticks=ticks, plain=plain)
    told = Page(document, evidence)
    operations = told.operations()
    text = environment.get_template("reference.html.j2").render(
        page=told,
        info=document["info"],
        base=DEFAULT_URL,
        tags=[
            (tag, rows) for tag in document["tags"] if (rows := [row for row in operations if row.tag == tag["name"]])
        ],
        events=told.events(),
        envelope=told.envelope(),
        codes=told.codes(),
        everywhere=told.everywhere,
        of_lists=tuple(told.of_lists),
        page_fields=told.page_fields(),
        schemas=list(told.schemas()),
        assumptions=evidence["assumptions"],
    )
    head, script, tail = text.partition("<script>")
    return small(head) + script + re.sub(r"^\s*//.*\n", "", tail, flags=re.MULTILINE)


def small(html: str) -> str:
    """HTML without what it can do without: space between tags, ends of items and paragraphs, quotation marks."""
    html = re.sub(r">\n\s*<", "><", html).replace("</li>", "")
    html = re.sub(r"</p>(?=<(?:/div|/details|/section|/main|p|ul|li|/ul|details|h\d|div|section|pre|dl)\b)", "", html)
    return re.sub(r"<[a-z][^<>]*>", lambda tag: re.sub(r'="([\w#./-]+)"', r"=\1", tag[0]), html, flags=re.ASCII)


def ticks(text: str) -> Markup:
    """Prose in which `words between backticks` are code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(plain(text))))


def plain(text: str) -> Markup:
    """Text between tags: unlike in attributes, quotation marks may stand as they are."""
    return Markup(text.replace("&", "&amp;").replace("<", "&lt;"))
