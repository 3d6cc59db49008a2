"""The dashboard: where it is served, that it needs nothing from outside, and that it speaks the control interface."""

from __future__ import annotations

import asyncio
import re
from html.parser import HTMLParser

import httpx
import pytest

from simulator.config import Config
from simulator.control.rows import control_rows
from simulator.dashboard import page
from simulator.host import create_app
from simulator.server.app import Application
from simulator.server.router import Router

PAGE = page().html.decode()
SCRIPT = page().script.decode()


def asked(application: Application, method: str, path: str, host: str = "127.0.0.1", **headers: str) -> httpx.Response:
    """One request, straight into the application."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(ask())


@pytest.fixture
def application() -> Application:
    return create_app(Config(clock="manual"))


def test_the_page_is_served_and_a_browser_finds_it(application: Application) -> None:
    first = asked(application, "GET", "/")
    assert (first.status_code, first.headers["location"]) == (307, "/_simulator/dashboard")
    answer = asked(application, "GET", first.headers["location"])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.content == page().html


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/"), ("HEAD", "/"), ("GET", "/dashboard"), ("GET", "/index.html")]
)
def test_every_other_unknown_path_stays_the_interface_s(application: Application, method: str, path: str) -> None:
    answer = asked(application, method, path)
    assert answer.status_code == 404
    assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.slow
def test_the_page_comes_without_the_token_but_nothing_of_a_world_does() -> None:
    application = create_app(Config(host="0.0.0.0", control_token="hush"))
    assert asked(application, "GET", "/_simulator/dashboard", host="10.0.0.7").status_code == 200
    assert asked(application, "GET", "/_simulator/worlds", host="10.0.0.7").status_code == 401
    known = asked(application, "GET", "/_simulator/worlds", host="10.0.0.7", authorization="Bearer hush")
    assert known.status_code == 200


def test_the_page_needs_nothing_from_outside_and_holds_no_key() -> None:
    everything = PAGE + SCRIPT + page().style.decode()
    assert re.search(r"https?://|url\(|@import|\beval\(|innerHTML", everything) is None
    assert re.search(r"[sp]k_(test|live)|whk_", everything) is None
    assert re.findall(r'\bsrc="([^"]*)"', PAGE) == ["dashboard.js"]
    assert set(re.findall(r'href="([^"]*)"', PAGE)) == {
        "data:,",
        "dashboard.css",
        "reference.html",
        "coverage.html",
    }


def test_every_call_of_the_page_is_one_of_the_control_interface() -> None:
    router = Router(control_rows())
    calls = re.findall(r'\bapi\("([A-Z]+)", [`"](/[^`"?]*)', SCRIPT)
    calls += [("GET", path) for path in re.findall(r'\bnewest\("(/[^"?]*)', SCRIPT)]
    assert len(calls) > 15
    for method, path in calls:
        found = router.find(re.sub(r"\$\{[^}]*\}", "x", path))
        assert found is not None, path
        assert method in found[0], (method, path)
    assert set(re.findall(r"\bfetch\(([^,]+),", SCRIPT)) == {
        "BASE + path",
        "`${BASE}/stream?world=${encodeURIComponent(worldId)}`",
        "link.href",
    }


def test_what_an_action_s_button_does_goes_through_the_actions() -> None:
    body = SCRIPT[SCRIPT.index("function actionButton(") : SCRIPT.index("function choose(")]
    assert re.findall(r"\b(?:api|fetch)\(([^,]*, [^,]*),", body) == ['"POST", `/actions/${action.name}`']
    assert SCRIPT.count("/actions/") == 1
    assert SCRIPT.count("actionButton(action") == 3  # its definition, those of a resource, those of the world


def test_the_page_reads_what_the_stream_tells_of() -> None:
    shown = SCRIPT[SCRIPT.index("const SHOWN_BY = ") : SCRIPT.index("const stale")]
    assert set(re.findall(r"(\w+): \[", shown)) == {"request", "state", "event", "delivery", "clock"}
    readers = set(re.findall(r"^  async (\w+)\(\)", SCRIPT, re.MULTILINE))
    assert set(re.findall(r'"(\w+)"', shown)) <= readers


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.unlabelled: list[str] = []
        self.titles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [str(found["id"])] if "id" in found else []
        self.titles += [str(found["aria-labelledby"])] if "aria-labelledby" in found else []
        if tag in ("input", "select", "textarea") and "label" not in self.open and "aria-label" not in found:
            self.unlabelled.append(str(found.get("id")))
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_its_fields_have_labels() -> None:
    outline = _Outline()
    outline.feed(PAGE)
    assert (outline.open, outline.unlabelled) == ([], [])
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.titles) <= set(outline.ids)
    assert set(re.findall(r'\$\("([\w-]+)"\)', SCRIPT)) <= set(outline.ids)


@pytest.mark.parametrize("name", ["dashboard", "coverage", "reference"])
def test_pages_have_no_inline_code_and_a_policy_that_forbids_it(application: Application, name: str) -> None:
    path = "/_simulator/dashboard" if name == "dashboard" else f"/_simulator/{name}.html"
    answer = asked(application, "GET", path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert re.search(r"<style|\bstyle=|\bon[a-z]+=|<script>|javascript:", answer.text) is None
    linked = re.findall(r'(?:href|src)="([a-z]+\.(?:css|js))"', answer.text)
    assert f"{name}.css" in linked
    for one in linked:
        part = asked(application, "GET", f"/_simulator/{one}")
        assert (part.status_code, len(part.content) > 100) == (200, True)
        assert part.headers["content-type"].startswith("text/css" if one.endswith("css") else "text/javascript")


@pytest.mark.slow
def test_the_parts_of_pages_come_without_the_token() -> None:
    application = create_app(Config(host="0.0.0.0", control_token="hush"))
    for part in ("dashboard.css", "dashboard.js", "coverage.css", "reference.css", "reference.js"):
        assert asked(application, "GET", f"/_simulator/{part}", host="10.0.0.7").status_code == 200
