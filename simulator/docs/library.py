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
    """One page. `path` is that of its source below the directory, without `.md`; `says` is one sentence."""

    path: str
    says: str

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
            tuple(Page(f"{row['section']}/{name}", says) for name, says in row["pages"].items()),
        )
        for row in yaml.load(text, Loader=yaml.CSafeLoader)
    )


def all_pages() -> Iterator[Page]:
    """Every page, the index first, in the order in which they are read."""
    yield Page(INDEX, "All pages, by what you want to do.")
    for section in sections():
        yield from section.pages


@cache
def pages_by_path() -> Mapping[str, Page]:
    """Every page by its path."""
    return {page.path: page for page in all_pages()}
