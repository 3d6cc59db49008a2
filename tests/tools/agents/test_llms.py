"""`llms.txt` in the format of llmstxt.org: its content, and the targets of its links."""

from __future__ import annotations

import re

import pytest
import yaml

from simulator.docs import library
from simulator.service import TOOLING
from tests.places import ROOT
from tests.remote import Remote


@pytest.fixture(params=["/_simulator/llms.txt", "/llms.txt"])
def text(request: pytest.FixtureRequest, server: Remote) -> str:
    answer = server.http.get(f"{server.origin}{request.param}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return answer.text


def test_it_has_the_form_and_names_the_server_that_it_comes_from(text: str, server: Remote) -> None:
    lines = text.splitlines()
    assert lines[0] == "# rampsim"
    assert next(line for line in lines[1:] if line).startswith("> ")
    assert f"{server.origin}/production/v1" in text
    assert ":8642" not in text
    assert len(text) < 20_000


def test_every_link_leads_somewhere(text: str, server: Remote) -> None:
    links = re.findall(r"^- \[[^]]+\]\((\S+)\): \S", text, re.MULTILINE)
    assert len(links) > len(list(library.all_pages()))
    for link in links:
        assert server.http.get(link).status_code == 200, link


def test_every_page_and_every_call_is_in_it(text: str) -> None:
    for section in library.sections():
        for page in section.pages:
            assert f"/{page.path}.md): {page.says}" in text
    assert "- POST /quotes/{id}/confirm: " in text


def test_the_full_one_has_the_text_of_every_page(server: Remote) -> None:
    for path in ("/llms-full.txt", "/_simulator/llms-full.txt"):
        text = server.http.get(f"{server.origin}{path}").text
        for page in library.all_pages():
            assert f"\n# {page.title}\n" in text


def test_the_test_values_are_those_of_the_scenario() -> None:
    rules = (ROOT / "scenarios" / "test-values.yaml").read_text("utf-8")
    endings = set(re.findall(r'ends_with: "(\d{4})"', rules))
    told = {value for values in TOOLING.test_values().values() for value in values if value.isdecimal()}
    assert told == endings
    assert yaml.safe_load(rules)["name"] == "test-values"
