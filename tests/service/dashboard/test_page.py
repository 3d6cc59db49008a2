"""The dashboard: its addresses, no dependency on other hosts, and correct use of the control interface."""

from __future__ import annotations

import asyncio
import json
import posixpath
import re
from hashlib import sha256

import httpx
import pytest

from simulator.contract.serving import CONTRACT_ROWS
from simulator.dashboard import page, page_files
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.http.router import Router
from simulator.host import control_rows, create_app

PAGE = page().decode()
MODULES = {name: found.content.decode() for name, found in page_files().items() if name.endswith(".js")}
OWN = {name: content for name, content in MODULES.items() if not name.startswith("vendor/")}


def _links(page: str) -> list[str]:
    return re.findall(r'href="([^"]*)"', page)


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
    assert answer.content == page()


def test_the_start_page_leads_to_the_world_that_it_was_asked_for(application: Application) -> None:
    answer = asked(application, "GET", "/?world=a%20b")
    assert (answer.status_code, answer.headers["location"]) == (307, "/_simulator/dashboard?world=a%20b")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/"), ("HEAD", "/"), ("GET", "/dashboard"), ("GET", "/index.html")]
)
def test_every_other_unknown_path_stays_the_interface_s(application: Application, method: str, path: str) -> None:
    answer = asked(application, method, path)
    assert answer.status_code == 404
    assert answer.headers["x-request-id"].startswith("req_")


def test_the_page_comes_without_the_token_but_nothing_of_a_world_does() -> None:
    application = create_app(Config(host="0.0.0.0", control_token="hush"))
    assert asked(application, "GET", "/_simulator/dashboard", host="10.0.0.7").status_code == 200
    assert asked(application, "GET", "/_simulator/worlds", host="10.0.0.7").status_code == 401
    known = asked(application, "GET", "/_simulator/worlds", host="10.0.0.7", authorization="Bearer hush")
    assert known.status_code == 200


def test_the_page_needs_nothing_from_outside_and_holds_no_key() -> None:
    for name, content in {"index.html": PAGE, **OWN}.items():
        assert (
            re.search(
                r"https?://|\burl\((?!#)|@import|\beval\(|innerHTML|InnerHTML|insertAdjacentHTML|document\.write",
                content,
            )
            is None
        ), name
        assert re.search(r"[sp]k_(test|live)|whk_", content) is None, name
    assert re.findall(r'\bsrc="([^"]*)"', PAGE) == ["dashboard/js/main.js"]
    assert all(link == "data:," or link.removeprefix("dashboard/") in page_files() for link in _links(PAGE))


def test_every_module_is_there_and_names_others_by_where_they_lie() -> None:
    for name, content in MODULES.items():
        for wanted in re.findall(r'(?m)^(?:import|export)\b[^;"]*?\bfrom\s*"([^"]+)"', content):
            assert wanted.startswith("."), (name, wanted)
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), wanted)) in page_files(), (name, wanted)


def test_every_name_that_a_module_takes_is_one_that_another_gives() -> None:
    for name, content in OWN.items():
        for names, wanted in re.findall(r'^import \{([^}]*)\} from "(\.[^"]*)"', content, re.MULTILINE):
            source = MODULES[posixpath.normpath(posixpath.join(posixpath.dirname(name), wanted))]
            for one in re.split(r"\s*,\s*", names.strip().removesuffix(",")):
                given = one.partition(" as ")[0].strip()
                assert re.search(
                    rf"export (?:async )?(?:function|const|class) {given}\b|export ?\{{[^}}]*\b{given}\b", source
                ), (name, wanted, given)


def test_what_others_wrote_is_as_its_table_says() -> None:
    versions = json.loads(page_files()["vendor/VERSIONS.json"].content)
    theirs = {name for name in page_files() if name.startswith("vendor/")}
    assert theirs == {"vendor/VERSIONS.json"} | {f"vendor/{name}" for name in versions} | {
        f"vendor/{about['licence_file']}" for about in versions.values()
    }
    for name, about in versions.items():
        assert sha256(page_files()[f"vendor/{name}"].content).hexdigest() == about["sha256"], name
        assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", about["version"]), name
        assert about["package"] in about["licence_file"], name


def test_every_call_of_the_page_is_one_of_the_control_interface() -> None:
    router = Router(control_rows(CONTRACT_ROWS))
    script = "\n".join(OWN.values())
    calls = [(method.upper(), path) for method, path in re.findall(r'\bapi\("([A-Z]+)", [`"](/[^`"?]*)', script)]
    named = {"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "del": "DELETE", "useRead": "GET"}
    calls += [
        (named[verb], path) for verb, path in re.findall(r'\b(get|post|put|patch|del|useRead)\([`"](/[^`"?]*)', script)
    ]
    calls += [("GET", path) for path in re.findall(r'\bwithQuery\([`"](/[^`"?]*)', script)]
    assert len(calls) > 8
    for method, path in calls:
        found = router.find(re.sub(r"\$\{[^}]*\}", "x", path))
        assert found is not None, path
        assert method in found[0], (method, path)
    assert [name for name, content in OWN.items() if "fetch(" in content] == ["js/api.js", "js/live.js"]


def test_a_cached_page_is_not_sent_again(application: Application) -> None:
    first = asked(application, "GET", "/_simulator/dashboard/js/main.js")
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    again = asked(
        application, "GET", "/_simulator/dashboard/js/main.js", **{"if-none-match": f'"other", {first.headers["etag"]}'}
    )
    assert (again.status_code, again.content) == (304, b"")
    other = asked(application, "GET", "/_simulator/dashboard/js/main.js", **{"if-none-match": '"other"'})
    assert other.content == first.content


@pytest.mark.parametrize(
    "path",
    [
        "js/none.js",
        "js/..%2findex.html",
        "..%2f__init__.py",
        "js/panels/..%2f..%2f..%2f__init__.py",
        "js/%00",
        "js/panels",
    ],
)
def test_nothing_else_is_served(application: Application, path: str) -> None:
    assert asked(application, "GET", f"/_simulator/dashboard/{path}").status_code == 404


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
    linked = re.findall(r'(?:href|src)="([a-z/]+\.(?:css|js))"', answer.text)
    assert linked
    for one in linked:
        part = asked(application, "GET", f"/_simulator/{one}")
        assert (part.status_code, len(part.content) > 100) == (200, True)
        assert part.headers["content-type"].startswith("text/css" if one.endswith("css") else "text/javascript")
        assert part.headers["x-content-type-options"] == "nosniff"


def test_the_parts_of_pages_come_without_the_token() -> None:
    application = create_app(Config(host="0.0.0.0", control_token="hush"))
    for part in (
        "dashboard/css/parts.css",
        "dashboard/js/main.js",
        "dashboard/js/panels/requests.js",
        "coverage.css",
        "reference.css",
        "reference.js",
    ):
        assert asked(application, "GET", f"/_simulator/{part}", host="10.0.0.7").status_code == 200
