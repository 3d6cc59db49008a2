"""Full-text search with SQLite. The index is created in memory on the first search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import cache

from typing_extensions import TypedDict

from simulator.docs.library import Page, all_pages
from simulator.docs.markdown import Passage, render

MOST = 12
_WEIGHTS = {
    "tutorial": 1.5,
    "how-to": 1.5,
    "reference/rules": 0.7,
    "reference/errors": 0.7,
    "reference/assumptions": 0.6,
}
"""The weight of results by path prefix. How-to pages come first, because most users search for instructions."""
_WORD = re.compile(r"\w+")
_SMALL = set(
    re.findall(
        _WORD,
        "a an and are be between by can do does for from how i in is it its long many much my of often on or that the "
        "this to was with",
    )
)
"""Stop words. `where`, `when` and `what` are not stop words, because they are names in this documentation."""


class Hit(TypedDict):
    """One result. `path` is, for example, `reference/rules#quotes-expiry`. `text` is the context of the match."""

    path: str
    title: str
    heading: str
    text: str


@cache
def _passages() -> tuple[tuple[Page, str, tuple[Passage, ...]], ...]:
    """Return every page with its title and passages. Cached, because rendering takes half a second."""
    rendered = ((page, render(page)) for page in all_pages())
    return tuple((page, made.title, made.passages) for page, made in rendered)


@cache
def _index() -> sqlite3.Connection:
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute(
        "CREATE VIRTUAL TABLE passages USING fts5(path UNINDEXED, weight UNINDEXED, title, heading, words, text, "
        "tokenize='porter unicode61')"
    )
    for page, title, passages in _passages():
        weight = next((number for start, number in _WEIGHTS.items() if page.path.startswith(start)), 1.0)
        for one in passages:
            path = f"{page.path}#{one.anchor}" if one.anchor else page.path
            # Words in the path and synonyms match the whole page. The content of a section matches only that section.
            words = "" if one.anchor else f"{page.path} {page.search}"
            index.execute(
                "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
                (path, weight, title, one.heading, words, " ".join(one.text.split())),
            )
    return index


def search(words: str, most: int = MOST) -> list[Hit]:
    """Return passages that contain all words, best first. If there are none, return passages that contain any of the
    words. A word also matches longer words that begin with it.

    "How are retries timed" searches for `retries` and `timed`.
    """
    all_words = _WORD.findall(words)
    asked = [f'"{word}"*' for word in all_words if word.lower() not in _SMALL] or [f'"{word}"*' for word in all_words]
    if not asked:
        return []
    return _found(" AND ".join(asked), words, most) or _found(" OR ".join(asked), words, most)


def _found(query: str, name: str, most: int) -> list[Hit]:
    rows = _index().execute(
        "SELECT path, title, heading, snippet(passages, 5, '', '', '…', 24) FROM passages WHERE passages MATCH ? "
        "ORDER BY heading = ? COLLATE NOCASE DESC, bm25(passages, 0, 0, 6, 10, 10, 1) * weight, rowid LIMIT ?",
        (query, name.strip(), most),
    )
    return [{"path": path, "title": title, "heading": heading, "text": text} for path, title, heading, text in rows]


def passage(name: str) -> Iterator[tuple[Page, Passage]]:
    """Yield the passages with this anchor. Rules, decisions, error codes and commands have anchors."""
    for page, _, passages in _passages():
        yield from ((page, one) for one in passages if name in one.anchors)
