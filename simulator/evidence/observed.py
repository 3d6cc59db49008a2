"""The observed file: verdicts on how a real service behaves. Worlds use these verdicts to set their assumptions."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import yaml

from simulator.engine.records.codec import StateError
from simulator.engine.text.json import Shown
from simulator.engine.worlds.alternatives import Switches
from simulator.engine.worlds.observations import FORMAT, Observed, check_agreement, read_observed
from simulator.evidence import probing
from simulator.kernel.dataclass import replace
from simulator.service import TOOLING
from simulator.version import __version__

_NO_HOST = hashlib.sha256(b"").hexdigest()
"""The hash in files that earlier versions of `rampsim infer` wrote."""
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""The dumper in C needs a fifth of the time, and a run writes its file after each flow."""


class BadObserved(ValueError):
    """Raised if a file is not a valid observed file. The message contains the file name and the path of the field."""


def write(
    path: Path,
    target: str | None,
    environment: str | None,
    verdicts: Iterable[probing.Verdict],
    exchanges: Sequence[Any],
    facts: Shown = MappingProxyType({}),
    name: str = "target",
    date: datetime.date | None = None,
) -> None:
    """Write the facts and all verdicts except `undecided`. The file contains only a hash of the target's host and port.

    `target`: the base URL. `environment`: `sandbox` or `production`. If they are None, the file does not contain them.
    `date`: the date of the observation, by default today. Raise `OSError` if the file cannot be written.
    """
    shown = ("verdict", "alternative", "seen", "probe", "exchanges")
    rows = {
        one.id: {name: value for name in shown if (value := getattr(one, name)) is not None}
        for one in verdicts
        if one.verdict != "undecided"
    }
    about = {"name": name, "host_sha256": None if target is None else host_hash(target), "environment": environment}
    document = {
        "version": FORMAT,
        "target": {name: value for name, value in about.items() if value is not None},
        "observed_at": (date or _today()).isoformat(),
        "rampsim": __version__,
        "assumptions": rows,
        "facts": dict(facts),
        "exchanges": list(exchanges),
    }
    draft = draft_of(path)
    try:
        with draft.open("w", encoding="utf-8") as file:
            yaml.dump(document, file, Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def draft_of(path: Path) -> Path:
    """Return the path of the temporary file that replaces the observed file."""
    return path.with_name(path.name + ".part")


def host_hash(target: str) -> str:
    """Return the SHA-256 hash of the host and the port in a base URL. The default port of the scheme is omitted."""
    parts = urlsplit(target)
    host, port = parts.hostname or "", parts.port
    if port is not None and port != {"http": 80, "https": 443}.get(parts.scheme):
        host += f":{port}"
    return hashlib.sha256(host.encode()).hexdigest()


def read_earlier(path: Path, target: str | None, environment: str | None, switches: Switches) -> Observed | None:
    """Read the file that a run continues. Return None if there is no file. `target`: the base URL, if it is known.
    Raise `BadObserved` if the file is invalid, or if it describes another service or another environment.
    """
    if not path.exists():
        return None
    file = read(path, switches)
    name, known = file.target.get("name"), file.target.get("environment")
    advice = "Use another --out for a new file"
    if is_inferred(file):
        raise BadObserved(f"{path}: `rampsim infer` wrote this file about {name}, from a recording. {advice}")
    if target is not None and file.target.get("host_sha256") != host_hash(target):
        raise BadObserved(f"{path}: the file describes another service, {name}, not {target}. {advice}")
    if environment is not None and known != environment:
        raise BadObserved(f"{path}: the file describes the environment {known} of {name}, not {environment}. {advice}")
    return file


def is_inferred(file: Observed) -> bool:
    """Return True if a file contains the results of a recording, and none of a probe."""
    has_host = file.target.get("host_sha256", _NO_HOST) != _NO_HOST
    return not has_host and not any("probe" in row for row in file.verdicts.values())


def read_files(paths: Iterable[Path], switches: Switches) -> tuple[Observed, ...]:
    """Read and validate files. Raise `BadObserved` if one is invalid or two disagree."""
    files = tuple(read(path, switches) for path in paths)
    try:
        check_agreement(files)
    except StateError as error:
        raise BadObserved(error.why) from None
    return files


def read(path: Path, switches: Switches) -> Observed:
    """Read and validate a file. Raise `BadObserved` if it is invalid."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadObserved(f"{path}: cannot be read ({error.strerror or error})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadObserved(f"{path} is not valid YAML ({str(error).splitlines()[0]})") from None
    try:
        plain = json.loads(json.dumps(document, default=str))
        return read_observed(plain, switches, str(path), TOOLING.probing().malformed_fact)
    except StateError as error:
        raise BadObserved(f"{path}: {error}") from None


def exchanges_in(path: Path) -> list[Any]:
    """Return the `exchanges` in an observed file. `read` must accept the file."""
    exchanges = yaml.safe_load(path.read_bytes()).get("exchanges")
    return exchanges if isinstance(exchanges, list) else []


def referred(verdicts: Sequence[probing.Verdict], exchanges: Sequence[Any]) -> tuple[list[probing.Verdict], list[Any]]:
    """Return the verdicts, and the exchanges that they refer to. The verdicts have indices into that list."""
    wanted = sorted({index for one in verdicts for index in one.exchanges if 0 <= index < len(exchanges)})
    places = {index: at for at, index in enumerate(wanted)}
    moved = [replace(one, exchanges=[places[index] for index in one.exchanges if index in places]) for one in verdicts]
    return moved, [exchanges[index] for index in wanted]


def verdicts_in(file: Observed, switches: Switches) -> list[probing.Verdict]:
    """Return the verdicts in a file."""
    return [
        probing.Verdict(
            identifier, switches[identifier].assumed, row["verdict"], row.get("alternative"), row.get("seen"), None,
            row.get("probe"), row.get("exchanges") or [],
        )
        for identifier, row in file.verdicts.items()
    ]  # fmt: skip


def warnings_of(files: Iterable[Observed], today: datetime.date | None = None) -> list[str]:
    """Return a warning for each observed file that is old, and for each fact in it (such as a fee) that worlds cannot
    use. `today`: the date on this machine.
    """
    found = []
    for file in files:
        _, unfit = TOOLING.probing().fit_facts(file.facts) if file.facts else ({}, [])
        found += [
            file.warning(today or _today()),
            *(f"{file.name}: facts that worlds do not use: {line}" for line in unfit),
        ]
    return [warning for warning in found if warning]


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
