"""GET and PATCH /profile (decisions H5, H6, S24, S25)."""

from __future__ import annotations

import uuid

import pytest

from simulator.engine.rows.error import ApiError, ControlError
from simulator.providers.ramp import profile
from tests.support import event_types
from tests.unit.ramp.profile.support import act, fresh, get, patch

FIELDS = [
    "user_id",
    "account_type",
    "first_name",
    "last_name",
    "business_name",
    "email",
    "phone_number",
    "country",
    "default_currency",
    "kyc_status",
    "two_factor_enabled",
    "environment",
    "status",
    "created_at",
]


def test_a_fresh_profile_is_an_active_approved_individual_in_kenya() -> None:
    shown = get(fresh(), "/profile")
    assert list(shown) == FIELDS
    assert uuid.UUID(shown["user_id"]).version == 4
    assert shown["account_type"] == "individual"
    assert shown["business_name"] is None
    assert (shown["country"], shown["default_currency"]) == ("KE", "KES")
    assert (shown["kyc_status"], shown["status"]) == ("approved", "active")
    assert shown["created_at"] == "2026-01-05T08:00:00.000Z"


def test_the_environment_is_that_of_the_key() -> None:
    world = fresh()
    sandbox, production = get(world, "/profile"), get(world, "/profile", "production")
    assert (sandbox["environment"], production["environment"]) == ("sandbox", "production")
    assert sandbox["user_id"] == production["user_id"]


def test_the_same_seed_makes_the_same_people_and_another_seed_others() -> None:
    assert get(fresh(seed=7), "/profile") == get(fresh(seed=7), "/profile")
    assert get(fresh(seed=7), "/profile")["user_id"] != get(fresh(seed=8), "/profile")["user_id"]
    assert profile.platform_users(fresh(seed=7)) == profile.platform_users(fresh(seed=7))


def test_only_the_fields_sent_change() -> None:
    world = fresh()
    before = get(world, "/profile")
    after = patch(world, {"first_name": "Achieng"})
    assert after == before | {"first_name": "Achieng"}
    assert patch(world, {"last_name": "Odhiambo", "default_currency": "NGN"}) == after | {
        "last_name": "Odhiambo",
        "default_currency": "NGN",
    }
    assert patch(world, {}) == get(world, "/profile")
    assert event_types(world) == []


@pytest.mark.parametrize("field", ["email", "country", "account_type", "business_name", "business_registration_number"])
@pytest.mark.parametrize("value", ["x", None, 5])
def test_an_immutable_field_is_refused_by_name(field: str, value: object) -> None:
    """Decision H6: `invalid_parameter` naming the field."""
    world = fresh()
    before = get(world, "/profile")
    with pytest.raises(ApiError) as refused:
        patch(world, {"first_name": "Achieng", field: value})
    assert (refused.value.code, refused.value.param) == ("invalid_parameter", field)
    assert get(world, "/profile") == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("default_currency", "USD"),
        ("default_currency", "kes"),
        ("default_currency", None),
        ("first_name", None),
        ("first_name", ""),
        ("first_name", 5),
        ("last_name", None),
        ("phone_number", None),
        ("phone_number", 254712000009),
    ],
)
def test_a_malformed_value_or_null_is_refused(field: str, value: object) -> None:
    """Decision H6: a default_currency outside the five."""
    with pytest.raises(ApiError) as refused:
        patch(fresh(), {field: value})
    assert (refused.value.code, refused.value.status, refused.value.param) == ("invalid_parameter", 400, field)


@pytest.mark.parametrize("number", ["0712000009", "+254", "+2547", "", "+254 712", "hello", "+999712000009"])
def test_a_phone_number_that_is_not_international_and_valid_is_refused(number: str) -> None:
    world = fresh()
    with pytest.raises(ApiError) as refused:
        patch(world, {"first_name": "Achieng", "phone_number": number})
    assert (refused.value.code, refused.value.status) == ("invalid_phone_number", 422)
    assert refused.value.param == "phone_number"
    assert get(world, "/profile")["first_name"] != "Achieng"


def test_a_new_phone_number_takes_effect_when_it_is_verified() -> None:
    """Decision S24."""
    world = fresh()
    old = get(world, "/profile")["phone_number"]
    assert patch(world, {"phone_number": "+254722000009"})["phone_number"] == old
    assert get(world, "/profile")["phone_number"] == old
    done = act(world, "verify_phone")
    assert done.resource is not None
    assert done.resource["phone_number"] == "+254722000009"
    assert get(world, "/profile", "production")["phone_number"] == "+254722000009"
    assert event_types(world) == []


def test_there_must_be_a_number_to_verify() -> None:
    world = fresh()
    with pytest.raises(ControlError) as refused:
        act(world, "verify_phone")
    assert (refused.value.status, refused.value.code) == (409, "invalid_transition")
    assert "set_kyc" in refused.value.envelope()["error"]["allowed"]
    assert "verify_phone" not in refused.value.envelope()["error"]["allowed"]


def test_sending_the_present_number_drops_the_waiting_one() -> None:
    world = fresh()
    old = get(world, "/profile")["phone_number"]
    patch(world, {"phone_number": "+254722000009"})
    patch(world, {"phone_number": old})
    with pytest.raises(ControlError):
        act(world, "verify_phone")


def test_unknown_fields_change_nothing() -> None:
    world = fresh()
    before = get(world, "/profile")
    assert patch(world, {"kyc_status": "rejected", "two_factor_enabled": False}) == before


def test_two_other_users_are_found_by_id_email_and_phone() -> None:
    world = fresh()
    amina, chidi = profile.platform_users(world)
    assert (amina.email, amina.phone_number) == ("amina@example.test", "+254712000111")
    assert (chidi.email, chidi.phone_number) == ("chidi@example.test", "+2348031000222")
    assert profile.platform_user(world, user_id=amina.user_id) == amina
    assert profile.platform_user(world, email="Chidi@example.test") == chidi
    assert profile.platform_user(world, phone_number="+254712000111") == amina
    assert profile.platform_user(world, phone_number="+254 712 000 111") is None
    assert profile.platform_user(world, phone_number="+254712000002") is None
    assert profile.platform_user(world, email="nobody@example.test") is None
    assert profile.platform_user(world) is None


def test_account_is_not_among_other_users_but_recognises_itself() -> None:
    world = fresh()
    me = profile.profile_of(world)
    assert profile.platform_user(world, user_id=me.user_id) is None
    assert profile.is_oneself(world, user_id=me.user_id)
    assert profile.is_oneself(world, email=me.email)
    assert profile.is_oneself(world, phone_number=me.phone_number)
    assert not profile.is_oneself(world, email="amina@example.test")
