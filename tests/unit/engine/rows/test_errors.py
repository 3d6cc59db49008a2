"""The response to a refused request, and errors of a service in addition to those of the engine."""

from __future__ import annotations

import pytest

from simulator.engine.rows.error import ENGINE_ERRORS, ApiError, ControlError, invalid, missing, not_found
from tests.library import vocabulary
from tests.toy import PROVIDER
from tests.toy.lending import TAKEN


def test_an_error_is_shown_with_code_message_and_details() -> None:
    assert ApiError("not_found", "Nothing here.").envelope() == {
        "error": {"code": "not_found", "message": "Nothing here."}
    }
    assert ApiError("missing_parameter", "Give it.", "payer.phone_number").envelope("req_1") == {
        "error": {
            "code": "missing_parameter",
            "message": "Give it.",
            "param": "payer.phone_number",
            "request_id": "req_1",
        }
    }


def test_a_decision_may_fix_another_status_and_headers() -> None:
    error = ApiError("invalid_request", "Not so.", status=405, headers={"Allow": "GET"})
    assert (error.status, error.headers) == (405, {"Allow": "GET"})
    assert ApiError("invalid_request", "Not so.").headers == {}


def test_a_printed_error_contains_its_message() -> None:
    assert str(ApiError("not_found", "Nothing here.")) == "not_found: Nothing here."


def test_a_code_that_is_none_of_the_engines_is_raised_by_its_row_only() -> None:
    with pytest.raises(KeyError):
        ApiError("made_up", "no")


def test_the_common_refusals_name_their_parameter() -> None:
    assert (missing("amount").code, missing("amount").param) == ("missing_parameter", "amount")
    assert "`amount`" in missing("amount").message
    bad = invalid("amount", "it is odd")
    assert (bad.code, bad.param, bad.status) == ("invalid_parameter", "amount", 400)
    assert bad.message == "The parameter `amount` is not valid: it is odd."
    gone = not_found("book", "book-1", "book_id")
    assert (gone.code, gone.param, gone.status) == ("not_found", "book_id", 404)
    assert gone.message == "There is no book with the id 'book-1'."
    assert not_found("loan", "loan-1").param is None


def test_control_error_has_any_status_code_and_fields() -> None:
    error = ControlError(409, "invalid_transition", "Not now.", "target", allowed=["complete"])
    assert (error.status, str(error)) == (409, "invalid_transition: Not now.")
    assert error.envelope() == {
        "error": {"code": "invalid_transition", "message": "Not now.", "param": "target", "allowed": ["complete"]}
    }
    assert ControlError(404, "not_found", "No.").envelope() == {"error": {"code": "not_found", "message": "No."}}


def test_the_catalogue_has_the_errors_of_engine_and_rooms_by_name() -> None:
    of_rooms = {row.code for room in PROVIDER.rooms for row in room.errors}
    assert TAKEN.code in of_rooms
    assert vocabulary().errors.keys() == ENGINE_ERRORS.keys() | of_rooms
    assert [row.code for row in vocabulary().errors.values()] == list(vocabulary().errors)
    assert (vocabulary().errors[TAKEN.code].error("no").status, TAKEN.basis) == (409, "specified")
