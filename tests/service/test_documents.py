"""Every row that the API can create in a world survives export and import."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from typing import Any, Literal, NotRequired, get_args, get_type_hints
from urllib.parse import urlencode

import httpx
import pytest
from typing_extensions import TypedDict

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.control.worlds.documents import (
    MAX_BYTES,
    contents_of,
    document_text,
    read_document,
)
from simulator.engine.records.codec import MAX_DEPTH, Codec, StateError, checker, texts_of
from simulator.engine.rows.error import ControlError
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import headers_text, json_text
from simulator.engine.worlds.settings import settings_of
from simulator.engine.worlds.simulator import Blueprint, WorldState, tables_of
from simulator.host import Simulator, application_of, vocabulary
from simulator.kernel.agenda import Timer
from simulator.kernel.fields import Between, OneLine
from simulator.kernel.journal import MOVES_A_ROW
from simulator.kernel.store import address_of
from simulator.kernel.texts import NO_HEADERS, NO_MEMBERS, HeadersText, JsonText, Text
from simulator.kernel.world import World
from tests.fake_transport import FakeTransport
from tests.remote import Answer, Remote, new_client
from tests.service.http.busy import busy_morning
from tests.support import ENVIRONMENTS

CONTENTS = contents_of(tables_of(vocabulary()), ENVIRONMENTS)
TABLES, CODEC = CONTENTS.tables, CONTENTS.codec


class Inside(Remote):
    """A world of a simulator in this process, reached without a socket."""

    def __init__(self) -> None:
        transport = FakeTransport()
        transport.answer = lambda url, body: 500 if "failing" in url and b"webhook.test" not in body else 200
        self.simulator = Simulator()
        self.simulator.create_world(Blueprint("default", 1))
        self.runner = asyncio.Runner()
        self.application = application_of(Runtime(self.simulator, transport))
        self.client = AsgiClient(self.application)
        super().__init__("", new_client())
        self.world = self.control("GET", "/worlds/default").body

    def call(
        self, method: str, url: str, *, json: Any = None, headers: dict[str, str] | None = None, **more: Any
    ) -> Answer:
        path = "/" + url.partition("://")[2].partition("/")[2] if "://" in url else url
        if more.get("params"):
            path += "?" + urlencode(more["params"])
        reply = self.runner.run(self.client.request(method, path, json, headers))
        return Answer(reply.status, reply.body, httpx.Headers(dict(reply.headers)), b"")

    def close(self) -> None:
        self.http.close()
        self.runner.run(self.application.runtime.close())
        self.runner.close()


@dataclass
class Morning:
    simulator: Simulator
    world: World
    state: WorldState
    raw: bytes


pytestmark = pytest.mark.xdist_group("one busy morning")


@pytest.fixture(scope="module")
def morning() -> Iterator[Morning]:
    inside = Inside()
    busy_morning(inside, "http://127.0.0.1:9/failing", "http://127.0.0.1:9/good")
    for status in ("degraded", "operational") * MOVES_A_ROW:
        inside.control("POST", "/actions/set_network", {"network": "bitcoin", "status": status})
    simulator = inside.simulator
    state = simulator.state_of(simulator.default)
    raw = document_text(simulator, state)
    yield Morning(simulator, simulator.default, state, raw)
    inside.close()


def base_name(table: str) -> str:
    """`sandbox:wallets@usr_1:deleted` → `wallets`."""
    address = address_of(table, TABLES, ENVIRONMENTS)
    assert address is not None, table
    return address.key.name


def edited(morning: Morning, change: Any) -> bytes:
    document = json.loads(morning.raw)
    change(document)
    return json.dumps(document).encode()


def refusal(morning: Morning, raw: bytes) -> tuple[int, str, str | None]:
    with pytest.raises(ControlError) as caught:
        read_document(morning.simulator, raw)
    return caught.value.status, caught.value.code, caught.value.param


# --- the round trip -----------------------------------------------------------------------------------------------


def test_the_morning_fills_every_table(morning: Morning) -> None:
    rare = {"scenario.held", "webhook_in_flight", "webhook_ready", "webhook_waiting", "webhook_waiting_plans", "emails"}
    rare |= {"rates.before", "scenario.failures", "scenario.instants", "scenario.stopped", "faults.keys", "assumptions"}
    assert {base_name(name) for name in morning.state.tables} >= TABLES.keys() - rare


def test_every_table_has_a_known_kind_of_rows(morning: Morning) -> None:
    assert {base_name(name) for name in morning.state.tables} <= TABLES.keys()


def test_every_row_comes_back_as_it_was(morning: Morning) -> None:
    read = read_document(morning.simulator, morning.raw)
    assert read.tables == morning.state.tables
    assert read.requests == morning.state.requests
    for name, rows in morning.state.tables.items():
        assert list(read.tables[name]) == list(rows), name
        for key, row in rows.items():
            assert repr(read.tables[name][key]) == repr(row)


def test_the_frame_comes_back_as_it_was(morning: Morning) -> None:
    read, state = read_document(morning.simulator, morning.raw), morning.state
    for name in ("world_id", "keys_of", "seed", "mode", "now_ms", "rate", "started_at_ms"):
        assert getattr(read, name) == getattr(state, name), name
    for name in ("seed", "mode", "now_ms", "rate", "scenarios", "settings"):
        assert getattr(read.blueprint, name) == getattr(state.blueprint, name), name


def test_the_second_document_is_the_first(morning: Morning) -> None:
    world = morning.simulator.from_state(read_document(morning.simulator, morning.raw), "default")
    again = Simulator()
    again.create_world(Blueprint("default", 9))
    again.register(world, morning.state.blueprint)
    assert document_text(again, again.state_of(world)) == morning.raw


def test_reading_a_document_changes_nothing(morning: Morning) -> None:
    before = document_text(morning.simulator, morning.simulator.state_of(morning.world))
    directory = dict(morning.simulator.directory)
    read_document(morning.simulator, morning.raw)
    assert document_text(morning.simulator, morning.simulator.state_of(morning.world)) == before
    assert morning.simulator.directory == directory


@pytest.mark.parametrize("cls", CODEC.classes, ids=lambda cls: cls.__name__)
def test_every_class_checks_its_fields(cls: type[Any]) -> None:
    with pytest.raises(StateError):
        CODEC.decode({"$": cls.__name__, "no_such_member": 1}, "row")


# --- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1,
        2**63 - 1,
        2**63,
        10**100,
        1.5,
        float("inf"),
        "",
        "ü\u0000",
        b"",
        b"plain \xc3\xbc",
        b"\xff\x00",
        (),
        (1, ("a", None)),
        [],
        [1, [2]],
        {},
        {"a": {"b": [1, (2,)]}},
        {"$": "Timer"},
        {"$": {"$": 1}, "x": b"\xff"},
        Decimal("0"),
        Decimal("1.50"),
        Decimal("0.000"),
        Decimal("1E+3"),
        Decimal("-0.0"),
        Decimal("1e-18"),
        Timer("k", 1, 2, "kind", "target", {"a": [1, None], "$": 2}),
    ],
    ids=repr,
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    plain = json.loads(json.dumps(Codec([Timer]).encode(value), allow_nan=False))
    back = Codec([Timer]).decode(plain, "row")
    assert (type(back), repr(back)) == (type(value), repr(value))


@pytest.mark.parametrize(
    "value", [{1: 2}, object(), {1, 2}, ("a", complex(1, 2)), Blueprint("x", 1)], ids=lambda value: type(value).__name__
)
def test_values_illegal_in_a_row_are_not_written(value: Any) -> None:
    with pytest.raises(TypeError):
        CODEC.encode(value)


@pytest.mark.parametrize(
    "value",
    [
        {"$": "World"},
        {"$": "os.system", "value": "true"},
        {"$": 7},
        {"$": None},
        {"$": []},
        {"$": "decimal"},
        {"$": "decimal", "value": 1},
        {"$": "decimal", "value": "abc"},
        {"$": "decimal", "value": "NaN"},
        {"$": "decimal", "value": "Infinity"},
        {"$": "decimal", "value": "1e999999999"},
        {"$": "decimal", "value": "1", "more": 1},
        {"$": "decimal", "value": "9" * 1000},
        {"$": "int", "value": "1x"},
        {"$": "int", "value": "9" * 5000},
        {"$": "base64", "value": "?"},
        {"$": "tuple", "items": 1},
        {"$": "tuple"},
        {"$": "object", "members": [["a"]]},
        {"$": "object", "members": [[1, 2]]},
        {"$": "Timer", "key": "k"},
        {"$": "Timer", "key": 1, "due_at_ms": 1, "number": 1, "kind": "k", "target": "t"},
        {"$": "Timer", "key": "k", "due_at_ms": True, "number": 1, "kind": "k", "target": "t"},
        {"$": "Timer", "key": "k", "due_at_ms": -1, "number": 1, "kind": "k", "target": "t"},
        {"$": "Timer", "key": "k", "due_at_ms": 10**15, "number": 1, "kind": "k", "target": "t"},
        {"$": "Timer", "key": "k", "due_at_ms": 1, "number": 1, "kind": "k", "target": "t", "arguments": []},
        {"$": "Cause", "kind": "law", "name": "x", "__class__": "y"},
        [{"$": "Nothing"}],
        {"a": {"$": "Nothing"}},
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_a_value_that_no_codec_wrote_is_refused(value: Any) -> None:
    with pytest.raises(StateError) as caught:
        CODEC.decode(value, "row")
    assert caught.value.path.startswith("row")


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH + 5):
        value = [value]
    with pytest.raises(StateError, match="deep"):
        CODEC.decode(value, "row")


def test_two_classes_of_one_name_make_no_codec() -> None:
    other = type("Timer", (), {"__annotations__": {}})
    with pytest.raises(ValueError, match="Timer"):
        Codec([Timer, dataclass(other)])


@dataclass(frozen=True)
class _Noted:
    names: tuple[str, ...] = field(default=(), metadata={"saved_as": "notes", "saved_after": "name:"})


def test_texts_keep_the_word_before_them_in_documents_alone() -> None:
    written = Codec([_Noted]).encode(_Noted(("a", "b:c")))
    assert written == {"$": "_Noted", "notes": {"$": "tuple", "items": ["name:a", "name:b:c"]}}
    assert Codec([_Noted]).decode(written, "row") == _Noted(("a", "b:c"))
    with pytest.raises(StateError, match="each string must begin with `name:`"):
        Codec([_Noted]).decode({"$": "_Noted", "notes": {"$": "tuple", "items": ["a"]}}, "row")


def test_a_field_with_a_format_name_has_that_format() -> None:
    for made in CODEC.classes:
        hints = get_type_hints(made, include_extras=True)
        assert is_dataclass(made)
        for one in fields(made):
            narrowed = [word for hint in (hints[one.name], *get_args(hints[one.name])) for word in get_args(hint)]
            if one.name.endswith("_ms"):
                assert any(isinstance(word, Between) for word in narrowed), f"{made.__name__}.{one.name}"
            elif one.name in ("id", "headers") or one.name.endswith(("_id", "_headers")):
                assert OneLine() in narrowed or hints[one.name] is HeadersText, f"{made.__name__}.{one.name}"


@dataclass(frozen=True, slots=True)
class _Sent:
    body: JsonText
    headers: HeadersText
    raw: Text


def test_texts_are_in_documents_what_they_are_of() -> None:
    codec, row = Codec([_Sent]), _Sent(json_text({"$": 1, "b": [2]}), headers_text((("A", "b"),)), Text(b"\xff"))
    written = codec.encode(row)
    pair = {"$": "tuple", "items": ["A", "b"]}
    assert written == {
        "$": "_Sent",
        "body": {"$": "object", "members": [["$", 1], ["b", [2]]]},
        "headers": {"$": "tuple", "items": [pair]},
        "raw": {"$": "base64", "value": "/w=="},
    }
    assert codec.decode(written, "row") == row
    empty = codec.decode({**written, "body": {}, "headers": {"$": "tuple", "items": []}}, "row")
    assert (empty.body, empty.headers) == (NO_MEMBERS, NO_HEADERS)
    assert empty.body is NO_MEMBERS
    assert empty.headers is NO_HEADERS


@pytest.mark.parametrize(
    "wrong",
    [
        {"body": []},
        {"body": {"a": 2**70}},
        {"headers": []},
        {"headers": {"$": "tuple", "items": [{"$": "tuple", "items": ["A", "b\nc"]}]}},
        {"raw": "text"},
    ],
)
def test_texts_are_checked_as_what_they_are_of(wrong: dict[str, Any]) -> None:
    written = Codec([_Sent]).encode(_Sent(NO_MEMBERS, NO_HEADERS, Text(b"")))
    assert isinstance(written, dict)
    with pytest.raises(StateError):
        Codec([_Sent]).decode({**written, **wrong}, "row")


class _Single(TypedDict):
    left: Literal["a", "b"]


class _Pair(_Single, total=False):
    right: int


class _Noting(TypedDict):
    left: str
    note: NotRequired[str]


def test_a_field_of_few_words_and_one_with_known_members_are_checked() -> None:
    is_letter = checker(Literal["a", "b"])
    assert is_letter("a")
    assert not is_letter("c")
    assert not is_letter([])
    is_pair = checker(_Pair)
    assert is_pair({"left": "a", "right": 1})
    assert is_pair({"left": "a"})
    for wrong in ({"left": "c"}, {"right": 1}, {"left": "a", "right": "1"}, {"left": "a", "other": 1}, ["left"]):
        assert not is_pair(wrong)
    is_noting = checker(_Noting)
    assert is_noting({"left": "a"})
    assert not is_noting({"note": "a"})


def test_only_dataclasses_with_plain_fields_make_a_codec() -> None:
    class Plain:
        pass

    @dataclass
    class Odd:
        value: set[int]

    for cls in (Plain, Odd):
        with pytest.raises(TypeError):
            Codec([cls])


# --- documents that are not states of a world -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "code", "param"),
    [
        (b"", "invalid_request", None),
        (b"{", "invalid_request", None),
        (b"[]", "invalid_request", None),
        (b"\xff", "invalid_request", None),
        (b"[" * 100_000, "invalid_request", None),
        (b"{}", "invalid_parameter", "format"),
        (b'{"format": "rampsim.state"}', "invalid_parameter", "version"),
        (b'{"format": "rampsim.state", "version": true}', "invalid_parameter", "version"),
        (b'{"format": "rampsim.state", "version": 2}', "invalid_parameter", "version"),
        (b'{"format": "rampsim.state", "version": 1}', "invalid_parameter", "clock"),
    ],
)
def test_a_file_that_is_not_a_document_is_refused(morning: Morning, raw: bytes, code: str, param: str | None) -> None:
    assert refusal(morning, raw) == (400, code, param)


ADVICE = {
    "kind": "x",
    "severity": "info",
    "message": "m",
    "what_to_do": "w",
    "requests": [],
    "at": "2026-01-05T08:00:00.000Z",
}
FAULT = {"id": "flt_1", "match": {}, "drop": True, "times_left": None, "hits": 0, "scenario": None}
WEBHOOK_FAULT = {"id": "flt_1", "deliver": {"drop": True}, "times_left": None, "hits": 0, "scenario": None}
CONTROLLED = {
    "id": "ctl_000001",
    "at_ms": 0,
    "ended_ms": 0,
    "after": ["", 0],
    "name": "perform",
    "method": "POST",
    "path": "/actions/x",
    "environment": "sandbox",
    "body": {},
    "status": 200,
    "answer": None,
}


def test_a_document_of_a_version_with_fewer_settings_gets_their_defaults(morning: Morning) -> None:
    def forget(document: Any) -> None:
        for settings in (document["blueprint"]["settings"], document["tables"]["settings"][0][1]):
            del settings["rate_limit_clock"]

    state = read_document(morning.simulator, edited(morning, forget))
    assert state.blueprint.settings["rate_limit_clock"] == "simulated"
    assert settings_of(morning.simulator.from_state(state, "old"))["rate_limit_clock"] == "simulated"


HELD = {
    "$": "Held", "remaining_ms": 5, "environment": "sandbox", "networks": {"$": "tuple", "items": ["CELO"]},
    "of_timeline": False, "target": "txn_1", "scenario": "autopilot", "part": "rules[0].do[0]", "place": "x",
    "event": "", "action": None, "acts_on": None, "parameters": {}, "hand_to": None,
}  # fmt: skip
"""A held step that does nothing."""
SLOWED = HELD | {"action": "complete", "slowed_by": ["celo", "moon"]}


def step_of(document: Any) -> Any:
    """Return the data of the first planned step of a scenario."""
    timers = document["tables"]["timers"]
    return next(row["arguments"] for _, row in timers if row["kind"] == "scenario.step")


WRONG_SCENARIOS: tuple[dict[str, Any], ...] = (
    {"world": {"moons": []}},
    {"timeline": [{"at": "1s", "action": "emit", "environment": "moon"}]},
)
WRONG_STEPS: tuple[dict[str, Any], ...] = (
    {"parameters": []},
    {"parameters": {"a": 1}, "environment": "moon"},
    {"action": None},
    {"action": 5},
    {"hand_to": "autopilot"},
    {"unknown": 1},
    {"part": None},
)
EDITS: list[tuple[Any, str | None]] = [
    (lambda d: d.update(seed="1"), "seed"),
    (lambda d: d.update(seed=-1), "seed"),
    (lambda d: d.update(world=""), "world"),
    (lambda d: d.update(keys_of=None), "keys_of"),
    (lambda d: d.update(started_at="yesterday"), "started_at"),
    (lambda d: d.update(requests={}), "requests"),
    (lambda d: d.update(tables=[]), "tables"),
    (lambda d: d.update(blueprint=1), "blueprint"),
    (lambda d: d["blueprint"].update(scenarios=[1]), "blueprint.scenarios"),
    (lambda d: d["blueprint"].update(scenarios=["nowhere"]), "tables.scenario.active"),
    (lambda d: d["blueprint"]["settings"].update(unheard_of=1), "blueprint.settings"),
    (lambda d: d["blueprint"]["settings"].update(strict=1), "blueprint.settings.strict"),
    (lambda d: d["clock"].update(mode="fast"), "clock.mode"),
    (lambda d: d["clock"].update(mode=["real"]), "clock.mode"),
    (lambda d: d["clock"].update(now="9999-06-01T00:00:00Z"), "clock.now"),
    (lambda d: d["clock"].update(rate="0"), "clock.rate"),
    (lambda d: d["clock"].update(rate="nan"), "clock.rate"),
    (lambda d: d["tables"].update(timers={}), "tables.timers"),
    (lambda d: d["tables"].update(timers=[["a"]]), "tables.timers[0]"),
    (lambda d: d["tables"].update(timers=[["a", 1]]), "tables.timers.a"),
    (lambda d: d["tables"]["timers"].append(d["tables"]["timers"][0]), None),
    (lambda d: d["tables"]["timers"][0][1].update(kind="no.such"), None),
    (lambda d: d["tables"]["timers"][0].__setitem__(0, "other"), "tables.timers.other"),
    (lambda d: step_of(d).update(slowed_by=["celo"], factor=0), None),
    (lambda d: step_of(d).update(slowed_by=["celo", "moon"], factor=2), None),
    (lambda d: d["tables"].update(settings=[]), "tables.settings"),
    (lambda d: d["tables"].update(profile=[]), None),
    (lambda d: d["tables"].update({"sandbox:api_keys": []}), "tables.sandbox:api_keys"),
    (lambda d: d["tables"]["index"].append(["txn_x", "sandbox:transactions"]), "tables.index.txn_x"),
    (lambda d: d["tables"]["profile"][0][1].update(kyc_level=77), None),
    (lambda d: d["tables"]["profile"][0][1].update(default_currency="XXX"), None),
    (lambda d: d["tables"]["sandbox:transactions"][0][1].update(status="lost"), None),
    (lambda d: d["tables"]["sandbox:transactions"][0][1].update(owner="someone"), None),
    (lambda d: d["tables"]["sandbox:transactions"][0][1].update(type="gift"), None),
    (lambda d: d["tables"]["sandbox:transactions"][0][1].update(amount=5), None),
    (lambda d: d["tables"]["sandbox:transactions"][0][1].update(created_at_ms=-5), None),
    (lambda d: d["tables"]["events"][0][1].update(raw={"$": "text", "value": "{"}), None),
    (lambda d: d["tables"]["ledger.touched"][0].__setitem__(1, 10**17), None),
    (
        lambda d: d["tables"]["ledger.balances"][0].__setitem__(1, {"$": "decimal", "value": "1"}),
        "tables.ledger.balances",
    ),
    (lambda d: d["tables"]["scenario.active"][0].__setitem__(1, ["nowhere"]), "tables.scenario.active"),
    (lambda d: d["tables"]["uploaded_scenarios"][0].__setitem__(1, {}), None),
    (lambda d: d["clock"].update(rate="1e-150"), "clock.rate"),
    *[
        (
            lambda d, table=table, row=row: d["tables"].update({table: [[row.get("id", "1"), row]]}),
            f"tables.{table}.{at}",
        )
        for table, row, at in (
            ("advice", {"id": "1", **ADVICE, "requests": "req_1"}, "1.requests"),
            ("advice", {"id": "1", **ADVICE, "at": "soon"}, "1.at"),
            ("advice", {"id": "1", **ADVICE, "severity": 5}, "1.severity"),
            ("advice", {"kind": "x"}, "1.id"),
            ("faults", FAULT | {"hits": "1"}, "flt_1.hits"),
            ("faults", FAULT | {"times_left": -1}, "flt_1.times_left"),
            ("faults", FAULT | {"match": 5}, "flt_1.match"),
            ("faults", FAULT | {"respond": {"status": 9999, "code": "a"}}, "flt_1.respond.status"),
            ("faults", FAULT | {"delay": "soon"}, "flt_1.delay"),
            ("faults", FAULT | {"probability": "often"}, "flt_1.probability"),
            ("faults", WEBHOOK_FAULT | {"webhook": {"event": "quote.vanished"}}, "flt_1.webhook.event"),
            ("settings", {"strict": True}, "1"),
            ("uploaded_scenarios", {"document": [], "source": "", "lines": {}}, "1.document"),
        )
    ],
    (lambda d: d["tables"]["idempotency"][0][1].update(request_id="a\nb"), None),
    (
        lambda d: d["tables"]["sandbox:beneficiaries"][0][1]["details"].update(name={"$": "text", "value": "bytes"}),
        None,
    ),
    (
        lambda d: d["tables"]["sandbox:beneficiaries"][0][1]["details"].update(n={"$": "int", "value": "9" * 30}),
        None,
    ),
    (lambda d: d["tables"]["coverage"][0][1].update(hits={"$": "int", "value": "9" * 30}), None),
    (lambda d: d["tables"]["sandbox:tokens"][0].__setitem__(0, "tok_other"), "tables.sandbox:tokens.tok_other.text"),
    (lambda d: d["tables"]["index"].pop(), None),
    (lambda d: d["tables"].update({"scenario.held": [["1", HELD]]}), "tables.scenario.held.1"),
    (lambda d: d["tables"].update({"scenario.held": [["1", SLOWED]]}), "tables.scenario.held.1.slowed_by.1"),
    *[
        (lambda d, part=part: d["tables"]["uploaded_scenarios"][0][1]["document"].update(part), None)
        for part in WRONG_SCENARIOS
    ],
    *[(lambda d, change=change: first_step(d)["arguments"].update(change), None) for change in WRONG_STEPS],
]


def first_step(document: Any) -> Any:
    """The first timer of a scenario's step."""
    return next(timer for _, timer in document["tables"]["timers"] if timer["kind"].startswith("scenario."))


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_a_document_that_is_wrong_somewhere_is_refused_and_says_where(morning: Morning, number: int) -> None:
    change, param = EDITS[number]
    status, code, named = refusal(morning, edited(morning, change))
    assert (status, code) == (400, "invalid_parameter")
    assert named is not None
    if param is not None:
        assert named == param


JOURNAL_EDITS: list[tuple[Any, str]] = [
    (lambda d: d["requests"].append(1), "requests"),
    (lambda d: d["requests"][0].update(environment="moon"), "requests"),
    (lambda d: d["requests"][0].update(id="req_1\r\nX-Other: 1"), "requests"),
    (
        lambda d: d["requests"][0].update(
            headers={"$": "tuple", "items": [{"$": "tuple", "items": ["accept", "a\nb"]}]}
        ),
        "requests",
    ),
    *[
        (lambda d, table=table, row=row: d["tables"].setdefault(table, []).append([row.get("id", "x"), row]), table)
        for table, row in (
            ("scenario.log", {"scenario": "x", "what": "done"}),
            ("scenario.log", {"scenario": "x", "what": "gone", "entry": {}}),
            ("scenario.log", {"scenario": "x", "what": "done", "entry": {"at": 5}}),
            ("control.calls", CONTROLLED | {"id": "ctl_900001", "at_ms": 10**17}),
            ("control.calls", CONTROLLED | {"id": "ctl_900001", "after": [1, 2]}),
            ("control.calls", CONTROLLED | {"id": "ctl_900001", "body": "text"}),
            ("control.calls", CONTROLLED | {"id": "ctl_900001", "path": None}),
        )
    ],
]


@pytest.mark.parametrize("number", range(len(JOURNAL_EDITS)))
def test_document_with_an_unreadable_journal_row_drops_it(morning: Morning, number: int) -> None:
    change, journal = JOURNAL_EDITS[number]
    raw = edited(morning, change)
    state, rows = read_document(morning.simulator, raw), json.loads(raw)
    if journal == "requests":
        assert (len(state.requests), state.requests_dropped) == (len(rows["requests"]) - 1, 1)
    else:
        assert len(state.tables[journal]) == len(rows["tables"][journal]) - 1
        assert state.tables["sequences"][f"{journal}.dropped"] == 1
    assert state.tables["index"] == morning.state.tables["index"]


def test_document_with_an_unreadable_delivery_shows_the_count() -> None:
    inside = Inside()
    busy_morning(inside, "http://127.0.0.1:9/failing", "http://127.0.0.1:9/good")
    document, before = inside.control("GET", "/state").body, inside.control("GET", "/deliveries").body["data"]
    name = next(name for name in document["tables"] if base_name(name) == "deliveries")
    document["tables"][name][0][1]["response_headers"] = {"$": "tuple", "items": [["x-odd", "a\nb"]]}
    assert inside.control("PUT", "/state", document).status == 200
    found = inside.control("GET", "/deliveries").body
    assert (len(found["data"]), found["dropped"], found["truncated"]) == (len(before) - 1, 1, True)
    again = inside.control("GET", "/state").body
    assert inside.control("PUT", "/state", again).status == 200
    assert inside.control("GET", "/deliveries").body["dropped"] == 1
    inside.close()


def test_timers_that_cannot_fire_are_refused(morning: Morning) -> None:
    def spoil(document: Any) -> None:
        for _, timer in document["tables"]["timers"]:
            timer["arguments"] = {}

    assert refusal(morning, edited(morning, spoil))[:2] == (400, "invalid_parameter")


def test_rows_on_which_a_step_breaks_are_refused(morning: Morning) -> None:
    def forget_holds(document: Any) -> None:
        tables = document["tables"]
        tables["timers"] = [row for row in tables["timers"] if row[1]["arguments"].get("action") == "complete"]
        tables["ledger.holds"] = []

    status, code, param = refusal(morning, edited(morning, forget_holds))
    assert (status, code) == (400, "invalid_parameter")
    assert param is not None
    assert param.startswith("tables.timers.")


def test_a_table_from_elsewhere_is_kept(morning: Morning) -> None:
    raw = edited(morning, lambda d: d["tables"].update(tomorrow=[["a", {"b": 1}]]))
    assert read_document(morning.simulator, raw).tables["tomorrow"] == {"a": {"b": 1}}


def test_a_slow_clock_goes_into_a_document_and_back() -> None:
    inside = Inside()
    assert inside.control("PUT", "/clock", {"rate": 1e-150}).refusal == (400, "invalid_parameter", "rate")
    assert inside.control("PUT", "/clock", {"rate": 0.001}).status == 200
    assert inside.control("PUT", "/state", inside.control("GET", "/state").body).status == 200
    inside.close()


def test_a_document_is_bounded(morning: Morning) -> None:
    assert refusal(morning, b" " * (MAX_BYTES + 1)) == (400, "invalid_request", None)


def test_a_document_holds_every_row_in_its_order(morning: Morning) -> None:
    document, tables = json.loads(morning.raw), morning.state.tables
    written = {name: [key for key, _ in rows] for name, rows in document["tables"].items()}
    assert written == {name: list(rows) for name, rows in tables.items()}
    assert [row["id"] for row in document["requests"]] == [row.id for row in morning.state.requests]


def test_a_document_may_have_been_formatted_by_another_tool(morning: Morning) -> None:
    raw = json.dumps(json.loads(morning.raw), indent=2, sort_keys=True).encode()
    encode = contents_of(morning.simulator.tables, ENVIRONMENTS).codec.encode
    read = read_document(morning.simulator, raw).tables
    assert {name: {key: encode(row) for key, row in rows.items()} for name, rows in read.items()} == {
        name: {key: encode(row) for key, row in rows.items()} for name, rows in morning.state.tables.items()
    }


def test_a_read_world_is_compressed_and_written_unchanged(morning: Morning) -> None:
    state = read_document(morning.simulator, morning.raw)
    texts = [text for rows in state.tables.values() for row in rows.values() for text in texts_of(row)]
    assert len(texts) > len(state.tables["events"])
    assert not any(text.may_be_packed for text in texts)
    assert json.loads(document_text(morning.simulator, state))["tables"] == json.loads(morning.raw)["tables"]
