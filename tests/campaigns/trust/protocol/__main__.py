"""`python -m tests.campaigns.trust.protocol`: many runs of the simulated protocol. `--seed N` repeats one run."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.campaigns.trust.protocol.database import Broken
from tests.campaigns.trust.protocol.run import Run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.trust.protocol", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many, from 0 (default: 10000)")
    parser.add_argument("--seed", type=int, help="only this one")
    given = parser.parse_args()
    seeds = range(given.seeds) if given.seed is None else [given.seed]
    broken, steps, epochs, wrong = 0, 0, 0, Counter[str]()
    for seed in seeds:
        run = Run(seed)
        try:
            run.play()
        except Broken as error:
            broken += 1
            print(f"seed {seed}: {error}", flush=True)  # noqa: T201
        steps, wrong = steps + run.steps, wrong + run.went_wrong
        epochs += sum(row.epoch for row in run.database.rows.values())
    happened = ", ".join(f"{kind} {count:,}" for kind, count in sorted(wrong.items()))
    print(f"{len(seeds):,} seeds, {steps:,} steps, {epochs:,} takeovers; {happened}")  # noqa: T201
    print(f"promises broken: {broken}")  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
