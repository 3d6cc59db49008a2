"""The error catalogue, and how a refusal is shown (chapter "Errors")."""

from __future__ import annotations

import pytest

from simulator.engine.rows.error import ApiError, ControlError, invalid, missing, not_found
from simulator.host import vocabulary

# The table of the specification, row by row.
SPECIFIED = """
unauthorized                401
invalid_credentials         401
environment_mismatch        401
kyc_required                403
production_access_required  403
forbidden                   403
invalid_request             400
missing_parameter           400
invalid_parameter           400
invalid_date_range          400
order_not_found             404
not_found                   404
idempotency_conflict        409
unsupported_pair            422
amount_too_low              422
amount_too_high             422
quote_expired               422
quote_already_used          409
quote_not_found             404
invalid_wallet_address      422
beneficiary_mismatch        422
payment_failed              422
payout_failed               422
insufficient_deposit        422
insufficient_balance        422
slippage_exceeded           422
network_unavailable         503
unsupported_network         422
unsupported_asset           422
invoice_expired             422
wallet_disabled             409
invalid_phone_number        422
invalid_bank_account        422
unsupported_provider        422
invalid_webhook_url         422
unsupported_event           422
rate_limited                429
internal_error              500
service_unavailable         503
"""
ROWS = [(code, int(status)) for code, status in (line.split() for line in SPECIFIED.split("\n") if line)]


@pytest.mark.parametrize(("code", "status"), ROWS)
def test_every_code_of_the_specification_has_its_status(code: str, status: int) -> None:
    assert vocabulary().errors[code].status == status
    assert vocabulary().errors[code].basis == "specified"
    assert vocabulary().errors[code].cause
    assert vocabulary().errors[code].error("no").status == status


def test_the_one_code_beyond_the_specification_is_invalid_state() -> None:
    """Decision H19."""
    assert set(vocabulary().errors) - {code for code, _ in ROWS} == {"invalid_state"}
    assert (vocabulary().errors["invalid_state"].status, vocabulary().errors["invalid_state"].basis) == (409, "H19")


def test_error_codes_are_unique_and_found_by_name() -> None:
    assert [row.code for row in vocabulary().errors.values()] == list(vocabulary().errors)
    assert len(vocabulary().errors) == len(ROWS) + 1


def test_an_error_is_shown_with_code_and_message_and_what_else_is_known() -> None:
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


def test_an_error_says_what_it_is_when_it_is_printed() -> None:
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
    gone = not_found("beneficiary", "ben_1", "beneficiary_id")
    assert (gone.code, gone.param, gone.status) == ("not_found", "beneficiary_id", 404)
    assert gone.message == "There is no beneficiary with the id 'ben_1'."
    assert not_found("quote", "qt_1").param is None


def test_control_error_has_any_status_code_and_fields() -> None:
    error = ControlError(409, "invalid_transition", "Not now.", "target", allowed=["complete"])
    assert (error.status, str(error)) == (409, "invalid_transition: Not now.")
    assert error.envelope() == {
        "error": {"code": "invalid_transition", "message": "Not now.", "param": "target", "allowed": ["complete"]}
    }
    assert ControlError(404, "not_found", "No.").envelope() == {"error": {"code": "not_found", "message": "No."}}
