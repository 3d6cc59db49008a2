"""Where chance in tests comes from, and the one shell line that repeats a failure.

A random walk draws from `walk_seed()`; WALK_SEED in the environment chooses another. Hypothesis draws from one seed for
the whole run, anew for each test; `--hypothesis-seed` chooses it. Under every failure stands the line that repeats it:
`FAIL_ON_DEMAND=1 .venv/bin/python -m pytest tests/unit/test_on_demand.py` shows some.

As the seed repeats a failure anywhere, Hypothesis keeps no examples of its own in a folder beside.
"""

from __future__ import annotations

import os
import random
import shlex
import sys
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import core
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

REPEAT = "to repeat this failure"
DEMANDED = bool(os.environ.get("FAIL_ON_DEMAND"))
CARRIED = ("FAIL_ON_DEMAND", "LONG")
"""What of the environment decides what a test does."""
_walked: list[int] = []
"""The seeds of the test that runs, the latest last."""

no_constants = Constants()
if not callable(getattr(providers, "_get_local_constants", None)):
    raise ImportError("Hypothesis has no providers._get_local_constants any more: see why tests/seeds.py replaces it")
# Hypothesis mixes in what numbers and texts stand in the modules that happen to be loaded, so that one seed gives other
# examples to a test alone than among all. And to read all modules for that takes seconds.
providers._get_local_constants = lambda: no_constants


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


def one_seed_for_hypothesis(config: pytest.Config) -> None:
    """One seed for the whole run, the same in all workers."""
    if config.getoption("--hypothesis-seed", default=None) is None:  # without its plugin there is no such option
        run = getattr(config, "workerinput", {}).get("testrunuid")
        seed = random.Random(run).randrange(2**32)
        core.global_force_seed = seed  # type: ignore[assignment]  # declared by its first value, None


def repeating(item: pytest.Item) -> str:
    """The shell line that runs one test as it was run here."""
    python, tests = Path(sys.executable), item.config.rootpath
    words = [f"{name}={shlex.quote(os.environ[name])}" for name in CARRIED if os.environ.get(name)]
    words += [f"WALK_SEED={_walked[-1]}"] if _walked else []
    words += [str(python.relative_to(tests)) if python.is_relative_to(tests) else str(python), "-m", "pytest"]
    group = "_".join(sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")}))
    words.append(shlex.quote(item.nodeid.removesuffix(f"@{group}")))
    chosen = [name for name in ("judges", "browser") if item.get_closest_marker(name)]  # they are left out by default
    words += ["-m", chosen[0]] if chosen else []
    if item.get_closest_marker("hypothesis"):
        words.append(f"--hypothesis-seed={core.global_force_seed}")
    return " ".join(words)


def pytest_runtest_setup() -> None:
    _walked.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.append((REPEAT, repeating(item)))
    return report
