"""The account: profile, KYC, limits, and the other users of the platform (section "Profile"; decisions H18, M14, S24,
S25).
"""

from __future__ import annotations

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.providers.ramp.profile import limits, operations, records, shapes
from simulator.providers.ramp.profile.limits import (
    LEVEL_CURRENCY,
    LEVEL_MAXIMA,
    PERIODS,
    LimitCharge,
    charge_limits,
    check_amount,
    put_limit,
    release_limits,
    would_exceed_monthly,
)
from simulator.providers.ramp.profile.operations import set_up
from simulator.providers.ramp.profile.records import (
    PlatformUser,
    is_oneself,
    platform_user,
    platform_users,
    profile_of,
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
            records.PROFILES,
            lambda world, record: shapes.show_kyc(profile_of(world)),
            KYC,
            lambda: shapes.KycDetail,
            example_of(__package__, "kyc"),
            status_field="kyc_status",
            listed=False,
            sole=records.kyc,
            put=records.put_kyc,
        ),
        Kind(
            "profile",
            records.PROFILES,
            lambda world, record: shapes.show_profile(profile_of(world), "sandbox"),
            PROFILE,
            lambda: shapes.Profile,
            listed=False,
            sole=records.profile_status,
            put=records.put_status,
        ),
    ),
    tables=(records.PROFILES, records.PLATFORM_USERS, limits.LIMITS, limits.USAGE),
    setup=set_up,
    verify=limits.verify,
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
