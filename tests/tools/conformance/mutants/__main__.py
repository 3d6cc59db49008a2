"""`python -m tests.tools.conformance.mutants [NAME...]`: checks whether conform finds each mistake. `--write` and
`--show` are for the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from time import perf_counter

from contracts.generator.mutants import RECORD, Row, score, section
from tests.tools.conformance.mutants import MUTANTS
from tests.tools.conformance.mutants.running import Verdict, judged


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.conformance.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these wrong services")
    parser.add_argument("--write", action="store_true", help="keep the table for contracts/README.md")
    parser.add_argument("--show", action="store_true", help="print the table as it was kept; judge nothing")
    arguments = parser.parse_args()
    if arguments.show:
        print(section())  # noqa: T201
        return 0
    started, failed = perf_counter(), False
    rows: list[Row] = []
    for verdict in judged(["", *(arguments.names or MUTANTS)]):
        failed |= bool(verdict.trouble)
        print(_line(verdict), flush=True)  # noqa: T201
        if verdict.name:
            rows.append(row_of(verdict))
    print(f"\n{score(rows)} {perf_counter() - started:.0f} s.")  # noqa: T201
    if arguments.write:
        known = {row["name"]: row for row in [*json.loads(RECORD.read_text()), *rows]}
        RECORD.write_text(json.dumps([known[name] for name in MUTANTS if name in known], indent=1) + "\n")
    return 1 if failed else 0


def row_of(verdict: Verdict) -> Row:
    rule = verdict.rule
    return Row(
        name=verdict.name,
        wrong=MUTANTS[verdict.name].wrong,
        rule=rule,
        promise=bool(rule and verdict.found[rule]),
    )


def _line(verdict: Verdict) -> str:
    others = sorted(verdict.found.keys() - {verdict.rule})
    kind = "" if verdict.rule is None else "promise" if verdict.found[verdict.rule] else "guess"
    found = f"{verdict.rule or '-'}{f', {len(others)} more' if others else ''}"
    trouble = f"  !! {verdict.trouble}" if verdict.trouble else ""
    name = verdict.name or "(the simulator itself)"
    return f"{name:34} {verdict.hits:5} hits {verdict.seconds:5.1f} s  {kind:8} {found}{trouble}"


if __name__ == "__main__":
    sys.exit(main())
