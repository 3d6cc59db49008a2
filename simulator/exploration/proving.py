"""Proof that a patch fixes a finding: its run in a copy of the suite, before and after the patch is applied."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

from simulator.exploration.exploring import Explored, Settings, explore
from simulator.exploration.judgement.judging import FAILED_LOUDLY, NOT_REACHED
from simulator.exploration.runs.running import StopExploring, SuiteBroken
from simulator.kernel.dataclass import dataclass

_INSTALLED = (".venv", "venv", "node_modules")
"""Directories of installed packages. A copy contains links to them."""
_LEFT_BEHIND = (".git", ".rampsim", "__pycache__", ".*_cache")


@dataclass(frozen=True)
class Proof:
    """The results of a finding's run. `after` is None if the finding did not occur before the patch. `avoided`: True if
    the fault's last step never happens with the patch, so that the earlier steps determine `after`. For example, the
    application searches for the order, so it sends no second request.
    """

    before: Explored
    after: Explored | None
    avoided: bool = False

    @property
    def mended(self) -> bool:
        return self.after is not None and not self.after.findings and NOT_REACHED not in self._verdicts

    @property
    def _verdicts(self) -> list[str]:
        return [one.verdict.verdict for one in self.after.judged] if self.after else []

    @property
    def said(self) -> str:
        if self.after is None:
            return "Not proved: the finding does not occur without the patch."
        if self.after.findings:
            return "Not fixed: the finding still occurs with the patch."
        if NOT_REACHED in self._verdicts:
            return "Not proved: with the patch the fault never happens, so the run says nothing about it."
        said = "Fixed: the finding occurs without the patch and not with it."
        if self.avoided:
            last = "no call that the last step of the fault could affect"
            said += f" While the fault is active, the application repeats {last}."
        if FAILED_LOUDLY in self._verdicts:
            said += " The test fails under the fault, although the money is correct."
        return said


def prove(settings: Settings, patch: Path) -> Proof:
    """Replay a finding in a copy of the current directory, before and after the patch is applied to the copy.

    Inside a git repository, the whole repository is copied, and paths in the patch may be relative to the top or to the
    current directory. Raises SuiteBroken if the suite fails without faults. Raises StopExploring if an option is
    invalid, the patch does not apply, or an argument contains the path of the original directory.
    """
    here, patch = Path.cwd().resolve(), patch.resolve()
    done = _git(here, "rev-parse", "--show-toplevel")
    top = Path(done.stdout.strip()).resolve() if done.returncode == 0 else here
    _refuse_ways_back(settings, top)
    with tempfile.TemporaryDirectory(prefix="rampsim-prove-") as place:
        copy = Path(place, "suite").resolve()
        ignored = shutil.ignore_patterns(*_LEFT_BEHIND, *_INSTALLED)
        shutil.copytree(top, copy, ignore=ignored, symlinks=True)
        for directory, names, _ in os.walk(top):
            for name in sorted({*names} & {*_INSTALLED}):
                Path(copy, Path(directory).relative_to(top), name).symlink_to(Path(directory, name))
            names[:] = sorted(name for name in names if name not in ignored(directory, names))
        suite = copy / here.relative_to(top)
        base = _fits(patch, dict.fromkeys((copy, suite)))
        with contextlib.chdir(suite), _imported_from(top, copy):
            before = explore(settings)
            if not before.findings:
                return Proof(before, None)
            _git(base, "apply", str(patch))
            try:
                return _judged(before, explore(settings), settings)
            except SuiteBroken as error:
                raise SuiteBroken(f"with the patch: {error}") from None


def _judged(before: Explored, after: Explored, settings: Settings) -> Proof:
    """Return the proof. If the fault did not occur with the patch, run the test again and count any of its steps."""
    run, proof = settings.replay, Proof(before, after)
    if run is None or not run.plan.get("counted") or [one.verdict.verdict for one in after.judged] != [NOT_REACHED]:
        return proof
    counting_all = replace(run, plan={**run.plan, "counted": 0})
    return Proof(before, explore(replace(settings, replay=counting_all)), avoided=True)


def _git(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git in a directory. Ignore a repository that contains the temporary directory."""
    try:
        return subprocess.run(
            ["git", *words],
            cwd=directory,
            capture_output=True,
            text=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": tempfile.gettempdir()},
        )
    except OSError:
        raise StopExploring("--prove needs git to apply the patch") from None


def _fits(patch: Path, bases: Iterable[Path]) -> Path:
    """Return the first directory in which git can apply the patch. Raises StopExploring if there is none."""
    said = ""
    for base in bases:
        done = _git(base, "apply", "--check", str(patch))
        if done.returncode == 0:
            return base
        said = said or done.stderr.strip()
    raise StopExploring(f"--prove: {patch} does not apply: {said}")


def _refuse_ways_back(settings: Settings, top: Path) -> None:
    """Raise StopExploring if the command would use the original directory, by an absolute path, instead of the copy."""
    hooks = (settings.hooks.settle, settings.hooks.books)
    words = [*settings.command, *(str(hook) for hook in hooks if hook is not None)]
    for word in words:
        after = word.partition(f"{top}{os.sep}")[2]
        if (after or word.rstrip(os.sep).endswith(str(top))) and not {*Path(after).parts} & {*_INSTALLED}:
            raise StopExploring(
                f"--prove tries the patch in a copy of {top}, but {word!r} is a path in the original directory: "
                "write it relative to the current directory"
            )


@contextlib.contextmanager
def _imported_from(top: Path, copy: Path) -> Iterator[None]:
    """Make Python import from the copy before the original directory, even for an editable installation."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    whole = [Path(path).resolve() for path in paths]
    inside = [copy / path.relative_to(top) for path in whole if path.is_relative_to(top)]
    usual = [path for path in (copy, copy / "src", Path.cwd(), Path.cwd() / "src") if path.is_dir()]
    found = dict.fromkeys(str(path) for path in (*inside, *usual, *paths))
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(found)):
        yield
