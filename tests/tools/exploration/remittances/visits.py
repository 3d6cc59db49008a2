"""The application's ordinary tests."""

from __future__ import annotations

import pytest

from tests.tools.exploration.remittances.conftest import Office

AUTOPILOT = pytest.mark.scenario("autopilot")


@AUTOPILOT
def test_transfer_is_paid_out(office: Office) -> None:
    office.send("T-1")
    office.wait(4)
    assert office.desk.status("T-1") == "paid"


@AUTOPILOT
def test_same_request_twice_is_one_transfer(office: Office) -> None:
    office.send("T-1")
    office.send("T-1")
    office.wait(4)
    assert [leg.state for leg in office.store.legs()] == ["completed", "completed"]


def test_transfer_that_nobody_pays_expires(office: Office) -> None:
    office.send("T-1")
    office.wait(31)
    assert office.desk.status("T-1") == "over: expired"


def test_payer_takes_their_time(office: Office) -> None:
    office.send("T-1")
    office.wait(20)
    assert office.desk.status("T-1") == "pending"


@pytest.mark.scenario("payment-arrives", "payout-fails-and-refunds")
def test_payout_that_comes_back_is_made_again(office: Office) -> None:
    office.send("T-1")
    office.wait(8)
    legs = [(leg.reference, leg.state) for leg in office.store.legs()]
    assert legs[:2] == [("T-1-in", "completed"), ("T-1-out", "refunded")]
    assert legs[2][0] == "T-1-out-2"


@AUTOPILOT
def test_job_runs_during_a_transfer(office: Office) -> None:
    office.send("T-1")
    office.wait(1)
    office.night()
    office.wait(3)
    assert office.desk.status("T-1") == "paid"


@AUTOPILOT
def test_payroll(office: Office) -> None:
    for number in range(11):
        office.send(f"wages-{number}", "3000")
    office.wait(4)
    assert {office.desk.status(f"wages-{number}") for number in range(11)} == {"paid"}


@AUTOPILOT
def test_transfers_with_similar_references(office: Office) -> None:
    office.send("T-10")
    office.send("T-1", "7301.55")
    office.wait(4)
    assert {office.desk.status("T-1"), office.desk.status("T-10")} == {"paid"}
