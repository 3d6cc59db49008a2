"""Shortest counterexamples, as JSON and as sequence diagrams in a page of the documentation.

    python -m tests.tools.certification.exhaustive.counterexamples     # writes the page from counterexamples.json

`test_shortcuts` compares `counterexamples.json` with what runs find; WRITE=1 writes it.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

from simulator.certification.exhaustive.running import FlowReport
from simulator.docs.library import DIRECTORY
from tests.tools.certification.exhaustive.shortcuts import SHORTCUTS

HERE = Path(__file__).parent
FILE = HERE / "counterexamples.json"
PAGE = DIRECTORY / "explanation" / "delivery-shortcuts.md"
Example = dict[str, Any]
CHOSEN = {
    "has-no-settle-job": ("onramp", "lost"),
    "settles-open-orders-only": ("completed-refunded", "disagrees"),
    "deduplicates-by-event-id-only": ("onramp", "doubled"),
    "acknowledges-before-storing": ("onramp", "order-dependent"),
    "trusts-the-payload": ("completed-refunded", "order-dependent"),
    "downgrades-a-final-state": ("onramp", "doubled"),
    "last-write-wins": ("onramp", "order-dependent"),
    "expects-the-order-of-events": ("onramp", "stuck"),
    "answers-unknown-types-with-500": ("onramp", "stuck"),
    "refuses-copies": ("onramp", "stuck"),
    "ignores-the-age": ("onramp", "forged-accepted"),
}
"""The flow and the verdict that are characteristic of each shortcut."""
TEXTS = {
    "lost": "The order was delivered, but is not in the books.",
    "disagrees": "The books and the ledger differ.",
    "doubled": "The books contain more than the service delivered.",
    "order-dependent": "The same deliveries in another order lead to different books.",
    "stuck": "The service gets no acknowledgement, retries for days, and then disables the endpoint.",
    "forged-accepted": "A request that must be refused was accepted.",
}


def example_of(report: FlowReport, verdict: str) -> Example:
    """Return the finding with a verdict: its trace, and the books after each delivery."""
    result = report.result
    finding = next(one for one in result.findings if one.verdict == verdict)
    prefixes = [finding.path[:length] for length in range(len(finding.path) + 1)]
    last = report.outcomes[finding.path]
    shown: Example = {
        "flow": report.flow.name,
        "verdict": verdict,
        "trace": result.trace(finding.path, verdict),
        "books": [report.outcomes[prefix].books for prefix in prefixes],
        "settled": last.settled,
        "note": finding.note,
    }
    if finding.other is not None:
        shown["other"] = {
            "trace": result.trace(finding.other),
            "books": [report.outcomes[finding.other[:length]].books for length in range(len(finding.other) + 1)],
            "settled": report.outcomes[finding.other].settled,
        }
    return shown


def diagram(example: Example) -> Iterator[str]:
    """Yield the lines of a sequence diagram: the service, the handler, and the books after each move."""
    books = iter(example["books"][1:])
    width = max(len(move.partition(" ")[2]) for move in example["trace"]) + 7
    yield f"service{' ' * (width - 8)}handler                 books"
    yield f"  |{' ' * width}|                    {example['books'][0] or 'nothing'}"
    for move in example["trace"]:
        name, _, event = move.partition(" ")
        if name == "settle":
            yield f"  |{' ' * width}| settle             {example['settled'] or 'nothing'}"
        elif name == "lost":
            yield f"  |{f'-- {event} '.ljust(width - 4, '-')}x    lost"
        else:
            yield f"  |{f'-- {event} '.ljust(width - 1, '-')}>| {name:18} {next(books) or 'nothing'}"


def page() -> str:
    """Return the page of the documentation."""
    examples: dict[str, Example] = json.loads(FILE.read_text("utf-8"))
    lines = [_INTRODUCTION.format(handler=(HERE / "handler.py").read_text("utf-8").strip())]
    for name, kind in SHORTCUTS.items():
        example = examples[name]
        title = name.replace("-", " ").capitalize()
        says = " ".join((inspect.getdoc(kind) or "").split())
        moves = f"`{example['verdict']}` in the flow `{example['flow']}`, after {len(example['trace'])} moves."
        lines += [f"## {title}", "", fill(says, 140), "", f"{moves} {TEXTS[example['verdict']]}", ""]
        lines += _block(example)
        if "other" in example:
            lines += ["", "In another order:", "", *_block(example["other"])]
        if example["verdict"] in ("doubled", "disagrees"):
            lines += ["", f"At the end, {example['note']}."]
        lines += [""]
    return "\n".join(lines)


def _block(example: Example) -> Iterator[str]:
    yield "<!-- not run: a diagram -->"
    yield "```text"
    yield from diagram(example)
    yield "```"


_INTRODUCTION = """# Shortcuts, and the deliveries that break them

Webhooks arrive late, twice, in another order, or never. This page shows a handler that keeps correct books (its
records of orders) in each of these cases, and eleven handlers with common shortcuts. For each shortcut, it shows the
shortest sequence of deliveries that leads to wrong books or rejected events. These sequences were found by
[rampsim certify --exhaustive](../how-to/cover-every-order.md).

## The recommended handler

The handler does not count events. It reads the order from the API and records its state, so copies and late events
change nothing. Its settle job (a regular job that reads every order from the API) corrects the books if events
are lost.

<!-- not run: it needs a web server and an API client around it -->
```python
{handler}
```

Each diagram shows the [moves](../how-to/cover-every-order.md#read-a-finding) (deliveries, losses and the settle job)
from top to bottom, and the books after each move. Events that are not shown never arrived.
`settle` is the settle job. It runs at the end, after the order has reached its final status in the simulator.
"""


def main() -> None:
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
