"""`python -m contracts.generator.probes`: computes the probes and writes them to the provider's file.

Tries flows level by level until there is a probe for each alternative.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from contracts.generator.predictions import differs
from contracts.generator.probe_search import Search
from simulator.engine.text.json import JsonObject
from simulator.evidence.flow import read_steps
from simulator.service import TOOLING

_MOST_ATTEMPTS = 8
"""The number of flows at each level in which the search looks for robust features of one assumption."""


def computed(search: Search, report: Callable[[str], None] = lambda _: None) -> JsonObject:
    """Search for the probes of all assumptions. Return the content of the probes file."""
    left = {(switch.id, name) for switch in search.switches.values() for name in switch.alternatives}
    open_webhook = set(left)
    found: list[JsonObject] = []
    by_event: list[JsonObject] = []
    for level in search.flows():
        attempts: Counter[str] = Counter()
        for flow in level:
            if not open_webhook or search.watches(flow):
                continue
            usual = search.run(flow, {})
            for identifier in sorted({one for one, _ in open_webhook if one in usual.consulted}):
                alternatives = [name for one, name in open_webhook if one == identifier]
                if not any(
                    differs(
                        usual.features,
                        search.run(flow, {identifier: name}).features,
                        also_events=(identifier, name) in left,
                    )
                    for name in sorted(alternatives)
                ):
                    continue
                attempts[identifier] += 1
                if attempts[identifier] > _MOST_ATTEMPTS:
                    continue
                probe = search.probe(flow, identifier)
                if probe is None:
                    continue
                report(f"{identifier}: {' '.join(flow)} tells {', '.join(probe['alternatives'])}")
                pairs = {(identifier, name) for name in probe["alternatives"]}
                if probe["needs_webhook"]:
                    if pairs & left:
                        by_event.append(probe)
                        left -= pairs
                elif pairs & open_webhook:
                    found.append(probe)
                    open_webhook -= pairs
                    left -= pairs
        report(f"{len(left)} alternatives left, {len(open_webhook)} without a probe by responses alone")
    by_event = [
        one for one in by_event if any((one["assumption"], name) in open_webhook for name in one["alternatives"])
    ]
    return _document(search, found + by_event + list(_watched(search, found, report)), left)


def _watched(search: Search, found: Sequence[JsonObject], report: Callable[[str], None]) -> Iterator[JsonObject]:
    """Yield probes that only watch, so another party must cause the outside event. Yield them for alternatives that the
    probes in `found` can test only by causing such an event themselves.
    """
    easy = {(one["assumption"], name) for one in found if not one["needs_event"] for name in one["alternatives"]}
    left = {(switch.id, name) for switch in search.switches.values() for name in switch.alternatives} - easy
    for flow in dict.fromkeys(flow for level in search.flows() for flow in level if search.watches(flow)):
        for identifier in sorted({one for one, _ in left if one in search.run(flow, {}).consulted}):
            probe = search.probe(flow, identifier)
            pairs = {(identifier, name) for name in probe["alternatives"]} if probe else set()
            if probe is not None and pairs & left:
                report(f"{identifier}: {' '.join(flow)} tells {', '.join(probe['alternatives'])}")
                left -= pairs
                yield probe


def _document(search: Search, probes: list[JsonObject], left: set[tuple[str, str]]) -> JsonObject:
    order = list(search.switches)
    probes.sort(key=lambda probe: (order.index(probe["assumption"]), search.cost(tuple(probe["flow"]))))
    flows: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    rows = []
    for probe in probes:
        flow = probe["flow"]
        name = next((name for name, one in flows.items() if one == flow), f"f{len(flows) + 1}")
        flows[name] = flow
        numbers[probe["assumption"]] = number = numbers.get(probe["assumption"], 0) + 1
        rows.append({"id": f"{probe['assumption']}-{number}", **probe, "flow": name})
    undecidable = [
        {"assumption": one, "alternative": name, "why": "No flow of the known steps distinguishes this alternative."}
        for one, name in sorted(left, key=lambda pair: (order.index(pair[0]), pair[1]))
    ]
    return {"version": 1, "flows": flows, "probes": rows, "undecidable": undecidable}


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def main() -> None:
    probing = TOOLING.probing()
    search = Search(probing, TOOLING.alternatives(), read_steps(probing.steps), deep="--deep" in sys.argv)
    try:
        document = computed(search, _say)
    finally:
        search.close()
    content = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    probing.probes.write_text(content, encoding="utf-8")
    _say(f"{len(document['probes'])} probes, {search.played} runs")


if __name__ == "__main__":
    main()
