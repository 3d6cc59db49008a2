"""If two processes need the same value at the same time, one computes it and both use it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.places import ROOT

PROGRAM = """
import os, sys
from pathlib import Path
from tests.kept import kept

folder = Path(sys.argv[1])
print(kept("value", os.getpid, sources=(folder / "source",), directory=folder / "kept"))
"""


def test_two_processes_make_it_once(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("1")
    words = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    values = {int(process.communicate(timeout=120)[0]) for process in running}
    assert len(values) == 1
    assert values <= {process.pid for process in running}
