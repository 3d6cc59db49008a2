"""`python -m simulator.evidence`: compute the probes and write them to the provider's file."""

from __future__ import annotations

import json
import sys

from simulator.evidence.computing import computed
from simulator.evidence.flow import read_steps
from simulator.evidence.search import Search
from simulator.service import TOOLING


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
