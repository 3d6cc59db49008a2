"""`python -m tests.conformance.mutants [NAME...]`: judge the judge; `--write` keeps the table, `--show` prints it."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

from tests.conformance.mutants import MUTANTS
from tests.conformance.mutants.running import Verdict, judged


def _line(verdict: Verdict) -> str:
    rule = verdict.rule()
    kind = "" if rule is None else "promise" if verdict.found[rule] else "guess"
    others = sorted(verdict.found.keys() - {rule})
    more = f" and {len(others)} more" if rule and others else ", ".join(others)
    found = f"{rule}{more}" if rule else f"NOT FOUND ({more})"
    return f"{verdict.name:34} {verdict.hits:5} {verdict.seconds:5.1f} s  {kind:8} {found}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants")
    arguments = parser.parse_args()
    started, failed = perf_counter(), 0
    for verdict in judged(["", *(arguments.names or MUTANTS)]):
        if verdict.name:
            failed += verdict.rule() is None or bool(verdict.slips)
            print(_line(verdict), *verdict.slips[:2], flush=True)  # noqa: T201
        else:
            failed += bool(verdict.found)
            print("the simulator itself:", sorted(verdict.found) or "nothing found")  # noqa: T201
    print(f"{failed} not found, {perf_counter() - started:.0f} s")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
