"""Whether a patch mends a finding: reproduced in a copy of the suite, and gone when the copy is patched."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from simulator.exploration.exploring import Explored, Hears, Settings, explore
from simulator.exploration.running import StopExploring
from simulator.kernel.dataclass import dataclass

_LEFT_BEHIND = shutil.ignore_patterns(".git", ".venv", "venv", "node_modules", ".rampsim", "__pycache__", ".*_cache")


@dataclass(frozen=True)
class Proof:
    """The run of a finding without a patch and with it; `after` None where it was not there without."""

    before: Explored
    after: Explored | None

    @property
    def mended(self) -> bool:
        return self.after is not None and not self.after.findings

    @property
    def said(self) -> str:
        if self.after is None:
            return "Not proved: without the patch the finding is not there."
        if self.after.findings:
            return "Not mended: with the patch the finding is still there."
        return "Mended: the finding is there without the patch, and gone with it."


def prove(settings: Settings, patch: Path) -> Proof:
    """Replay a finding in a copy of the current directory, before and after the patch is applied to it.

    The directory itself stays as it is. SuiteBroken, StopExploring; the latter also for a patch that does not apply.
    """
    patch = patch.resolve()
    with tempfile.TemporaryDirectory(prefix="rampsim-prove-") as place:
        copy = Path(place, "suite")
        shutil.copytree(Path.cwd(), copy, ignore=_LEFT_BEHIND, symlinks=True)
        with contextlib.chdir(copy):
            before = explore(settings, Hears())
            if not before.findings:
                return Proof(before, None)
            applied = subprocess.run(["git", "apply", str(patch)], capture_output=True, text=True)
            if applied.returncode:
                raise StopExploring(f"--prove: {patch} does not apply: {applied.stderr.strip()}")
            return Proof(before, explore(settings, Hears()))
