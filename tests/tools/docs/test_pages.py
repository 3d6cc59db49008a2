"""The documentation: every page is listed and served, and its links work."""

from __future__ import annotations

import asyncio
import posixpath
import re
from functools import cache

import httpx
import pytest

from simulator.docs.library import DIRECTORY, INDEX, all_pages, pages_by_path, sections
from simulator.docs.markdown import Rendered, render, served
from simulator.docs.search import search
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.host import create_app

PATHS = sorted(pages_by_path())
CONTRACT_FILES = {
    *("openapi.yaml", "openapi.json", "openapi.strict.yaml", "openapi.specified.yaml"),
    *("control.yaml", "webhook-vectors.json"),
}
"""The contract files that the server serves below `/_simulator/`."""
_SERVED = re.compile(r"https?://127\.0\.0\.1:8642(/[^\s`)\"'>]*)")


@cache
def rendered(path: str) -> Rendered:
    return render(pages_by_path()[path])


@pytest.fixture(scope="module")
def application() -> Application:
    return create_app(Config(clock="manual"))


def asked(application: Application, path: str, origin: str = "http://127.0.0.1:9999") -> httpx.Response:
    """One request below `/_simulator/docs`, straight into the application."""

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url=origin) as client:
            return await client.get(f"/_simulator/docs{path}")

    return asyncio.run(ask())


def test_every_source_is_in_the_table_of_contents_and_the_other_way_round() -> None:
    kinds = [section.name for section in sections()]
    assert kinds == ["tutorial", "how-to", "reference", "explanation"]
    sources = {
        path.relative_to(DIRECTORY).with_suffix("").as_posix()
        for kind in kinds
        for path in (DIRECTORY / kind).glob("*.md")
    }
    assert {*sources, INDEX} == set(PATHS)


def test_every_page_has_a_summary() -> None:
    for page in all_pages():
        assert page.says.endswith("."), page.path
        assert 10 < len(page.says) <= 160, page.path
    titles = [page.title for page in all_pages()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("path", PATHS)
def test_every_link_of_a_page_leads_somewhere(path: str) -> None:
    for link in rendered(path).links:
        if re.match("[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        below = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else f"{path}.md"
        if below.startswith("recipes/"):
            assert (DIRECTORY / below).is_file(), link
        elif below.startswith("../../contracts/"):
            assert below.removeprefix("../../contracts/") in CONTRACT_FILES, f"{link} is not served"
        else:
            assert below.removesuffix(".md") in PATHS, link
            assert not anchor or anchor in rendered(below.removesuffix(".md")).anchors, link


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_served_with_the_address_of_its_server_and_no_inline_code(
    application: Application, path: str
) -> None:
    answer = asked(application, f"/{'' if path == INDEX else path}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in answer.headers["content-security-policy"]
    assert "http://127.0.0.1:8642" not in answer.text
    assert re.search(r"<(?:script(?! src)|style)|\son\w+=|javascript:", answer.text) is None
    assert f"<title>{rendered(path).title.replace('&', '&amp;')}" in answer.text


@pytest.mark.parametrize("path", PATHS)
def test_every_address_of_the_server_that_a_page_names_is_there(application: Application, path: str) -> None:
    for url in _SERVED.findall(rendered(path).html):
        if url.startswith("/_simulator/docs"):
            assert asked(application, url.removeprefix("/_simulator/docs")).status_code in (200, 307), url


def test_page_with_md_returns_its_source(application: Application) -> None:
    answer = asked(application, "/explanation/law-and-weather.md")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.text == pages_by_path()["explanation/law-and-weather"].source
    assert asked(application, "/index.md").text == pages_by_path()[INDEX].source


def test_recipe_files_are_served_unchanged(application: Application) -> None:
    recipes = DIRECTORY / "recipes"
    files = [path for path in recipes.glob("*/**/*") if path.is_file() and "__pycache__" not in path.parts]
    assert files
    for path in files:
        answer = asked(application, f"/recipes/{path.relative_to(recipes).as_posix()}")
        assert (answer.status_code, answer.content) == (200, path.read_bytes()), path


def test_the_index_has_a_slash_at_its_end(application: Application) -> None:
    answer = asked(application, "")
    assert (answer.status_code, answer.headers["location"]) == (307, "docs/")


@pytest.mark.parametrize(
    "path",
    [
        *("/none/none", "/reference/none", "/reference/none.md", "/recipes/..%2f/serving.py"),
        *("/recipes/%00/a", f"/recipes/{'a' * 300}/b", "/recipes/agents/%2e%2e/recipes.json", "/recipes/agents/report"),
    ],
)
def test_unknown_page_is_404_with_a_hint(application: Application, path: str) -> None:
    answer = asked(application, path)
    assert answer.status_code == 404
    assert "/_simulator/docs/ lists all pages" in answer.json()["error"]["message"] or "no path" in answer.text


@pytest.mark.parametrize(
    ("given", "on_the_server"),
    [
        ("rates.md", "rates"),
        ("../reference/rules.md#quotes-expiry", "../reference/rules#quotes-expiry"),
        ("#below", "#below"),
        ("../recipes/compose/README.md", "../recipes/compose/README.md"),
        ("../index.md", "../"),
        ("../../../contracts/openapi.yaml", "../../openapi.yaml"),
        ("https://example.test/x.md", "https://example.test/x.md"),
    ],
)
def test_links_of_the_source_become_those_of_the_server(given: str, on_the_server: str) -> None:
    assert served("how-to/expire-a-quote", given) == on_the_server


def test_headings_have_the_anchors_that_code_hosts_give_them() -> None:
    assert {"by-hand", "in-a-test"} <= rendered("how-to/expire-a-quote").anchors


def test_a_search_finds_the_page_whose_title_has_the_words() -> None:
    assert search("outside events assumptions")[0]["path"] == "explanation/law-and-weather"
    assert search("first onr")[0]["path"] == "tutorial/first-onramp"


def test_a_search_may_be_a_question() -> None:
    paths = [hit["path"] for hit in search("How are the retries timed?")]
    assert paths == [hit["path"] for hit in search("retries timed")]
    assert paths[0] == "how-to/receive-webhooks#how-retries-are-timed"
    assert search("how to"), "where there is nothing but small words they are sought"


def test_a_search_shows_how_to_do_something_before_what_is_assumed_about_it() -> None:
    paths = [hit["path"].partition("#")[0] for hit in search("clock", most=100)]
    assert paths.index("how-to/time") < paths.index("reference/assumptions")


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("retry", "how-to/receive-webhooks#how-retries-are-timed"),
        ("retry schedule", "reference/webhooks#retries"),
        ("how long between retries", "how-to/receive-webhooks#how-retries-are-timed"),
        ("how are retries timed", "how-to/receive-webhooks#how-retries-are-timed"),
        ("webhook signature", "how-to/receive-webhooks#what-a-receiver-does"),
        ("idempotency", "reference/rules#idempotency-key"),
        ("expire", "how-to/expire-a-quote"),
        ("gitlab", "how-to/ci#gitlab"),
        ("vitest", "how-to/other-languages#typescript-and-javascript-with-vitest"),
        ("where", "reference/scenarios#where"),
        ("payout_failed", "reference/errors#payout_failed"),
        ("port in use", "how-to/troubleshoot#the-server"),
        ("docker", "how-to/containers#the-image"),
        ("snapshot", "how-to/worlds#snapshot-restore-fork"),
        ("troubleshoot", "how-to/troubleshoot"),
        ("troubleshooting", "how-to/troubleshoot"),
        ("chaos", "how-to/failures"),
        ("teardown", "how-to/in-your-tests"),
        ("use-the-contract", "how-to/use-the-contract"),
        ("swagger", "how-to/use-the-contract"),
    ],
)
def test_search_finds_the_expected_place_first(typed: str, first: str) -> None:
    assert search(typed)[0]["path"] == first


def test_search_by_a_synonym_finds_the_page() -> None:
    for page in all_pages():
        for word in page.search.split():
            assert page.path in [hit["path"] for hit in search(word)][:3], word


def test_a_search_finds_a_decision_by_its_name() -> None:
    assert search("H14")[0]["path"] == "reference/assumptions#H14"
    assert "reference/assumptions#H14" in [hit["path"] for hit in search("H14 idempotency")]


@pytest.mark.parametrize("words", ["", " ", '"', "a AND", "NEAR(", "*", "x" * 5000, "q:1 -z ^", "\x00"])
def test_no_words_break_a_search(words: str) -> None:
    assert isinstance(search(words), list)


def test_every_place_that_a_search_finds_is_there() -> None:
    for hit in search("quote", most=1000):
        path, _, anchor = hit["path"].partition("#")
        assert not anchor or anchor in rendered(path).anchors


def test_a_search_answers_over_http(application: Application) -> None:
    answer = asked(application, "/search?q=payer+pays")
    assert answer.json()["data"]
    assert set(answer.json()["data"][0]) == {"path", "title", "heading", "text"}
    assert asked(application, "/search?p=x").status_code == 400
    assert asked(application, f"/search?q={'a+' * 101}").json()["error"]["param"] == "q"


def test_a_file_of_a_recipe_is_served_as_text_that_no_browser_takes_for_more(application: Application) -> None:
    answer = asked(application, "/recipes/github-action/report/action.yml")
    assert "name: rampsim report" in answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
