"""Runs the tests for one thing: `python -m tests.one WHAT [PYTEST ARGUMENTS]`, as `make t K=WHAT` does.

WHAT is a path (`tests/unit/kernel`, `tests/unit/kernel/test_money.py::test_one`) or an expression for `pytest -k`
(`quote and not expired`). For an expression, only files that contain one of its words in their path or text are
collected, because collecting all tests takes longer than running most of them. There are no workers, the first failure
ends the run, and tests that failed last time run first.
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
    """Return the arguments for pytest. Raises LookupError if no file can contain such a test."""
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
