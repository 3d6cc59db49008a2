"""The plan of `rampsim probe`, and the results of `rampsim probe` and `rampsim infer`, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from simulator.cli.output import Fields, Row, say
from simulator.engine.text.reports import counted
from simulator.evidence import facts, flow, planning, probing, remote
from simulator.service import TOKEN_EXCHANGE, TOOLING

_PREPARING = 8
"""The number of calls besides the probes: sign-in, balances (2), clock (2), recipient, and the webhook endpoint (2)."""
_REFERENCE = re.compile(r"\$\{[^}]*?\.([a-z_]+)\}")
"""A reference to a field of an earlier response, such as `${quote.id}`."""
_TRIED = "needs-event, tried"
_SHOWN_CALLS = 3
_ID = re.compile(r"/[a-z-]*[^a-z/-][^/]*")
"""A path segment with an id."""


def plan_document(
    planned: Sequence[planning.Planned], document: Row, options: planning.Options, calls: int, known_facts: Row | None
) -> Fields:
    """Return the plan as JSON. `known_facts`: the facts that are not read, or None to read no facts."""
    probing, switches = TOOLING.probing(), TOOLING.alternatives()
    steps = flow.read_steps(probing.steps)
    unsure = planning.by_chance(planned, switches, steps, options)
    open_ = {one: dict.fromkeys(alternatives, _TRIED) for one, alternatives in unsure.items()}
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


def _row(row: planning.Planned, steps: Mapping[str, flow.Step], steers: bool) -> Fields:
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


def print_plan(plan: Fields) -> None:
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


def report(verdicts: Iterable[probing.Verdict], found: Fields, calls: int, ended: str) -> None:
    """Print the verdicts, the facts, and why the run ended early."""
    counts: dict[str, int] = {}
    for one in verdicts:
        name = one.verdict if one.reason is None else f"{one.verdict} ({one.reason})"
        counts[name] = counts.get(name, 0) + 1
        say(line_of(one))
    say(f"\n{', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}; {counted(calls, 'call')}")
    report_facts(found)
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


def report_facts(found: Fields) -> None:
    """Print the number of facts of each kind, and the facts that worlds cannot adopt."""
    if found:
        parts = ", ".join(f"{len(part)} {name.replace('_', ' ')}" for name, part in found.items() if name != "unfit")
        say(f"Facts: {parts}")
        for line in found.get("unfit", ()):
            say(f"    worlds cannot use this fact: {line}")
