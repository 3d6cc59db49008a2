"""Facts: reading reference data from a service, and worlds with this data in place of the shipped data."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.engine.records.codec import StateError
from simulator.engine.server.config import Config
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.observations import read_observed
from simulator.evidence.corpus import Exchange, Pseudonyms, Traffic, sanitise
from simulator.evidence.facts import recorded_environment, recorded_facts
from simulator.evidence.local import LocalWorld, Simulators
from simulator.service import TOOLING

PROBING = TOOLING.probing()

pytestmark = pytest.mark.xdist_group("evidence")


@pytest.fixture(scope="module")
def simulators() -> Iterator[Simulators]:
    made = Simulators()
    yield made
    made.close()


def with_facts(facts: JsonObject) -> Simulators:
    document = {"version": 1, "observed_at": "2026-11-23", "facts": facts}
    return Simulators(
        Config(observed=(read_observed(document, TOOLING.alternatives(), "test", PROBING.malformed_fact),))
    )


def facts_of(world: LocalWorld) -> JsonObject:
    def read(path: str) -> Any:
        reply = world.call("GET", path, None, {})
        return reply.body if reply.status < 400 else None

    return dict(PROBING.read_facts(read, lambda path, body: world.call("POST", path, body, {}).body, {}))


def other_facts(simulators: Simulators) -> JsonObject:
    world = LocalWorld(simulators, {})
    for change in PROBING.other_data:
        change(world.read, world.act)
    world.act("set_rate", "", {"asset": "XLM", "fiat_currency": "ZAR", "rate": "4.4"})
    return facts_of(world)


def test_facts_of_a_shipped_world_change_nothing(simulators: Simulators) -> None:
    facts = facts_of(LocalWorld(simulators, {}))
    assert {"fee_products", "limits", "assets", "networks", "rates", "spread", "currencies"} <= facts.keys()
    assert PROBING.fit_facts(facts) == ({}, [])


def test_known_facts_are_not_read_again(simulators: Simulators) -> None:
    world = LocalWorld(simulators, {})
    facts = facts_of(world)
    paths: list[str] = []

    def read(path: str) -> Any:
        paths.append(path)
        return world.read(path)

    known = {**facts, "rates": facts["rates"][2:]}
    del known["limits"]
    again: JsonObject = dict(PROBING.read_facts(read, lambda *_: pytest.fail("a quote was created"), known))
    assert len(paths) == 3
    assert again["limits"] == facts["limits"]
    assert sorted(map(str, again["rates"])) == sorted(map(str, facts["rates"]))


def test_facts_without_a_clear_response_are_left_out(simulators: Simulators) -> None:
    world = LocalWorld(simulators, {})
    facts = dict(PROBING.read_facts(world.read, lambda *_: None, {}))
    assert "rates" in facts
    assert "currencies" not in facts
    partial = {"/profile/limits": {"currency": None, "limits": {"daily": {"max": None}}}}
    assert dict(PROBING.read_facts(partial.get, lambda *_: None, {})) == {}


def test_world_with_facts_has_the_reference_data_of_the_service(simulators: Simulators) -> None:
    facts = other_facts(simulators)
    _, unfit = PROBING.fit_facts(facts)
    assert unfit == []
    assert facts_of(LocalWorld(simulators, {})) != facts
    other = with_facts(facts)
    try:
        world = LocalWorld(other, {})
        assert facts_of(world) == facts
        quote = {"type": "onramp", "network": "stellar", "asset": "XLM", "fiat_currency": "ZAR", "amount": "500",
                 "amount_currency": "ZAR", "method": "bank_transfer"}  # fmt: skip
        assert world.call("POST", "/quotes", quote, {}).body["rate"] == "4.4"
        document = world.control("GET", "/state", None).body
        assert document["blueprint"]["observed"][0]["facts"] == facts
        assert world.control("POST", "/reset", {}).status == 200
        assert facts_of(world) == facts
    finally:
        other.close()


def test_document_has_no_facts_without_an_observed_file(simulators: Simulators) -> None:
    assert "observed" not in LocalWorld(simulators, {}).control("GET", "/state", None).body["blueprint"]


@pytest.mark.parametrize(
    ("part", "change", "line"),
    [
        ("rates", lambda rows: rows[0].update(rate="many"), "rates: onramp:XLM:KES is 'many'"),
        ("rates", lambda rows: rows[0].update(fiat_currency="GHS"), "no pair onramp:XLM:GHS"),
        ("assets", lambda rows: rows[0].update(decimals=9), "decimals of"),
        ("assets", lambda rows: rows.pop(), "does not list"),
        ("networks", lambda rows: rows[0].update(network="solana"), "solana"),
        ("networks", lambda rows: rows[0]["network_fee"].update(amount="3"), "the fee of stellar is 3 XLM"),
        ("currencies", lambda rows: rows["KES"].update(methods=["mobile_money"]), "KES has mobile_money"),
        ("limits", lambda row: row.update(currency="GHS"), "limits: the currency is 'GHS'"),
        ("limits", lambda row: row.update(daily="1.001"), "limits: daily"),
        ("fee_products", lambda rows: rows[0].update(percentage="lots"), "fee_onramp_stellar_kes"),
        ("networks", lambda rows: rows[0].update(status="down"), "the status of stellar is down; in a new world"),
        ("networks", lambda rows: rows[0].update(avg_confirmation_seconds=9), "_seconds of stellar is 9"),
        ("networks", lambda rows: rows[0].update(colour="red"), "networks: the simulator has no field colour"),
        ("fee_products", lambda rows: rows[0].update(tax="1"), "fee_products: the simulator has no field tax"),
        ("limits", lambda row: row.update(yearly="7"), "limits: the simulator has no limit yearly"),
        ("spread", lambda row: row.update({"USDC/KES": "99"}), "spread: USDC/KES is 99; the rates result in"),
        ("spread", lambda row: row.update({"USDC/GHS": "1"}), "no rates of this pair"),
        ("precision", lambda row: row.update({"XLM STELLAR": 2}), "precision: XLM STELLAR is 2; in assets it is 7"),
        ("precision", lambda row: row.update({"XLM CELO": 2}), "precision: XLM CELO is not in the simulator"),
        ("fee_products", lambda rows: [rows.remove(row) for row in rows[:] if row["product"] == "deposit"], "deposit"),
    ],
)  # fmt: skip
def test_facts_that_do_not_fit_are_listed(simulators: Simulators, part: str, change: Any, line: str) -> None:
    facts = copy.deepcopy(facts_of(LocalWorld(simulators, {})))
    change(facts[part])
    _, unfit = PROBING.fit_facts(facts)
    assert line in "\n".join(unfit)
    with_facts(facts).close()


def test_confirmations_of_a_degraded_network_are_expected_to_be_slow(simulators: Simulators) -> None:
    world = LocalWorld(simulators, {})
    world.act("set_network", "", {"network": "stellar", "status": "degraded"})
    _, unfit = PROBING.fit_facts(facts_of(world))
    assert unfit == ["networks: the status of stellar is degraded; in a new world it is operational"]


@pytest.mark.parametrize(
    ("facts", "place", "why"),
    [
        ({"rats": []}, "facts.rats", "did you mean `rates`"),
        ({"rates": "nonsense"}, "facts.rates", "not a list"),
        ({"limits": []}, "facts.limits", "not a mapping"),
        ({"fee_products": [{}, "x"]}, r"facts.fee_products[1]", "not a mapping"),
        ({"unfit": "x"}, "facts.unfit", "not a list"),
    ],
)
def test_malformed_facts_are_refused_with_the_place(facts: JsonObject, place: str, why: str) -> None:
    document = {"version": 1, "observed_at": "2026-11-23", "facts": facts}
    with pytest.raises(StateError, match=why) as refused:
        read_observed(document, TOOLING.alternatives(), "test", PROBING.malformed_fact)
    assert refused.value.path == place


def test_fee_products_of_the_service_are_added_and_others_end(simulators: Simulators) -> None:
    facts = copy.deepcopy(facts_of(LocalWorld(simulators, {})))
    rows = facts["fee_products"]
    rows[0]["id"] = "fee_other"
    rows.append({**rows[0], "id": "fee_new", "asset": "XLM", "percentage": "3.00"})
    gone = rows.pop(3)["id"]
    fitted, unfit = PROBING.fit_facts(facts)
    assert unfit == []
    assert set(fitted["fee_products"]) == {"fee_new", gone}
    other = with_facts(facts)
    try:
        world = LocalWorld(other, {})
        assert world.call("GET", "/fees/fee_new", None, {}).body["percentage"] == "3.00"
        assert world.call("GET", f"/fees/{gone}", None, {}).body["status"] == "inactive"
        document = world.control("GET", "/state", None).body
        assert world.control("PUT", "/state", document).status == 200
    finally:
        other.close()


JUNK: list[Any] = [None, True, 0, -1, "x", "", [], {}, [1], {"a": 1}, "1e400", "NaN", float("nan"), "9" * 50, ["KES"]]


def mutated(value: Any, chance: random.Random) -> Any:
    """Return JSON in which something is junk or missing."""
    if chance.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return copy.deepcopy(chance.choice(JUNK))
    value = copy.copy(value)
    key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
    if chance.random() < 0.15:
        del value[key]
    else:
        value[key] = mutated(value[key], chance)
    return value


@pytest.mark.parametrize("seed", range(10))
def test_junk_in_facts_is_never_an_error(simulators: Simulators, seed: int) -> None:
    """A file may be edited by hand, and a target may return anything."""
    chance = random.Random(seed)
    world = LocalWorld(simulators, {})
    facts = facts_of(world)
    for _ in range(100):
        broken = mutated(mutated(facts, chance), chance)
        if isinstance(broken, dict):
            PROBING.fit_facts(broken)
    strange = dict(
        PROBING.read_facts(
            lambda path: mutated(world.read(path), chance) if chance.random() < 0.3 else world.read(path),
            lambda path, body: mutated({"id": "qt_1"}, chance),
            {},
        )
    )
    fitted = with_facts(strange)
    LocalWorld(fitted, {})
    fitted.close()


READS = (
    "/fees?status=active,inactive&limit=60&page=1", "/fees?status=active,inactive&limit=60&page=2", "/profile/limits",
    "/currencies", "/network/stats", "/rates?type=onramp&network=celo&asset=USDC&fiat_currency=KES",
    "/rates?type=offramp&network=celo&asset=USDC&fiat_currency=KES",
)  # fmt: skip


def traffic_of(world: LocalWorld, *paths: str, hide_amounts: bool = False) -> list[Exchange]:
    """Return the sanitised recording of these reads."""
    pseudonyms = Pseudonyms(b"k" * 32, hide_amounts=hide_amounts)
    found = []
    for number, path in enumerate(paths, 1):
        reply = world.call("GET", path, None, {})
        place, _, query = path.partition("?")
        raw = json.dumps(reply.body).encode()
        seen = Traffic(n=number, at_ms=number, method="GET", path=place, query=query, status=200, response=raw)
        found.append(sanitise(seen, pseudonyms))
    return found


def test_recorded_facts_are_the_facts_of_the_service(simulators: Simulators) -> None:
    world = LocalWorld(simulators, {})
    for change in PROBING.other_data:
        change(world.read, world.act)
    facts = recorded_facts(traffic_of(world, *READS), PROBING)
    assert "unfit" not in facts
    seen, read = PROBING.fit_facts(facts)[0], PROBING.fit_facts(facts_of(world))[0]
    assert seen["limits"] == read["limits"]
    for fields in read["fee_products"].values():
        del fields["name"]
    assert seen["fee_products"] == read["fee_products"]
    assert read["rates"].items() >= seen["rates"].items()
    assert {"onramp:USDC:KES", "offramp:USDC:KES"} <= seen["rates"].keys()


def test_recorded_facts_of_a_shipped_world_change_nothing(simulators: Simulators) -> None:
    lines: list[str] = []
    facts = recorded_facts(traffic_of(LocalWorld(simulators, {}), *READS), PROBING, lines.append)
    assert {"fee_products", "limits", "assets", "precision", "networks", "rates", "spread"} == facts.keys()
    assert lines == []
    assert PROBING.fit_facts(facts) == ({}, [])


def test_recorded_facts_have_no_list_that_is_incomplete(simulators: Simulators) -> None:
    world = LocalWorld(simulators, {})
    for paths in (READS[:1], READS[1:2], ("/fees?product=onramp&limit=100",), ("/currencies?limit=2",)):
        lines: list[str] = []
        assert recorded_facts(traffic_of(world, *paths), PROBING, lines.append) == {}
        path = paths[0].partition("?")[0]
        assert lines == [f"GET {path}: only part of the list was recorded, so it is not a fact"]


def test_recorded_facts_have_no_pseudonyms(simulators: Simulators) -> None:
    assert recorded_facts(traffic_of(LocalWorld(simulators, {}), *READS, hide_amounts=True), PROBING) == {}
    names = json.dumps(recorded_facts(traffic_of(LocalWorld(simulators, {}), *READS), PROBING)).split('"')
    assert not [one for one in names if one.istitle() and len(one) > 1]
    made = Traffic(n=1, at_ms=1, method="POST", path="/quotes", status=201, response=b'{"id": "quo_1234567890"}')
    assert recorded_facts([sanitise(made, Pseudonyms(b"k"))], PROBING) == {}
    made = Traffic(n=1, at_ms=1, method="POST", path="/quotes", status=201, response=b'{"id": "qt_1234567890"}')
    assert recorded_facts([sanitise(made, Pseudonyms(b"k"))], PROBING) == {"id_prefixes": {"/quotes": "qt_"}}


def test_recorded_id_prefixes_have_path_templates() -> None:
    pseudonyms = Pseudonyms(b"k")
    paths = ("/quotes/qt_1234567890/confirm", "/quotes/qt_0987654321/confirm", "/unknown/txn_1234567890")
    made = [
        Traffic(n=at, at_ms=at, method="POST", path=path, status=201, response=b'{"id": "txn_1234567890"}')
        for at, path in enumerate(paths, 1)
    ]
    facts = recorded_facts([sanitise(one, pseudonyms) for one in made], PROBING)
    assert facts == {"id_prefixes": {"/quotes/{id}/confirm": "txn_"}}


def test_recorded_rate_of_one_direction_has_no_spread(simulators: Simulators) -> None:
    assert recorded_facts(traffic_of(LocalWorld(simulators, {}), READS[-1]), PROBING).keys() == {"rates"}


@pytest.mark.parametrize(
    ("seen", "environment"),
    [
        ([("call", 200, "test")], "sandbox"),
        ([("call", 200, "live")], "production"),
        ([("call", 401, "live")], None),
        ([("webhook", 200, "live")], "production"),
        ([("webhook", 200, "test"), ("call", 401, "live")], "sandbox"),
        ([("call", 200, "live"), ("webhook", 200, "test")], None),
        ([], None),
    ],
)
def test_recorded_environment(seen: list[tuple[Any, int, str]], environment: str | None) -> None:
    pseudonyms = Pseudonyms(b"k")
    exchanges = []
    for n, (direction, status, kind) in enumerate(seen, 1):
        event = {"type": "webhook.test", "livemode": kind == "live"}
        keys = {"public_key": f"pk_{kind}_abcdefgh", "secret_key": f"sk_{kind}_abcdefgh"}
        body = json.dumps(event if direction == "webhook" else keys).encode()
        made = Traffic(
            n=n, at_ms=n, direction=direction, method="POST", path="/auth/token", body=body, status=status
        )  # fmt: skip
        exchanges.append(sanitise(made, pseudonyms))
    assert recorded_environment(exchanges) == environment


STRANGE = (
    "[]", "{}", '{"data": 1}', '{"limits": {"daily": 1}, "currency": {}}', '{"networks": {"a": 1}}',
    '{"data": [1, {"asset": {}}], "pagination": {"page": 1, "total_pages": "1"}}',
)  # fmt: skip


@pytest.mark.parametrize("body", STRANGE)
def test_recorded_facts_ignore_strange_responses(body: str) -> None:
    for path in READS:
        place = path.partition("?")[0]
        seen = Traffic(n=1, at_ms=1, method="GET", path=place, status=200, response=body.encode())
        assert recorded_facts([sanitise(seen, Pseudonyms(b"k"))], PROBING) == {}
