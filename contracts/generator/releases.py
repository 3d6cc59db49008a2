"""Releases of the two contracts: their versions, the files of all releases, and what changed since the last one.

The version of a contract is the newest heading of its changelog. `released/NAME/VERSION.yaml` is a contract as it was
released, without what only explains. A released file never changes: `released/SHA256SUMS` has the digest of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from contracts.generator.schemas import Schema
from simulator.contract.changes import Change, changes, unnamed
from simulator.contract.files import contracts_directory, read_document
from simulator.engine.text.yaml import yaml_text
from simulator.kernel.dataclass import dataclass

FOLDER = "released"
SUMS = "SHA256SUMS"
_HEADING = re.compile(r"^## ([0-9]+\.[0-9]+\.[0-9]+)\b.*$", re.MULTILINE)
_EXPLAINS = frozenset(("description", "summary", "example", "examples", "x-enum-descriptions"))
_HEAD = "# The contract at this release; made by `python -m contracts.generator release`, never changed.\n"


@dataclass(frozen=True)
class Contract:
    """One contract with versions of its own: `file` is released as `released/NAME`, `changelog` has its versions."""

    name: str
    file: str
    changelog: str


INTERFACE = Contract("openapi", "openapi.strict.yaml", "CHANGELOG.md")
CONTROL = Contract("control", "control.yaml", "CHANGELOG.control.md")
CONTRACTS: Mapping[str, Contract] = {one.name: one for one in (INTERFACE, CONTROL)}


class Published(Exception):
    """A version cannot be released: it was, with the same contents or with others."""


def newest(changelog: str) -> tuple[str, str]:
    """(version, text) of the newest section of a changelog; ValueError when there is none."""
    headings = list(_HEADING.finditer(changelog))
    if not headings:
        raise ValueError("the changelog has no heading with a version, such as `## 1.2.0`")
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    return headings[0][1], changelog[headings[0].end() : end]


def changelog(contract: Contract = INTERFACE) -> str:
    return (contracts_directory() / contract.changelog).read_text("utf-8")


def version(contract: Contract = INTERFACE) -> str:
    """Return the current version of a contract."""
    return newest(changelog(contract))[0]


def bare(document: Any, inside: str = "") -> Any:
    """A document without what only explains; a field that is called `description` is a field."""
    if isinstance(document, Mapping):
        kept = document if inside == "properties" else {k: v for k, v in document.items() if k not in _EXPLAINS}
        return {name: bare(member, name) for name, member in kept.items()}
    return [bare(item) for item in document] if isinstance(document, list) else document


def releases(directory: Path, contract: Contract) -> list[Path]:
    """The files of all releases of a contract, oldest first."""
    found = (directory / FOLDER / contract.name).glob("*.yaml")
    return sorted(found, key=lambda path: [int(number) for number in path.stem.split(".")])


def released(directory: Path, contract: Contract = INTERFACE) -> Schema:
    """A contract as it was at its last release."""
    return read_document(releases(directory, contract)[-1])


def problems(old: Schema, new: Schema, text: str) -> tuple[list[Change], list[str]]:
    """Return the changes since a release, and the problems of the changelog.

    A new value of a closed enum counts as an addition: the service adds values without notice, and the strict contract
    closes its enums only so that validators notice new values.
    """
    found = changes(old, new)
    breaking = [change for change in found if change.breaks and change.verdict != "widened"]
    now, section = newest(text)
    was = str(old["info"]["version"])
    wrong = [f"the changelog does not name: {change.readable()}" for change in unnamed(breaking, section)]
    if found and now == was:
        wrong.append(f"the contract differs from the released {was}, but the changelog has no newer version")
    if not found and now != was:
        wrong.append(f"the contract says the same as the released {was}, so the version must not rise to {now}")
    if breaking and now.partition(".")[0] == was.partition(".")[0]:
        wrong.append(f"clients of {was} break: the first number of {now} must rise")
    return found, wrong


def digests(directory: Path) -> str:
    """The lines of SHA256SUMS: digest and path of every released file, as `sha256sum -c` reads them."""
    folder = directory / FOLDER
    paths = [path for contract in CONTRACTS.values() for path in releases(directory, contract)]
    return "".join(f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in paths)


def release(directory: Path, contract: Contract, document: Schema) -> Path:
    """Write down a contract as released, and its digest. Published when its version was released before."""
    path = directory / FOLDER / contract.name / f"{document['info']['version']}.yaml"
    if path.exists():
        raise Published(f"{contract.name} {path.stem} was released: what changes after that gets a version of its own")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_HEAD + yaml_text(bare(document)), "utf-8")
    (directory / FOLDER / SUMS).write_text(digests(directory), "utf-8")
    return path
