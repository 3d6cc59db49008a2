"""`python -m tests.campaigns.trust`: stores under kills and outages. See README.md."""

from __future__ import annotations

import argparse
import operator
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from typing import Any

from tests.campaigns.trust import results
from tests.campaigns.trust.campaign import Outcome
from tests.campaigns.trust.postgres import PostgresCampaign
from tests.campaigns.trust.protocol.database import Broken
from tests.campaigns.trust.protocol.run import Run
from tests.campaigns.trust.serve import LIES
from tests.campaigns.trust.sqlite import SqliteCampaign

CAMPAIGNS = ("protocol", "sqlite", "postgres")
KILLS_OF_A_LIE = 20
FINDS = {
    "answers-early": "lost",
    "keeps-half": "lost",
    "forgets-keys": "doubled",
    "stops-clocks": "time",
    "sends-early": "webhook",
}
"""By which promise each store that lies is found out."""


def tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def campaign(sort: type[SqliteCampaign] | type[PostgresCampaign], name: str, seed: int, kills: int) -> Outcome:
    return sort(seed, kills, tell=lambda text: tell(f"{name}, seed {seed}, {text}")).run()


def side_by_side(
    sort: type[SqliteCampaign] | type[PostgresCampaign], name: str, seed: int, kills: int, jobs: int
) -> Outcome:
    """The kills shared out among processes, each with a seed of its own."""
    shares = [kills // jobs + (place < kills % jobs) for place in range(jobs)]
    with ProcessPoolExecutor(jobs) as pool:
        running = [
            pool.submit(campaign, sort, name, seed + place, share) for place, share in enumerate(shares) if share
        ]
        outcomes = [one.result() for one in running]
    return reduce(operator.add, outcomes)


def protocol(seeds: int) -> tuple[dict[str, Any], int]:
    """The simulated protocol, seed by seed."""
    began, steps, takeovers, broken = time.monotonic(), 0, 0, 0
    for seed in range(seeds):
        run = Run(seed)
        try:
            run.play()
        except Broken as error:
            broken += 1
            tell(f"protocol, seed {seed}: {error}")
        steps += run.steps
        takeovers += sum(row.epoch for row in run.database.rows.values())
        if not (seed + 1) % 1000:
            tell(f"protocol: {seed + 1} seeds, {broken} broken")
    figures = {"seeds of the simulated protocol": seeds, "steps": steps, "takeovers": takeovers}
    seconds = round(time.monotonic() - began)
    return {**figures, "promises broken": broken, "seconds": seconds}, broken


def judged(outcome: Outcome) -> tuple[dict[str, Any], int]:
    for told in outcome.findings.told:
        tell(f"- {told}")
    return results.shown(outcome), outcome.findings.total


def self_check(seed: int) -> int:
    """Every store that lies is found out; returns how many are not."""
    missed = 0
    for lie in LIES:
        if lie == "honest":
            continue
        outcome = SqliteCampaign(seed, KILLS_OF_A_LIE, lie=lie).run()
        found = outcome.findings.counts[FINDS[lie]]
        tell(f"{lie}: {f'{FINDS[lie]} {found}' if found else 'NOT FOUND OUT'}, after {outcome.kills} kills")
        missed += not found
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.trust", description=__doc__)
    parser.add_argument("--only", action="append", choices=CAMPAIGNS, help="only this one; repeatable")
    parser.add_argument("--kills", type=int, default=500, help="of the server with SQLite (default: 500)")
    parser.add_argument("--replica-kills", type=int, default=100, help="of replicas on PostgreSQL (default: 100)")
    parser.add_argument("--jobs", type=int, default=2, help="how many campaigns run at a time (default: 2)")
    parser.add_argument("--seeds", type=int, default=10_000, help="of the simulated protocol (default: 10000)")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000, help="of the harness")
    parser.add_argument("--self-check", action="store_true", help="only see that stores that lie are found out")
    parser.add_argument("--write", action="store_true", help="put the figures into README.md and results.json")
    given = parser.parse_args()
    tell(f'seed {given.seed}: ARGS="--seed {given.seed}" draws the same again')
    if given.self_check:
        return 1 if self_check(given.seed) else 0
    only = given.only or CAMPAIGNS
    figures: dict[str, dict[str, Any]] = {}
    broken = 0
    if "protocol" in only:
        figures["protocol"], found = protocol(given.seeds)
        broken += found
    if "sqlite" in only:
        outcome = side_by_side(SqliteCampaign, "SQLite", given.seed, given.kills, given.jobs)
        figures["SQLite"], found = judged(outcome)
        broken += found
    if "postgres" in only:
        outcome = side_by_side(PostgresCampaign, "PostgreSQL", given.seed, given.replica_kills, given.jobs)
        figures["PostgreSQL"], found = judged(outcome)
        broken += found
    tell(f"\n{results.table(figures)}\n\npromises broken: {broken}")
    if given.write:
        results.write(figures)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
