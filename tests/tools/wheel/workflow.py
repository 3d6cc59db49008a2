"""A recipe is enough to make a failing GitHub workflow pass, including all packages that pip downloads.

`python -m tests.tools.wheel.workflow WHEEL RAMPSIM`: the recipe comes from the wheel, and the workflow installs that
wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pip

from tests.tools.recipes.machine import GitHub, Step, free_port
from tests.tools.recipes.partner import project

OWN, RECIPE = ".github/workflows/tests.yml", ".github/workflows/rampsim.yml"


def _environment(path: Path) -> None:
    """An environment that has nothing but the pip of this one: pip need not be installed to install."""
    venv.create(path)
    (packages,) = path.glob("lib/python*/site-packages")
    (packages / "pip").symlink_to(Path(pip.__file__).parent)


def main(wheel: Path, rampsim: Path) -> None:
    os.environ["PIP_COMPILE"] = "0"  # what is never imported need not be compiled
    with tempfile.TemporaryDirectory() as directory:
        temp = Path(directory)
        workspace = project(temp)
        _environment(temp / "python")

        def job(name: str, workflow: str) -> list[Step]:
            with GitHub(workspace, temp / name, temp / "python" / "bin") as machine:
                return machine.job(workspace / workflow, inputs={"port": free_port(), "spec": str(wheel)})

        red = job("red", OWN)
        assert not red[-1].passed
        subprocess.run([rampsim, "recipe", "write", "github-action", "--to", workspace], check=True)
        green = job("green", RECIPE)
    assert all(step.passed for step in green), "".join(step.output for step in green)
    assert "Operations" in green[-1].output
    sys.stdout.write("A red workflow is green with the recipe alone.\n")


if __name__ == "__main__":
    main(*(Path(word).absolute() for word in sys.argv[1:]))
