"""The observed file: verdicts of a real service, from which worlds take their assumptions."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args
from urllib.parse import urlsplit

import yaml

from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.strict import did_you_mean
from simulator.engine.worlds.alternatives import Observation, Switches
from simulator.evidence.probing import Result, Verdict
from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING
from simulator.version import __version__

FORMAT = 1
OLD_DAYS = 90


class BadObserved(ValueError):
    """A file that is not an observed file. The message names the file and the place."""


@dataclass(frozen=True)
class Seen:
    """The service that a file is about. The file has its host as a hash only."""

    url: str
    environment: str
    name: str = "target"


@dataclass(frozen=True)
class Observed:
    """One observed file."""

    path: Path
    date: str
    verdicts: Mapping[str, Verdict]
    facts: Shown
    """The facts that differ from the shipped reference data, in the form that worlds accept."""
    unfit: Sequence[str]
    """Facts of the file that a world cannot have, one line each."""
    facts_as_seen: Shown
    """The facts as the service has them."""
    exchanges: Sequence[Any]
    """The calls of the run, to which the verdicts refer."""

    @property
    def alternatives(self) -> dict[str, str]:
        """The alternatives that the service has, by the id of the assumption."""
        return {one.id: one.alternative for one in self.verdicts.values() if one.alternative is not None}

    def warning(self, today: datetime.date) -> str:
        """Return a warning about an old file, or ""."""
        days = (today - datetime.date.fromisoformat(self.date)).days
        return f"{self.path}: observed {days} days ago; `rampsim probe` renews it" if days > OLD_DAYS else ""


def write(
    path: Path,
    target: Seen,
    verdicts: Iterable[Verdict],
    exchanges: Sequence[Any],
    facts: Shown = MappingProxyType({}),
) -> None:
    """Write the verdicts that are decided, and the facts."""
    rows: JsonObject = {}
    for one in verdicts:
        if one.verdict == "undecided":
            continue
        row = {"verdict": one.verdict, "alternative": one.alternative, "seen": one.seen, "probe": one.probe}
        rows[one.id] = {name: value for name, value in row.items() if value is not None}
        rows[one.id]["exchanges"] = one.exchanges
    host = urlsplit(target.url).hostname or ""
    document = {
        "version": FORMAT,
        "target": {
            "name": target.name,
            "host_sha256": hashlib.sha256(host.encode()).hexdigest(),
            "environment": target.environment,
        },
        "observed_at": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "rampsim": __version__,
        "assumptions": rows,
        "facts": dict(facts),
        "exchanges": list(exchanges),
    }
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8") as file:
        yaml.safe_dump(document, file, sort_keys=False, allow_unicode=True)
    draft.replace(path)


def read(path: Path, switches: Switches) -> Observed:
    """Read and validate a file. Raise `BadObserved`."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadObserved(f"{path}: cannot be read ({error.strerror or error})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadObserved(f"{path}: is not YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(document, Mapping):
        raise BadObserved(f"{path}: is not an observed file. `rampsim probe --out` writes one")
    if document.get("version") != FORMAT:
        raise BadObserved(f"{path}: version: {document.get('version')!r} is not {FORMAT}")
    date = str(document.get("observed_at"))
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        raise BadObserved(f"{path}: observed_at: {date!r} is not a date like 2026-11-23") from None
    rows = document.get("assumptions") or {}
    if not isinstance(rows, Mapping):
        raise BadObserved(f"{path}: assumptions: is not a mapping of ids to verdicts")
    given = document.get("facts") or {}
    if not isinstance(given, Mapping):
        raise BadObserved(f"{path}: facts: is not a mapping")
    facts, unfit = TOOLING.probing().fit_facts(given) if given else ({}, [])
    verdicts = {str(key): _verdict(path, str(key), row, switches) for key, row in rows.items()}
    exchanges = document.get("exchanges") or []
    if not isinstance(exchanges, list):
        raise BadObserved(f"{path}: exchanges: is not a list")
    return Observed(path, date, verdicts, facts, unfit, given, exchanges)


def _verdict(path: Path, identifier: str, row: object, switches: Switches) -> Verdict:
    place = f"{path}: assumptions.{identifier}"
    switch = switches.get(identifier)
    if switch is None:
        raise BadObserved(f"{place}: there is no such switchable assumption{did_you_mean(identifier, switches)}")
    if not isinstance(row, Mapping) or row.get("verdict") not in get_args(Result):
        raise BadObserved(f"{place}.verdict: is not one of {', '.join(get_args(Result))}")
    alternative = row.get("alternative")
    if (row["verdict"] == "differs") != (alternative is not None):
        raise BadObserved(f"{place}.alternative: `differs` needs one, and no other verdict has one")
    if alternative is not None and (why := switch.why_not(str(alternative))):
        raise BadObserved(f"{place}.alternative: {why}")
    exchanges = row.get("exchanges") or []
    if not isinstance(exchanges, list):
        raise BadObserved(f"{place}.exchanges: is not a list of indices")
    return Verdict(
        identifier, switch.assumed, row["verdict"], alternative, row.get("seen"), None, row.get("probe"), exchanges
    )


def observations(files: Sequence[Observed]) -> dict[str, Observation]:
    """Return the observations of several files, by assumption. Raise `BadObserved` if two disagree."""
    by_id: dict[str, tuple[Observed, Verdict]] = {}
    for file in files:
        for identifier, verdict in file.verdicts.items():
            earlier = by_id.setdefault(identifier, (file, verdict))
            if (earlier[1].verdict, earlier[1].alternative) != (verdict.verdict, verdict.alternative):
                raise BadObserved(
                    f"{earlier[0].path} and {file.path} disagree on {identifier}: "
                    f"{_shown(earlier[1])} and {_shown(verdict)}"
                )
    return {
        one: Observation(verdict.alternative, file.date)
        for one, (file, verdict) in by_id.items()
        if verdict.verdict in ("holds", "differs")
    }


def facts_of(files: Sequence[Observed]) -> JsonObject:
    """Return the facts of several files, in the form that worlds accept. Raise `BadObserved` if two disagree.

    A file without facts agrees with every other.
    """
    found: JsonObject = {}
    sources: dict[tuple[str, str], Path] = {}
    for file in files:
        for part, rows in file.facts.items():
            for key, row in rows.items():
                if found.setdefault(part, {}).setdefault(key, row) != row:
                    raise BadObserved(f"{sources[part, key]} and {file.path} disagree on facts.{part}: {key}")
                sources.setdefault((part, key), file.path)
    return found


def _shown(verdict: Verdict) -> str:
    return verdict.alternative or verdict.verdict
