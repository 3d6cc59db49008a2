"""The README keeps its word: every command and program in it is run, in order, against a real server.

`tests/snippets.py` says how.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.cli.serve import serve
from simulator.cli.settings import CLIENT, SERVE
from simulator.kernel.clock import parse_duration
from simulator.resources.webhooks import schedule
from simulator.wire.setting_model import Settings
from tests import snippets
from tests.snippets import Block

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks() -> list[Block]:
    return snippets.blocks(README)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return snippets.surroundings(tmp_path)


@pytest.fixture
def origin(environment: dict[str, str]) -> Iterator[str]:
    """The address of a server as `make run` starts it, but on a free port."""
    with snippets.serving(environment) as origin:
        yield origin


needs_a_shell = pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("bash")), reason="the walk needs curl and bash"
)


@pytest.mark.slow
@needs_a_shell
def test_every_command_does_what_the_readme_says_on_any_port_and_again_much_later(
    origin: str, environment: dict[str, str]
) -> None:
    named = {**environment, "SIMULATOR_URL": origin}  # other tests may have servers in this directory, too
    snippets.walk(README, origin, named)
    ahead = snippets.run(["rampsim clock advance 40d"], named)
    assert ahead.returncode == 0, ahead.stderr
    snippets.walk(README, origin, named)


def test_no_line_says_on_which_port_the_server_is() -> None:
    assert [line for block in blocks() if block.is_run for line in block.text.splitlines() if "8642" in line] == []


@needs_a_shell
def test_the_first_test_and_its_installation_are_those_of_the_page_of_the_test_kit() -> None:
    section = README[README.index("## In your tests") : README.index("## Steering")]
    page = (ROOT / "simulator/docs/how-to/in-your-tests.md").read_text("utf-8")
    first, installing = (
        next(block.text for block in blocks() if block.text in section and block.language == language)
        for language in ("python", "bash")
    )
    assert first in page
    assert installing.splitlines()[0] in page


def test_every_block_is_run_or_says_why_not() -> None:
    assert snippets.problems(README) == []


def test_a_refused_call_shows_why(environment: dict[str, str]) -> None:
    helpers = next(block.text for block in blocks() if "field()" in block.text)
    helpers = "\n".join(line for line in helpers.splitlines() if "rampsim wait" not in line)
    done = snippets.run([helpers, """echo '{"error": {"code": "not_found"}}' | field id"""], environment)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", '{"error": {"code": "not_found"}}')


def test_the_retries_stand_in_it_as_they_are_made() -> None:
    row = next(line for line in README.splitlines() if line.startswith("| after the one before |"))
    spans = [parse_duration(cell.replace(" min", "m").replace(" ", "")) for cell in row.split("|")[3:-1]]
    assert spans == list(schedule.RETRY_DELAYS_MS)


def test_the_readme_has_blocks_of_every_sort() -> None:
    languages = {(block.language, block.is_run) for block in blocks()}
    assert languages == {("bash", True), ("bash", False), ("python", True), ("python", False), ("toml", False)}
    assert sum(block.prints is not None for block in blocks()) >= 5


def test_every_setting_is_in_the_table_and_what_the_readme_says_of_one_is_what_holds() -> None:
    page = (ROOT / "simulator/docs/reference/settings.md").read_text("utf-8")
    for row in (*SERVE, *CLIENT):
        assert f"| `--{row.key}` | `{row.variable}` | {f'`{row.key}`' if row.keyed else ''} |" in page
    assert {row.name for row in SERVE} == {option.name for option in serve.params if option.name != "config"}
    flags = {row.name for row in SERVE}
    assert {"assume" if name == "assumptions" else name for name in Settings.model_fields} <= flags
    section = README[README.index("## Settings") : README.index("## Sharing")]
    told = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| `--")]
    for flag_cell, variable_cell, default_cell in told:
        for flag, variable, default in zip(*map(_listed, (flag_cell, variable_cell, default_cell)), strict=True):
            (row,) = (row for row in SERVE if f"--{row.key}" == flag)
            assert (variable, default in (row.default, "none", "off", "the wall clock", "autopilot test-values")) == (
                row.variable, True,
            )  # fmt: skip


def _listed(cell: str) -> list[str]:
    return [part.strip().strip("`") for part in cell.split(",")]


def test_every_link_to_a_file_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_it_says_in_bold_what_it_does_not_do() -> None:
    assert "**It moves no funds.**" in README
