"""Reads the reference data of an account ("facts") from a running service or from a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from simulator.engine.text.json import JsonObject, Shown
from simulator.evidence import local
from simulator.evidence.corpus import Exchange
from simulator.evidence.corpus.known import known
from simulator.evidence.corpus.pseudonyms import REMOVED
from simulator.evidence.provided import Probing
from simulator.evidence.remote import NotTheService, RemoteService, SpentBudget

_KEY = re.compile(rf"[a-z]+_(test|live)_{REMOVED}")
"""A key or token in a recording."""
_ENVIRONMENTS = {"test": "sandbox", "live": "production"}


def read_facts(target: RemoteService, probing: Probing, known: Shown) -> tuple[JsonObject, str]:
    """Read the facts that are missing in `known`, until all are read or no more calls are allowed. Return all facts,
    and a one-line reason if some are missing, else "".

    The value `unfit` in the result contains one line for each fact (such as a fee) that worlds of the simulator cannot
    use.
    """
    facts = {name: part for name, part in known.items() if name != "unfit"}
    ended = ""

    def read(path: str) -> Any:
        reply = target.call("GET", path, None, {})
        return reply.body if reply.status < 400 else None

    def create(path: str, body: object) -> Any:
        reply = target.call("POST", path, body, {})
        return None if reply.status in (401, 403, 429) or reply.status >= 500 else reply.body

    try:
        target.saved()  # otherwise its quotes would delay the next run
        try:
            for name, part in probing.read_facts(read, create, dict(facts)):
                facts[name] = part
        finally:
            target.restored()
    except (SpentBudget, NotTheService) as error:
        ended = str(error)
    if prefixes := {**facts.get("id_prefixes", {}), **target.id_prefixes}:
        facts["id_prefixes"] = dict(sorted(prefixes.items()))
    return _with_misfits(facts, probing), ended


def recorded_facts(
    exchanges: Iterable[Exchange], probing: Probing, report: Callable[[str], None] = lambda line: None
) -> JsonObject:
    """Return the reference data in recorded traffic. Ignore exchanges in which amounts are hidden. `report` is called
    with a line for each part of the reference data that was recorded incompletely.
    """
    rows = (json.loads(one.line()) for one in exchanges if one.direction == "call" and not one.hides_amounts)
    calls = [
        (row["method"], place, row["query"], row["response"])
        for row in rows
        if isinstance(row["response"], dict) and row["status"] in range(200, 300)
        if (place := "/".join(["", *known().operation(row["method"], row["path"])[1]])) and place != "/"
    ]
    return _with_misfits(dict(probing.recorded_facts(iter(calls), report)), probing)


def recorded_environment(exchanges: Iterable[Exchange]) -> str | None:
    """Return `sandbox` or `production` if the accepted calls or the webhooks in a recording show it, else None."""
    found: set[str] = set()
    for one in exchanges:
        if one.direction == "call" and (one.status is None or one.status >= 300):
            continue  # a refused key does not show the environment
        for body in (one.request, one.response):
            if not isinstance(body, Mapping):
                continue
            found |= {_ENVIRONMENTS[key[1]] for text in body.values() if (key := _KEY.fullmatch(str(text)))}
            if one.direction == "webhook" and isinstance(body.get("livemode"), bool):
                found.add(_ENVIRONMENTS["live" if body["livemode"] else "test"])
    return found.pop() if len(found) == 1 else None


def _with_misfits(facts: JsonObject, probing: Probing) -> JsonObject:
    _, unfit = probing.fit_facts(facts)
    return {**facts, "unfit": unfit} if unfit else facts


def count_calls(probing: Probing, known: Shown) -> int:
    """Return the number of calls that `read_facts` makes with the reference data bundled with the package."""
    simulators = local.Simulators()
    try:
        world = local.LocalWorld(simulators, {})
        calls: list[str] = []

        def called(method: str, path: str, body: object = None) -> Any:
            calls.append(path)
            return world.call(method, path, body, {}).body

        for _ in probing.read_facts(partial(called, "GET"), partial(called, "POST"), known):
            pass
        return len(calls)
    finally:
        simulators.close()
