"""The README keeps its word: every command and program in it is run, in order, against a real server.

`tests/snippets.py` says how.
"""

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


@pytest.mark.farm
@needs_a_shell
def test_every_command_does_what_the_readme_says_on_any_port_and_again_much_later(
    origin: str, environment: dict[str, str], tmp_path: Path
) -> None:
    named = {**environment, "SIMULATOR_URL": origin}  # other tests may have servers in this directory, too
    snippets.walk(README, origin, named, tmp_path)
    ahead = snippets.run(["rampsim clock advance 40d"], named)
    assert ahead.returncode == 0, ahead.stderr
    snippets.walk(README, origin, named, tmp_path)


def test_no_line_says_on_which_port_the_server_is() -> None:
    assert [line for block in blocks() if block.is_run for line in block.text.splitlines() if "8642" in line] == []


def test_its_test_is_that_of_the_page_about_expiry_and_as_short_as_it_says() -> None:
    section = README[README.index("## In your tests") : README.index("## What next")]
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


def test_a_refused_call_shows_why(environment: dict[str, str]) -> None:
    helpers = next(block.text for block in blocks() if "field()" in block.text)
    helpers = "\n".join(line for line in helpers.splitlines() if "rampsim wait" not in line)
    done = snippets.run([helpers, """echo '{"error": {"code": "not_found"}}' | field id"""], environment)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", '{"error": {"code": "not_found"}}')


def test_the_retries_stand_on_their_page_as_they_are_made() -> None:
    page = (ROOT / "simulator/docs/how-to/receive-webhooks.md").read_text("utf-8")
    (said,) = re.findall(r"under the same id: (after .* then every .*?) \(", page, re.DOTALL)
    *spans, last = [parse_duration(number + unit) for number, unit in re.findall(r"(\d+) ([mh])", said)]
    assert [*spans, *[last] * (len(RETRY_DELAYS_MS) - len(spans))] == list(RETRY_DELAYS_MS)


def test_the_readme_has_blocks_of_every_sort() -> None:
    languages = {(block.language, block.is_run) for block in blocks()}
    assert languages == {("bash", True), ("bash", False), ("python", True), ("python", False)}
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
