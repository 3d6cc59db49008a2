"""Unexpected values in a body: the target is found by its shape, and the rest of the body is unchanged."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from simulator.engine.faults.mutations import NEW_WORD, Mutation, impossible, mutated, places_of, places_of_event
from simulator.engine.text.json import dumps
from simulator.engine.text.shapes import Number, OneOf
from simulator.engine.vocabulary.vocabulary import Vocabulary
from tests.library import vocabulary


class Leg(TypedDict):
    shelf: Annotated[str, OneOf(("NORTH", "SOUTH"))]
    memo: str | None


class Payment(TypedDict):
    type: Literal["send"]
    status: Literal["pending", "done"]
    rate: Number
    legs: list[Leg]
    note: NotRequired[str]


BODY = b'{"type":"send","status":"done","rate":1.10,"legs":[{"shelf":"NORTH","memo":null},{"shelf":"SOUTH"}]}'


def changed(**wishes: str) -> Any:
    raw = mutated(BODY, places_of(vocabulary(), Payment), Mutation(**wishes))
    return None if raw is None else json.loads(raw)


def test_status_is_the_preferred_enum_and_the_rest_is_unchanged() -> None:
    raw = mutated(BODY, places_of(vocabulary(), Payment), Mutation(unknown_enum=""))
    assert raw == BODY.replace(b'"done"', b'"something_new"')


def test_a_new_word_is_spelt_like_the_others() -> None:
    assert [leg["shelf"] for leg in changed(unknown_enum="legs.*.shelf")["legs"]] == ["SOMETHING_NEW"] * 2
    assert [leg["shelf"] for leg in changed(unknown_enum="legs.1.shelf")["legs"]] == ["NORTH", "SOMETHING_NEW"]


@pytest.mark.parametrize("path", ["note", "legs.5.memo", "legs.1.memo", "legs.memo"])
def test_nothing_is_changed_at_a_place_that_is_not_there(path: str) -> None:
    assert changed(missing_field=path) is None


@pytest.mark.parametrize("number", [2**63 - 1, 2**64, -(2**63), -(2**63) - 1, 99999999999999999999])
def test_an_integer_of_any_size_stays_as_written(number: int) -> None:
    raw = b'{"status":"done","page":%d}' % number
    assert (
        mutated(raw, places_of(vocabulary(), Payment), Mutation(extra_field=""))
        == raw[:-1] + b',"added_later":"something_new"}'
    )


def test_removable_fields_are_optional_or_nullable() -> None:
    known = list(impossible([places_of(vocabulary(), Payment)], Mutation(missing_field="rate")))
    assert known == [
        (
            "missing_field",
            "rate cannot be used, because it must be a field that may be absent or null, such as note, legs.*.memo",
        )
    ]
    assert changed(missing_field="")["legs"] == [{"shelf": "NORTH"}, {"shelf": "SOUTH"}]


def test_every_object_that_is_described_gets_one_more_member() -> None:
    body = changed(extra_field="")
    assert (body["added_later"], [leg["added_later"] for leg in body["legs"]]) == (NEW_WORD, [NEW_WORD] * 2)
    assert changed(extra_field="legs.0.more")["legs"][0]["more"] == NEW_WORD


@pytest.mark.parametrize("raw", [b"", b"<html>", b"[1]", b"null", b"{}"])
def test_an_unsuitable_body_is_unchanged(raw: bytes) -> None:
    assert mutated(raw, places_of(vocabulary(), Payment), Mutation(unknown_enum="", missing_field="")) is None


def check_places(vocabulary: Vocabulary) -> None:
    """The places of every answer and event of a service are known."""
    answers = [row.answer() for row in vocabulary.operations if row.answer is not None]
    assert answers
    assert all(places_of(vocabulary, shape)[()].is_object for shape in answers)
    for event in vocabulary.events:
        places = places_of_event(vocabulary, event)
        assert not list(impossible([places], Mutation(unknown_enum="", extra_field="")))
        assert not places["data", "object"].may_lack
        assert not places["data", "object"].may_be_null


def test_the_places_of_every_answer_and_event_are_known() -> None:
    check_places(vocabulary())


WISHES = st.fixed_dictionaries({}, optional=dict.fromkeys(Mutation.__annotations__, st.just("")))


def check_wishes(vocabulary: Vocabulary, event: str, wishes: dict[str, str]) -> None:
    """Only what was asked for changes in an event of a service."""
    subject = vocabulary.subjects[event][0].example
    envelope = {"id": "evt_1", "type": event, "created_at": "@", "livemode": False, "data": {"object": subject}}
    raw, places = dumps({**envelope, "exact": Decimal("1.50")}), places_of_event(vocabulary, event)
    found = mutated(raw, places, Mutation(**wishes))
    assert found == mutated(raw, places, Mutation(**wishes)), "the same bytes again"
    if found is None:
        assert {*wishes} <= {"missing_field"}
        return
    assert b'"exact":1.50' in found
    body, object_ = json.loads(found), json.loads(found)["data"]["object"]
    assert ("added_later" in body) == ("extra_field" in wishes)
    assert (body["type"] == event) == ("unknown_type" not in wishes)
    before = json.loads(raw)["data"]["object"]
    differing = [name for name in before if object_.get(name, ...) != before[name]]
    if "extra_field" not in wishes:  # that is in objects within the object, too
        assert len(differing) <= len(wishes)


@given(event=st.sampled_from(sorted(vocabulary().events)), wishes=WISHES)
def test_only_what_was_asked_for_changes(event: str, wishes: dict[str, str]) -> None:
    check_wishes(vocabulary(), event, wishes)
