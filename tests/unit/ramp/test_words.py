"""Messages about wrong values in the ramp's operations and actions."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from simulator.engine.scenario.files.library import Library
from simulator.host import Simulator, control_rows
from tests.unit.engine.rows.test_words import MODELS, check_words, models_of

OWN = (*models_of(Simulator(library=Library())), *(row.body for row in control_rows()))


@pytest.mark.parametrize(
    "model", [model for model in dict.fromkeys(OWN) if model not in MODELS], ids=lambda model: model.__name__
)
def test_every_finding_of_every_model_has_words(model: type[BaseModel]) -> None:
    check_words(model)
