"""What the traffic of a world tells about its integrator: advice on conduct, and how much of the contract it exercised.

Pure functions over a world's journal, store and tables; nothing here answers calls or changes a resource. The one thing
it keeps is a compact tally of calls (`count_entry`), because the journal of calls is bounded.
"""

from __future__ import annotations

from simulator.insight.advice import findings, findings_with_world
from simulator.insight.coverage import EVERY_WORLD, Counts, count_world, coverage_of, merged
from simulator.insight.ended import EndedWorlds
from simulator.insight.page import page_source, render_page
from simulator.insight.tally import COVERAGE, Hits, count_entry

__all__ = [
    "COVERAGE",
    "EVERY_WORLD",
    "Counts",
    "EndedWorlds",
    "Hits",
    "count_entry",
    "count_world",
    "coverage_of",
    "findings",
    "findings_with_world",
    "merged",
    "page_source",
    "render_page",
]
