"""`rampsim compare`: compares recorded traffic with the simulator, or one contract with another."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from simulator.cli.options import key_pair, option, target_keys
from simulator.cli.output import Exit, exits, fail, say
from simulator.cli.remote import is_address
from simulator.compare import accepting, corpora, replay
from simulator.compare import observed as observed_files
from simulator.contract import changes, files
from simulator.evidence import corpus, observed, remote
from simulator.evidence.corpus import har
from simulator.evidence.replay import players, replaying
from simulator.service import TOOLING

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", metavar="FILE|DIR", type=click.Path(exists=True, path_type=Path))
@click.argument("newer", type=_FILE, required=False)
@option("--base", metavar="URL", help="Base URL of the recorded calls.  [default: the part up to /v1]")
@option(
    "--scenario",
    "scenarios",
    metavar="NAME|FILE",
    multiple=True,
    default=("autopilot",),
    help="Scenario to activate for the replay of a HAR file; repeatable.",
)
@option("--values", is_flag=True, help="Also compare amounts, rates and strings.")
@option("--target", metavar="URL", help="Replay DIR at this service. Base URL that ends with /v1.")
@target_keys
@option("--observed", type=_FILE, multiple=True, help="Replay DIR in a simulator with this observed file.")
@option("--accept", type=_FILE, help="Known differences for DIR or observed files, each with a reason.")
@option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def compare(
    file: Path, newer: Path | None, base: str | None, scenarios: tuple[str, ...], values: bool, target: str | None,
    public_key: str | None, secret_key: str | None, observed: tuple[Path, ...], accept: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Compare recorded traffic with a service, or two contracts.

    DIR contains recordings from `rampsim capture` or HAR files. They are replayed in a new simulator, or at --target. A
    difference means that the simulator is wrong, or that the service has changed. Exits with 1 if there are
    differences, if nothing was compared, or if an accepted difference did not occur.

    If you give only FILE, it is a HAR recording. Its calls are replayed against a new simulator with the recording's
    clock. Differences in status, code, shape, state or enumeration value are reported with their meaning: a broken rule
    of the contract, a wrong assumption, an addition, or an outside event. Ids, tokens and times are replaced. Exits
    with 1 if there are differences.

    FILE and NEWER are OpenAPI documents (YAML or JSON). Everything that was removed, weakened, tightened or added is
    listed. Exits with 1 if clients of the older document can break. This is the case if something specified was
    removed or weakened, a request was tightened, a default changed, authentication was added, a success status was
    removed, or a closed enum in a response was extended.

    FILE and NEWER can also be observed files of `rampsim probe`. Exits with 1 if a verdict or a fact has changed, such
    as a fee or a limit, or if an accepted change did not occur. Rates and prices are not compared.
    """
    is_corpus = file.is_dir() or file.suffix == ".jsonl"
    is_observed = newer is not None and not is_corpus and b"\nobserved_at:" in file.read_bytes()
    if not is_corpus and (target or observed):
        fail("--target and --observed need a directory of recordings")
    if not (is_corpus or is_observed) and accept:
        fail("--accept needs a directory of recordings, or two observed files")
    if newer is not None:
        if is_corpus:
            fail(f"{file}: recordings cannot be compared with a second file")
        if is_observed:
            _observed(file, newer, accept, as_json)
        _contracts(file, newer, as_json)
    if is_corpus:
        _corpus(file, base, values, partial(_player, target, public_key, secret_key), observed, accept, as_json)
    import asyncio

    try:
        entries = har.read_har(file.read_bytes(), base)
    except har.HarError as error:
        fail(f"{file}: {error}")
    result = asyncio.run(replay.compare(entries, scenarios=scenarios, values=values))
    say(json.dumps(result.as_json(), indent=2) if as_json else result.readable())
    sys.exit(Exit.REFUSED if result.differences else 0)


def _corpus(
    directory: Path, base: str | None, values: bool, player: Callable[[], replaying.Player | None],
    observed_in: tuple[Path, ...], accept: Path | None, as_json: bool,
) -> NoReturn:  # fmt: skip
    with (
        exits(corpus.BadCorpus, observed.BadObserved, accepting.BadAccepted),
        exits(remote.NotTheService, remote.SpentBudget, code=Exit.UNREACHABLE),
    ):
        recorded = corpus.read_corpus(directory, base)
        documents = [one.document for one in observed.read_files(observed_in, TOOLING.alternatives())]
        accepted = [] if accept is None else accepting.read_accepted(accept)
        result = corpora.compare_corpus(recorded, observed=documents, accepted=accepted, values=values, target=player())
    say(json.dumps(result.as_json(), indent=2, default=str) if as_json else result.readable())
    if not result.replayed:
        fail(f"{directory}: nothing was compared", code=Exit.REFUSED)
    _end(accepted, differs=bool(result.differences))


def _end(accepted: list[accepting.Accepted], *, differs: bool) -> NoReturn:
    """Exit with 1 if there are differences, or if an accepted difference did not occur."""
    if messages := accepting.unused(accepted):
        fail(*messages, code=Exit.REFUSED)
    sys.exit(Exit.REFUSED if differs else 0)


def _player(target: str | None, public_key: str | None, secret_key: str | None) -> replaying.Player | None:
    """Return a client for the service at --target, or None to replay the recorded calls in a new simulator."""
    if target is None:
        return None
    if not (is_address(target) and target.rstrip("/").endswith("/v1")):
        fail(f"--target: {target!r} is not a base URL that ends with /v1")
    return players.RemotePlayer(target, key_pair(public_key, secret_key))


def _observed(file: Path, newer: Path, accept: Path | None, as_json: bool) -> NoReturn:
    with exits(observed.BadObserved, accepting.BadAccepted):
        accepted = [] if accept is None else accepting.read_accepted(accept)
        old, new = (observed.read(path, TOOLING.alternatives()) for path in (file, newer))
        found = observed_files.changes(old, new, accepted)
    say(json.dumps(found.as_json(), indent=2) if as_json else found.readable())
    if not (found.verdicts or found.facts):
        fail("nothing was compared, because the files have no decided assumption or fact in common", code=Exit.REFUSED)
    _end(accepted, differs=bool(found.changed))


def _contracts(file: Path, newer: Path, as_json: bool) -> NoReturn:
    try:
        with exits(files.ContractError):
            found = changes.changes(files.read_document(file), files.read_document(newer))
    except (KeyError, TypeError, AttributeError) as error:
        fail(f"one of the two files is not a valid OpenAPI document: cannot resolve {error!r}")
    rows = [asdict(one) | {"breaks": one.breaks} for one in found]
    say(json.dumps(rows, indent=2) if as_json else changes.readable(found))
    sys.exit(Exit.REFUSED if any(one.breaks for one in found) else 0)
