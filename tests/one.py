"""The one-test loop: `python -m tests.one WHAT [PYTEST ARGUMENTS]`, as `make t K=WHAT` calls it.

WHAT is a path (`tests/unit/kernel`, `tests/unit/kernel/test_money.py::test_one`) or words as `pytest -k` takes them
(`quote and not expired`). Of words only the files are collected that contain one of them, in their path or text:
collecting all tests takes longer than most of them run. No workers; the first failure ends the run, and what failed
last runs first.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.places import LAYERS, ROOT

ALWAYS = ["-x", "--ff", "--durations=3", "-m", "not judges and not browser"]


def files_with(words: str) -> list[Path]:
    """Files of tests in which one of the words of an expression stands, whatever its case."""
    sought = [word.lower() for word in re.findall(r"\w+", words) if word not in ("and", "or", "not")]
    found = sorted(path for layer in LAYERS for path in (ROOT / "tests" / layer).rglob("test_*.py"))
    return [
        path
        for path in found
        if any(
            word in str(path.relative_to(ROOT)).lower() or word in path.read_text("utf-8").lower() for word in sought
        )
    ]


def arguments(what: str) -> list[str]:
    """What pytest is called with. LookupError: no file can hold such a test."""
    if (ROOT / what.partition("::")[0]).exists():
        return [*ALWAYS, what]
    if not (files := files_with(what)):
        raise LookupError(f"no file of tests has {what!r} in its name or text")
    return [*ALWAYS, "-k", what, *map(str, files)]


def main() -> int:
    what, *more = sys.argv[1:] or [""]
    try:
        if not what.strip():
            raise LookupError("say which tests: make t K=quote, or make t K=tests/unit/engine/text/test_fields.py")
        called = arguments(what)
    except LookupError as error:
        print(error)  # noqa: T201
        return 2
    return int(pytest.main([*called, *more]))


if __name__ == "__main__":
    sys.exit(main())
