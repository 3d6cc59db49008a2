"""`rampsim docs`: shows the documentation in a terminal, without a server."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from simulator.cli.output import Exit, fail, say, say_page
from simulator.docs import library, search
from simulator.engine.text.citations import DOCS_BASE

_WIDTH = 100


@click.command()
@click.argument("terms", nargs=-1, metavar="[TERM]...")
def docs(terms: tuple[str, ...]) -> None:
    """Read the documentation: a page, a rule, or a search.

    Without TERM, it lists all pages. A running server has the same pages (`rampsim open --docs`).

    \b
    rampsim docs                      # all pages
    rampsim docs how-to/time          # one page, as Markdown
    rampsim docs quotes-expiry        # one rule, assumption (H14) or error code (quote_expired)
    rampsim docs idempotency key      # a search
    """
    words = " ".join(terms)
    page = library.pages_by_path().get(words.removesuffix(".md").removeprefix(f"{DOCS_BASE}/"))
    if not terms:
        _show_contents()
    elif page is not None:
        say_page(page.source) if sys.stdout.isatty() else say(page.source, nl=False)
    elif passages := list(search.passage(words)):
        _show((f"{one.path}#{found.anchor}", one.title, found.heading, found.text) for one, found in passages)
    elif hits := search.search(words):
        _show((hit["path"], hit["title"], hit["heading"], hit["text"]) for hit in hits)
    else:
        fail(f"no page of the documentation contains {words!r}; `rampsim docs` lists all pages", code=Exit.REFUSED)


def _show_contents() -> None:
    for section in library.sections():
        say(f"{section.title}: {section.says}\n")
        wide = max((len(page.path) for page in section.pages), default=0)
        for page in section.pages:
            say(f"  {page.path:{wide}}  {page.says}")
        say()
    say("rampsim docs PAGE shows a page, rampsim docs WORDS searches all pages.")


def _show(places: Iterable[tuple[str, str, str, str]]) -> None:
    for number, (path, title, heading, text) in enumerate(places):
        if number:
            say()
        say(heading if heading == title else f"{heading}  ({title})", bold=True)
        say(click.wrap_text(text, _WIDTH, "  ", "  ", preserve_paragraphs=True))
        say(f"  {DOCS_BASE}/{path}")
