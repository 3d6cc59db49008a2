"""KYC and the profile's status: the state tables, the actions, the events, the gates (decisions H18, S22, S25)."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from simulator.engine.rows.error import ApiError, ControlError
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp import profile
from simulator.providers.ramp.profile.states import KYC, KYC_STATUSES, PROFILE, PROFILE_STATUSES
from tests.support import advance, event_types
from tests.unit.ramp.profile.support import act, fresh, get

EVENTS = {"approved": "kyc.approved", "action_required": "kyc.action_required", "rejected": "kyc.rejected"}
START_AT = "2026-01-05T08:00:00.000Z"
LATER = "2026-01-05T09:00:00.000Z"


def world_with_kyc(status: str) -> World:
    world = fresh()
    act(world, "set_kyc", status=status)
    return world


@pytest.mark.parametrize(("state", "target"), list(product(KYC_STATUSES, KYC_STATUSES)))
def test_every_kyc_transition(state: str, target: str) -> None:
    world = world_with_kyc(state)
    before = world.journal.event_count
    steps = len(world.journal.history(profile.profile_of(world).kyc_id))
    done = act(world, "set_kyc", status=target)
    assert get(world, "/profile/kyc")["kyc_status"] == target
    assert get(world, "/profile", "production")["kyc_status"] == target
    changed = state != target
    expected = [EVENTS[target]] * 2 if changed and target in EVENTS else []
    assert event_types(world)[before:] == expected == [event.type for event in done.events]
    assert len(world.journal.history(profile.profile_of(world).kyc_id)) == steps + changed


@pytest.mark.parametrize("state", KYC_STATUSES)
def test_kyc_refuses_the_current_status_and_unknown_causes(state: str) -> None:
    with pytest.raises(IllegalMove):
        KYC.next(state, "set_kyc", state)
    with pytest.raises(IllegalMove):
        KYC.next(state, "approve")


@pytest.mark.parametrize(("state", "target"), list(product(PROFILE_STATUSES, PROFILE_STATUSES)))
def test_every_profile_status_transition(state: str, target: str) -> None:
    world = fresh()
    act(world, "set_profile", status=state)
    steps = len(world.journal.history(profile.profile_of(world).user_id))
    done = act(world, "set_profile", status=target)
    assert done.resource is not None
    assert done.resource["status"] == target == get(world, "/profile")["status"]
    assert len(world.journal.history(profile.profile_of(world).user_id)) == steps + (state != target)
    assert event_types(world) == []


@pytest.mark.parametrize("state", PROFILE_STATUSES)
def test_no_profile_transition_keeps_the_status(state: str) -> None:
    with pytest.raises(IllegalMove):
        PROFILE.next(state, "set_profile", state)


def test_kyc_detail_of_a_fresh_account() -> None:
    assert get(fresh(), "/profile/kyc") == {
        "kyc_status": "approved",
        "account_type": "individual",
        "level": 2,
        "submitted_at": START_AT,
        "reviewed_at": START_AT,
        "required_actions": [],
    }


def test_events_go_to_both_environments_sandbox_first_with_the_kyc_detail() -> None:
    """Decision S25: the answer lists the envelopes of both environments."""
    world = fresh()
    done = act(world, "set_kyc", "production", status="rejected")
    assert [(event.environment, event.type) for event in done.events] == [
        ("sandbox", "kyc.rejected"),
        ("production", "kyc.rejected"),
    ]
    envelopes = [json.loads(event.raw) for event in done.events]
    assert [envelope["livemode"] for envelope in envelopes] == [False, True]
    assert envelopes[0]["data"]["object"] == envelopes[1]["data"]["object"] == done.resource
    assert done.resource == get(world, "/profile/kyc")


def test_times_follow_submission_and_review() -> None:
    world = fresh()
    advance(world, world.now_ms + 3_600_000)

    def times(status: str) -> tuple[str | None, str | None]:
        act(world, "set_kyc", status=status)
        shown = get(world, "/profile/kyc")
        return shown["submitted_at"], shown["reviewed_at"]

    assert times("rejected") == (START_AT, LATER)
    assert times("not_started") == (None, None)
    assert times("approved") == (LATER, LATER)
    assert times("pending") == (LATER, None)


def test_required_actions_are_shown_until_the_status_changes() -> None:
    world = fresh()
    needed = [{"code": "proof_of_address", "message": "Send a utility bill."}]
    act(world, "set_kyc", status="action_required", required_actions=needed)
    assert get(world, "/profile/kyc")["required_actions"] == needed
    act(world, "set_kyc", status="action_required")
    assert get(world, "/profile/kyc")["required_actions"] == needed
    act(world, "set_kyc", status="approved")
    assert get(world, "/profile/kyc")["required_actions"] == []


def test_action_required_has_a_default_required_action() -> None:
    world = world_with_kyc("action_required")
    assert [sorted(item) for item in get(world, "/profile/kyc")["required_actions"]] == [["code", "message"]]
    act(world, "set_kyc", status="action_required", required_actions=[])
    assert get(world, "/profile/kyc")["required_actions"] == []


@pytest.mark.parametrize(
    ("values", "code", "param"),
    [
        ({}, "missing_parameter", "status"),
        ({"status": "unknown"}, "invalid_parameter", "status"),
        ({"status": "approved", "level": 4}, "invalid_parameter", "level"),
        ({"status": "approved", "level": 0}, "invalid_parameter", "level"),
        ({"status": "approved", "level": "2"}, "invalid_parameter", "level"),
        ({"status": "approved", "level": True}, "invalid_parameter", "level"),
        ({"status": "approved", "required_actions": "x"}, "invalid_parameter", "required_actions"),
        ({"status": "approved", "required_actions": ["x"]}, "invalid_parameter", "required_actions"),
    ],
)
def test_wrong_parameters_of_set_kyc_change_nothing(values: dict[str, Any], code: str, param: str) -> None:
    world = fresh()
    before = get(world, "/profile/kyc")
    with pytest.raises(ControlError) as refused:
        act(world, "set_kyc", **values)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, code, param)
    assert get(world, "/profile/kyc") == before


@pytest.mark.parametrize("values", [{}, {"status": "open"}])
def test_wrong_parameters_of_set_profile(values: dict[str, Any]) -> None:
    with pytest.raises(ControlError) as refused:
        act(fresh(), "set_profile", **values)
    assert (refused.value.status, refused.value.param) == (400, "status")


def test_the_gates_are_open_on_a_fresh_account() -> None:
    world = fresh()
    profile.require_active(world)
    profile.require_kyc(world)
    profile.require_production_access(world)


@pytest.mark.parametrize("status", ["suspended", "closed"])
def test_a_profile_that_is_not_active_is_forbidden_and_can_come_back(status: str) -> None:
    world = fresh()
    act(world, "set_profile", status=status)
    with pytest.raises(ApiError) as refused:
        profile.require_active(world)
    assert (refused.value.code, refused.value.status) == ("forbidden", 403)
    act(world, "set_profile", status="active")
    profile.require_active(world)


@pytest.mark.parametrize("status", [status for status in KYC_STATUSES if status != "approved"])
def test_without_approved_kyc_kyc_is_required(status: str) -> None:
    """Decision H18."""
    with pytest.raises(ApiError) as refused:
        profile.require_kyc(world_with_kyc(status))
    assert (refused.value.code, refused.value.status) == ("kyc_required", 403)


def test_production_access_is_withdrawn_and_granted() -> None:
    world = fresh()
    done = act(world, "set_production_access", granted=False)
    assert done.resource is not None
    assert done.resource["production_access"] is False
    with pytest.raises(ApiError) as refused:
        profile.require_production_access(world)
    assert (refused.value.code, refused.value.status) == ("production_access_required", 403)
    act(world, "set_production_access", granted=True)
    profile.require_production_access(world)
    for values in ({}, {"granted": "yes"}):
        with pytest.raises(ControlError) as wrong:
            act(world, "set_production_access", **values)
        assert (wrong.value.status, wrong.value.param) == (400, "granted")


def test_the_profile_stays_readable_for_suspended_and_closed_accounts() -> None:
    gates = {(row.method, row.path): row.profile_gate for row in profile.ROOM.operations}
    assert gates == {
        ("GET", "/profile"): False,
        ("PATCH", "/profile"): True,
        ("GET", "/profile/kyc"): False,
        ("GET", "/profile/limits"): False,
    }
