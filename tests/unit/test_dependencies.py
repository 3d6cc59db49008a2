"""The simulator needs few packages at run time, and `CONTRIBUTING.md` gives the reason for each."""

from __future__ import annotations

import re
import tomllib

from tests.places import ROOT

MOST = 20


def _required() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [re.split(r"[^A-Za-z0-9_-]", line)[0] for line in project["dependencies"]]


def _reasons() -> list[tuple[str, str]]:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = page.partition("\n## Dependencies\n")[2].partition("\n## ")[0]
    return re.findall(r"(?m)^\| `([a-z0-9-]+)` \| (.*) \|$", section)


def test_each_dependency_has_its_row_with_a_reason() -> None:
    assert sorted(name for name, _ in _reasons()) == sorted(_required())
    assert [name for name, reason in _reasons() if len(reason.split()) < 4] == []


def test_the_wheel_needs_at_most_twenty_packages() -> None:
    assert len(set(_required())) <= MOST
