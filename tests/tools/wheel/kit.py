"""The test kit of an installed simulator: the documented tests, and every fixture, marker and option.

The Python of an environment that has the wheel with its extra `testing`, and pytest, runs this in a directory outside
of the checkout: the tests of the page "In your tests" on a server and in process, then one suite under every option.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = Path(__file__).parents[3] / "simulator" / "docs" / "how-to" / "in-your-tests.md"
_FILE = re.compile(r"^<!-- file: (\w+\.py) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

EVERYTHING = """
import pytest
from simulator.testing import world as make_world


@pytest.mark.clock("2026-03-01T08:00:00Z")
@pytest.mark.scenario("autopilot")
@pytest.mark.seed(7)
@pytest.mark.world(settings={"strict": True})
def test_world_and_webhooks(world, webhooks):
    assert world.now.isoformat() == "2026-03-01T08:00:00+00:00"
    world.trigger("transaction.completed")
    assert webhooks.wait_for("transaction.completed").genuine


def test_world_in_process(world_in_process, webhooks):
    world_in_process.trigger("transaction.completed")
    assert webhooks.wait_for("transaction.completed").genuine


def test_simulator(simulator):
    with simulator.new_world(seed=3) as made:
        assert made.client.get("/profile").status_code == 200


@pytest.mark.history(days=1, per_day=1)
def test_history(world):
    assert world.client.get("/transactions").json()["data"]


def test_freeze(world):
    with world.freeze():
        world.advance("1d")


def test_without_fixtures():
    with make_world(in_process=True) as made:
        assert made.client.get("/profile").status_code == 200
"""
PASSED = "6 passed"

RUNS = {
    ("--simulator=process", "--simulator-keep=always", "--simulator-coverage", "--simulator-fail-on-advice=error"): (
        "rampsim: kept worlds",
        "rampsim: API coverage of the tests",
        "rampsim: advice of severity error and above",
    ),
    ("--simulator=inprocess", "--simulator-keep=failed", "--simulator-fail-on-advice=warning"): (
        "rampsim: advice of severity warning and above",
    ),
    ("--simulator-keep=never",): (),
}
"""What runs say under which options; the last also gets `--simulator-url` with the URL of a server."""


NEED_A_SERVICE = ("against", "rampsim_side", "--simulator-observed")
"""What needs a second service, or a file about one. The tests of evidence use it."""


def everything_is_named() -> None:
    """Fail if the plugin has a fixture, marker or option that the suite and the runs here do not use."""
    from simulator.testing import plugin
    from simulator.testing.plugin import options as plugin_options

    fixtures = [name for name, value in vars(plugin).items() if type(value).__name__ == "FixtureFunctionDefinition"]
    markers = [text.partition("(")[0] for text in plugin_options.MARKERS]
    flags = [option.flag for option in plugin_options.OPTIONS] + ["--simulator-coverage", "--simulator-url"]
    used = {flag.partition("=")[0] for options in RUNS for flag in options} | {"--simulator-url"}
    missing = [name for name in fixtures if not re.search(rf"def test_\w+\(.*\b{name}\b", EVERYTHING)]
    missing += [name for name in markers if f"pytest.mark.{name}(" not in EVERYTHING]
    missing += [flag for flag in flags if flag not in used]
    missing = [name for name in missing if name not in NEED_A_SERVICE]
    if not fixtures or missing:
        sys.exit(f"Not exercised: {missing or 'no fixtures found'}")


def run(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)


def require(directory: Path, said: Iterable[str], *words: str) -> None:
    """Run pytest; end with its report unless it passes and says all this."""
    done = run(directory, *words)
    if done.returncode or any(text not in done.stdout for text in said):
        sys.exit(f"pytest {' '.join(words)} ended with {done.returncode}, wanted {said!r}:\n{done.stdout}{done.stderr}")


@contextmanager
def serving() -> Iterator[str]:
    """The URL of a server that is already running."""
    command = [str(Path(sys.executable).parent / "rampsim"), "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield next(line.split()[-1] for line in server.stdout or () if line.startswith("Ready on "))
    finally:
        server.terminate()
        server.wait(10)


def main() -> None:
    everything_is_named()
    files = _FILE.findall(PAGE.read_text("utf-8"))
    assert files
    with tempfile.TemporaryDirectory() as temporary:
        documented = Path(temporary, "documented")
        own = Path(temporary, "own")
        for directory in (documented, own):
            directory.mkdir()
        for name, text in files:
            (documented / name).write_text(text, "utf-8")
        (own / "test_everything.py").write_text(EVERYTHING, "utf-8")
        require(documented, [" passed"], "-n", "2")
        require(documented, [" passed"], "--simulator=inprocess")
        *alone, last = RUNS
        for options in alone:
            require(own, [PASSED, *RUNS[options]], *options)
        with serving() as url:
            require(own, [PASSED], *last, f"--simulator-url={url}")
    sys.stdout.write("The installed wheel brings every fixture, marker and option to pytest.\n")


if __name__ == "__main__":
    main()
