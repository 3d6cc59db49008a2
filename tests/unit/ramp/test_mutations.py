"""Faults that change a body, with every response and event of the ramp."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.host import vocabulary
from tests.unit.engine.faults.test_mutations import WISHES, check_places, check_wishes


def test_the_places_of_every_answer_and_event_are_known() -> None:
    check_places(vocabulary())


@given(event=st.sampled_from(sorted(vocabulary().events)), wishes=WISHES)
def test_only_what_was_asked_for_changes(event: str, wishes: dict[str, str]) -> None:
    check_wishes(vocabulary(), event, wishes)
