"""The script on the reference page is executed, and its samples are run unchanged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import orjson
import pytest

from simulator.engine.server.config import Config
from tests.remote import Remote, running
from tests.tools.judges import tools

pytestmark = pytest.mark.xdist_group("reference")

CALLS = ("create_token", "list_currencies", "create_beneficiary", "create_quote", "get_quote", "confirm_quote")
"""Operations whose samples work one after another in a fresh world."""
_LIMIT_SECONDS = 60


@dataclass(frozen=True)
class _Language:
    """How a program of a language is run: the tool it needs, the file it stands in, the command."""

    tool: Callable[[], str | None]
    file: str
    command: tuple[str, ...]
    calls: tuple[str, ...] = CALLS


LANGUAGES: Mapping[str, _Language] = {
    "curl": _Language(lambda: shutil.which("bash") and shutil.which("curl"), "sample.sh", ("bash",)),
    "Python": _Language(lambda: sys.executable, "sample.py", (sys.executable,)),
    "JavaScript": _Language(lambda: str(tools.node_directory() / "node"), "sample.mjs", ("node",)),
    "PHP": _Language(lambda: shutil.which("php"), "sample.php", ("php",)),
    "Go": _Language(lambda: shutil.which("go"), "sample.go", ("go", "run"), calls=("create_token", "create_quote")),
}


Samples: TypeAlias = dict[str, dict[str, dict[str, str]]]
"""What the page shows: {calls: {operation: {language: program}}, checks: {event: {language: program}}}."""


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with running(Config(clock="manual")) as (address, _):
        yield address


@pytest.fixture(scope="module")
def samples(origin: str) -> Samples:
    done = tools.run(tools.node_directory() / "node", tools.HERE / "reference.mjs", tools.STORE, origin)
    assert done.returncode == 0, done.stdout
    found: Samples = orjson.loads(done.stdout.splitlines()[-1])
    return found


def test_its_script_shows_a_sample_of_every_call_in_every_language(samples: Samples) -> None:
    assert len(samples["calls"]) == 56
    assert all(shown.keys() == LANGUAGES.keys() for part in samples.values() for shown in part.values())
    assert len(samples["checks"]) >= 12  # events whose objects are alike share one


@pytest.mark.parametrize("name", LANGUAGES)
def test_samples_work_as_they_stand(server: Remote, samples: Samples, tmp_path: Path, name: str) -> None:
    language = LANGUAGES[name]
    if language.tool() is None:
        pytest.skip(f"{name} is not on this machine")
    assert server.control("POST", "/reset").status < 300

    def run(program: str) -> str:
        file = tmp_path / language.file
        file.write_text(program, "utf-8")
        done = subprocess.run(
            [*language.command, file], env=tools.environment(), capture_output=True, text=True, timeout=_LIMIT_SECONDS,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{program}\n{done.stdout}{done.stderr}"
        return done.stdout

    for operation in language.calls:
        printed = run(samples["calls"][operation][name])
        answer = orjson.loads(printed[printed.index("{") :])
        assert "error" not in answer, (operation, answer)
    event, check = next(iter(samples["checks"].items()))
    printed = run(check[name])
    if name == "curl":
        computed, sent = printed.strip(), check[name].rpartition("X-Signature: ")[2]
        assert computed == sent, event
    else:
        assert "true" in printed.lower(), event
