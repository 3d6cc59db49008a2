"""The sources of randomness in tests, and the shell command that repeats a failure.

A random walk uses `walk_seed()`, which the variable WALK_SEED overrides. Hypothesis chooses new examples in each run.
The variable EXAMPLE contains the one example to run instead, as in `reproduce_failure`. Each failure ends with the
command that repeats it. To see some: `FAIL_ON_DEMAND=1 .venv/bin/python -m pytest tests/unit/test_on_demand.py`.

Since this command repeats a failure anywhere, Hypothesis does not save examples in a directory (`conftest.py`).
"""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, reproduce_failure

REPEAT = "to repeat this failure"
DEMANDED = bool(os.environ.get("FAIL_ON_DEMAND"))
CARRIED = ("FAIL_ON_DEMAND", "LONG", "EXAMPLE")
"""The environment variables that affect tests."""
_BLOB = re.compile(r"@reproduce_failure\('([^']+)', b'([^']+)'\)")
_walked: list[int] = []
"""The seeds of the test that runs, the latest last."""


def walk_seed(usual: int | None = None) -> int:
    """The seed of a random walk: WALK_SEED, or the usual one, or any."""
    chosen = os.environ.get("WALK_SEED")
    seed = int(chosen) if chosen else random.SystemRandom().randrange(2**32) if usual is None else usual
    _walked.append(seed)
    return seed


def walk_seeds(usual: Iterable[int]) -> Iterator[int]:
    """The seeds of walks, one after the other: WALK_SEED alone, or the usual ones."""
    if os.environ.get("WALK_SEED"):
        yield walk_seed()
        return
    yield from map(walk_seed, usual)


def run_only_the_example(items: Iterable[pytest.Item]) -> None:
    """If EXAMPLE is set, make Hypothesis tests run only this example."""
    version, _, blob = os.environ.get("EXAMPLE", "").partition(":")
    for item in items if blob else ():
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            # The test of a state machine takes it from the machine.
            machine = item.cls.__name__.removesuffix(".TestCase") if item.cls is not None else ""
            reproduce_failure(version, blob.encode())(getattr(item.module, machine, item.function))


def _example(error: BaseException) -> str | None:
    """EXAMPLE for the first failure that Hypothesis has found, if it has found any."""
    for one in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        if example := _example(one):
            return example
    found = _BLOB.search("\n".join(getattr(error, "__notes__", ())))
    return f"{found[1]}:{found[2]}" if found else None


def repeating(item: pytest.Item, error: BaseException | None = None) -> str:
    """The shell line that runs one test as it was run here."""
    python, tests = Path(sys.executable), item.config.rootpath
    words = [f"{name}={shlex.quote(os.environ[name])}" for name in CARRIED if os.environ.get(name)]
    words += [f"WALK_SEED={_walked[-1]}"] if _walked else []
    example = error and _example(error)
    words += [f"EXAMPLE={shlex.quote(example)}"] if example else []
    words += [str(python.relative_to(tests)) if python.is_relative_to(tests) else str(python), "-m", "pytest"]
    group = "_".join(sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")}))
    words.append(shlex.quote(item.nodeid.removesuffix(f"@{group}")))
    chosen = [name for name in ("judges", "browser") if item.get_closest_marker(name)]  # they are left out by default
    words += ["-m", chosen[0]] if chosen else []
    return " ".join(words)


def pytest_runtest_setup() -> None:
    _walked.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.append((REPEAT, repeating(item, call.excinfo.value if call.excinfo else None)))
    return report
