"""`rampsim infer`: finds out from recorded traffic which assumptions are right."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from simulator.cli.options import option
from simulator.cli.output import Exit, exits, fail, require_writable, say, write_json
from simulator.cli.progress import Line
from simulator.cli.tools.reporting import line_of, report_facts
from simulator.engine.text.reports import counted
from simulator.evidence import corpus, facts, observed, probing
from simulator.evidence.replay import inferring
from simulator.service import TOOLING

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, path_type=Path))
@option("--out", type=_FILE, help="Write the observed file.")
@option("--json", "as_json", type=_FILE, help="Write the report as JSON to this file.")
@option("--name", metavar="NAME", help="Name of the service in the observed file.  [default: name of DIR]")
@option("--base", metavar="URL", help="Base URL of the calls in HAR files.  [default: the part up to /v1]")
def infer(directory: Path, out: Path | None, as_json: Path | None, name: str | None, base: str | None) -> None:
    """Decide assumptions from recorded traffic.

    DIR contains recordings from `rampsim capture` (.jsonl) or HAR files. The service is not called: the recordings are
    replayed in worlds with the usual assumption and in worlds with each alternative. A recording that agrees with only
    one of them decides the assumption. The reference data that the recording shows, such as fees and limits, is written
    to the observed file as facts.

    Exits with 1 if the recording contradicts an assumption. If no recorded call could be replayed, also exits with 1,
    and does not write the observed file.
    """
    require_writable(out, out and observed.draft_of(out), as_json)
    if out is not None and out.exists():
        _require_inferred(out)
    with exits(corpus.BadCorpus):
        recorded = corpus.read_corpus(directory, base)
    line = Line()
    inference = inferring.Inference(recorded, TOOLING.probing(), TOOLING.alternatives(), report=line.say)
    try:
        verdicts = inference.verdicts()
    finally:
        line.clear()
        inference.close()
    left_out = [*map(str, recorded.damaged), *inference.left_out()]
    rows = [json.loads(one.line()) for one in recorded.exchanges]
    verdicts, exchanges = observed.referred(verdicts, rows)
    found = facts.recorded_facts(recorded.exchanges, TOOLING.probing(), left_out.append)
    _report(verdicts, left_out, inference.replayed)
    report_facts(found)
    if out is not None and inference.replayed:
        files = [directory] if directory.is_file() else [*directory.iterdir()]
        newest = max(path.stat().st_mtime for path in files)
        date = datetime.datetime.fromtimestamp(newest, datetime.UTC).date()
        name = name or directory.absolute().name
        environment = facts.recorded_environment(recorded.exchanges)
        try:
            observed.write(out, None, environment, verdicts, exchanges, found, name, date)
        except OSError as error:
            fail(f"cannot write {out}: {error.strerror or error}")
    report = {
        "version": 1,
        "target": None,
        "calls": 0,
        "replayed": inference.replayed,
        "left_out": left_out,
        "assumptions": [asdict(one) for one in verdicts],
        "facts": found,
        "exchanges": exchanges,
    }
    write_json(as_json, report)
    if not inference.replayed:
        why = "no call in the recording could be replayed, so no assumption was decided"
        fail(f"{directory}: {why}", code=Exit.REFUSED)
    if any(one.verdict in ("differs", "neither") for one in verdicts):
        raise SystemExit(Exit.REFUSED)


def _require_inferred(out: Path) -> None:
    """Exit with code 2 if an existing file does not come from an earlier run of `rampsim infer`."""
    if not out.is_file():
        fail(f"--out: {out} is not a regular file")
    try:
        file = observed.read(out, TOOLING.alternatives())
    except observed.BadObserved as error:
        fail(f"--out: {error}. The file would be overwritten. Use another --out")
    if not observed.is_inferred(file):
        wrote = f"--out: {out}: `rampsim probe` wrote this file, and its verdicts would be overwritten"
        fail(f"{wrote}. Use another --out. `rampsim serve` accepts both files")


def _report(verdicts: Sequence[probing.Verdict], left_out: Sequence[str], replayed: int) -> None:
    for one in verdicts:
        say(line_of(one))
    for row in left_out:
        say(f"not used: {row}")
    counts = Counter(one.verdict for one in verdicts)
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    say(f"\n{summary}; {counted(replayed, 'call')} replayed")
