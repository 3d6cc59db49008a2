"""Every block in the documentation is run, parsed, or skipped with a reason (see `tests/snippets.py`)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from simulator.docs.library import pages_by_path
from tests import snippets

PATHS = sorted(pages_by_path())
WALKED = [path for path in PATHS if any(block.is_run for block in snippets.blocks(pages_by_path()[path].source))]


@pytest.mark.parametrize("path", PATHS)
def test_every_block_is_run_or_read_or_says_why_not(path: str) -> None:
    assert snippets.problems(pages_by_path()[path].source) == []


@pytest.mark.parametrize("path", PATHS)
def test_every_data_block_is_valid(path: str) -> None:
    for block in snippets.blocks(pages_by_path()[path].source):
        if block.is_read:
            snippets.check(block)


@pytest.mark.farm
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="the pages need curl and bash")
@pytest.mark.parametrize("path", WALKED)
def test_every_page_works(path: str, tmp_path: Path) -> None:
    environment = snippets.surroundings(tmp_path)
    reader = tmp_path / "reader"
    reader.mkdir()
    with snippets.serving(environment, reader) as origin:
        snippets.walk(pages_by_path()[path].source, origin, {**environment, "SIMULATOR_URL": origin}, reader)


def test_a_page_that_does_not_keep_its_word_is_found(tmp_path: Path) -> None:
    environment = snippets.surroundings(tmp_path)
    for page in ("```bash\nfalse\n```", "```bash\necho one\n```\n\n```text\ntwo\n```", "```python\nassert 1 == 2\n```"):
        with pytest.raises(AssertionError):
            snippets.walk(page, "http://127.0.0.1:1", environment, tmp_path)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```go\nx\n```", "a block of go"),
        ("```\nx\n```", "a block of no language"),
        ("<!-- not run -->\n```bash\nx\n```", "say why"),
        ("<!-- file: -->\n```python\nx\n```", "say which file"),
        ("1. One:\n\n   ```ruby\n   x\n   ```", "a block of ruby"),
    ],
)
def test_problems_lists_a_block_without_a_checker(page: str, said: str) -> None:
    assert said in snippets.problems(page)[0]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("json", "{"),
        ("toml", "a ="),
        ("yaml", "a: [\n"),
        ("yaml", "name: wrong\nrules:\n  - on: none\n"),
        ("http", "GET /v1/none\n"),
        ("http", "POST /v1/quotes\n\n{"),
    ],
)
def test_a_block_of_wrong_data_is_found(language: str, text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 (whatever its reader raises)
        snippets.check(snippets.blocks(f"```{language}\n{text}```")[0])


def test_a_block_of_right_data_passes() -> None:
    for page in (
        "```json\n{}\n```",
        "```http\nPOST /_simulator/clock/advance\n\n{}\n```",
        "```http\nGET /v1/quotes/x\n```",
    ):
        snippets.check(snippets.blocks(page)[0])
