"""`python -m simulator.evidence`: compute the probes and write them to the provider's file."""

from __future__ import annotations

import json
import sys

from simulator.evidence.flow import read_steps
from simulator.evidence.search import Search, computed
from simulator.service import TOOLING


def main() -> None:
    probing = TOOLING.probing()
    search = Search(probing, TOOLING.alternatives(), read_steps(probing.steps))
    try:
        document = computed(search, lambda line: print(line, file=sys.stderr, flush=True))
    finally:
        search.close()
    probing.probes.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(document['probes'])} probes, {search.played} runs", file=sys.stderr)


if __name__ == "__main__":
    main()
