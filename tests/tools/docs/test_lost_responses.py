"""The examples about lost responses fail if the client makes a new key for the retry, as they claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.docs.library import pages_by_path
from tests import snippets
from tests.places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
SHOP = pages_by_path()["tutorial/shop"].source


def files(page: str) -> dict[str, str]:
    """Return the files of a page by name, each in its first version."""
    found: dict[str, str] = {}
    for block in snippets.blocks(page):
        if block.mark == "file":
            found.setdefault(block.said, block.text)
    return found


@pytest.mark.farm
@pytest.mark.parametrize(
    ("page", "test", "file", "right", "wrong"),
    [
        (
            README,
            "test_send.py",
            "test_send.py",
            "headers=key).status_code",
            'headers={"Idempotency-Key": "2"}).status_code',
        ),
        (
            SHOP,
            "test_orders.py::test_a_lost_response_makes_one_order",
            "ramp.py",
            '-Key": key}',
            '-Key": f"{key}{attempt}"}',
        ),
    ],
    ids=["README", "shop"],
)
def test_example_of_a_lost_response_fails_with_a_new_key(
    page: str, test: str, file: str, right: str, wrong: str, tmp_path: Path
) -> None:
    environment = snippets.surroundings(tmp_path)
    sources = files(page)
    for name in (test.partition("::")[0], "ramp.py", "shop.py", "conftest.py"):
        if name in sources:
            (tmp_path / name).write_text(sources[name])
    assert snippets.run([f"pytest -q {test}"], environment, tmp_path).returncode == 0
    assert sources[file].count(right) == 1
    (tmp_path / file).write_text(sources[file].replace(right, wrong))
    done = snippets.run([f"pytest -q {test}"], environment, tmp_path)
    assert (done.returncode, "1 failed" in done.stdout) == (1, True), done.stdout
