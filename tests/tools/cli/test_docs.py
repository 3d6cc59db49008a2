"""`rampsim docs`: pages, rules and searches on a terminal, without a server."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from simulator.cli import main
from simulator.docs.library import all_pages, pages_by_path

pytestmark = pytest.mark.xdist_group("cli-docs")  # one process reads the pages


def docs(*terms: str) -> Result:
    return CliRunner().invoke(main, ["docs", *terms])


def test_docs_lists_every_page_with_its_summary() -> None:
    result = docs()
    assert result.exit_code == 0
    assert [page.path for page in all_pages() if page.path != "index" and f"  {page.path} " not in result.output] == []
    assert pages_by_path()["how-to/time"].says in result.output


@pytest.mark.parametrize("name", ["how-to/time", "how-to/time.md", "/_simulator/docs/how-to/time"])
def test_it_shows_a_page(name: str) -> None:
    assert docs(name).output == pages_by_path()["how-to/time"].source


@pytest.mark.parametrize(
    ("name", "said", "place"),
    [
        ("quotes-expiry", "exactly 30 minutes", "reference/rules#quotes-expiry"),
        ("errors-retry-guidance", "429, 500 and 503", "reference/rules#retry-what"),
        ("H14", "valid for 24 simulated hours", "reference/assumptions#H14"),
        ("quote_expired", "Create a new quote", "reference/errors#quote_expired"),
    ],
)
def test_docs_shows_names_from_reports(name: str, said: str, place: str) -> None:
    result = docs(name)
    assert result.exit_code == 0
    assert said in " ".join(result.output.split())
    assert f"/_simulator/docs/{place}\n" in result.output


def test_near_miss_of_a_command_is_suggested() -> None:
    result = CliRunner().invoke(main, ["actoin"])
    assert (result.exit_code, "'actoin'" in result.stderr, "'action'" in result.stderr) == (2, True, True)


def test_a_part_of_the_name_of_a_recipe_brings_to_those_that_begin_so() -> None:
    result = CliRunner().invoke(main, ["recipe", "show", "github"])
    assert "did you mean github-action or github-service?" in result.stderr


def test_it_searches() -> None:
    result = docs("clock", "advance")
    assert "/_simulator/docs/how-to/time" in result.output


def test_it_says_when_there_is_nothing() -> None:
    result = docs("xyzzyq")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "`rampsim docs` lists all pages" in result.stderr
