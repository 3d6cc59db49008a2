"""Facts: the reference data of an account, from a running service or from a recording."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from simulator.engine.text.json import JsonObject
from simulator.evidence.corpus import Exchange
from simulator.evidence.provided import Probing
from simulator.evidence.remote import NotTheService, RemoteService, SpentBudget


def read_facts(target: RemoteService, probing: Probing) -> tuple[JsonObject, str]:
    """Read facts until all are read or no more calls are allowed. Return the facts, and a one-line reason if some are
    missing, else "".

    `unfit` in the facts contains one line for each fact that a world of the simulator cannot adopt.
    """
    facts: JsonObject = {}
    ended = ""

    def read(path: str) -> Any:
        reply = target.call("GET", path, None, {})
        return reply.body if reply.status < 400 else None

    def create(path: str, body: object) -> Any:
        return target.call("POST", path, body, {}).body

    try:
        target.saved()  # otherwise its quotes would delay the next run
        try:
            for name, part in probing.read_facts(read, create):
                facts[name] = part
        finally:
            target.restored()
    except (SpentBudget, NotTheService) as error:
        ended = str(error)
    if target.id_prefixes:
        facts["id_prefixes"] = dict(sorted(target.id_prefixes.items()))
    return _with_misfits(facts, probing), ended


def recorded_facts(exchanges: Iterable[Exchange], probing: Probing) -> JsonObject:
    """Return the facts that recorded traffic contains. Return no facts if the amounts in the recording are hidden."""
    rows = (json.loads(one.line()) for one in exchanges if one.direction == "call" and not one.hides_amounts)
    calls = (
        (row["method"], row["path"], row["query"], row["response"])
        for row in rows
        if isinstance(row["response"], dict) and row["status"] in range(200, 300)
    )
    return _with_misfits(dict(probing.recorded_facts(calls)), probing)


def _with_misfits(facts: JsonObject, probing: Probing) -> JsonObject:
    _, unfit = probing.fit_facts(facts)
    return {**facts, "unfit": unfit} if unfit else facts


def count_calls(probing: Probing) -> int:
    """Return the number of calls that `read_facts` makes with the reference data bundled with the package."""
    from simulator.evidence.local import Simulators  # imported here, because it loads the server

    simulators = Simulators()
    try:
        world = simulators.world({})
        calls = 0

        def called(method: str, path: str, body: object) -> Any:
            nonlocal calls
            calls += 1
            return world.call(method, path, body, {}).body

        for _ in probing.read_facts(lambda path: called("GET", path, None), lambda *given: called("POST", *given)):
            pass
        return calls
    finally:
        simulators.close()
