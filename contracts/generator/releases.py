"""Releases of the contract: its version, the file of the last one, and what changed since.

The version is the newest heading of contracts/CHANGELOG.md. `released.yaml` is the strict contract as it was at the
last release, without what only explains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from contracts.generator.schemas import Schema
from simulator.contract.changes import Change, changes, unnamed
from simulator.contract.files import contracts_directory, read_document
from simulator.wire.yaml_text import yaml_text

RELEASED = "released.yaml"
CHANGELOG = "CHANGELOG.md"
_HEADING = re.compile(r"^## ([0-9]+\.[0-9]+\.[0-9]+)\b.*$", re.MULTILINE)
_EXPLAINS = frozenset(("description", "summary", "example", "examples", "x-enum-descriptions"))
_HEAD = "# The contract at its last release; made by `python -m contracts.generator release`, do not edit.\n"


def newest(changelog: str) -> tuple[str, str]:
    """(version, text) of the newest section of a changelog; ValueError when there is none."""
    headings = list(_HEADING.finditer(changelog))
    if not headings:
        raise ValueError("the changelog has no heading with a version, such as `## 1.2.0`")
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    return headings[0][1], changelog[headings[0].end() : end]


def changelog() -> str:
    return (contracts_directory() / CHANGELOG).read_text("utf-8")


def version() -> str:
    """The version that the contract bears now."""
    return newest(changelog())[0]


def bare(document: object, inside: str = "") -> object:
    """A document without what only explains; a field that is called `description` is a field."""
    if isinstance(document, Mapping):
        kept = document if inside == "properties" else {k: v for k, v in document.items() if k not in _EXPLAINS}
        return {name: bare(member, name) for name, member in kept.items()}
    return [bare(item) for item in document] if isinstance(document, list) else document


def released(directory: Path) -> Schema:
    """The contract as it was at the last release."""
    return read_document(directory / RELEASED)


def problems(old: Schema, new: Schema, text: str) -> tuple[list[Change], list[str]]:
    """What changed since a release, and what is wrong with how the changelog tells it."""
    found = changes(old, new)
    now, section = newest(text)
    was = str(old["info"]["version"])
    wrong = [f"the changelog does not name: {change.readable()}" for change in unnamed(found, section)]
    if found and now == was:
        wrong.append(f"the contract differs from the released {was}, but the changelog has no newer version")
    if any(change.breaks for change in found) and now.partition(".")[0] == was.partition(".")[0]:
        wrong.append(f"promises of {was} are broken: the first number of {now} must rise")
    return found, wrong


def release(directory: Path, strict: Schema) -> None:
    """Make the present contract the released one."""
    (directory / RELEASED).write_text(_HEAD + yaml_text(bare(strict)), "utf-8")
