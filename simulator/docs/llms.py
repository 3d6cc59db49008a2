"""The overview for language models as defined by llmstxt.org: `llms.txt`, and `llms-full.txt` with all pages. Both
files contain links to a server at the default address. A running server replaces this address with its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from simulator.docs import library
from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.rows.operation import Operation

_CONTROL = f"{DEFAULT_URL}{CONTROL_BASE}"
_DOCS = f"{_CONTROL}/docs"

_HEAD = Path(__file__).parent / "page" / "llms.md"


def short(operations: Iterable[Operation], test_values: Mapping[str, Mapping[str, str]]) -> str:
    """Return `llms.txt`: a summary, keys, test values, calls, and a list of pages."""
    return "\n".join([_HEAD.read_text("utf-8"), *_sections(operations, test_values)])


def full(first: str) -> str:
    """Return `llms-full.txt`: `first` (`llms.txt`) and the full content of every page."""
    pages = (f"\n---\n\nSource: {_DOCS}/{page.path}.md\n\n{page.source.rstrip()}\n" for page in library.all_pages())
    return "".join([first, *pages])


def _sections(operations: Iterable[Operation], test_values: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    yield from ("## Test values", "", "Request data that choose an outcome, with no control call:", "")
    yield from ("```json", json.dumps(test_values, indent=1, ensure_ascii=False), "```", "")
    yield from ("## API calls, below the base URL", "")
    yield from (f"- {row.method} {row.path}: {row.summary}" for row in operations)
    yield from (
        "",
        "## The contract",
        "",
        f"- [OpenAPI]({_CONTROL}/openapi.json): every call, field, error and event of the API.",
        f"- [Control interface]({_CONTROL}/control.yaml): worlds, clock, actions, scenarios, faults, journals.",
        f"- [Reference data]({_CONTROL}/reference): banks, providers, countries, currencies.",
        f"- [Actions]({_CONTROL}/actions): actions of third parties, with their parameters.",
        f"- [Webhook vectors]({_CONTROL}/webhook-vectors.json): signed and forged requests, each with its verdict.",
        "",
    )
    for section in library.sections():
        yield from (f"## {section.title}", "")
        yield from (f"- [{page.title}]({_DOCS}/{page.path}.md): {page.says}" for page in section.pages)
        yield ""
    yield from ("## Optional", "")
    yield from (f"- [All pages in one]({_CONTROL}/llms-full.txt): the text of every page above.", "")
