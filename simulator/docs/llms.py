"""The overview for language models as defined by llmstxt.org: `llms.txt`, and `llms-full.txt` with all pages.

Both files contain links to a server at the default address. A running server replaces this address with its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from simulator.docs import library
from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.rows.operation import Operation

_CONTROL = f"{DEFAULT_URL}{CONTROL_BASE}"
_DOCS = f"{_CONTROL}/docs"

_HEAD = Path(__file__).parent / "page" / "llms.md"


def short(operations: Iterable[Operation], test_values: Mapping[str, Mapping[str, str]]) -> str:
    """Return `llms.txt`: a summary, keys, test values, calls, and a list of pages."""
    head = _HEAD.read_text("utf-8")
    return "\n".join([head, *_test_values(test_values), *_calls(operations), *_contract(), *_pages()])


def full(first: str) -> str:
    """Return `llms-full.txt`: `first` (`llms.txt`) and the full content of every page."""
    parts = [first]
    for page in library.all_pages():
        parts.append(f"\n---\n\nSource: {_DOCS}/{page.path}.md\n\n{page.source.rstrip()}\n")
    return "".join(parts)


def _test_values(values: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        "## Test values",
        "",
        "Request data that choose an outcome, with no control call:",
        "",
        "```json",
        json.dumps(values, indent=1, ensure_ascii=False),
        "```",
        "",
    ]


def _calls(operations: Iterable[Operation]) -> list[str]:
    lines = [f"- {row.method} {row.path}: {row.summary}" for row in operations]
    return ["## API calls, below the base URL", "", *lines, ""]


def _contract() -> list[str]:
    return [
        "## The contract",
        "",
        f"- [OpenAPI]({_CONTROL}/openapi.json): every call, field, error and event of the API.",
        f"- [Control interface]({_CONTROL}/control.yaml): worlds, clock, actions, scenarios, faults, journals.",
        f"- [Reference data]({_CONTROL}/reference): banks, providers, countries, currencies.",
        f"- [Actions]({_CONTROL}/actions): actions of third parties, with their parameters.",
        f"- [Webhook vectors]({_CONTROL}/webhook-vectors.json): signed and forged requests, each with its verdict.",
        "",
    ]


def _pages() -> list[str]:
    lines = []
    for section in library.sections():
        lines += [f"## {section.title}", ""]
        lines += [f"- [{page.title}]({_DOCS}/{page.path}.md): {page.says}" for page in section.pages]
        lines.append("")
    return [
        *lines,
        "## Optional",
        "",
        f"- [All pages in one]({_CONTROL}/llms-full.txt): the text of every page above.",
        "",
    ]
