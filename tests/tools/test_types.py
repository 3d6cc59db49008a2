"""Suppressed mypy errors: each one has an error code and a reason."""

from __future__ import annotations

import re

from tests.places import ROOT

IGNORED = re.compile(r"# type[:] ignore(?!\[[^]]+\]  # \S)")


def test_every_suppressed_type_error_has_a_reason() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for place in ("simulator", "contracts/generator", "tests")
        for path in (ROOT / place).rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if IGNORED.search(line)
    ]
    assert bare == []
