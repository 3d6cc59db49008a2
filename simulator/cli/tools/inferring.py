"""`rampsim infer`: finds out from recorded traffic which assumptions are right."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.output import EXIT_REFUSED, EXIT_USAGE, fail, require_writable, say, write_file
from simulator.cli.progress import Line
from simulator.engine.text.reports import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.engine.text.json import JsonObject
    from simulator.evidence.corpus import Exchange
    from simulator.evidence.probing import Verdict

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, path_type=Path))
@click.option("--out", type=_FILE, help="Write the observed file.")
@click.option("--json", "as_json", type=_FILE, help="Write the report as JSON to this file.")
@click.option("--name", metavar="NAME", help="Name of the service in the observed file.  [default: name of DIR]")
@click.option("--base", metavar="URL", help="Base URL of the calls in HAR files.  [default: the part up to /v1]")
def infer(directory: Path, out: Path | None, as_json: Path | None, name: str | None, base: str | None) -> None:
    """Decide assumptions from recorded traffic.

    DIR contains recordings from `rampsim capture` (.jsonl) or HAR files. The service is not called: the recordings are
    replayed in worlds with the usual assumption and in worlds with each alternative. A recording that agrees with only
    one of them decides the assumption. The reference data that the recording shows, such as fees and limits, is written
    to the observed file as facts.

    Exits with 1 if the recording contradicts an assumption. If no recorded call could be replayed, also exits with 1,
    and does not write the observed file.
    """
    from simulator.cli.tools.verdicts import report_facts
    from simulator.evidence import observed
    from simulator.evidence.corpus import BadCorpus, read_corpus
    from simulator.evidence.facts import recorded_environment, recorded_facts
    from simulator.evidence.replay.inferring import Inference
    from simulator.service import TOOLING

    require_writable(out, out and observed.draft_of(out), as_json)
    if out is not None and out.exists():
        _require_inferred(out)
    try:
        corpus = read_corpus(directory, base)
    except BadCorpus as error:
        fail([str(error)], EXIT_USAGE)
    line = Line()
    inference = Inference(corpus, TOOLING.probing(), TOOLING.alternatives(), report=line.say)
    try:
        verdicts = inference.verdicts()
    finally:
        line.clear()
        inference.close()
    left_out = [*map(str, corpus.damaged), *inference.left_out()]
    exchanges = _referred(verdicts, corpus.exchanges)
    facts = recorded_facts(corpus.exchanges, TOOLING.probing(), left_out.append)
    _report(verdicts, left_out, inference.replayed)
    report_facts(facts)
    if out is not None and inference.replayed:
        files = [directory] if directory.is_file() else [*directory.iterdir()]
        newest = max(path.stat().st_mtime for path in files)
        date = datetime.datetime.fromtimestamp(newest, datetime.UTC).date()
        name = name or directory.absolute().name
        environment = recorded_environment(corpus.exchanges)
        try:
            observed.write(out, None, environment, verdicts, exchanges, facts, name, date)
        except OSError as error:
            fail([f"cannot write {out}: {error.strerror or error}"], EXIT_USAGE)
    if as_json is not None:
        report: JsonObject = {
            "version": 1,
            "target": None,
            "calls": 0,
            "replayed": inference.replayed,
            "left_out": left_out,
            "assumptions": [asdict(one) for one in verdicts],
            "facts": facts,
            "exchanges": exchanges,
        }
        write_file(as_json, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    if not inference.replayed:
        fail([f"{directory}: no call in the recording could be replayed, so no assumption was decided"], EXIT_REFUSED)
    if any(one.verdict in ("differs", "neither") for one in verdicts):
        raise SystemExit(EXIT_REFUSED)


def _require_inferred(out: Path) -> None:
    """Exit with code 2 if an existing file does not come from an earlier run of `rampsim infer`."""
    from simulator.evidence import observed
    from simulator.service import TOOLING

    if not out.is_file():
        fail([f"--out: {out} is not a regular file"], EXIT_USAGE)
    try:
        file = observed.read(out, TOOLING.alternatives())
    except observed.BadObserved as error:
        fail([f"--out: {error}. The file would be overwritten. Use another --out"], EXIT_USAGE)
    if not observed.is_inferred(file):
        wrote = f"--out: {out}: `rampsim probe` wrote this file, and its verdicts would be overwritten"
        fail([f"{wrote}. Use another --out. `rampsim serve` accepts both files"], EXIT_USAGE)


def _referred(verdicts: Sequence[Verdict], exchanges: Sequence[Exchange]) -> list[object]:
    """Return the exchanges that the verdicts refer to.

    Each reference in a verdict is replaced with an index into this list.
    """
    wanted = sorted({index for one in verdicts for index in one.exchanges})
    places = {index: at for at, index in enumerate(wanted)}
    for one in verdicts:
        one.exchanges = [places[index] for index in one.exchanges]
    return [json.loads(exchanges[index].line()) for index in wanted]


def _report(verdicts: Sequence[Verdict], left_out: Sequence[str], replayed: int) -> None:
    for one in verdicts:
        say(f"{one.id:<18} {one.verdict:<10} {one.alternative or one.seen or one.reason or ''}".rstrip())
    for row in left_out:
        say(f"not used: {row}")
    counts = Counter(one.verdict for one in verdicts)
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    say(f"\n{summary}; {counted(replayed, 'call')} replayed")
