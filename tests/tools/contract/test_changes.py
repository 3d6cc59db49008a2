"""Comparison of two contracts: breaking changes, other changes, and their descriptions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from simulator.cli import main
from simulator.contract.changes import Change, changes, unnamed

Edit = Callable[[dict[str, Any]], object]

_PROMISED = {"x-provenance": "specified", "x-basis": "Things"}
_GUESSED = {"x-provenance": "assumed", "x-basis": "H1"}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}, "key": {"type": "apiKey"}}},
    "paths": {
        "/things": {
            "post": {
                "operationId": "make",
                "security": [],
                **_PROMISED,
                "parameters": [
                    {"name": "dry", "in": "query", "schema": {"type": "string", "enum": ["yes", "no"]}, **_PROMISED},
                    {"name": "size", "in": "query", "schema": {"type": "integer", "default": 20}, **_GUESSED},
                ],
                "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/s/Make"}}}},
                "responses": {
                    "201": {**_PROMISED, "content": {"application/json": {"schema": {"$ref": "#/s/Thing"}}}},
                    "409": {**_PROMISED, "x-codes": {"taken": _PROMISED, "odd": _GUESSED}},
                },
            }
        },
        "/guess": {
            "get": {
                "operationId": "guess",
                "security": [{"bearer": [], "key": []}],
                **_GUESSED,
                "responses": {
                    "201": _GUESSED,
                    "404": {"x-codes": {"gone": _GUESSED}},
                },
            }
        },
    },
    "webhooks": {
        "thing.made": {
            "post": {
                "operationId": "receive",
                **_PROMISED,
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/s/Event"}}}},
            }
        }
    },
    "s": {
        "Make": {
            "type": "object",
            "required": ["amount"],
            "properties": {
                "amount": {"type": "string", "maxLength": 20, **_PROMISED},
                "kind": {"type": "string", "enum": ["a", "b"], **_PROMISED},
                "word": {"type": "string", "pattern": "^a", **_PROMISED},
                "note": {"type": "string", "maxLength": 99, "x-assumed": ["maxLength"], **_PROMISED},
                "odd": {"type": "string", "pattern": "^[a-z]+$", "default": "x", **_GUESSED},
            },
        },
        "Thing": {
            "type": "object",
            "required": ["id", "guessed"],
            "properties": {
                "id": {"type": "string", "pattern": "^t_", **_PROMISED},
                "state": {"type": "string", "x-extensible-enum": ["new", "old"], **_PROMISED},
                "kind": {"type": "string", "enum": ["a", "b"], **_GUESSED},
                "when": {"type": ["string", "null"], **_PROMISED},
                "guessed": {"type": "string", **_GUESSED},
                "part": {"oneOf": [{"$ref": "#/s/Left"}, {"$ref": "#/s/Right"}], **_PROMISED},
            },
        },
        "Left": {
            "type": "object",
            "required": ["x"],
            "properties": {"x": {"type": "integer", **_PROMISED}, "y": {"type": "integer", **_PROMISED}},
        },
        "Right": {
            "type": "object",
            "properties": {"again": {"$ref": "#/s/Thing"}, "y": {"type": "integer", **_PROMISED}},
        },
        "Event": {"allOf": [{"$ref": "#/s/Thing"}, {"properties": {"state": {"enum": ["new"]}}}]},
    },
}

EVENT, AGAIN = "event thing.made /when", "event thing.made /part/again/when"


def _post(document: dict[str, Any]) -> dict[str, Any]:
    post: dict[str, Any] = document["paths"]["/things"]["post"]
    return post


def _field(schema: str, name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: document["s"][schema]["properties"][name]


def _drop(schema: str, name: str) -> Edit:
    return lambda document: document["s"][schema]["properties"].pop(name)


def _set(schema: str, name: str, **keywords: Any) -> Edit:
    return lambda document: document["s"][schema]["properties"][name].update(keywords)


def _add(schema: str, name: str) -> Edit:
    return lambda document: document["s"][schema]["properties"].update({name: {"type": "string", **_PROMISED}})


def _require(schema: str, *names: str) -> Edit:
    return lambda document: document["s"][schema].update(required=list(names))


BREAKING: dict[str, tuple[Edit, str, str]] = {
    "an operation goes": (lambda d: d["paths"].pop("/things"), "make", "operation removed"),
    "a status goes": (lambda d: _post(d)["responses"].pop("409"), "make 409", "status removed"),
    "a code goes": (lambda d: _post(d)["responses"]["409"]["x-codes"].pop("taken"), "make 409", "code removed"),
    "an event goes": (lambda d: d["webhooks"].pop("thing.made"), "event thing.made", "event removed"),
    "a parameter goes": (lambda d: _post(d)["parameters"].pop(0), "make query dry", "field removed"),
    "a field of a body goes": (_drop("Make", "kind"), "make request /kind", "field removed"),
    "a field of an answer goes": (_drop("Thing", "when"), "make 201 /when", "field removed"),
    "a variant goes": (lambda d: _field("Thing", "part")(d)["oneOf"].pop(0), "make 201 /part/x", "field removed"),
    "a field of one variant goes": (_drop("Left", "y"), "make 201 /part<Left>/y", "field removed"),
    "a field of all variants goes": (
        lambda d: (_drop("Left", "y")(d), _drop("Right", "y")(d)),
        "make 201 /part/y",
        "field removed",
    ),
    "a variant's field may be absent": (_require("Left"), "make 201 /part<Left>/x", "required weakened"),
    "an answer's field may be absent": (_require("Thing", "guessed"), "make 201 /id", "required weakened"),
    "an answer may be null": (_set("Thing", "id", type=["string", "null"]), "make 201 /id", "nullable weakened"),
    "an answer has another type": (_set("Thing", "id", type="integer"), "make 201 /id", "type weakened"),
    "an answer's form is given up": (
        lambda d: _field("Thing", "id")(d).pop("pattern"),
        "make 201 /id",
        "pattern weakened",
    ),
    "a state never comes again": (
        _set("Thing", "state", **{"x-extensible-enum": ["new"]}),
        "make 201 /state",
        "enum removed",
    ),
    "a body's field becomes required": (_require("Make", "amount", "kind"), "make request /kind", "required tightened"),
    "a value is refused": (_set("Make", "kind", enum=["a"]), "make request /kind", "enum tightened"),
    "a bound moves in": (_set("Make", "amount", maxLength=10), "make request /amount", "maxLength tightened"),
    "another form is asked for": (_set("Make", "word", pattern="^b"), "make request /word", "pattern tightened"),
    "an answer has another form": (_set("Thing", "id", pattern="^u_"), "make 201 /id", "pattern weakened"),
    "a list of values comes": (_set("Make", "amount", enum=["1"]), "make request /amount", "enum tightened"),
    "an answer's list is given up": (
        lambda d: _field("Thing", "state")(d).pop("x-extensible-enum"),
        "make 201 /state",
        "enum weakened",
    ),
    "a form is asked for": (_set("Make", "amount", pattern="^[0-9]+$"), "make request /amount", "pattern tightened"),
    "a new field is required": (
        lambda d: (_add("Make", "more")(d), _require("Make", "amount", "more")(d)),
        "make request /more",
        "required tightened",
    ),
    "a condition comes": (
        lambda d: d["s"]["Make"].update({"allOf": [{"if": {"required": ["kind"]}, "then": {"required": ["note"]}}]}),
        "make request",
        "conditions tightened",
    ),
    "a parameter has another default": (
        lambda d: _post(d)["parameters"][1]["schema"].update(default=10),
        "make query size",
        "default changed",
    ),
    "a parameter has no default any more": (
        lambda d: _post(d)["parameters"][1]["schema"].pop("default"),
        "make query size",
        "default removed",
    ),
    "a guessed field of a body has another default": (
        _set("Make", "odd", default="y"),
        "make request /odd",
        "default changed",
    ),
    "a token is asked for": (
        lambda d: _post(d).update(security=[{"bearer": []}]),
        "make",
        "security tightened",
    ),
    "a token is asked for everywhere": (
        lambda d: d.update(security=[_post(d).pop("security"), {"bearer": []}][1:]),
        "make",
        "security tightened",
    ),
    "a guessed success has another status": (
        lambda d: _guess(d)["responses"].update({"200": _guess(d)["responses"].pop("201")}),
        "guess 201",
        "status removed",
    ),
    "a success has another status": (
        lambda d: _post(d)["responses"].update({"200": _post(d)["responses"].pop("201")}),
        "make 201",
        "status removed",
    ),
    "a guessed bound moves in": (_set("Make", "note", maxLength=9), "make request /note", "maxLength tightened"),
    "a guessed form is another one": (
        _set("Make", "odd", pattern="^[a-z]{4}$"),
        "make request /odd",
        "pattern tightened",
    ),
    "a closed list of an answer gets a value": (
        _set("Thing", "kind", enum=["a", "b", "c"]),
        "make 201 /kind",
        "enum widened",
    ),
}


def _guess(document: dict[str, Any]) -> dict[str, Any]:
    get: dict[str, Any] = document["paths"]["/guess"]["get"]
    return get


HARMLESS: dict[str, tuple[Edit, str, str]] = {
    "an operation comes": (
        lambda d: d["paths"].update({"/new": {"get": {"operationId": "new", "responses": {}}}}),
        "new",
        "operation added",
    ),
    "a guessed operation goes": (lambda d: d["paths"].pop("/guess"), "guess", "operation removed"),
    "a guessed code goes": (lambda d: _post(d)["responses"]["409"]["x-codes"].pop("odd"), "make 409", "code removed"),
    "a guessed field goes": (_drop("Thing", "guessed"), "make 201 /guessed", "field removed"),
    "a field comes": (_add("Thing", "more"), "make 201 /more", "field added"),
    "a field that may be sent comes": (_add("Make", "more"), "make request /more", "field added"),
    "a state comes": (
        _set("Thing", "state", **{"x-extensible-enum": ["new", "old", "odd"]}),
        "make 201 /state",
        "enum added",
    ),
    "an answer is never null": (_set("Thing", "when", type="string"), "make 201 /when", "nullable strengthened"),
    "a refused status of a guess goes": (lambda d: _guess(d)["responses"].pop("404"), "guess 404", "status removed"),
    "a default is told": (_set("Make", "note", default=""), "make request /note", "default added"),
    "a key need not be sent": (
        lambda d: _guess(d).update(security=[{"bearer": []}]),
        "guess",
        "security loosened",
    ),
    "another way to sign in is taken": (
        lambda d: _guess(d)["security"].append({"key": []}),
        "guess",
        "security loosened",
    ),
    "no token is asked for": (lambda d: _guess(d).update(security=[]), "guess", "security loosened"),
    "a success more is told": (
        lambda d: _post(d)["responses"].update({"202": {"description": "later"}}),
        "make 202",
        "status added",
    ),
    "a form is no longer asked for": (
        lambda d: _field("Make", "word")(d).pop("pattern"),
        "make request /word",
        "pattern loosened",
    ),
    "a list of values is given up": (
        lambda d: _field("Make", "kind")(d).pop("enum"),
        "make request /kind",
        "enum loosened",
    ),
    "a bound moves out": (_set("Make", "amount", maxLength=30), "make request /amount", "maxLength loosened"),
    "a value more is taken": (_set("Make", "kind", enum=["a", "b", "c"]), "make request /kind", "enum loosened"),
    "a field need not be sent": (_require("Make"), "make request /amount", "required loosened"),
}


def _found(edit: Edit) -> list[Change]:
    newer = copy.deepcopy(DOCUMENT)
    edit(newer)
    return changes(DOCUMENT, newer)


@pytest.mark.parametrize("name", BREAKING)
def test_change_that_breaks_clients_is_reported(name: str) -> None:
    edit, place, said = BREAKING[name]
    broken = [change for change in _found(edit) if change.breaks]
    assert (place, said) in [(change.place.strip(), f"{change.keyword} {change.verdict}") for change in broken]
    assert any(said in change.readable() for change in broken)


@pytest.mark.parametrize("name", HARMLESS)
def test_change_that_breaks_nothing_is_not_reported(name: str) -> None:
    edit, place, said = HARMLESS[name]
    found = _found(edit)
    assert (place, said) in [(change.place.strip(), f"{change.keyword} {change.verdict}") for change in found]
    assert [change for change in found if change.breaks] == []


def test_removed_object_is_one_change() -> None:
    assert [change.place for change in _found(lambda d: d["paths"].pop("/things"))] == ["make"]
    assert [change.place for change in _found(lambda d: d["webhooks"].pop("thing.made"))] == ["event thing.made"]


def test_union_that_keeps_the_fields_of_an_object_breaks_nothing() -> None:
    def split(document: dict[str, Any]) -> None:
        thing = document["s"].pop("Thing")
        for name, state in (("New", "new"), ("Old", "old")):
            variant = copy.deepcopy(thing)
            variant["properties"]["state"]["x-extensible-enum"] = [state]
            document["s"][name] = variant
        document["s"]["Old"]["required"].remove("guessed")
        document["s"]["Thing"] = {"oneOf": [{"$ref": "#/s/New"}, {"$ref": "#/s/Old"}]}
        document["s"]["Event"] = {"$ref": "#/s/New"}

    found = [change for change in _found(split) if not change.place.startswith("event")]
    assert [(change.place, change.keyword, change.verdict) for change in found] == [
        ("make 201 /guessed", "required", "weakened")
    ]


def test_narrowed_variant_counts_with_its_base() -> None:
    def widen(document: dict[str, Any]) -> None:
        document["s"]["Event"]["allOf"][1]["properties"]["state"]["enum"].append("old")

    [change] = _found(widen)
    assert (change.place, change.keyword, change.new) == ("event thing.made /state", "enum", "old")


def test_contract_does_not_differ_from_itself() -> None:
    assert changes(DOCUMENT, DOCUMENT) == []


def test_changelog_names_breaking_change_by_path_or_pattern() -> None:
    broken = _found(BREAKING["a field of an answer goes"][0])
    assert [change.place for change in unnamed(broken, "nothing")] == [AGAIN, EVENT, "make 201 /when"]
    assert [change.place for change in unnamed(broken, "- `make 201 /when` is gone")] == [AGAIN, EVENT]
    assert unnamed(broken, "- `*/when` is gone") == []
    listed = Change("list 200 /data/[]/id", "field", "id", None, "removed", promised=True, basis="")
    assert unnamed([listed], "`list 200 /data/[]/id`") == []


def _run(directory: Path, edit: Edit, *options: str) -> tuple[int, str]:
    newer = copy.deepcopy(DOCUMENT)
    edit(newer)
    for name, document in (("old.yaml", DOCUMENT), ("new.json", newer)):
        directory.joinpath(name).write_bytes(orjson.dumps(document))  # JSON is YAML
    words = ["compare", str(directory / "old.yaml"), str(directory / "new.json"), *options]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    return done.exit_code, done.output


def test_command_reports_breaking_changes_with_exit_code_1(tmp_path: Path) -> None:
    code, text = _run(tmp_path, BREAKING["a value is refused"][0])
    assert code == 1
    assert "make request /kind: enum tightened (was b; promise: Things)" in text
    assert text.endswith("1 change, 1 of them breaks clients\n")
    code, text = _run(tmp_path, HARMLESS["a state comes"][0])
    assert code == 0
    assert "none of them breaks clients" in text
    assert _run(tmp_path, lambda document: None) == (0, "the contracts are equivalent\n")


def test_command_names_the_decision_of_a_breaking_assumption(tmp_path: Path) -> None:
    code, text = _run(tmp_path, BREAKING["a guessed bound moves in"][0])
    assert code == 1
    assert text.startswith("Breaking changes:\n")
    assert "make request /note: maxLength tightened (was 99, is 9; guess: Things)" in text


def test_command_prints_json(tmp_path: Path) -> None:
    code, text = _run(tmp_path, BREAKING["a value is refused"][0], "--json")
    assert code == 1
    assert orjson.loads(text) == [
        {
            "place": "make request /kind",
            "keyword": "enum",
            "old": "b",
            "new": None,
            "verdict": "tightened",
            "promised": True,
            "basis": "Things",
            "breaks": True,
        }
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "neither YAML nor JSON"),
        ("[]", "it has no paths"),
        ('{"paths": {"/x": {"get": {"responses": {"200": {"$ref": "#/nowhere"}}}}}}', "cannot resolve"),
    ],
)
def test_command_refuses_invalid_contract(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    done = CliRunner().invoke(main, ["compare", str(path), str(path)])
    assert done.exit_code == 2
    assert said in done.output
