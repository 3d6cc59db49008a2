"""The fields that a scenario can check in resources of the ramp."""

from __future__ import annotations

import pytest

from simulator.host import vocabulary
from tests.unit.engine.scenario.test_findings import check_example


@pytest.mark.parametrize("name", ["onramp", "offramp", "beneficiary", "deposit", "recurring_payment", "wallet"])
def test_field_sets_contain_all_fields_of_examples(name: str) -> None:
    check_example(vocabulary(), name)
