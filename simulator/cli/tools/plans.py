"""The plan of `rampsim probe`: the calls of each probe, and what they cannot decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from simulator.cli.output import Fields, say
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.reports import counted
from simulator.evidence import facts, flow, planning
from simulator.service import TOOLING

_PREPARING = 8
"""The number of calls besides the probes: sign-in, balances (2), clock (2), recipient, and the webhook endpoint (2)."""
_REFERENCE = re.compile(r"\$\{[^}]*?\.([a-z_]+)\}")
"""A reference to a field of an earlier response, such as `${quote.id}`."""
_TRIED = "needs-event, tried"


def plan_document(
    planned: Sequence[planning.Planned],
    document: Shown,
    options: planning.Options,
    calls: int,
    known_facts: JsonObject | None,
) -> JsonObject:  # fmt: skip
    """Return the plan as JSON. `known_facts`: the facts that are not read, or None to read no facts."""
    probing, switches = TOOLING.probing(), TOOLING.alternatives()
    steps = flow.read_steps(probing.steps)
    unsure = planning.by_chance(planned, switches, steps, options)
    open_: dict[str, dict[str, str]] = {
        one: dict.fromkeys(alternatives, _TRIED) for one, alternatives in unsure.items()
    }
    for one, reasons in planning.blocked(document, switches, options).items():
        if options.wants(one):
            open_[one] = {**open_.get(one, {}), **reasons}
    return {
        "version": 1,
        "probes": [_row(row, steps, options.steers) for row in planned],
        "calls": {
            "preparing": _PREPARING,
            "probes": sum(row.most_calls for row in planned),
            "facts": 0 if known_facts is None else facts.count_calls(probing, known_facts),
            "allowed": calls,
        },
        "open": {one: open_[one] for one in switches if one in open_},
    }


def _row(row: planning.Planned, steps: Mapping[str, flow.Step], steers: bool) -> JsonObject:
    played = flow.steps_in(row.flow, steps)
    return {
        "ids": [probe["id"] for probe in row.probes],
        "creates": row.probes[0]["spend"],
        "wait_seconds": max(probe["wait_seconds"] for probe in row.probes),
        "calls": row.calls + sum(bool(step.undo) for step in played),
        "most_calls": row.most_calls,
        "steps": [*_described([step for step in played if steers or not step.optional])],
        "clean_up": [_REFERENCE.sub(r"{\1}", step.undo) for step in played if step.undo],
    }


def _described(steps: Sequence[flow.Step]) -> Iterator[str]:
    seen: list[str] = []
    for step in steps:
        if step.wait:
            time = _REFERENCE.fullmatch(step.wait)
            yield f"wait {step.wait}" if time is None else f"wait until {time[1]}"
        elif step.act:
            yield f"outside event {step.act.strip('/')}"
        else:
            call = _REFERENCE.sub(r"{\1}", step.call)
            reasons = [step.why] if step.why else ["again"] if call in seen else []
            seen.append(call)
            repeated = step.most_calls - bool(step.undo)
            if repeated > 1:
                wanted = str(step.until) if step.until else " or ".join(step.reaches)
                reasons.append(f"up to {repeated} times, until {wanted}")
            yield call + (f" ({', '.join(reasons)})" if reasons else "")


def print_plan(plan: JsonObject) -> None:
    """Print the calls of each flow, the number of calls, and what stays open."""
    for row in plan["probes"]:
        wait = f", waits {row['wait_seconds']} s" if row["wait_seconds"] else ""
        number = counted(row["most_calls"], "call")
        most = f"up to {number}" if row["most_calls"] > row["calls"] else number
        say(f"{', '.join(row['ids'])}: {most}, creates: {row['creates']}{wait}")
        for line in row["steps"]:
            say(f"    {line}")
        for call in row["clean_up"]:
            say(f"    {call} (clean-up)")
    counts: Fields = plan["calls"]
    needed = counts["preparing"] + counts["probes"] + counts["facts"]
    parts = [f"{counts['preparing']} to prepare", f"{counts['probes']} for probes"]
    parts += [f"about {counts['facts']} for facts"] if counts["facts"] else []
    bound = f"; --calls allows {counts['allowed']}" if counts["allowed"] < needed else ""
    say(f"\n{counted(needed, 'call')} at most: {', '.join(parts)}{bound}.")
    if plan["open"]:
        say("Not fully decidable with these options. These alternatives stay open:")
    for identifier, reasons in plan["open"].items():
        say(f"    {identifier}: {', '.join(f'{alternative} ({reason})' for alternative, reason in reasons.items())}")
    if any(_TRIED in reasons.values() for reasons in plan["open"].values()):
        say("`tried` means: the calls above decide it only if the target happens to be in the right state.")
