"""Follows the README in a new clone: every block in order, with an empty home directory and nothing preinstalled.

`python -m tests.tools.wheel.clone` clones the last commit, so uncommitted changes are not included. The server of `make
run` uses a free port. Only the alternatives to `make run` are skipped.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import snippets
from tests.places import ROOT

_PASSED_ON = ("PIP_", "UV_", "http_proxy", "https_proxy", "no_proxy", "SSL_", "LANG", "LC_")
"""How this machine reaches its package index; nothing else of this environment is passed on."""
_START, _INSTALL = "make run\n", ".venv/bin/pip install"
_LIMIT_SECONDS = 600


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        clone, home = Path(directory, "rampsim"), Path(directory, "home")
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
        environment = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
        environment |= {"HOME": str(home), "PATH": _commands(Path(directory)), "SIMULATOR_PORT": "0", "NO_COLOR": "1"}
        # What was fetched before need not be fetched again, and what is never imported need not be compiled.
        environment = {"PIP_CACHE_DIR": _cache("pip"), "UV_CACHE_DIR": _cache("uv"), "PIP_COMPILE": "0", **environment}
        log = Path(directory, "make-run.log")
        blocks = snippets.blocks((clone / "README.md").read_text("utf-8"))
        followed = [block for block in blocks if block.mark != "not run" or _is_run_here(block)]
        (start,) = (block for block in followed if block.text == _START)
        with log.open("w") as output:
            server = subprocess.Popen(
                ["bash", "-c", start.text], cwd=clone, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        try:
            _wait(log, server)
            for block in followed:  # blocks that the README's own test skips run here
                block.mark = block.mark if block.mark == "file" else ""
            snippets.walk_blocks([block for block in followed if block is not start], environment, clone)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()
    sys.stdout.write("Every block of the README works in a fresh clone.\n")


def _is_run_here(block: snippets.Block) -> bool:
    return block.text == _START or block.text.startswith(_INSTALL)


def _commands(directory: Path) -> str:
    """Return a PATH with the system's commands and, in front, this interpreter as `python3`."""
    commands = directory / "commands"
    commands.mkdir()
    # The base interpreter: the environment of the tests is not there in a fresh clone.
    base = Path(sys.base_prefix, "bin", "python3")
    (commands / "python3").symlink_to(base if base.exists() else Path(str(shutil.which("python3"))))
    return f"{commands}:/usr/local/bin:/usr/bin:/bin"


def _cache(tool: str) -> str:
    """Return the directory in which pip or uv keeps what it has fetched."""
    words = [sys.executable, "-m", tool, "cache", "dir"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _wait(log: Path, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _LIMIT_SECONDS
    while "Ready on " not in log.read_text("utf-8"):
        assert server.poll() is None, log.read_text("utf-8")
        assert time.monotonic() < until, log.read_text("utf-8")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
