"""`World`: every attribute, as used in a partner's test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from simulator.testing import ActionRefused, NotReached, Receiver, Server, SimulatorError, World, receiver
from tests.tools.testing.orders import onramp

START = datetime(2026, 1, 5, 8, tzinfo=UTC)


class Counted:
    """A link that counts the control calls that go through it."""

    def __init__(self, world: World) -> None:
        self._link = world.link
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)

    def control(self, method: str, path: str, *args: Any, **more: Any) -> Any:
        self.calls.append(f"{method} {path}")
        return self._link.control(method, path, *args, **more)


# Who it is


def test_a_world_knows_where_it_is_and_its_keys(kit: World, kit_server: Server) -> None:
    sandbox, production = (kit.info["credentials"][name] for name in ("sandbox", "production"))
    assert kit.url == kit_server.url
    assert (kit.base_url, kit.production_url) == (f"{kit.url}/v1", f"{kit.url}/production/v1")
    assert (kit.keys.public_key, kit.keys.secret_key) == (sandbox["public_key"], sandbox["secret_key"])
    assert kit.production_keys.webhook_key == production["webhook_key"]
    assert (kit.id, kit.seed) == (kit.info["id"], kit.info["seed"])
    assert kit.dashboard_url.endswith(f"?world={kit.id}")
    assert kit.id in repr(kit)


def test_a_world_begins_calm_at_a_fixed_moment_with_a_fixed_seed(kit: World) -> None:
    assert kit.info["scenarios"] == []
    assert kit.now == START
    assert kit.info["clock"]["mode"] == "manual"
    assert kit.seed == 1


def test_worlds_with_one_seed_answer_alike_and_never_collide(kit: World, kit_server: Server) -> None:
    with kit_server.new_world() as other:
        first, second = onramp(kit), onramp(other)
        assert first == second
        assert kit.keys != other.keys
        kit.act("payment_arrives", first)
        assert other.resource(second["id"])["state"] == "awaiting_payment"


@pytest.mark.parametrize(
    ("clock", "starts"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01T08:00:00Z", "2026-03-01T08:00:00+00:00"),
        (date(2026, 3, 1), "2026-03-01T00:00:00+00:00"),
        (datetime(2026, 3, 1, 8, tzinfo=timezone(timedelta(hours=3))), "2026-03-01T05:00:00+00:00"),
        ({"now": "2026-03-01T08:00:00Z"}, "2026-03-01T08:00:00+00:00"),
        ({"mode": "manual"}, "2026-01-05T08:00:00+00:00"),
    ],
)
def test_a_world_begins_at_the_given_time(kit_server: Server, clock: Any, starts: str) -> None:
    with kit_server.new_world(clock=clock) as world:
        assert world.now.isoformat() == starts


def test_a_world_that_a_test_hardly_uses_costs_two_calls(kit_server: Server, kit: World) -> None:
    counted: Any = Counted(kit)
    Server(counted).new_world().delete()
    assert [call.partition("/w_")[0] for call in counted.calls] == ["POST /worlds", "DELETE /worlds"]


def test_invalid_world_settings_are_reported(kit_server: Server) -> None:
    with pytest.raises(SimulatorError, match="no scenario 'autopilto'; did you mean `autopilot`") as caught:
        kit_server.new_world(scenarios=["autopilto"])
    assert (caught.value.code, caught.value.param) == ("not_found", "scenarios")


# Time


@pytest.mark.parametrize(
    ("how", "minutes"),
    [
        ({"by": "31m"}, 31),
        ({"by": 90}, 1.5),
        ({"by": 0.25}, 1 / 240),
        ({"by": timedelta(hours=1, minutes=1)}, 61),
        ({"to": "2026-01-05T08:07:00Z"}, 7),
        ({"to": START + timedelta(minutes=9)}, 9),
        ({"to": datetime(2026, 1, 5, 11, 8, tzinfo=timezone(timedelta(hours=3)))}, 8),
        ({"to": "2026-01-06"}, 16 * 60),
        ({"to": date(2026, 1, 7)}, 40 * 60),
        ({"to_next_timer": True}, 30),
    ],
)
def test_the_clock_moves_in_every_way(kit: World, how: Mapping[str, Any], minutes: float) -> None:
    onramp(kit)
    receipt = kit.advance(how["by"]) if "by" in how else kit.advance(**how)
    assert kit.now == START + timedelta(minutes=minutes)
    assert datetime.fromisoformat(receipt["now"]) == kit.now
    assert receipt["fired"] == (1 if minutes >= 30 else 0)


def test_the_clock_moves_until_something_is_so(kit: World) -> None:
    kit.scenario("autopilot")
    ramp = onramp(kit)
    assert kit.advance(until={"resource": ramp["id"], "status": "processing"})["reached"] is True
    kit.advance(until={"event": "transaction.completed", "object_id": ramp})
    assert kit.resource(ramp)["resource"]["status"] == "completed"


def test_a_moment_without_a_time_zone_is_refused(kit: World) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        kit.advance(to=datetime(2026, 3, 1))  # noqa: DTZ001
    assert kit.now == START


def test_a_refusal_shows_the_line_of_the_test_and_nothing_of_the_kit(kit: World) -> None:
    calls: list[Callable[[], object]] = [
        lambda: kit.advance("31 minutes"),
        lambda: kit.advance(until={"event": "transaction.completed"}),
        lambda: kit.event("transaction.completed"),
        lambda: kit.fault("POST /nowhere", drop=True),
        lambda: kit.balance("USDC", "BASE"),
        lambda: Receiver(kit, events=["nothing.like.it"]),
    ]
    for call in calls:
        with pytest.raises((SimulatorError, AssertionError)) as caught:
            call()
        assert {entry.path for entry in caught.traceback.filter(caught)} == {Path(__file__)}


def test_an_advance_says_what_it_can_do(kit: World) -> None:
    with pytest.raises(SimulatorError, match="exactly one of by, to, to_next_timer, until"):
        kit.advance()
    with pytest.raises(SimulatorError, match=r"did you mean `payment_arrives`\?$"):
        kit.act("payment_arived")


def test_refusals_about_time_are_reported(kit: World) -> None:
    with pytest.raises(SimulatorError, match="cannot go back") as caught:
        kit.advance(to="2026-01-01T00:00:00Z")
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, "invalid_parameter", "to")


def test_anything_that_is_true_lets_an_advance_wait(kit: World) -> None:
    waits: Any = 1
    assert kit.advance("1h", wait=waits)["now"] == "2026-01-05T09:00:00.000Z"


def test_an_advance_that_never_reaches_its_goal_explains_why(kit: World) -> None:
    ramp = onramp(kit)
    with pytest.raises(NotReached) as caught:
        kit.advance(until={"resource": ramp, "status": "completed"})
    assert str(caught.value) == (
        f"{ramp['id']} never became completed: nothing more is scheduled.\n"
        "  From 2026-01-05T08:00:00.000Z to 2026-01-05T08:30:00.000Z, 1 timer fired.\n"
        "  Events in that time:\n"
        f"    2026-01-05T08:30:00.000Z  transaction.expired  {ramp['id']}\n"
        f"  {ramp['id']} has been expired since 2026-01-05T08:30:00.000Z; possible actions: none.\n"
        "  No scenario is active, so no outside event happens on its own. "
        'Call world.scenario("autopilot") or world.act(...).'
    )
    assert caught.value.receipt["fired"] == 1
    assert (caught.value.code, caught.value.status) == ("not_reached", 409)


def test_a_missing_event_is_explained(kit: World) -> None:
    kit.scenario("autopilot")
    with pytest.raises(NotReached) as caught:
        kit.advance(until={"event": "kyc.rejected"}, horizon=timedelta(days=2))
    text = str(caught.value)
    assert text.startswith("The event kyc.rejected never occurred: nothing more is scheduled.\n")
    assert "No event in that time." in text
    assert "No scenario is active" not in text


def test_listeners_are_notified_of_clock_changes(kit: World) -> None:
    heard: list[datetime] = []
    kit.on_advance.append(heard.append)
    kit.advance("1m")
    with pytest.raises(NotReached):
        kit.advance(until={"event": "kyc.rejected"}, horizon="1h")
    kit.reset()
    assert heard[0] == START + timedelta(minutes=1)
    assert heard[-1] == START
    assert len(heard) == 3


# The world outside


def test_an_action_takes_a_resource_or_its_id(kit: World) -> None:
    ramp = onramp(kit)
    shown = kit.act("payment_arrives", ramp)["resource"]
    assert shown is not None
    assert shown["status"] == "processing"
    assert kit.act("complete", target=ramp["id"])["events"][0]["type"] == "transaction.completed"


def test_an_action_without_a_target_applies_to_the_environment(kit: World) -> None:
    kit.act("set_balance", symbol="USDC", network="CELO", amount=Decimal("12.5"), environment="production")
    assert kit.balance("USDC", "CELO", "production") == Decimal("12.5")
    assert kit.balance("USDC", "CELO") == 1000


def test_an_action_that_is_not_possible_names_those_that_are(kit: World) -> None:
    with pytest.raises(ActionRefused) as caught:
        kit.act("complete", onramp(kit))
    assert caught.value.allowed == ("payment_arrives", "payment_declined")
    assert str(caught.value) == (
        "The action complete is not legal in the state 'awaiting_payment'. "
        "Legal now: payment_arrives, payment_declined."
    )


@pytest.mark.parametrize(
    ("name", "target", "code"),
    [("pay", None, "not_found"), ("complete", "txn_nothing", "not_found"), ("complete", None, "missing_parameter")],
)
def test_an_action_that_is_none_is_refused(kit: World, name: str, target: str | None, code: str) -> None:
    with pytest.raises(SimulatorError) as caught:
        kit.act(name, target)
    assert caught.value.code == code
    assert not isinstance(caught.value, ActionRefused)


def test_a_value_that_is_not_a_resource_is_refused_locally(kit: World) -> None:
    with pytest.raises(ValueError, match="no `id`"):
        kit.act("complete", {"status": "active"})


def test_a_world_walks_to_an_event(kit: World) -> None:
    walked = kit.trigger("transaction.completed", onramp(kit))
    assert walked["event"]["type"] == "transaction.completed"
    assert kit.trigger("kyc.rejected", environment="production")["event"]["livemode"] is True


def test_exactly_the_scenarios_that_are_named_are_active(kit: World, tmp_path: Any) -> None:
    path = tmp_path / "hasty.yaml"
    path.write_text("name: hasty\nrules:\n  - on: transaction.awaiting_payment\n    do: [{action: payment_arrives}]\n")

    def active() -> list[str]:
        return sorted(row["name"] for row in kit.control("GET", "/scenarios")["data"] if row["active"])

    kit.scenario("autopilot")
    kit.scenario("test-values", path)
    assert active() == ["hasty", "test-values"]
    kit.scenario(str(path), {"name": "calm"})
    assert active() == ["calm", "hasty"]
    assert kit.resource(onramp(kit))["state"] == "processing"
    kit.scenario()
    assert active() == []


def test_scenario_problems_are_reported_with_file_and_line(kit: World, tmp_path: Any) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("name: wrong\nrules:\n  - on: transaction.awaiting_payment\n    do: [{action: pay}]\n")
    with pytest.raises(SimulatorError) as caught:
        kit.scenario(path)
    assert str(caught.value).startswith(f"The scenario {path} is not valid. 1 problem:\n  line 4, column ")
    with pytest.raises(SimulatorError, match="cannot be read: No such file"):
        kit.scenario(tmp_path / "missing.yaml")
    with pytest.raises(SimulatorError, match="did you mean `autopilot`"):
        kit.scenario("autopilto")


def test_a_world_that_begins_with_a_file_begins_so_again(kit_server: Server, tmp_path: Any) -> None:
    path = tmp_path / "hasty.yaml"
    path.write_text("name: hasty\nrules:\n  - on: transaction.awaiting_payment\n    do: [{action: payment_arrives}]\n")
    with kit_server.new_world(scenarios=["autopilot", path]) as world:
        assert world.resource(onramp(world))["state"] == "processing"
        world.scenario()
        world.reset()
        assert world.resource(onramp(world))["state"] == "processing"


# What happened


def test_events_by_type_and_object(kit: World) -> None:
    first, second = onramp(kit), onramp(kit)
    assert [row["type"] for row in kit.events(object_id=first)] == [
        "transaction.created",
        "transaction.awaiting_payment",
    ]
    assert [row["data"]["object"]["id"] for row in kit.events("transaction.created")] == [first["id"], second["id"]]
    assert len(kit.events(limit=3)) == 3
    assert kit.event("transaction.created", second["id"])["data"]["object"]["id"] == second["id"]


def test_an_ambiguous_event_lists_all_events(kit: World) -> None:
    with pytest.raises(AssertionError, match="the world has emitted none"):
        kit.event("transaction.created")
    first, second = onramp(kit), onramp(kit)
    with pytest.raises(AssertionError) as caught:
        kit.event("transaction.created")
    assert str(caught.value) == (
        "There are 2 events transaction.created, not one:\n"
        f"  2026-01-05T08:00:00.000Z  transaction.created  {first['id']}\n"
        f"  2026-01-05T08:00:00.000Z  transaction.created  {second['id']}"
    )
    with pytest.raises(AssertionError) as caught:
        kit.event("transaction.completed", first)
    assert str(caught.value).startswith(
        f"There is no event transaction.completed about {first['id']}. There are these about {first['id']}:\n"
    )
    with pytest.raises(AssertionError, match="no events about txn_nothing"):
        kit.event("transaction.completed", "txn_nothing")


def test_an_event_that_does_not_exist_is_an_error_of_the_test(kit: World) -> None:
    with pytest.raises(SimulatorError, match="did you mean `transaction"):
        kit.event("transaction.complete")


def test_what_was_sent_and_called_and_what_that_tells(kit: World) -> None:
    with receiver(kit) as webhooks:
        webhooks.respond(500, times=1)
        onramp(kit)
        kit.settle()
    quote = kit.requests(path="/quotes")[0]["response"]["id"]
    failed = kit.deliveries(status="failed")
    assert [(row["event_type"], row["response_status"]) for row in failed] == [("transaction.created", 500)]
    assert kit.deliveries(event_id=failed[0]["event_id"]) == failed
    assert [row["path"] for row in kit.requests(method="POST", path="/quotes*")] == [
        "/v1/quotes",
        f"/v1/quotes/{quote}/confirm",
    ]
    assert "post_without_key" in {row["kind"] for row in kit.advice()}
    assert {row["severity"] for row in kit.advice(severity="warning")} == {"warning"}
    assert kit.advice(kind="unknown_field") == []


def test_a_resource_shows_its_history(kit: World) -> None:
    ramp = onramp(kit)
    story = kit.resource(ramp["id"])
    assert story["resource"]["id"] == ramp["id"]
    assert story["allowed"] == ["payment_arrives", "payment_declined"]
    assert [step["state"] for step in story["history"]] == ["awaiting_payment"]
    with pytest.raises(SimulatorError, match="txn_nothing"):
        kit.resource("txn_nothing")


def test_settling_counts_what_was_delivered(kit: World) -> None:
    with receiver(kit):
        onramp(kit)
        assert kit.settle()["deliveries"] <= 2
        assert kit.settle() == {"deliveries": 0}
        assert len(kit.deliveries(status="succeeded")) == 2


# To and fro


def test_a_world_is_restored_and_continues_separately(kit: World) -> None:
    ramp = onramp(kit)
    snapshot = kit.snapshot("before")
    assert snapshot["name"] == "before"
    kit.act("payment_arrives", ramp)
    fork = kit.fork(snapshot)
    assert fork.resource(ramp)["state"] == "awaiting_payment"
    assert fork.keys != kit.keys
    assert fork.client.get(f"/transactions/{ramp['id']}").json()["status"] == "awaiting_payment"
    later = kit.fork()
    assert later.resource(ramp)["state"] == "processing"
    kit.restore(snapshot)
    assert kit.resource(ramp)["state"] == "awaiting_payment"
    kit.reset()
    assert kit.events() == []


def test_forks_end_with_their_world(kit_server: Server) -> None:
    with kit_server.new_world() as world:
        fork = world.fork()
        further = fork.fork()
    living = {row["id"] for row in kit_server.link.control("GET", "/worlds")["data"]}
    assert living.isdisjoint({world.id, fork.id, further.id})


def test_a_world_that_has_ended_may_be_ended_again(kit_server: Server) -> None:
    world = kit_server.new_world()
    told: list[str] = []
    world.before_end.append(lambda ending: told.append(ending.id))
    world.delete()
    world.delete()
    assert told == [world.id]
    other = kit_server.new_world()
    kit_server.link.control("DELETE", f"/worlds/{other.id}")
    other.delete()
    with pytest.raises(SimulatorError, match=f"no world '{other.id}'"):
        _ = other.now


def test_a_closed_world_may_still_be_looked_at(kit: World) -> None:
    onramp(kit)
    kit.close()
    assert kit.events()


def test_any_other_control_call(kit: World) -> None:
    assert kit.control("GET", "/emails") == {"data": []}
    assert kit.control("GET", "/rates", query={"asset": None}) == kit.control("GET", "/rates")
    assert kit.control("POST", "/settle", query={"wait": True}) == {"deliveries": 0}
