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
        Section(
            row["section"],
            row["title"],
            row["says"],
            tuple(_page(f"{row['section']}/{name}", entry) for name, entry in row["pages"].items()),
        )
        for row in yaml.load(text, Loader=yaml.CSafeLoader)
    )


def _page(path: str, entry: str | Mapping[str, str]) -> Page:
    """Return the page for an entry in `contents.yaml`. An entry is a sentence or a mapping (`says`, `search`)."""
    return Page(path, entry) if isinstance(entry, str) else Page(path, **entry)


def all_pages() -> Iterator[Page]:
    """Yield all pages in reading order, index first."""
    yield Page(INDEX, "All pages, by what you want to do.")
    for section in sections():
        yield from section.pages


@cache
def pages_by_path() -> Mapping[str, Page]:
    return {page.path: page for page in all_pages()}
