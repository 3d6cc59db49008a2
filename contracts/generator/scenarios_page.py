"""`scenarios/README.md`: the scenarios that ship, one line each, with what their runs end in."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.generator.evidence import Evidence
from simulator.engine.scenario.run.drive import DriveCall

_HEAD = """\
# Scenarios

The scenarios that ship: what the outside world does, and when. Each file runs by itself, with no integrator
(`rampsim scenario run NAME`), holds for a whole server (`rampsim serve --scenario NAME`), for one world (`scenarios`
when it is made) or for one object (the header `X-Simulator-Scenario: NAME`, or a `reference` of `simulator:NAME`), and
is a beginning for one's own. Made by `python -m contracts.generator coverage`; do not edit.

| scenario | what happens | ends in |
| - | - | - |
"""


def page(found: Iterable[Evidence]) -> str:
    """The page as Markdown."""
    lines = [
        f"| [{one.name}]({one.name}.yaml) | {one.file.description} | {ends_in(one)} |\n"
        for one in sorted(found, key=lambda one: one.name)
    ]
    return _HEAD + "".join(lines)


def ends_in(one: Evidence) -> str:
    """What became of what the run made, and how many refusals its drive met on purpose."""
    steps = [step for part in one.file.scenario.drive for step in (part.values() if isinstance(part, dict) else [part])]
    refused = sum(isinstance(step, DriveCall) and step.status is not None and step.status >= 400 for step in steps)
    count = [f"{refused} {'refusal' if refused == 1 else 'refusals'}"] if refused else []
    return ", ".join([*one.endings, *count]) or "no state has changed"
