"""The denominators of coverage on the ramp."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from simulator.engine.insight import counting
from simulator.engine.insight.counting import count_world
from simulator.engine.insight.coverage import cells
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, application_of
from simulator.kernel.journal import Cause
from tests.seeds import walk_seed
from tests.support import invoke
from tests.unit.engine.insight.test_counting import walk_and_count
from tests.unit.engine.insight.test_tables import check_dimensions, check_states, codes_of_nobody, moves
from tests.unit.engine.server.test_faults_at_random import failing_receiver, fault
from tests.unit.ramp.test_faults_at_random import EVENTS, PATHS, STEPS, Payer

# Codes that name a failed transaction; no operation answers them unless a fault or a scenario says so.
FAILURE_CODES = {"payout_failed", "insufficient_deposit"}


@pytest.fixture
def simulator() -> Simulator:
    made = Simulator()
    made.create_world(Blueprint("default", 1))
    return made


def test_every_dimension_has_every_row_of_its_table_once(simulator: Simulator) -> None:
    check_dimensions(simulator)


def test_every_code_of_the_catalogue_can_be_covered(simulator: Simulator) -> None:
    assert codes_of_nobody(simulator) == FAILURE_CODES


def test_every_state_that_anything_leads_to_can_be_covered(simulator: Simulator) -> None:
    check_states(simulator)


def test_setting_up_a_world_is_not_traffic(simulator: Simulator) -> None:
    assert moves(simulator.default) == []
    assert count_world(simulator.default) == {}


def test_every_move_of_a_history_is_a_cell_of_its_table(simulator: Simulator) -> None:
    world, known = simulator.default, set(cells(simulator.default))
    acts: tuple[tuple[str, str | None, dict[str, str]], ...] = (
        ("set_network", None, {"network": "celo", "status": "down"}),
        ("set_network", None, {"network": "celo", "status": "degraded"}),
        ("create_key", None, {}),
        ("set_kyc", None, {"status": "rejected"}),
        ("set_kyc", None, {"status": "approved"}),
        ("set_profile", None, {"status": "closed"}),
        ("set_fee_product", next(iter(_fee_products(simulator))), {"status": "inactive"}),
    )
    for action, target, parameters in acts:
        simulator.actions.perform(world, action, target, parameters, "sandbox", Cause("action", action))
    made = moves(world)
    assert len(made) == len(acts)
    assert set(made) <= known


@pytest.mark.parametrize("seed", range(8))
def test_incremental_counts_equal_a_plain_count(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "SLICE", 7)
    rng = Random(walk_seed(seed))

    async def play() -> None:
        simulator = Simulator()
        simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, failing_receiver(rng)))
        faults = [fault(rng, PATHS, EVENTS) for _ in range(4)]
        await walk_and_count(Payer(application), rng, faults, STEPS)
        await application.runtime.close()

    asyncio.run(play())


def _fee_products(simulator: Simulator) -> list[str]:
    operation = next(row for row in simulator.operations if row.name == "list_fees")
    return [row["id"] for row in invoke(simulator.default, operation)["data"]]
