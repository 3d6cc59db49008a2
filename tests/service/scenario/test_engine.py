"""Playing scenarios: rules match events, steps are planned and executed, and all state is part of the world."""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Any
from weakref import ref

import pytest

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.records.origins import ORIGINS, RequestOrigin
from simulator.engine.records.records import find, present
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.play.catalogue import UnknownScenario
from simulator.engine.scenario.play.engine import Engine
from simulator.engine.scenario.play.rules import bound_to
from simulator.kernel.clock import MINUTE_MS, SECOND_MS
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.calls import advance
from tests.unit.engine.scenario.playing import ACTIONS, LOADER, activate, begin, engine_of, world_of
from tests.unit.engine.scenario.shop import BALANCES, OUTAGES, RATES, network_status

PAYS = """
name: pays
rules:
  - on: order.awaiting_payment
    do:
      - {after: 15s, action: payment_arrives}
      - {after: 30s, action: complete}
"""
FAILS = """
name: fails
rules:
  - on: order.processing
    do:
      - {after: 5s, action: fail, failure_code: delivery_failed}
"""


def after(world: World, seconds: float) -> None:
    advance(world, world.now_ms + round(seconds * SECOND_MS))


def status(world: World, resource: str) -> str:
    return present(find(world, resource)).status


def happened(world: World) -> list[tuple[float, str]]:
    return [((event.at_ms - world.started_at_ms) / SECOND_MS, event.type) for event in world.journal.events()]


def running(*texts: str, seed: int = 1) -> tuple[Engine, World]:
    engine = engine_of(*texts)
    world = world_of(engine, seed)
    activate(world, engine, *engine.catalogue.names(world))
    return engine, world


def pending(engine: Engine, world: World, name: str) -> list[str]:
    return [step["action"] for step in engine.progress(world, name)["pending"]]


def test_steps_count_from_the_step_before_and_are_done_at_their_time() -> None:
    engine, world = running(PAYS)
    purchase = begin(world, "purchase")
    assert pending(engine, world, "pays") == ["payment_arrives", "complete"]
    after(world, 60)
    assert happened(world) == [
        (0, "order.created"),
        (0, "order.awaiting_payment"),
        (15, "order.processing"),
        (45, "order.completed"),
    ]
    progress = engine.progress(world, "pays")
    assert [rule["place"] for rule in progress["rules_fired"]] == ["shop.yaml:4"]
    assert [step["part"] for step in progress["steps_done"]] == ["rules[0].do[0]", "rules[0].do[1]"]
    assert (progress["skipped"], progress["pending"]) == ([], [])
    assert {step.cause for step in world.journal.history(purchase)[1:]} == {Cause("rule", "pays", "shop.yaml:4")}


def test_with_no_active_scenario_nothing_moves() -> None:
    engine = engine_of(PAYS)
    world = world_of(engine)
    purchase = begin(world, "purchase")
    after(world, 600)
    assert status(world, purchase) == "awaiting_payment"


def test_last_active_scenario_takes_the_event() -> None:
    engine, world = running(PAYS, "name: never\nrules: [{on: order.awaiting_payment, do: []}]")
    purchase = begin(world, "purchase")
    after(world, 60)
    assert status(world, purchase) == "awaiting_payment"
    assert len(engine.progress(world, "never")["rules_fired"]) == 1
    activate(world, engine, "never", "pays")
    purchase = begin(world, "purchase")
    after(world, 60)
    assert status(world, purchase) == "completed"


def test_the_first_rule_that_matches_takes_the_event() -> None:
    _, world = running(
        "name: two\nrules:\n"
        "  - {on: order.awaiting_payment, where: {network: south}, do: []}\n"
        "  - {on: order.awaiting_payment, do: [{action: payment_arrives}]}\n"
        "  - {on: order.awaiting_payment, do: [{action: payment_declined}]}\n"
    )
    north, south = begin(world, "purchase"), begin(world, "purchase", {"network": "south"})
    after(world, 0)
    assert (status(world, north), status(world, south)) == ("processing", "awaiting_payment")


def test_a_step_that_is_no_longer_legal_is_skipped_and_recorded() -> None:
    engine, world = running(PAYS)
    purchase = begin(world, "purchase")
    with world.change(Cause("action", "payment_declined")):
        ACTIONS.perform(world, "payment_declined", purchase, {}, "practice", Cause("action", "payment_declined"))
    after(world, 60)
    assert status(world, purchase) == "failed"
    skipped = engine.progress(world, "pays")["skipped"]
    assert [step["action"] for step in skipped] == ["payment_arrives", "complete"]
    assert "not legal" in skipped[0]["reason"]


def test_refused_action_leaves_no_trace() -> None:
    engine, world = running("name: odd\nrules: [{on: created, do: [{action: move_rates, percent: 5}]}]")
    begin(world, "preorder")
    after(world, 0)
    assert len(world.store[RATES]) == 0
    assert "too much" in engine.progress(world, "odd")["skipped"][0]["reason"]


def test_times_counts_per_rule_and_activation() -> None:
    engine, world = running("name: once\nrules: [{on: created, times: 1, do: [{action: payment_arrives}]}]")
    first, second = begin(world, "preorder"), begin(world, "preorder")
    after(world, 0)
    assert (status(world, first), status(world, second)) == ("processing", "pending")
    activate(world, engine)
    activate(world, engine, "once")
    third = begin(world, "preorder")
    after(world, 0)
    assert status(world, third) == "processing"


def test_counts_continue_while_a_scenario_stays_active() -> None:
    engine, world = running("name: once\nrules: [{on: created, times: 1, do: [{action: payment_arrives}]}]")
    begin(world, "preorder")
    activate(world, engine, "once")
    second = begin(world, "preorder")
    after(world, 0)
    assert status(world, second) == "pending"


def test_rules_see_the_request_the_reader_and_the_offer() -> None:
    _, world = running(
        "name: sees\nrules:\n"
        "  - {on: created, where: {type: reader}, do: []}\n"
        "  - {on: order.processing, where: {reader.details.phone_number: {ends_with: '01'}}, "
        "do: [{action: fail}]}\n"
        "  - {on: order.processing, where: {offer.type: preorder, body.note: hi}, do: [{action: complete}]}\n"
        "  - {on: created, where: {request.payer.phone_number: {ends_with: '02'}}, do: [{action: payment_arrives}]}\n"
    )
    ending_01 = begin(world, "reader", {"details": {"phone_number": "+25401"}})
    ending_02 = begin(world, "reader", {"details": {"phone_number": "+25402"}})
    elsewhere = begin(world, "reader", {"details": {"phone_number": "+25401"}}, environment="open")
    subscription = begin(world, "subscription", body={"recipient": {"reader_id": ending_01}})
    offer = begin(world, "preorder")
    named = begin(world, "dispatch", {"reader_id": ending_01})
    run = begin(world, "dispatch", subscription_id=subscription)
    recipient = begin(world, "dispatch", {"recipient": {"reader_id": ending_01}})
    other = begin(world, "dispatch", {"reader_id": ending_02})
    foreign = begin(world, "dispatch", {"reader_id": elsewhere})
    offered = begin(world, "dispatch", {"offer_id": offer}, body={"note": "hi"})
    preorder = begin(world, "preorder", body={"payer": {"phone_number": "+25402"}})
    after(world, 0)
    assert [status(world, one) for one in (named, run, recipient, other, foreign, offered, preorder)] == [
        "failed",
        "failed",
        "failed",
        "processing",
        "processing",
        "completed",
        "processing",
    ]


def test_a_degraded_network_stretches_the_steps() -> None:
    _, world = running(
        "name: slow\nslowdown: {degraded: 5}\nworld: {networks: [{network: north, status: degraded}]}\n"
        "rules: [{on: created, do: [{after: 10s, action: payment_arrives}]}]"
    )
    slow = begin(world, "preorder", {"network": "NORTH"})
    fast = begin(world, "preorder", {"network": "SOUTH"})
    both = begin(world, "preorder", {"network": 5, "from": {"network": "NORTH"}, "to": {"network": "SOUTH"}})
    after(world, 11)
    assert [status(world, one) for one in (slow, fast, both)] == ["pending", "processing", "pending"]
    after(world, 39)
    assert [status(world, one) for one in (slow, fast, both)] == ["processing", "processing", "processing"]


def test_jitter_and_probability_are_drawn_from_the_seed() -> None:
    text = (
        "name: chance\nrules:\n"
        "  - {on: created, probability: 0.5, do: [{after: {between: [1s, 60s]}, action: payment_arrives}]}\n"
    )

    def story(seed: int) -> list[Any]:
        _, world = running(text, seed=seed)
        for _ in range(20):
            begin(world, "preorder")
        after(world, 61)
        return happened(world)

    assert story(1) == story(1)
    assert story(1) != story(2)
    assert 0 < len(story(1)) < 20
    assert all(1 <= at <= 60 for at, _ in story(1))


def test_the_world_part_is_set_up_on_activation() -> None:
    engine = engine_of(
        "name: laid\nworld:\n  rates: [{asset: INK, currency: COIN, rate: '129.40'}]\n"
        "  balances: [{symbol: INK, network: SOUTH, amount: '250', environment: open}]\n"
    )
    world = world_of(engine)
    activate(world, engine, "laid")
    assert world.store[RATES].get("INK") == "129.40"
    assert world.store[BALANCES].get("INK") == ["250", "open"]


def test_a_world_part_that_is_refused_changes_nothing() -> None:
    engine = engine_of("name: bad\nworld: {balances: [{symbol: NONE, network: X, amount: '1'}]}", PAYS)
    world = world_of(engine)
    with pytest.raises(ControlError) as caught:
        activate(world, engine, "pays", "bad")
    assert (caught.value.status, caught.value.param, engine.active(world)) == (400, "names", [])
    assert caught.value.message.startswith(
        "The scenario bad cannot be activated: shop.yaml:2: world.balances[0].symbol: "
    )


TIMED = """
name: timed
timeline:
  - {at: 10m, action: set_network, network: north, status: down}
  - {at: 25m, action: set_network, network: north, status: operational}
  - {at: 26m, action: complete, target: nothing}
faults:
  - {match: {path: /offers}, times: 2, respond: {status: 503, code: service_unavailable}}
"""


def test_a_timeline_runs_from_activation_and_faults_are_in_force() -> None:
    engine, world = running(TIMED)
    (fault,) = world.store[FAULTS].values()
    assert (fault["scenario"], fault["times_left"], fault["hits"]) == ("timed", 2, 0)
    after(world, 10 * 60)
    assert network_status(world, "practice", "north") == "down"
    after(world, 16 * 60)
    assert network_status(world, "practice", "north") == "operational"
    assert [step["part"] for step in engine.progress(world, "timed")["skipped"]] == ["timeline[2]"]


def test_deactivation_deletes_steps_timeline_and_faults() -> None:
    engine, world = running(PAYS, TIMED)
    purchase = begin(world, "purchase")
    activate(world, engine)
    assert len(world.agenda) == 0
    assert len(world.store[FAULTS]) == 0
    after(world, 60 * 60)
    assert status(world, purchase) == "awaiting_payment"


def test_repeated_name_counts_at_its_last_position() -> None:
    engine = engine_of(PAYS, FAILS)
    world = world_of(engine)
    with world.change(Cause("action", "activate")):
        assert engine.activate(world, ["pays", "fails", "pays"]) == ["fails", "pays"]


def test_unknown_scenarios_are_refused() -> None:
    engine = engine_of(PAYS)
    world = world_of(engine)
    with pytest.raises(UnknownScenario):
        activate(world, engine, "pays", "nobody")
    assert engine.active(world) == []
    for look in (engine.progress, engine.describe, engine.catalogue.file):
        with pytest.raises(KeyError):
            look(world, "nobody")


def test_an_object_chooses_its_scenario_by_its_request() -> None:
    engine, world = running(PAYS, FAILS)
    activate(world, engine, "pays")
    alone = begin(world, "purchase", scenario="fails")
    assert pending(engine, world, "fails") == []
    dispatch = begin(world, "dispatch", scenario="fails")
    unknown = begin(world, "purchase", scenario="gone")
    after(world, 60)
    assert [status(world, one) for one in (alone, dispatch, unknown)] == [
        "awaiting_payment",
        "failed",
        "awaiting_payment",
    ]


def test_children_of_a_bound_object_are_bound_too() -> None:
    _, world = running(FAILS, "name: confirms\nrules: [{on: parcel.detected, do: [{action: parcel_confirms}]}]")
    subscription = begin(world, "subscription", scenario="fails")
    shelf = begin(world, "shelf", scenario="confirms")
    run = begin(world, "dispatch", subscription_id=subscription)
    parcel = begin(world, "parcel", shelf_id=shelf)
    after(world, 60)
    assert (status(world, run), status(world, parcel)) == ("failed", "confirmed")


def test_times_of_a_chosen_scenario_count_for_each_object() -> None:
    _, world = running("name: once\nrules: [{on: created, times: 1, do: [{action: payment_arrives}]}]")
    first, second = begin(world, "preorder", scenario="once"), begin(world, "preorder", scenario="once")
    after(world, 0)
    assert (status(world, first), status(world, second)) == ("processing", "processing")


HANDS = """
name: hands
rules:
  - on: [created, order.created]
    where: {request.reference: {matches: "^simulator:(?P<name>.+)$"}}
    do: [{scenario: "${name}"}]
"""


def test_a_hand_over_puts_the_object_under_the_other_scenario() -> None:
    engine, world = running(PAYS, HANDS, "name: never\nrules: []")
    activate(world, engine, "pays", "hands")
    handed = begin(world, "purchase", body={"reference": "simulator:never"})
    kept = begin(world, "purchase", body={"reference": "mine"})
    gone = begin(world, "purchase", body={"reference": "simulator:nobody"})
    itself = begin(world, "purchase", body={"reference": "simulator:hands"})
    after(world, 60)
    assert [status(world, one) for one in (handed, kept, gone, itself)] == [
        "awaiting_payment",
        "completed",
        "completed",
        "completed",
    ]
    reasons = [step["reason"] for step in engine.progress(world, "hands")["skipped"]]
    assert reasons == ["there is no scenario 'nobody'", "the scenario hands has already handed this object over"]


def test_successor_sees_the_current_event() -> None:
    engine, world = running(HANDS, "name: buys\nrules: [{on: created, do: [{after: 5s, action: payment_arrives}]}]")
    activate(world, engine, "hands")
    preorder = begin(world, "preorder", body={"reference": "simulator:buys"})
    after(world, 5)
    assert status(world, preorder) == "processing"


def test_delayed_hand_over_passes_the_last_event_and_drops_steps() -> None:
    engine, world = running(
        FAILS,
        "name: buys\nrules: [{on: created, do: [{after: 1s, action: payment_arrives}]}]",
        "name: late\nrules:\n"
        "  - on: order.awaiting_payment\n"
        "    do: [{after: 1s, action: payment_arrives}, {scenario: fails}, {after: 60s, action: complete}]\n"
        "  - {on: created, do: [{after: 1s, scenario: buys}]}\n"
        "  - {on: network.status_changed, do: [{after: 1s, scenario: fails}, {action: complete}]}\n",
    )
    activate(world, engine, "late")
    purchase, preorder = begin(world, "purchase"), begin(world, "preorder")
    after(world, 1)
    assert pending(engine, world, "late") == []
    after(world, 5)
    assert (status(world, purchase), status(world, preorder)) == ("failed", "processing")
    ACTIONS.perform(
        world, "set_network", None, {"network": "north", "status": "down"}, "practice", Cause("action", "set_network")
    )
    after(world, 5)
    assert [step["action"] for step in engine.progress(world, "late")["skipped"]] == ["scenario fails", "complete"]


def test_steps_can_use_named_groups_and_targets() -> None:
    _, world = running(
        "name: names\nrules:\n"
        "  - on: order.processing\n"
        "    where: {reference: {matches: '^(?P<network>[a-z]+)/(?P<other>.+)$'}}\n"
        "    do:\n"
        "      - {action: set_network, network: '${network}', status: down}\n"
        "      - {action: payment_arrives, target: '${other}'}\n"
    )
    preorder = begin(world, "preorder")
    begin(world, "dispatch", {"reference": f"north/{preorder}"})
    after(world, 0)
    assert (network_status(world, "practice", "north"), status(world, preorder)) == ("down", "processing")


def test_steps_apply_in_the_environment_of_the_event() -> None:
    engine, world = running(
        "name: there\nrules:\n"
        "  - {on: order.processing, do: [{action: set_balance, symbol: INK, network: NORTH, amount: '1'}]}\n"
    )
    begin(world, "dispatch", environment="open")
    after(world, 0)
    assert world.store[BALANCES].get("INK") == ["1", "open"]
    assert pending(engine, world, "there") == []


ANSWERS = """
name: answers
rules:
  - on: request
    where: {method: POST, path: "/offers/*/confirm", offer.type: preorder, body.payer.phone_number: {ends_with: "0009"}}
    times: 2
    answer: {code: payment_failed}
  - on: request
    where: {body.reference: {matches: "^simulator:(?P<name>.*)$", names_scenario: false}}
    answer: {status: 400, code: invalid_parameter, message: No such scenario., param: reference}
  - {on: request, where: {path: /quiet}, do: []}
  - {on: request, where: {reader.details.phone_number: "+1"}, answer: {code: delivery_failed}}
"""


def test_request_rule_replaces_the_response() -> None:
    engine, world = running(ANSWERS)
    offer = begin(world, "preorder")

    def ask(path: str, body: dict[str, Any]) -> Any:
        with world.change(Cause("request", "x")):
            return engine.answer_for(world, "practice", "POST", path, body)

    body = {"payer": {"phone_number": "+2540009"}}
    answer = ask(f"/offers/{offer}/confirm", body)
    assert (answer.status, answer.code, answer.param, answer.place) == (422, "payment_failed", None, "shop.yaml:4")
    assert "shop.yaml:4" in answer.message
    assert ask("/offers/none/confirm", body) is None
    assert ask(f"/offers/{offer}/confirm/x", body) is None
    assert ask(f"/offers/{offer}/confirm", body) is not None
    assert ask(f"/offers/{offer}/confirm", body) is None
    assert ask("/shelves", {"reference": "simulator:answers"}) is None
    unknown = ask("/shelves", {"reference": "simulator:nobody"})
    assert (unknown.status, unknown.code, unknown.param, unknown.message) == (
        400,
        "invalid_parameter",
        "reference",
        "No such scenario.",
    )
    assert ask("/quiet", {"reference": 5}) is None
    reader = begin(world, "reader", {"details": {"phone_number": "+1"}})
    assert ask("/anything", {"reader_id": reader}).code == "delivery_failed"
    assert len(engine.progress(world, "answers")["rules_fired"]) == 5


def test_request_that_names_a_scenario_gets_only_its_rules() -> None:
    engine, world = running(
        "name: a\nrules: [{on: request, answer: {code: payment_failed}}]",
        "name: b\nrules: [{on: request, answer: {code: delivery_failed}}]",
    )
    activate(world, engine, "a")
    with world.change(Cause("request", "x"), RequestOrigin(scenario="b")):
        chosen = engine.answer_for(world, "practice", "POST", "/x", {})
    assert chosen is not None
    assert chosen.code == "delivery_failed"


def test_bindings_survive_undo_and_snapshots() -> None:
    engine, world = running(PAYS)
    activate(world, engine, "pays")
    free = begin(world, "purchase")
    refused = begin(world, "purchase")
    with suppress(LookupError), world.change(Cause("request", "refused")):
        world.store[ORIGINS].put(refused, RequestOrigin(scenario="pays"))
        assert bound_to(world, refused) == ("pays", refused)
        raise LookupError
    assert bound_to(world, refused) is None
    chosen = begin(world, "purchase", scenario="pays")
    kept = world.store.tables()
    assert bound_to(world, free) is None
    assert bound_to(world, chosen) == ("pays", chosen)
    copy = world_of(engine)
    assert bound_to(copy, chosen) is None
    copy.store.replace(kept)
    assert bound_to(copy, chosen) == ("pays", chosen)


def test_uploaded_scenario_replaces_the_shipped_one_in_its_world() -> None:
    engine, world = running(PAYS)
    other = world_of(engine)
    purchase = begin(world, "purchase")
    with world.change(Cause("action", "upload")):
        engine.upload(world, LOADER.load("name: pays\ndescription: mine\nrules: []"))
        engine.upload(world, LOADER.load("name: extra"))
    after(world, 60)
    assert status(world, purchase) == "awaiting_payment"
    assert engine.summary(world, "pays") == {
        "name": "pays",
        "description": "mine",
        "source": "uploaded",
        "active": True,
        "stopped": None,
    }
    assert [row["name"] for row in engine.listing(world)] == ["pays", "extra"]
    assert [row["source"] for row in engine.listing(other)] == ["shop.yaml"]
    assert not engine.catalogue.knows(other, "extra")
    described = engine.describe(world, "pays")
    assert (described["rules"], described["pending"]) == ([], [])


def test_everything_pending_survives_a_snapshot() -> None:
    engine, world = running(PAYS)
    purchase = begin(world, "purchase")
    tables = world.store.tables()
    after(world, 60)
    copy = world_of(Engine(ACTIONS, Library({"pays": LOADER.load(PAYS)}), OUTAGES))
    copy.store.replace(tables)
    copy.agenda.rebuild()
    assert engine.active(copy) == ["pays"]
    advance(copy, copy.now_ms + MINUTE_MS)
    assert status(copy, purchase) == "completed"
    assert happened(copy) == happened(world)


def test_the_logbook_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.engine.scenario.play.logbook.MAX_ENTRIES", 3)
    engine, world = running("name: busy\nrules: [{on: created, do: []}]")
    for _ in range(3):
        begin(world, "preorder")
    assert "truncated" not in engine.progress(world, "busy")
    for _ in range(2):
        begin(world, "preorder")
    progress = engine.progress(world, "busy")
    assert len(progress["rules_fired"]) == 3
    assert (progress["dropped"], progress["truncated"]) == (2, True)


def test_uploaded_scenario_is_deleted_with_its_world() -> None:
    engine = engine_of()
    world = world_of(engine)
    with world.change(Cause("action", "upload")):
        engine.upload(world, LOADER.load("name: mine"))
    file = ref(engine.catalogue.file(world, "mine"))
    del world
    gc.collect()
    assert file() is None
