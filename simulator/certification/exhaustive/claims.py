"""The claim that a run supports, as a sentence that includes its bounds. No I/O."""

from __future__ import annotations

from simulator.certification.exhaustive.search import Result
from simulator.engine.text.reports import counted


def claim(result: Result, *, has_job: bool) -> str:
    """Return the sentence that a run without findings supports. `has_job`: a settle job ran at the end of each path."""
    bounds = result.bounds
    copies = f"up to {counted(bounds.copies, 'copy', 'copies')} of these {counted(len(bounds.events), 'event')}"
    limit = "" if not result.is_cut else f" with at most {counted(result.depth, 'delivery', 'deliveries')}"
    job = "with your settle job at the end" if has_job else "without a settle job"
    size = f"{counted(result.states, 'state')}, {counted(result.edges, 'edge')}"
    return (
        f"For every order of {copies}{limit}, {job}, your books equal the ledger, even if deliveries are lost. {size}."
    )
