"""Creating worlds again: a reset gives the same world as its creation, after any changes and any number of times."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from simulator.engine.control.worlds.documents import document_text
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.server.config import Config, ConfigError
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import settings_of, shown
from simulator.engine.worlds.simulator import DEFAULT_SCENARIOS, Blueprint
from simulator.host import Simulator, create_app
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from simulator.providers.ramp.profile import profile_of

BY_HAND = Cause("action", "set_balance")

WEATHER = """
name: weather
description: What a world begins with.
world:
  balances: [{symbol: XLM, network: STELLAR, amount: "AMOUNT"}]
faults:
  - {match: {path: /quotes}, respond: {status: 503, code: service_unavailable}}
timeline:
  - {at: {between: [1m, 9m]}, action: set_kyc, status: rejected}
"""


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator()


def document(simulator: Simulator, world: World) -> bytes:
    return document_text(simulator, simulator.state_of(world))


def set_balance(simulator: Simulator, world: World, amount: str) -> None:
    with world.change(BY_HAND):
        parameters = {"symbol": "XLM", "network": "STELLAR", "amount": amount}
        simulator.actions.perform(world, "set_balance", None, parameters, "sandbox", BY_HAND)


def weather(simulator: Simulator, amount: str = "7") -> ScenarioFile:
    return Loader(simulator.vocabulary).load(WEATHER.replace("AMOUNT", amount))


def balance(world: World) -> str:
    return f"{world.ledger.balance('sandbox:account/available', 'XLM.stellar'):f}"


def test_a_reset_gives_the_bytes_that_making_the_world_gave(simulator: Simulator) -> None:
    blueprint = Blueprint("again", 3, scenarios=(*DEFAULT_SCENARIOS, "weather"))
    world = simulator.create_world(blueprint, [weather(simulator)])
    made = document(simulator, world)
    for number in range(4):
        set_balance(simulator, world, str(number))
        assert world.fire_next(world.now_ms + 600_000) is not None
        world = simulator.reset_world("again")
        assert document(simulator, world) == made


def test_a_world_that_was_reset_lives_on_as_one_that_was_made(simulator: Simulator) -> None:
    """Tables stand in a document in the order in which they came into use, those that had no rows at first too."""
    blueprint = Blueprint("lives", 3, scenarios=DEFAULT_SCENARIOS)
    world, documents = simulator.create_world(blueprint), []
    for _ in range(4):
        with world.change(BY_HAND):
            for name in ("scenario.failures", "scenario.stopped"):  # in the opposite of the order of their coming
                world.store.written(name).put("a", {})
        set_balance(simulator, world, "5")
        documents.append(list(simulator.state_of(world).tables))
        world = simulator.reset_world("lives")
    assert documents[1:] == documents[:-1]


def test_a_reset_keeps_to_the_scenarios_that_there_are_now(simulator: Simulator) -> None:
    simulator.create_world(Blueprint("uploads", 3, scenarios=("weather",)), [weather(simulator)])
    for amount in ("7", "8", "8", "7"):
        world = simulator.worlds["uploads"]
        with world.change(BY_HAND):
            simulator.engine.upload(world, weather(simulator, amount))
        for _ in range(2):
            assert balance(simulator.reset_world("uploads")) == amount


@pytest.mark.parametrize("spelled", ["1", "1.0"])
def test_a_reset_keeps_to_how_a_number_was_written(simulator: Simulator, spelled: str) -> None:
    blueprint = Blueprint("spelled", 3, "scaled", rate=Decimal(spelled), scenarios=("weather",))
    text = WEATHER.replace("AMOUNT", "7") + f"slowdown: {{degraded: {spelled}}}\n"
    world = simulator.create_world(blueprint, [Loader(simulator.vocabulary).load(text)], replace=True)
    made = document(simulator, world)
    assert [document(simulator, simulator.reset_world("spelled")) for _ in range(2)] == [made, made]


def test_a_reset_keeps_to_the_library_as_it_is_now() -> None:
    simulator = Simulator()
    simulator.library["weather"] = weather(simulator)
    simulator.create_world(Blueprint("shipped", 3, scenarios=("weather",)))
    for amount in ("7", "8", "8"):
        simulator.library["weather"] = weather(simulator, amount)
        for _ in range(2):
            assert balance(simulator.reset_world("shipped")) == amount


def test_a_reset_after_another_state_was_put_in_makes_what_that_was_made_of(simulator: Simulator) -> None:
    other = simulator.create_world(Blueprint("other", 9, settings={**shown(Settings()), "strict": True}))
    simulator.create_world(Blueprint("own", 3))
    simulator.reset_world("own")
    user = profile_of(simulator.reset_world("own")).user_id
    state = simulator.state_of(other)
    simulator.delete_world("other")
    simulator.restore(state, "own")
    again = simulator.reset_world("own")
    assert (again.seed, settings_of(again)["strict"]) == (9, True)
    assert profile_of(again).user_id == profile_of(other).user_id != user


def test_worlds_that_begin_at_one_moment_share_the_rows_of_their_opening(simulator: Simulator) -> None:
    first, second = (simulator.create_world(Blueprint(name, seed)) for name, seed in (("a", 1), ("b", 2)))
    assert all(one is other for one, other in zip(first.ledger.entries(), second.ledger.entries(), strict=True))
    set_balance(simulator, first, "1")
    assert (balance(first), balance(second)) == ("1", "5000")
    later = simulator.create_world(Blueprint("c", 1, now_ms=first.now_ms + 1))
    assert {entry.at_ms for entry in later.ledger.entries()} == {first.now_ms + 1}


def test_a_missing_token_file_is_reported_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--control-tokens: .*nowhere.* cannot be read: No such file"):
        create_app(Config(clock="manual", control_tokens=tmp_path / "nowhere"))


MINE = "name: mine\nrules:\n  - {on: EVENT, do: []}\n"


def test_an_invalid_scenario_file_at_the_start_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(MINE.replace("EVENT", "transaction.nothing"))
    for name in ("b", "c"):
        (tmp_path / f"{name}.yaml").write_text(MINE.replace("EVENT", "transaction.failed"))
    with pytest.raises(ConfigError) as caught:
        create_app(Config(clock="manual", scenarios=(), scenario_directories=(tmp_path,)))
    first, second = caught.value.problems
    assert first.startswith(f"--scenarios: {tmp_path}/a.yaml:3:10: rules[0].on: unknown event `transaction.nothing`")
    assert (
        second == f"--scenarios: {tmp_path}/c.yaml:1:1: name: the scenario mine is already defined in {tmp_path}/b.yaml"
    )
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        create_app(Config(clock="manual", scenarios=(), scenario_directories=(tmp_path / "nowhere",)))


def test_files_of_a_directory_are_watched_and_may_replace_shipped_scenarios(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("name: autopilot\ndescription: my own\n")
    application = create_app(Config(clock="manual", scenarios=("autopilot",), scenario_directories=(tmp_path,)))
    assert application.runtime.folder is not None
    assert application.runtime.simulator.library["autopilot"].description == "my own"
