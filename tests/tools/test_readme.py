"""Run every command and program of the README, in order, against a real server (see `tests/snippets.py`)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.cli.server.serve import serve
from simulator.cli.server.settings import CLIENT, SERVE
from simulator.engine.worlds.setting_model import Settings
from simulator.kernel.clock import parse_duration
from simulator.providers.ramp.signing import RETRY_DELAYS_MS
from tests import snippets
from tests.places import ROOT
from tests.snippets import Block
from tests.tools.exploration.shops.mistakes import explored

README = (ROOT / "README.md").read_text("utf-8")


def blocks() -> list[Block]:
    return snippets.blocks(README)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return snippets.surroundings(tmp_path)


@pytest.fixture
def origin(environment: dict[str, str]) -> Iterator[str]:
    """The address of a server like the one that `make run` starts, on a free port."""
    with snippets.serving(environment) as origin:
        yield origin


needs_a_shell = pytest.mark.skipif(not shutil.which("bash"), reason="the walk needs bash")


@pytest.mark.farm
@needs_a_shell
def test_readme_walk_works_on_any_port_and_again_later(
    origin: str, environment: dict[str, str], tmp_path: Path
) -> None:
    named = {**environment, "SIMULATOR_URL": origin}  # other tests may have servers in this directory, too
    snippets.walk(README, origin, named, tmp_path)
    ahead = snippets.run(["rampsim clock advance 40d"], named)
    assert ahead.returncode == 0, ahead.stderr
    snippets.walk(README, origin, named, tmp_path)


@pytest.mark.farm
@pytest.mark.xdist_group("explored-shop")
def test_readme_finding_is_what_explore_prints(tmp_path: Path) -> None:
    (block,) = (block for block in blocks() if block.language == "console")
    shown, _, replay = block.text.partition("  replay")
    classes = ("--faults", "answer-lost-after-commit", "--workers", "1")
    found = explored(tmp_path, *classes, mistakes="retries-with-new-key", visits="test_onramp")
    printed = " ".join(found.said.split())
    for line in re.split(r"\n  (?=\S)", shown):  # wrapped lines are indented further
        assert " ".join(line.split()) in printed
    assert re.fullmatch(r" +(.*) -- pytest tests/\n", replay)[1] in printed  # type: ignore[index]  # the line is in the block


def test_first_screen_has_picture_test_and_finding() -> None:
    screen = README[: README.index("## Start")]
    assert len(screen.splitlines()) <= 55
    assert next(block.said for block in snippets.blocks(screen)) == "test_send.py"
    assert "](tests/tools/browser/pictures/" in screen
    assert "DOUBLED" in screen


def test_lines_fit_a_terminal_of_100_columns() -> None:
    lines = [line for line in README.splitlines() if not line.startswith(("|", "!["))]
    assert [line for line in lines if len(line) > 100] == []


def test_commands_do_not_name_the_port() -> None:
    assert [line for block in blocks() if block.is_run for line in block.text.splitlines() if "8642" in line] == []


def test_expiry_test_is_the_one_of_its_page_in_ten_lines() -> None:
    section = README[README.index("## In your tests") : README.index("## Explore")]
    assert "in ten lines" in section
    (test,) = (block for block in blocks() if block.said == "test_expiry.py")
    assert len([line for line in test.text.splitlines() if line.strip()]) <= 10
    assert test.text in (ROOT / "simulator/docs/how-to/expire-a-quote.md").read_text("utf-8")


def test_readme_installs_the_kit_from_the_checkout_and_links_to_the_page() -> None:
    (installing,) = (block for block in blocks() if block.text.startswith(".venv/bin/pip install"))
    assert "-e '.[testing]'" in installing.text
    assert "(simulator/docs/how-to/in-your-tests.md#install)" in README


def test_every_block_is_run_or_says_why_not() -> None:
    assert snippets.problems(README) == []


def test_retry_schedule_on_its_page_is_the_real_one() -> None:
    page = (ROOT / "simulator/docs/how-to/receive-webhooks.md").read_text("utf-8")
    (said,) = re.findall(r"under the same id: (after .* then every .*?) \(", page, re.DOTALL)
    *spans, last = [parse_duration(number + unit) for number, unit in re.findall(r"(\d+) ([mh])", said)]
    assert [*spans, *[last] * (len(RETRY_DELAYS_MS) - len(spans))] == list(RETRY_DELAYS_MS)


def test_readme_has_blocks_of_every_sort() -> None:
    languages = {(block.language, block.is_run) for block in blocks()}
    assert languages == {("bash", True), ("bash", False), ("console", False), ("python", True), ("python", False)}
    assert sum(block.prints is not None for block in blocks()) >= 5


def test_every_setting_is_in_the_table() -> None:
    page = (ROOT / "simulator/docs/reference/settings.md").read_text("utf-8")
    for row in (*SERVE, *CLIENT):
        assert f"| `--{row.key}` | `{row.variable}` | {f'`{row.key}`' if row.keyed else ''} |" in page
    assert {row.name for row in SERVE} == {option.name for option in serve.params if option.name != "config"}
    flags = {row.name for row in SERVE}
    assert {"assume" if name == "assumptions" else name for name in Settings.model_fields} <= flags


def test_every_link_to_a_file_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_it_says_in_bold_what_it_does_not_do() -> None:
    assert "**It moves no funds.**" in README
