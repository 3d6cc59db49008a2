"""The account: profile, KYC, limits, and the other users of the platform (decisions H18, M14, S24, S25)."""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.providers.ramp.profile import operations, shapes
from simulator.providers.ramp.profile.limits import (
    LEVEL_CURRENCY,
    LEVEL_MAXIMA,
    LIMITS,
    PERIODS,
    USAGE,
    LimitCharge,
    charge_limits,
    check_amount,
    put_limit,
    release_limits,
    verify,
    would_exceed_monthly,
)
from simulator.providers.ramp.profile.operations import set_up
from simulator.providers.ramp.profile.records import (
    PLATFORM_USERS,
    PROFILES,
    PlatformUser,
    is_oneself,
    kyc,
    platform_user,
    platform_users,
    profile_of,
    profile_status,
    put_kyc,
    put_status,
    require_active,
    require_kyc,
    require_production_access,
)
from simulator.providers.ramp.profile.states import AMOUNT_TOO_HIGH, ERRORS, EVENTS, KYC, PROFILE

ROOM = Room(
    "profile",
    operations=(operations.get_profile, operations.update_profile, operations.get_kyc, operations.get_limits),
    actions=operations.ACTIONS,
    kinds=(
        Kind(
            "kyc",
            PROFILES,
            lambda world, record: shapes.show_kyc(profile_of(world)),
            KYC,
            lambda: shapes.KycDetail,
            example_of(__package__, "kyc"),
            status_field="kyc_status",
            listed=False,
            sole=kyc,
            put=put_kyc,
        ),
        Kind(
            "profile",
            PROFILES,
            lambda world, record: shapes.show_profile(profile_of(world), "sandbox"),
            PROFILE,
            lambda: shapes.Profile,
            listed=False,
            sole=profile_status,
            put=put_status,
        ),
    ),
    tables=(PROFILES, PLATFORM_USERS, LIMITS, USAGE),
    setup=set_up,
    verify=verify,
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
