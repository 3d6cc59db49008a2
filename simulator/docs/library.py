"""The pages in their order: sections, sources, what each page is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml

from simulator.kernel.dataclass import dataclass

DIRECTORY = Path(__file__).parent
INDEX = "index"
"""The page that leads to all others; it belongs to no section."""


@dataclass(frozen=True)
class Page:
    """One page of the documentation."""

    path: str
    """The path of its source below the directory, without `.md`."""
    says: str
    """One sentence that says what the page is for."""
    search: str = ""
    """Words that people search for and that the page itself may not use."""

    @property
    def file(self) -> Path:
        return DIRECTORY / f"{self.path}.md"

    @property
    def source(self) -> str:
        return self.file.read_text("utf-8")

    @property
    def title(self) -> str:
        """Its first heading."""
        return next(line for line in self.source.splitlines() if line.startswith("# ")).removeprefix("# ")


@dataclass(frozen=True)
class Section:
    """Pages of one sort: `tutorial`, `how-to`, `reference` or `explanation`."""

    name: str
    title: str
    says: str
    pages: tuple[Page, ...]


@cache
def sections() -> tuple[Section, ...]:
    """The table of contents, as `contents.yaml` has it."""
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
    """Read one entry of the contents: the sentence alone, or a mapping with `says` and `search`."""
    return Page(path, entry) if isinstance(entry, str) else Page(path, **entry)


def all_pages() -> Iterator[Page]:
    """Every page, the index first, in the order in which they are read."""
    yield Page(INDEX, "All pages, by what you want to do.")
    for section in sections():
        yield from section.pages


@cache
def pages_by_path() -> Mapping[str, Page]:
    """Every page by its path."""
    return {page.path: page for page in all_pages()}
