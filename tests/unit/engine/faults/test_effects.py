"""Effects on deliveries: one field is both a fault field and part of saved plans."""

from __future__ import annotations

from dataclasses import fields

import pytest

from simulator.engine.faults.effects import Effects
from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.faults.models import Deliver

GIVEN = {one.name: 3 if one.name == "copies" else True for one in fields(Effects)}


@pytest.mark.parametrize("name", GIVEN)
def test_an_effect_reaches_the_plan_of_an_attempt(name: str) -> None:
    assert name in Deliver.model_fields
    plan = DeliveryPlan.of("flt_1", Deliver.model_validate({name: GIVEN[name]}))
    assert {one for one in GIVEN if getattr(plan, one)} == {name}
    assert getattr(plan, name) == GIVEN[name]
