"""Whether a patch mends a finding: reproduced in a copy of the suite, and gone when the copy is patched."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from simulator.exploration.exploring import Explored, Settings, explore
from simulator.exploration.judgement.judging import FAILED_LOUDLY, NOT_REACHED
from simulator.exploration.runs.running import StopExploring, SuiteBroken
from simulator.kernel.dataclass import dataclass

_INSTALLED = (".venv", "venv", "node_modules")
"""Directories of what is installed: a copy has links to them."""
_LEFT_BEHIND = (".git", ".rampsim", "__pycache__", ".*_cache")


@dataclass(frozen=True)
class Proof:
    """The run of a finding without a patch and with it; `after` None where it was not there without.

    `avoided`: with the patch nothing comes to the last step of the fault, as where a retry looks before it sends, and
    no key is left to be forgotten. `after` is judged by the steps before that one.
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
            return "Not proved: without the patch the finding is not there."
        if self.after.findings:
            return "Not mended: with the patch the finding is still there."
        if NOT_REACHED in self._verdicts:
            return "Not proved: with the patch the fault never happens, so the run says nothing of it."
        red = " The test fails under the fault, with the money right." if FAILED_LOUDLY in self._verdicts else ""
        round_it = " While the fault is in force nothing is sent again that could meet its last step." * self.avoided
        return f"Mended: the finding is there without the patch, and gone with it.{round_it}{red}"


def prove(settings: Settings, patch: Path) -> Proof:
    """Replay a finding in a copy of what is in the current directory, before and after the patch is applied to it.

    Inside a repository of git all of it is copied, and the patch may name its files from the top or from the current
    directory. The directory itself stays as it is. SuiteBroken, StopExploring; the latter also for a patch that does
    not apply, and for words that lead from the copy back to the directory.
    """
    here, patch = Path.cwd().resolve(), patch.resolve()
    top = _top(here)
    _refuse_ways_back(settings, top)
    with tempfile.TemporaryDirectory(prefix="rampsim-prove-") as place:
        copy = Path(place, "suite").resolve()
        _copied(top, copy)
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
    """The proof, where need be by one more run that counts all steps of the fault and not its last alone."""
    run, proof = settings.replay, Proof(before, after)
    if run is None or not run.plan.get("counted") or [one.verdict.verdict for one in after.judged] != [NOT_REACHED]:
        return proof
    counting_all = replace(run, plan={**run.plan, "counted": 0})
    return Proof(before, explore(replace(settings, replay=counting_all)), avoided=True)


def _top(here: Path) -> Path:
    """The top of the repository of git that a directory is in; itself outside."""
    done = _git(here, "rev-parse", "--show-toplevel")
    return Path(done.stdout.strip()).resolve() if done.returncode == 0 else here


def _git(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git in a directory; a copy is in no repository, wherever the temporary directory may lie."""
    try:
        return subprocess.run(
            ["git", *words],
            cwd=directory,
            capture_output=True,
            text=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": tempfile.gettempdir()},
        )
    except OSError:
        raise StopExploring("--prove needs git, by which it applies the patch") from None


def _fits(patch: Path, bases: Iterable[Path]) -> Path:
    """From which directory a patch applies. StopExploring where from none."""
    said = ""
    for base in bases:
        done = _git(base, "apply", "--check", str(patch))
        if done.returncode == 0:
            return base
        said = said or done.stderr.strip()
    raise StopExploring(f"--prove: {patch} does not apply: {said}")


def _refuse_ways_back(settings: Settings, top: Path) -> None:
    """What names the directory by its absolute path would be run there, and not in the copy."""
    hooks = (settings.hooks.settle, settings.hooks.books)
    words = [*settings.command, *(str(hook) for hook in hooks if hook is not None)]
    for word in words:
        after = word.partition(f"{top}{os.sep}")[2]
        if (after or word.rstrip(os.sep).endswith(str(top))) and not {*Path(after).parts} & {*_INSTALLED}:
            raise StopExploring(
                f"--prove tries the patch in a copy of {top}, and {word!r} leads back to the directory itself: "
                "write that path relative to the current directory"
            )


def _copied(top: Path, copy: Path) -> None:
    """Copy a tree, with links to what is installed in it."""
    ignored = shutil.ignore_patterns(*_LEFT_BEHIND, *_INSTALLED)
    shutil.copytree(top, copy, ignore=ignored, symlinks=True)
    for directory, names, _ in os.walk(top):
        for name in sorted({*names} & {*_INSTALLED}):
            Path(copy, Path(directory).relative_to(top), name).symlink_to(Path(directory, name))
        names[:] = sorted(name for name in names if name not in ignored(directory, names))


@contextlib.contextmanager
def _imported_from(top: Path, copy: Path) -> Iterator[None]:
    """Let Python find the modules of the copy before those of the directory, even where that is installed editable."""
    given = os.environ.get("PYTHONPATH")
    paths = [path for path in (given or "").split(os.pathsep) if path]
    inside = [copy / Path(path).resolve().relative_to(top) for path in paths if _is_inside(path, top)]
    usual = [path for path in (copy, copy / "src", Path.cwd(), Path.cwd() / "src") if path.is_dir()]
    found = dict.fromkeys(str(path) for path in (*inside, *usual, *paths))
    os.environ["PYTHONPATH"] = os.pathsep.join(found)
    try:
        yield
    finally:
        if given is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = given


def _is_inside(path: str, top: Path) -> bool:
    return Path(path).resolve().is_relative_to(top)
