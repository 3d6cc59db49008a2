"""The plan of `rampsim probe`: the flows to run, and what stays open with the given options."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.text.json import Shown, loads
from simulator.engine.worlds.alternatives import Switches
from simulator.evidence.flow import AGAIN, Steps
from simulator.evidence.listener import QUIET_SECONDS
from simulator.evidence.provided import Probing
from simulator.evidence.remote import ACCESS_CALLS
from simulator.kernel.dataclass import dataclass
from simulator.service import TOKEN_EXCHANGE

_SIGN_IN = f"POST {TOKEN_EXCHANGE.path}"


@dataclass(frozen=True)
class Options:
    """The limits of a run."""

    spends: tuple[str, ...]
    """The effects on the account that are permitted."""
    wait_seconds: float = 0
    time_rate: float = 1
    """The speed of the target's clock: its seconds for each second on this machine."""
    steers: bool = False
    """True if the target is a simulator whose clock and outside events may be controlled."""
    sees_events: bool = False
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    """The assumptions to decide first."""

    def wants(self, identifier: str) -> bool:
        """Return True if the run may decide an assumption."""
        return (not self.only or identifier in self.only) and identifier not in self.skip


@dataclass(frozen=True)
class Planned:
    """One flow and the probes that share it."""

    name: str
    flow: tuple[str, ...]
    calls: int
    most_calls: int
    """The maximum number of calls, including repetitions and the calls that undo steps."""
    probes: tuple[Shown, ...]


def read_probes(probing: Probing) -> Shown:
    """Return the content of the probes file."""
    return dict(loads(probing.probes.read_bytes()))


def _obstacle(document: Shown, probe: Shown, options: Options) -> str:
    """Return the reason why a probe cannot run with these options, or ""."""
    if probe["spend"] not in options.spends:
        return "needs-spend"
    if probe["needs_event"] and not options.steers:
        return "needs-event"
    if (probe["needs_webhook"] or probe["needs_hook"]) and not options.sees_events:
        return "needs-event"
    wait = probe["wait_seconds"]
    if probe["needs_webhook"]:
        wait += QUIET_SECONDS * len(document["flows"][probe["flow"]]) * options.time_rate
    if wait > options.wait_seconds * options.time_rate and not options.steers:
        return "needs-time"
    return ""


def plan(document: Shown, switches: Switches, steps: Steps, options: Options) -> list[Planned]:
    """Return the flows to run. Flows that decide the most assumptions per call come first."""
    by_flow: dict[str, list[Shown]] = {}
    for probe in document["probes"]:
        one = probe["assumption"]
        if one in switches and options.wants(one) and not _obstacle(document, probe, options):
            by_flow.setdefault(probe["flow"], []).append(probe)
    rows = []
    for name, probes in by_flow.items():
        flow = tuple(document["flows"][name])
        played = [steps[one.rstrip(AGAIN)] for one in flow]
        calls, most = sum(bool(one.call) for one in played), sum(one.most_calls for one in played)
        most += ACCESS_CALLS * any(one.call == _SIGN_IN for one in played)
        rows.append(Planned(name, flow, calls, most, tuple(probes)))

    def rank(row: Planned) -> tuple[bool, bool, bool, int, float, str]:
        assumptions = {probe["assumption"] for probe in row.probes}
        listens = all(probe["needs_webhook"] for probe in row.probes)  # these wait after each step
        watches = all("decides" in probe for probe in row.probes)  # the event may not come
        hours = max(probe["wait_seconds"] for probe in row.probes) // 3600
        later = not assumptions & set(options.first)
        return later, listens, watches, hours, row.calls / len(assumptions), row.name

    return sorted(rows, key=rank)


def needing(document: Shown, steps: Steps, name: str) -> set[str]:
    """Return the assumptions whose probes use the account value with this name."""
    used = {step.name for step in steps.values() if f"${{account.{name}}}" in repr((step.call, step.body))}
    return {
        probe["assumption"]
        for probe in document["probes"]
        if not used.isdisjoint(one.rstrip(AGAIN) for one in document["flows"][probe["flow"]])
    }


def blocked(document: Shown, switches: Switches, options: Options) -> dict[str, dict[str, str]]:
    """Return the alternatives that cannot be excluded with these options, with the reason, for each assumption."""
    found: dict[str, dict[str, str]] = {}
    for switch in switches.values():
        for alternative in switch.alternatives:
            obstacles = [
                _obstacle(document, probe, options)
                for probe in document["probes"]
                if probe["assumption"] == switch.id and alternative in probe["alternatives"]
            ]
            if all(obstacles):
                found.setdefault(switch.id, {})[alternative] = obstacles[0] if obstacles else "no-probe"
    return found


def by_chance(
    planned: Iterable[Planned], switches: Switches, steps: Steps, options: Options
) -> dict[str, dict[str, None]]:
    """Return the alternatives that a plan decides only if an event happens that it cannot cause."""
    unsure: dict[str, dict[str, None]] = {}
    sure: set[tuple[str, str]] = set()
    for row in () if options.steers else planned:
        has_event = any(steps[name.rstrip(AGAIN)].act for name in row.flow)
        for probe in row.probes:
            if has_event or "decides" in probe:
                unsure.setdefault(probe["assumption"], {}).update(dict.fromkeys(probe["alternatives"]))
            else:
                sure |= {(probe["assumption"], name) for name in probe["alternatives"]}
    left = {one: {name: None for name in names if (one, name) not in sure} for one, names in unsure.items()}
    return {one: names for one, names in left.items() if names and one in switches}
