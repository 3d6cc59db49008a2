"""The documentation's table of contents: sections, pages, and their summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml

from simulator.kernel.dataclass import dataclass

DIRECTORY = Path(__file__).parent
INDEX = "index"
"""The start page, which does not belong to a section."""


@dataclass(frozen=True)
class Page:
    """One page of the documentation."""

    path: str
    """The path of the source file relative to the docs directory, without `.md`."""
    says: str
    """One sentence about the page's purpose."""
    search: str = ""
    """Words that people search for although the page may not contain them."""

    @property
    def file(self) -> Path:
        return DIRECTORY / f"{self.path}.md"

    @property
    def source(self) -> str:
        return self.file.read_text("utf-8")

    @property
    def title(self) -> str:
        """The page's first heading."""
        return next(line for line in self.source.splitlines() if line.startswith("# ")).removeprefix("# ")


@dataclass(frozen=True)
class Section:
    """Pages of one kind: `tutorial`, `how-to`, `reference` or `explanation`."""

    name: str
    title: str
    says: str
    pages: tuple[Page, ...]


@cache
def sections() -> tuple[Section, ...]:
    """Return the table of contents from `contents.yaml`."""
    text = (DIRECTORY / "contents.yaml").read_text("utf-8")
    return tuple(
        Section(row["section"], row["title"], row["says"], tuple(_pages(row["section"], row["pages"])))
        for row in yaml.load(text, Loader=yaml.CSafeLoader)
    )


def _pages(section: str, entries: Mapping[str, str | Mapping[str, str]]) -> Iterator[Page]:
    """Yield the pages of a section. An entry is a sentence or a mapping (`says`, `search`)."""
    for name, entry in entries.items():
        yield Page(f"{section}/{name}", **({"says": entry} if isinstance(entry, str) else entry))


def all_pages() -> Iterator[Page]:
    """Yield all pages in reading order, index first."""
    yield Page(INDEX, "All pages, by what you want to do.")
    for section in sections():
        yield from section.pages


@cache
def pages_by_path() -> Mapping[str, Page]:
    return {page.path: page for page in all_pages()}
