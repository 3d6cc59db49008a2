"""Observed files, which contain observations of a running service and a verdict on each assumption.

Worlds can be based on such files, and then behave like the observed service."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from simulator.engine.records.codec import StateError
from simulator.engine.text.json import JsonObject, Shown
from simulator.engine.text.strict import did_you_mean
from simulator.engine.worlds.alternatives import Observation, Switches
from simulator.kernel.dataclass import dataclass

FORMAT = 1
"""The version of the files that this simulator reads."""
OLD_DAYS = 90
"""The age in days after which a file causes a warning."""
_MEMBERS = ("version", "target", "observed_at", "rampsim", "assumptions", "facts", "exchanges")
_VERDICT_MEMBERS = ("verdict", "alternative", "seen", "probe", "exchanges")
MalformedFact: TypeAlias = Callable[[Shown], tuple[str, str] | None]
Result: TypeAlias = Literal["holds", "differs", "neither", "undecided"]


@dataclass(frozen=True)
class Observed:
    """One observed file: verdicts on the assumptions about a running service, and reference data of this service."""

    name: str
    """The file name for messages."""
    date: str
    document: JsonObject
    """The content without the recorded requests and responses."""

    @property
    def verdicts(self) -> Mapping[str, JsonObject]:
        """The verdicts, by assumption id."""
        rows: Mapping[str, JsonObject] = self.document["assumptions"]
        return rows

    @property
    def target(self) -> JsonObject:
        """The description of the observed service."""
        target: JsonObject = self.document["target"]
        return target

    @property
    def facts(self) -> JsonObject:
        """The reference data of the service."""
        facts: JsonObject = self.document["facts"]
        return facts

    def warning(self, today: datetime.date) -> str:
        """Return a warning if the file is old, else ""."""
        days = (today - datetime.date.fromisoformat(self.date)).days
        if days <= OLD_DAYS:
            return ""
        return f"{self.name}: observed {days} days ago. Probe into a new file: `rampsim probe --out NEW_FILE`"


def read_observed(document: object, switches: Switches, name: str, malformed_fact: MalformedFact) -> Observed:
    """Parse an observed file. Raise `StateError` with the path of the first error. `malformed_fact` returns the path
    and the reason of the first malformed fact.
    """
    if not isinstance(document, Mapping):
        raise StateError("", "it is not an observed file. `rampsim probe --out` writes one")
    version = document.get("version")
    if type(version) is int and version > FORMAT:
        raise StateError(
            "version", f"{version} is newer than {FORMAT}, the version that this rampsim reads. Install a newer rampsim"
        )
    if type(version) is not int or version != FORMAT:
        raise StateError("version", f"{version!r} is not {FORMAT}")
    _refuse_unknown(document, _MEMBERS, "")
    date = str(document.get("observed_at"))
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        raise StateError("observed_at", f"{date!r} is not a date; write YYYY-MM-DD") from None
    rows = _mapping(document, "assumptions")
    for identifier, row in rows.items():
        _check_verdict(identifier, row, switches)
    facts = _mapping(document, "facts")
    if problem := malformed_fact(facts):
        raise StateError(f"facts.{problem[0]}", problem[1])
    content = {
        "version": FORMAT,
        "target": _mapping(document, "target"),
        "observed_at": date,
        "assumptions": rows,
        "facts": facts,
    }
    return Observed(name, date, content)


def _mapping(document: Mapping[object, object], name: str) -> JsonObject:
    value = document.get(name) or {}
    if not isinstance(value, Mapping):
        raise StateError(name, "it is not a mapping")
    return {str(key): one for key, one in value.items()}


def _check_verdict(identifier: str, row: object, switches: Switches) -> None:
    place = f"assumptions.{identifier}"
    switch = switches.get(identifier)
    if switch is None:
        raise StateError(place, f"there is no such switchable assumption{did_you_mean(identifier, switches)}")
    if not isinstance(row, Mapping) or row.get("verdict") not in get_args(Result):
        raise StateError(f"{place}.verdict", f"it is not one of {', '.join(get_args(Result))}")
    alternative = row.get("alternative")
    if row["verdict"] == "differs" and alternative is None:
        raise StateError(f"{place}.alternative", "it is missing")
    if row["verdict"] != "differs" and alternative is not None:
        raise StateError(
            f"{place}.alternative",
            f"only the verdict `differs` can have an alternative; this verdict is `{row['verdict']}`",
        )
    _refuse_unknown(row, _VERDICT_MEMBERS, f"{place}.")
    if alternative is not None and (why := switch.why_not(str(alternative))):
        raise StateError(f"{place}.alternative", why)
    if not isinstance(row.get("exchanges") or [], list):
        raise StateError(f"{place}.exchanges", "it must be a list of indices")


def _refuse_unknown(row: Mapping[object, object], known: Sequence[str], place: str) -> None:
    for name in map(str, row):
        if name not in known:
            raise StateError(f"{place}{name}", f"there is no such field{did_you_mean(name, known)}")


def read_all(documents: object, switches: Switches, place: str, malformed_fact: MalformedFact) -> tuple[Observed, ...]:
    """Parse one observed file or a list of them. Raise `StateError` with the path of the error."""
    given = documents if isinstance(documents, list | tuple) else [documents]
    files = []
    for index, document in enumerate(given):
        name = f"{place}[{index}]" if given is documents else place
        try:
            files.append(read_observed(document, switches, name, malformed_fact))
        except StateError as error:
            raise StateError(f"{name}.{error.path}" if error.path else name, error.why) from None
    check_agreement(files)
    return tuple(files)


def check_agreement(files: Sequence[Observed]) -> None:
    """Raise `StateError` if two observed files disagree. The message contains the names of both files."""
    verdicts: dict[str, tuple[Observed, str]] = {}
    facts: dict[str, tuple[Observed, object]] = {}
    for file in files:
        for identifier, row in file.verdicts.items():
            said = str(row.get("alternative") or row["verdict"])
            earlier, other = verdicts.setdefault(identifier, (file, said))
            if said != other and "undecided" not in (said, other):
                raise StateError(
                    file.name, f"{earlier.name} and {file.name} disagree on {identifier}: {other} and {said}"
                )
        for name, fact in file.facts.items():
            before, known = facts.setdefault(name, (file, fact))
            if not _agree(fact, known):
                raise StateError(file.name, f"{before.name} and {file.name} disagree on facts.{name}")


def _agree(one: object, other: object) -> bool:
    """Return True if two facts do not contradict each other. Ignore keys that occur in only one of two mappings."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(_agree(one[name], other[name]) for name in one.keys() & other.keys())
    return one == other


def observations(files: Iterable[Observed]) -> dict[str, Observation]:
    """Return the observed behaviour of the service by assumption id. Undecided assumptions are omitted."""
    return {
        identifier: Observation(row.get("alternative"), file.date)
        for file in files
        for identifier, row in file.verdicts.items()
        if row["verdict"] in ("holds", "differs")
    }


def date_observed(identifier: str, in_force: str | None, files: Iterable[Observed]) -> str | None:
    """Return the date on which the behaviour in force (an alternative, or None for the assumed one) was observed, or
    None.
    """
    seen = observations(files).get(identifier)
    return seen.date if seen is not None and seen.alternative == in_force else None


def alternatives_in(files: Iterable[Observed]) -> dict[str, str]:
    """Return the alternatives that the service uses, by assumption id."""
    seen = observations(files)
    return {identifier: one.alternative for identifier, one in seen.items() if one.alternative is not None}


def facts_in(files: Iterable[Observed]) -> JsonObject:
    """Return the facts about the service in the files, such as fees, by name. Later files take precedence."""
    return {name: fact for file in files for name, fact in file.facts.items()}
