"""Scenarios from a directory: the dashboard shows changes to the files immediately."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from simulator.engine.server.config import Config
from tests.remote import running
from tests.tools.browser.screen import Screen


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenarios")
    (path / "mine.yaml").write_text("name: mine\ndescription: the first words\n")
    return path


@pytest.fixture(scope="module")
def origin(directory: Path) -> Iterator[str]:
    with running(Config(clock="manual", scenario_directories=(directory,))) as (address, _):
        yield address


def test_what_is_written_is_shown_and_what_is_wrong_with_it(screen: Screen, directory: Path) -> None:
    page = screen.open("#/scenarios")
    row = page.get_by_role("row").filter(has_text="mine")
    expect(row).to_contain_text("the first words")
    (directory / "mine.yaml").write_text("name: mine\ndescription: other words\n")
    expect(row).to_contain_text("other words")
    (directory / "mine.yaml").write_text("name: mine\nruls: <img src=x>\n")
    wrong = page.get_by_role("note")
    expect(wrong).to_contain_text(f"{directory}/mine.yaml:2:1")
    expect(wrong).to_contain_text("did you mean `rules`?")
    expect(row).to_contain_text("other words")
    (directory / "mine.yaml").write_text("name: mine\ndescription: the last words\n")
    expect(row).to_contain_text("the last words")
    expect(wrong).to_have_count(0)
