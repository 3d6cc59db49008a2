"""What happens to an account: it is set up, patched by its owner, and moved by compliance and support.

Chapter "Profile" of the specification, decisions H6, H18, M14, S24 and S25.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from simulator.kernel.world import World
from simulator.resources import reference
from simulator.resources.profile import limits
from simulator.resources.profile.bodies import PatchProfile
from simulator.resources.profile.records import (
    FRESH_LEVEL,
    PLATFORM_USERS,
    PlatformUser,
    Profile,
    RequiredAction,
    kyc,
    profile_of,
    profile_status,
    write,
)
from simulator.wire.errors import ApiError
from simulator.wire.records import create, move

_OTHER_USERS = (
    ("amina@example.test", "+254712000111", "Amina", "Njeri"),
    ("chidi@example.test", "+2348031000222", "Chidi", "Eze"),
)
_NEEDED = RequiredAction("document_required", "Provide a legible copy of a valid identity document.")


def set_up(world: World) -> None:
    """Make a fresh account and the other users of the platform (control interface, "Worlds")."""
    profile = Profile(
        user_id=world.streams.uuid("ids.user"),
        account_type="individual",
        first_name="Wanjiku",
        last_name="Kamau",
        business_name=None,
        email="wanjiku@example.test",
        phone_number="+254712345678",
        country="KE",
        default_currency="KES",
        two_factor_enabled=True,
        status="",
        kyc_status="",
        kyc_level=FRESH_LEVEL,
        submitted_at_ms=world.now_ms,
        reviewed_at_ms=world.now_ms,
        production_access=True,
        created_at_ms=world.now_ms,
    )
    write(world, profile)
    create(world, profile_status(world), "open", announced=False)
    create(world, kyc(world), "open", announced=False)
    users = world.store[PLATFORM_USERS]
    for email, phone_number, first_name, last_name in _OTHER_USERS:
        user = PlatformUser(world.streams.uuid("ids.user"), email, phone_number, first_name, last_name)
        users.put(user.user_id, user)


def patch(world: World, wanted: PatchProfile) -> Profile:
    """Change what the owner may change; a new phone number waits for its verification (decision S24).

    ApiError invalid_phone_number when the number is not a valid international one.
    """
    profile, given = profile_of(world), wanted.model_fields_set
    if "phone_number" in given:
        number = wanted.phone_number
        if not reference.is_phone(number):
            raise ApiError("invalid_phone_number", "The phone number is not a valid international one.", "phone_number")
        profile = replace(profile, pending_phone_number=number if number != profile.phone_number else None)
    if "first_name" in given:
        profile = replace(profile, first_name=wanted.first_name)
    if "last_name" in given:
        profile = replace(profile, last_name=wanted.last_name)
    if "default_currency" in given:
        profile = replace(profile, default_currency=wanted.default_currency)
    return write(world, profile)


def verify_phone(world: World) -> Profile:
    """Let the waiting phone number take effect; LookupError when none is waiting."""
    profile = profile_of(world)
    if profile.pending_phone_number is None:
        raise LookupError("no phone number is waiting to be verified")
    return write(world, replace(profile, phone_number=profile.pending_phone_number, pending_phone_number=None))


def set_kyc(
    world: World, status: str, level: int | None = None, required_actions: Sequence[RequiredAction] | None = None
) -> Profile:
    """Set KYC: on a change to approved, action_required or rejected, an event in both environments, sandbox first.

    A level brings its maxima with it. Setting the present status changes the details given, and emits nothing.
    """
    profile = profile_of(world)
    if level is not None:
        limits.follow_level(world)
        profile = replace(profile, kyc_level=level)
    moves = status != profile.kyc_status
    if moves:
        profile = _reviewed(world, profile, status)
    if required_actions is not None:
        profile = replace(profile, required_actions=tuple(required_actions))
    if not moves:
        return write(world, profile)
    move(world, replace(kyc(world), profile=profile), "set_kyc", status)
    return profile_of(world)


def _reviewed(world: World, profile: Profile, status: str) -> Profile:
    """The times of a KYC that reaches this status now, and what it asks for when nobody says."""
    now_ms = world.now_ms
    profile = replace(profile, required_actions=())
    if status == "not_started":
        return replace(profile, submitted_at_ms=None, reviewed_at_ms=None)
    if status == "pending":
        return replace(profile, submitted_at_ms=now_ms, reviewed_at_ms=None)
    submitted_at_ms = now_ms if profile.submitted_at_ms is None else profile.submitted_at_ms
    needed = (_NEEDED,) if status == "action_required" else ()
    return replace(profile, submitted_at_ms=submitted_at_ms, reviewed_at_ms=now_ms, required_actions=needed)


def set_status(world: World, status: str) -> Profile:
    """Suspend, close or reopen the profile; the present status is no change."""
    account = profile_status(world)
    if status != account.status:
        move(world, account, "set_profile", status)
    return profile_of(world)


def set_production_access(world: World, granted: bool) -> Profile:
    return write(world, replace(profile_of(world), production_access=granted))


def set_limits(world: World, environment: str, maxima: dict[str, Decimal]) -> None:
    """Set maxima of one environment by hand, in the profile's default currency."""
    for period, amount in maxima.items():
        limits.override(world, environment, period, amount)
