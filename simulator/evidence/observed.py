"""The observed file: verdicts of a real service, from which worlds take their assumptions."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from simulator.engine.records.codec import StateError
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.worlds.alternatives import Switches
from simulator.engine.worlds.observations import FORMAT, Observed, check_agreement, facts_of, read_observed
from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING
from simulator.version import __version__

if TYPE_CHECKING:
    from simulator.evidence.probing import Verdict


class BadObserved(ValueError):
    """A file that is not an observed file. The message names the file and the place."""


@dataclass(frozen=True)
class Seen:
    """The service that a file is about. The file has its host as a hash only."""

    url: str
    environment: str
    name: str = "target"


def write(
    path: Path,
    target: Seen,
    verdicts: Iterable[Verdict],
    exchanges: Sequence[Any],
    facts: Shown = MappingProxyType({}),
    *,
    date: datetime.date | None = None,
) -> None:
    """Write the verdicts that are decided, and the facts. `date` is that of the observation, by default today."""
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
        "observed_at": (date or datetime.datetime.now(datetime.UTC).date()).isoformat(),
        "rampsim": __version__,
        "assumptions": rows,
        "facts": dict(facts),
        "exchanges": list(exchanges),
    }
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8") as file:
        yaml.safe_dump(document, file, sort_keys=False, allow_unicode=True)
    draft.replace(path)


def read_files(paths: Iterable[Path], switches: Switches) -> tuple[Observed, ...]:
    """Read and validate files. Raise `BadObserved` if one is invalid or two disagree."""
    files = tuple(read(path, switches) for path in paths)
    try:
        check_agreement(files)
        facts_of(files, TOOLING.probing().fit_facts)
    except StateError as error:
        raise BadObserved(error.why) from None
    return files


def read(path: Path, switches: Switches) -> Observed:
    """Read and validate a file. Raise `BadObserved`."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadObserved(f"{path}: cannot be read ({error.strerror or error})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadObserved(f"{path}: is not YAML ({str(error).splitlines()[0]})") from None
    try:
        return read_observed(json.loads(json.dumps(document, default=str)), switches, str(path))
    except StateError as error:
        raise BadObserved(f"{path}: {error}") from None


def verdicts_in(file: Observed, switches: Switches) -> list[Verdict]:
    """Return the verdicts in a file."""
    from simulator.evidence.probing import Verdict

    return [
        Verdict(
            identifier, switches[identifier].assumed, row["verdict"], row.get("alternative"), row.get("seen"), None,
            row.get("probe"), row.get("exchanges") or [],
        )
        for identifier, row in file.verdicts.items()
    ]  # fmt: skip


def contents_of(files: Iterable[Observed]) -> list[JsonObject]:
    """Return the contents of files, as `POST /_simulator/worlds` accepts them."""
    return [{**one.document, "facts": dict(one.facts)} for one in files]


def warnings_of(files: Iterable[Observed], today: datetime.date | None = None) -> list[str]:
    """Return a warning for each old file, and for each fact that a world cannot have.

    `today` is the date of this machine.
    """
    today, fit = today or datetime.datetime.now(datetime.UTC).date(), TOOLING.probing().fit_facts
    return [
        line
        for file in files
        for line in (file.warning(today), *(f"{file.name}: not used: {unfit}" for unfit in fit(file.facts)[1]))
        if line
    ]
