"""Every page shows the same function `is_genuine`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from contracts.generator.webhooks_page import VERIFIERS
from simulator.contract.files import contracts_directory
from simulator.docs.library import DIRECTORY, pages_by_path
from tests import snippets
from tests.places import ROOT

PAGES = {
    "README": (ROOT / "README.md").read_text("utf-8"),
    **{path: page.source for path, page in pages_by_path().items()},
    **{
        path.relative_to(contracts_directory()).as_posix(): path.read_text("utf-8")
        for path in contracts_directory().rglob("*.md")
    },
}
CODES = {
    **{
        f"{path} {number}": block.text
        for path, page in PAGES.items()
        for number, block in enumerate(snippets.blocks(page))
        if block.language == "python"
    },
    **{path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (DIRECTORY / "recipes").rglob("*.py")},
}
PLACES = [place for place, code in CODES.items() if "def is_genuine(" in code]


def bare(code: str) -> Iterator[str]:
    """Yield each function `is_genuine` of the code, without annotations."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef) and node.name == "is_genuine":
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
            yield ast.unparse(node)


def test_the_pages_with_the_function_are_found() -> None:
    pages = {place.split(" ")[0] for place in PLACES}
    assert {"README", "how-to/receive-webhooks", "reference/webhooks", "tutorial/shop", "webhooks.md"} <= pages


@pytest.mark.parametrize("place", PLACES)
def test_a_page_shows_the_function_that_passes_all_vectors(place: str) -> None:
    assert list(bare(CODES[place])) == list(bare((VERIFIERS / "verify.py").read_text("utf-8")))
