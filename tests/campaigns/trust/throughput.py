"""`python -m tests.campaigns.trust.throughput`: measures the cost of persistence.

It compares memory, SQLite and PostgreSQL in turns, with one replica and with three.

Each turn uses a fresh world, so that all turns do the same work. Ratios are computed from consecutive turns, because
other load on the machine affects both. CPU time includes the servers and PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.campaigns.benchmarks.load import Load, run_here
from tests.campaigns.benchmarks.machine import cpu_seconds, described
from tests.campaigns.trust import results
from tests.campaigns.trust.database import Database
from tests.campaigns.trust.servers import Server
from tests.remote import new_client
from tests.support import QUOTE

CONNECTIONS = 64
_OF_SERVER = "server, ms a call"
REPLICAS = 3


@dataclass
class Turns:
    """What was measured of one side: calls a second of real time, milliseconds of processor time a call."""

    rates: list[float] = field(default_factory=list)
    server_ms: list[float] = field(default_factory=list)
    database_ms: list[float] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, float]:
        """Medians."""
        return {
            "calls a second": round(statistics.median(self.rates)),
            _OF_SERVER: round(statistics.median(self.server_ms), 3),
            "PostgreSQL, ms a call": round(statistics.median(self.database_ms), 3),
        }


def load_of(server: Server, world: str, through: Server | None = None) -> Load:
    """Quotes in a world that is made on this server; `through` is who is asked for them."""
    with new_client(base_url=server.origin) as http:
        made = http.post("/_simulator/worlds", json={"id": world, "seed": 1, "scenarios": []}).raise_for_status().json()
        keys = made["credentials"]["sandbox"]
        pair = {name: keys[name] for name in ("public_key", "secret_key")}
        token = http.post("/v1/auth/token", json=pair).raise_for_status().json()["access_token"]
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    return Load((through or server).origin, "POST", "/v1/quotes", headers, json.dumps(QUOTE).encode())


@dataclass
class Side:
    """What takes a turn: loads that come at the same time, the servers that take part, a database."""

    name: str
    loads: list[Load]
    servers: list[Server]
    database: Database | None = None


def turn(turns: Turns, side: Side, seconds: float) -> None:
    """Let a side answer as much as it can."""
    loads, servers, database = side.loads, side.servers, side.database
    before, kept = [cpu_seconds(server.pid) for server in servers], database.cpu if database else 0.0
    answered = [0] * len(loads)

    def send(place: int) -> None:
        answered[place] = run_here(loads[place], seconds, CONNECTIONS // len(loads))

    began = time.perf_counter()
    threads = [threading.Thread(target=send, args=(place,)) for place in range(len(loads))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, calls = time.perf_counter() - began, sum(answered)
    turns.rates.append(calls / took)
    turns.server_ms.append(sum(cpu_seconds(s.pid) - b for s, b in zip(servers, before, strict=True)) * 1000 / calls)
    turns.database_ms.append(((database.cpu if database else 0.0) - kept) * 1000 / calls)


def measure(rounds: int, seconds: float, tell: Callable[[str], None]) -> dict[str, Any]:
    sides = {name: Turns() for name in ("memory", "SQLite", "PostgreSQL", "forwarded", "three replicas")}
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="rampsim-trust-"))
        database = Database()
        stack.callback(database.stop)
        database.start()
        stores = ["", f"sqlite:///{Path(directory) / 'worlds.db'}", *[database.url] * REPLICAS]
        servers = [Server(store, lie=None) for store in stores]
        for server in servers:
            stack.callback(server.kill)
            server.start()
        memory, sqlite, *replicas = servers
        for number in range(rounds + 1):
            name = f"round-{number}"
            first, second = replicas[:2]
            for side in (
                Side("memory", [load_of(memory, name)], [memory]),
                Side("SQLite", [load_of(sqlite, name)], [sqlite]),
                Side("PostgreSQL", [load_of(first, name)], [first], database),
                Side("forwarded", [load_of(first, f"{name}-far", second)], [first, second], database),
                Side("three replicas", [load_of(one, f"{name}-{one.port}") for one in replicas], replicas, database),
            ):
                turn(sides[side.name] if number else Turns(), side, seconds)  # the first round warms up
            tell(f"round {number}: " + ", ".join(f"{one} {t.rates[-1]:.0f}" for one, t in sides.items() if t.rates))
    compared = (
        ("SQLite / memory (goal 0.6)", "SQLite", "memory", 1),
        ("PostgreSQL / memory (goal 0.4)", "PostgreSQL", "memory", 1),
        ("three replicas / one (goal 2.5)", "three replicas", "PostgreSQL", REPLICAS),
        ("forwarded / direct", "forwarded", "PostgreSQL", 1),
    )
    ratios = {}
    for name, one, other, processors in compared:
        pairs = list(zip(sides[one].rates, sides[other].rates, strict=True))
        # With a processor for each server, and PostgreSQL on others.
        by_processor = processors * sides[other].figures[_OF_SERVER] / sides[one].figures[_OF_SERVER]
        ratios[name] = {
            "by calls a second": round(statistics.median(a / b for a, b in pairs), 2),
            "by processor time of the servers": round(by_processor, 2),
        }
    return {**{name: turns.figures for name, turns in sides.items()}, **ratios}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.trust.throughput", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn")
    parser.add_argument("--write", action="store_true", help="put the figures into results.json")
    given = parser.parse_args()
    figures = measure(given.rounds, given.seconds, lambda text: print(text, flush=True))  # noqa: T201
    print(described())  # noqa: T201
    for name, value in figures.items():
        print(f"{name}: {value}")  # noqa: T201
    if given.write:
        results.write({"throughput": figures})


if __name__ == "__main__":
    main()
