"""A run of the suite: the scenes for the requested rows, and the result files."""

from __future__ import annotations

import json
import pstats
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from tests.campaigns.benchmarks.machine import LOAD_CORE, described, on_core
from tests.campaigns.benchmarks.plan import Plan
from tests.campaigns.benchmarks.plot import picture
from tests.campaigns.benchmarks.results import BEFORE, NOW, Results, as_json, comparison, table
from tests.campaigns.benchmarks.rows import ROWS, Row
from tests.campaigns.benchmarks.scenes import play
from tests.campaigns.benchmarks.servers import Subject
from tests.places import ROOT

OUTPUT = ROOT / "build" / "benchmarks"


def rows_named(names: Sequence[str]) -> list[Row]:
    """The rows of these names, all for none; a name may also be that of a scene."""
    return [row for row in ROWS if not names or row.name in names or row.scene in names]


def run(rows: Sequence[Row], plan: Plan, other: Path | None = None, say: Callable[[str], None] = print) -> Results:
    """Measure rows in this tree and in another one. A failed scene is reported, and the others continue."""
    simulators = [Subject(NOW, ROOT)] + ([Subject(BEFORE, other)] if other is not None else [])
    results, names = Results(), {row.name for row in rows}
    with on_core(LOAD_CORE):
        for scene in dict.fromkeys(row.scene for row in rows):
            began = perf_counter()
            try:
                for sample in play(scene, simulators, plan):
                    results.add([sample] if sample.row in names else [])
            except Exception:
                results.failed.append(scene)
                say(f"{scene} failed\n{traceback.format_exc()}")
            say(f"{scene}: {perf_counter() - began:.0f} s")
    return results


def profile(rows: Sequence[Row], plan: Plan, directory: Path, say: Callable[[str], None] = print) -> None:
    """Play the scenes of these rows with the simulator under cProfile; where its time went is in SCENE.profile.txt."""
    directory.mkdir(parents=True, exist_ok=True)
    with on_core(LOAD_CORE):
        for scene in dict.fromkeys(row.scene for row in rows):
            raw, text = directory / f"{scene}.profile", directory / f"{scene}.profile.txt"
            for _ in play(scene, [Subject(NOW, ROOT, raw)], plan):
                pass
            with text.open("w") as file:
                stats = pstats.Stats(str(raw), stream=file)
                stats.sort_stats("tottime").print_stats(40)
                stats.sort_stats("cumtime").print_stats(60)
            say(f"{scene}: {text}, and {raw} for pstats and what shows its files")


def write(results: Results, rows: Sequence[Row], directory: Path, commit: str) -> None:
    """results.json, table.md, and a picture of each row that was measured."""
    directory.mkdir(parents=True, exist_ok=True)
    about = {"machine": described(), "commit": commit}
    (directory / "results.json").write_text(json.dumps(as_json(results, rows, **about), indent=1) + "\n")
    (directory / "table.md").write_text(f"{described()}; {commit}\n\n{report(results, rows)}\n")
    for row in rows:
        if results.outcome(row) is not None:
            (directory / f"{row.name}.svg").write_text(picture(results, row))


def report(results: Results, rows: Sequence[Row]) -> str:
    """The table, and that of the comparison where there is one."""
    compared = any(BEFORE in results.subjects(row.name) for row in rows)
    return (comparison(results, rows) + "\n\n" if compared else "") + table(results, rows)


def commit_of(tree: Path) -> str:
    """The commit that a tree is at, with a + when it differs from it; empty where git is not to be had."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--dirty=+"], cwd=tree, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return told.stdout.strip()


@contextmanager
def checked_out(reference: str) -> Iterator[Path]:
    """The tree of a commit in a directory of its own. It runs with the packages of this environment."""
    with tempfile.TemporaryDirectory(prefix="rampsim-benchmark-") as directory:
        tree = Path(directory) / "tree"
        _git("worktree", "add", "--quiet", "--detach", str(tree), reference)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
