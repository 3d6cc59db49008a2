"""The results of `rampsim probe` and `rampsim infer`, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from simulator.cli.output import say
from simulator.engine.text.reports import counted
from simulator.evidence import flow, planning, probing, remote
from simulator.service import TOKEN_EXCHANGE, TOOLING

if TYPE_CHECKING:
    from simulator.engine.text.json import JsonObject

_SHOWN_CALLS = 3
_ID = re.compile(r"/[a-z-]*[^a-z/-][^/]*")
"""A path segment with an id."""


def report(verdicts: Iterable[probing.Verdict], facts: JsonObject, calls: int, ended: str) -> None:
    """Print the verdicts, the facts, and why the run ended early."""
    counts: dict[str, int] = {}
    for one in verdicts:
        name = one.verdict if one.reason is None else f"{one.verdict} ({one.reason})"
        counts[name] = counts.get(name, 0) + 1
        say(line_of(one))
    say(f"\n{', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}; {counted(calls, 'call')}")
    report_facts(facts)
    if ended:
        say(f"The run ended early: {ended}", err=True)


def line_of(one: probing.Verdict) -> str:
    return f"{one.id:<18} {one.verdict:<10} {one.alternative or one.seen or one.reason or ''}".rstrip()


def hint(service: remote.RemoteService, verdicts: Iterable[probing.Verdict]) -> None:
    """Print the operations that the keys do not permit, and the assumptions that need another user."""
    denied = {one.id for one in verdicts if one.reason == "needs-permission"}
    if "user_id" not in service.given and service.control is None:
        probes = TOOLING.probing()
        steps = flow.read_steps(probes.steps)
        without = sorted(denied & planning.needing(planning.read_probes(probes), steps, "user_id"))
        if without:
            say(f"Add --user-id, the id of another user, to decide {', '.join(without)}", err=True)
    refused = dict.fromkeys(
        f"{row['method']} {_ID.sub('/{id}', row['path'])}"
        for row in service.exchanges
        if row.get("status") in (401, 403) and row["path"] != TOKEN_EXCHANGE.path
    )
    if denied and refused:
        more = f" and {len(refused) - _SHOWN_CALLS} more" if len(refused) > _SHOWN_CALLS else ""
        shown = ", ".join(list(refused)[:_SHOWN_CALLS])
        say(f"The keys lack permissions: the target returned 401 or 403 to {shown}{more}", err=True)


def report_facts(facts: JsonObject) -> None:
    """Print the number of facts of each kind, and the facts that worlds cannot adopt."""
    if facts:
        parts = ", ".join(f"{len(part)} {name.replace('_', ' ')}" for name, part in facts.items() if name != "unfit")
        say(f"Facts: {parts}")
        for line in facts.get("unfit", ()):
            say(f"    worlds cannot use this fact: {line}")
