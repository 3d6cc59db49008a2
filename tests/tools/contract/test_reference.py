"""The reference page contains everything in the contract, and is smaller than 300 kB."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import orjson
import pytest

from contracts.generator.reference_page.fields import Reader
from contracts.generator.reference_page.rendering import page
from contracts.generator.texts import meanings_of
from simulator.contract.files import contract_document, contract_file, operations_of
from tests.remote import Remote

MOST_BYTES = 300_000
_VOID = frozenset({"meta", "br", "link", "input"})
_MAY_STAY_OPEN = frozenset({"p", "li"})


@dataclass(repr=False, eq=False)
class _Element:
    """An element with the text of all it holds; `fields` are the names and texts of the rows of fields in it."""

    tag: str
    attributes: dict[str, str]
    children: list[_Element] = field(default_factory=list)
    pieces: list[str | _Element] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(one if isinstance(one, str) else one.text for one in self.pieces))

    def walk(self) -> Iterator[_Element]:
        yield self
        for child in self.children:
            yield from child.walk()

    def paragraphs(self) -> Iterator[str]:
        """The text of each paragraph and item in it."""
        yield from (one.text.strip() for one in self.walk() if one.tag in ("p", "li"))

    def rows(self) -> Iterator[tuple[str, _Element]]:
        """The rows of fields, each with the name of its field."""
        for one in self.walk():
            if one.tag == "li" and one.children and one.children[0].tag == "b":
                yield one.children[0].text, one


class _Page(HTMLParser):
    """A page as a tree; paragraphs and items may end where their parent or the next one of them does."""

    def __init__(self) -> None:
        super().__init__()
        self.root = _Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = _Element(tag, {name: value or "" for name, value in attrs})
        inline = tag in ("a", "code", "b", "i", "em", "samp", "small", "span", "br", "label", "input", "strong")
        if self._open[-1].tag == "p" and (not inline or tag == "samp"):
            self._open.pop()
        if tag == "li" and self._open[-1].tag == "li":
            self._open.pop()
        self._open[-1].children.append(element)
        self._open[-1].pieces.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open[-1].tag != tag and self._open[-1].tag in _MAY_STAY_OPEN:
            self._open.pop()
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].pieces.append(data)

    def close(self) -> None:
        super().close()
        assert self._open == [self.root]


def _parsed(html: str) -> _Element:
    parser = _Page()
    parser.feed(html)
    parser.close()
    return parser.root


def _spoken(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("`", ""))


@pytest.fixture(scope="module")
def document() -> Mapping[str, Any]:
    """The contract as it ships."""
    return contract_document()


@pytest.fixture(scope="module")
def html(document: Mapping[str, Any]) -> str:
    return page(document, orjson.loads(contract_file("reference.json")))


@pytest.fixture(scope="module")
def root(html: str) -> _Element:
    return _parsed(html)


@pytest.fixture(scope="module")
def places(root: _Element) -> dict[str, _Element]:
    """Return the elements with an id, by id."""
    return {one.attributes["id"]: one for one in root.walk() if "id" in one.attributes}


def test_page_is_at_most_300_kilobytes(html: str) -> None:
    size = len(html.encode())
    assert size < MOST_BYTES


def test_page_ids_are_unique_and_links_resolve(root: _Element, places: dict[str, _Element]) -> None:
    assert len(places) == sum("id" in one.attributes for one in root.walk())
    targets = {one.attributes["href"] for one in root.walk() if one.attributes.get("href", "").startswith("#")}
    assert {target.removeprefix("#") for target in targets} - places.keys() == set()


def test_page_loads_nothing_from_other_hosts(html: str, root: _Element) -> None:
    links = {one.attributes[name] for one in root.walk() for name in ("href", "src") if name in one.attributes}
    beside = {
        "dashboard",
        "docs/",
        "docs/reference/rules",
        "control.yaml",
        *(f"openapi{form}" for form in (".yaml", ".json", ".strict.yaml", ".specified.yaml")),
    }
    assert {link for link in links if not link.startswith("#")} == {*beside, "data:,"}
    outside = re.search(r"url\(|@import", html)
    assert outside is None


def test_page_has_headings_and_landmarks(root: _Element) -> None:
    tags = [one.tag for one in root.walk()]
    assert (tags.count("h1"), tags.count("main"), tags.count("nav")) == (1, 1, 1)
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    content = levels[levels.index(1) :]
    assert all(after <= before + 1 for before, after in pairwise(content))


def test_every_operation_and_event_has_its_anchor(document: Mapping[str, Any], places: dict[str, _Element]) -> None:
    missing = []
    for method, path, operation in operations_of(document):
        told = places[operation["operationId"]].text
        wanted = (f"{method} {path}", _spoken(operation["summary"]), _spoken(operation["description"]))
        missing += [text for text in wanted if text not in told]
    for name, item in document["webhooks"].items():
        promised = _spoken(item["post"]["description"].rpartition(". ")[0])
        missing += [promised] if not promised or promised not in places[f"event-{name}"].text else []
    assert missing == []


def test_every_code_is_listed_at_its_operations(document: Mapping[str, Any], places: dict[str, _Element]) -> None:
    everywhere = {one.text for one in places["start"].walk() if one.attributes.get("href", "").startswith("#code-")}
    assert 5 < len(everywhere) < 12
    missing = []
    follow = Reader(document).follow
    for _, _, operation in operations_of(document):
        links = {one.attributes.get("href") for one in places[operation["operationId"]].walk()}
        for response in operation["responses"].values():
            for code, about in follow(response).get("x-codes", {}).items():
                if not (code in everywhere or f"#code-{code}" in links):
                    missing.append((operation["operationId"], code))
                if _spoken(about["cause"]) not in places[f"code-{code}"].text:
                    missing.append((code, about["cause"]))
    assert missing == []


def _told_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every member of every object in a contract, as (name, schema)."""

    def walk(part: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if isinstance(part, Mapping):
            for name, member in part.get("properties", {}).items():
                if isinstance(member, Mapping) and name != "pagination":  # of all lists it is told once
                    yield name, member
            for name, member in part.items():
                if name not in ("examples", "example"):
                    yield from walk(member)
        elif isinstance(part, list):
            for member in part:
                yield from walk(member)

    yield from walk(document["paths"])
    named = document["components"]["schemas"]
    events = {f"{''.join(word.title() for word in re.split('[._]', name))}Event" for name in document["webhooks"]}
    for name, schema in named.items():
        if name not in events and not name.startswith("Error"):
            yield from walk(schema)


def test_every_field_is_listed_with_meaning_and_values(document: Mapping[str, Any], root: _Element) -> None:
    rows = list(root.rows())
    names, texts = {name for name, _ in rows}, set(root.paragraphs())
    missing: set[tuple[str, str]] = set()
    for name, schema in _told_of(document):
        missing |= {(name, "")} - {(told, "") for told in names}
        missing |= {(name, text) for text in (_spoken(schema.get("description", "")),) if text and text not in texts}
        meanings = {f"{value} {_spoken(text)}".strip() for value, text in meanings_of(schema).items()}
        missing |= {(name, text) for text in meanings - texts}
    assert missing == set()


def test_every_parameter_is_listed_at_its_operations(document: Mapping[str, Any], places: dict[str, _Element]) -> None:
    reader = Reader(document)
    of_lists = {name for name, _ in places["lists"].rows()}
    for _, _, operation in operations_of(document):
        told = {name for name, _ in places[operation["operationId"]].rows()}
        for parameter in map(reader.follow, operation.get("parameters", ())):
            assert parameter["name"] in told | of_lists | {"Idempotency-Key"}


def test_every_field_has_a_meaning(root: _Element) -> None:
    silent = [f"{name}: {row.text}" for name, row in root.rows() if not any(one.tag == "p" for one in row.children)]
    assert silent == []


def test_assumed_parts_are_marked_and_linked(document: Mapping[str, Any], root: _Element) -> None:
    marked = {one.attributes["href"] for one in root.walk() if one.attributes.get("href", "").startswith("#as-")}
    bases = {schema["x-basis"] for _, schema in _told_of(document) if schema.get("x-provenance") == "assumed"}
    for _, schema in _told_of(document):
        known = schema.get("x-assumed-basis", {})
        bases |= {known[constraint] for constraint in schema.get("x-assumed", ()) if constraint in known}
    assert {f"#as-{basis}" for basis in bases} <= marked


def test_refusals_name_a_scenario_that_demonstrates_them(places: dict[str, _Element]) -> None:
    named = [one.text for one in places["confirm_quote"].walk() if one.tag == "i"]
    assert named[0] == "refusals-ramps"
    assert "quote-expires" in named
    assert [one.text for one in places["code-quote_expired"].walk() if one.tag == "i"] == ["quote-expires"]


def _served(world: Remote, query: str = "") -> str:
    answer = world.call("GET", f"{world.origin}/_simulator/reference.html{query}")
    assert answer.status == 200
    return answer.raw.decode()


def test_page_has_address_and_keys_of_the_requested_world(world: Remote) -> None:
    keys = world.world["credentials"]["sandbox"]
    served = _served(world, f"?world={world.world['id']}")
    found = {text: text in served for text in (*keys.values(), f"-H 'X-Simulator-World: {world.world['id']}'")}
    del found[keys["base_url"]]
    assert all(found.values()), found
    of_others = re.findall("(?:pk|sk|whk)_test_simulator|http://127.0.0.1:8642", served)
    assert of_others == []
    usual = re.findall("sk_test_simulator|X-Simulator-World", _served(world))
    assert set(usual) == {"sk_test_simulator"}


def test_page_envelopes_are_signed_with_the_world_key(world: Remote) -> None:
    key = world.world["credentials"]["sandbox"]["webhook_key"].encode()
    envelopes = [
        one for one in _parsed(_served(world, f"?world={world.world['id']}")).walk() if "data-t" in one.attributes
    ]
    assert len(envelopes) >= 12
    for one in envelopes:
        raw = "".join(str(piece) for piece in one.pieces).encode()
        signed = hmac.new(key, one.attributes["data-t"].encode() + b"." + raw, hashlib.sha256).hexdigest()
        assert signed == one.attributes["data-s"]


def test_page_of_unknown_world_returns_404(server: Remote) -> None:
    answer = server.call("GET", f"{server.origin}/_simulator/reference.html?world=none")
    assert (answer.status, answer.code) == (404, "not_found")
