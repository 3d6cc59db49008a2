"""The error catalogue (chapter "Errors")."""

from __future__ import annotations

import pytest

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
