"""The account: its creation, changes by its owner, and changes by compliance and support (section "Profile";
decisions H6, H18, M14, S24).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from simulator.engine.records.records import create, move
from simulator.engine.rows.action import Action, ActionCall, Initial
from simulator.engine.rows.error import ControlError, invalid
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.text.fields import Nothing
from simulator.engine.text.json import JsonObject
from simulator.engine.worlds.settings import assumes
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.profile import bodies, limits, records, shapes
from simulator.providers.ramp.profile.records import PlatformUser, Profile, RequiredAction
from simulator.providers.ramp.reference import INVALID_PHONE_NUMBER

operation = OperationDecorator("Profile", group="profile")

_OTHER_USERS = (
    ("amina@example.test", "+254712000111", "Amina", "Njeri"),
    ("chidi@example.test", "+2348031000222", "Chidi", "Eze"),
)

_NEEDED = RequiredAction("document_required", "Provide a legible copy of a valid identity document.")


def set_up(world: World) -> None:
    """Create the account and the other platform users of a new world (control API, "Worlds")."""
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
        kyc_level=records.FRESH_LEVEL,
        submitted_at_ms=world.now_ms,
        reviewed_at_ms=world.now_ms,
        production_access=True,
        created_at_ms=world.now_ms,
    )
    records.write(world, profile)
    create(world, records.profile_status(world), "open", announced=False)
    create(world, records.kyc(world), "open", announced=False)
    users = world.store[records.PLATFORM_USERS]
    for email, phone_number, first_name, last_name in _OTHER_USERS:
        user = PlatformUser(world.streams.uuid("ids.user"), email, phone_number, first_name, last_name)
        users.put(user.user_id, user)


@operation("GET /profile", "The profile of the account", profile_gate=False)
def get_profile(call: Call[None, None, None]) -> shapes.Profile:
    """Returns the account that the API key belongs to: its owner, its status and its default currency."""
    return shapes.show_profile(records.profile_of(call.world), call.environment)


@operation(
    "PATCH /profile",
    "Change names, phone number or default currency; a new phone number must be verified first",
    errors=("invalid_parameter", "invalid_phone_number"),
)
def update_profile(call: Call[bodies.PatchProfile, None, None]) -> shapes.Profile:
    """Changes the given fields only. A new phone number takes effect once it has been verified. Until then, responses
    contain the old number. E-mail, country, account type and business details cannot be changed through the API.
    """
    world, wanted = call.world, call.body
    for name in wanted.model_extra or ():
        if name.startswith("business"):
            raise invalid(name, "it cannot be changed through the API")
    profile, given = records.profile_of(world), wanted.model_fields_set
    if "phone_number" in given:
        number = wanted.phone_number
        if not reference.is_phone(number):
            raise INVALID_PHONE_NUMBER.error(
                "The phone number is not a valid international phone number.", "phone_number"
            )
        if assumes(world, "S24", "number_takes_effect_at_once"):
            profile = replace(profile, phone_number=number, pending_phone_number=None)
        else:
            profile = replace(profile, pending_phone_number=number if number != profile.phone_number else None)
    changed = wanted.model_dump(include=given & {"first_name", "last_name", "default_currency"})
    profile = replace(profile, **changed)
    return shapes.show_profile(records.write(world, profile), call.environment)


@operation("GET /profile/kyc", "The state of KYC", profile_gate=False, shows="kyc")
def get_kyc(call: Call[None, None, None]) -> shapes.KycDetail:
    """Returns the status of the account's identity check, the account's tier, and any actions that compliance still
    requires.
    """
    return shapes.show_kyc(records.profile_of(call.world))


@operation("GET /profile/limits", "The account's limits and their usage", profile_gate=False)
def get_limits(call: Call[None, None, None]) -> shapes.AccountLimits:
    """Returns the account's limits per transaction, day and month, the amounts used so far, and the times at which the
    periods reset. The fiat amounts of ramps, purchases and withdrawals count towards the limits. A higher KYC level has
    higher limits.
    """
    return shapes.show_limits(call.world, call.environment)


def set_kyc(call: ActionCall[None, bodies.SetKyc]) -> shapes.KycDetail:
    """Set the KYC status and details. A change to approved, action_required or rejected emits an event in both
    environments, starting with the sandbox. If a level is given, its limits apply.
    """
    world, wanted, profile = call.world, call.parameters, records.profile_of(call.world)
    if wanted.level is not None:
        limits.follow_level(world)
        profile = replace(profile, kyc_level=wanted.level)
    moves = wanted.status != profile.kyc_status
    if moves:
        profile = _reviewed(world, profile, wanted.status)
    if wanted.required_actions is not None:
        needed = tuple(RequiredAction(item.code, item.message) for item in wanted.required_actions)
        profile = replace(profile, required_actions=needed)
    if moves:
        move(world, replace(records.kyc(world), profile=profile), "set_kyc", wanted.status)
    else:
        records.write(world, profile)
    return shapes.show_kyc(records.profile_of(world))


def _reviewed(world: World, profile: Profile, status: str) -> Profile:
    """Return a copy of a profile with the timestamps and actions of the KYC status `status`, which the caller sets."""
    now_ms = world.now_ms
    profile = replace(profile, required_actions=())
    if status == "not_started":
        return replace(profile, submitted_at_ms=None, reviewed_at_ms=None)
    if status == "pending":
        return replace(profile, submitted_at_ms=now_ms, reviewed_at_ms=None)
    submitted_at_ms = now_ms if profile.submitted_at_ms is None else profile.submitted_at_ms
    needed = (_NEEDED,) if status == "action_required" else ()
    return replace(profile, submitted_at_ms=submitted_at_ms, reviewed_at_ms=now_ms, required_actions=needed)


def set_profile(call: ActionCall[None, bodies.SetProfile]) -> shapes.Profile:
    """Suspend, close or reopen the profile. Setting the current status again has no effect."""
    account = records.profile_status(call.world)
    if call.parameters.status != account.status:
        move(call.world, account, "set_profile", call.parameters.status)
    return shapes.show_profile(records.profile_of(call.world), call.environment)


def set_limits(call: ActionCall[None, bodies.SetLimits]) -> shapes.AccountLimits:
    """Override the limits of one environment. The amounts are in the profile's default currency."""
    given = call.parameters.model_dump(include=set(bodies.SetLimits.model_fields), exclude_none=True)
    currency = records.profile_of(call.world).default_currency
    for period, amount in given.items():
        limits.put_limit(call.world, call.environment, period, Decimal(amount), currency)
    return shapes.show_limits(call.world, call.environment)


def set_production_access(call: ActionCall[None, bodies.SetProductionAccess]) -> JsonObject:
    """Grant or revoke production access."""
    profile = records.write(
        call.world, replace(records.profile_of(call.world), production_access=call.parameters.granted)
    )
    return {**shapes.show_profile(profile, call.environment), "production_access": profile.production_access}


def verify_phone(call: ActionCall[None, Nothing]) -> shapes.Profile:
    """Verify the new phone number. Raise `ControlError` 409 if no phone number is waiting to be verified."""
    profile = records.profile_of(call.world)
    if profile.pending_phone_number is None:
        message = "Nothing to verify: no phone number is waiting to be verified."
        # Referred to by name, because `ACTIONS` refers to these functions and is defined after them.
        allowed = ["set_kyc", "set_profile", "set_limits", "set_production_access"]
        raise ControlError(409, "invalid_transition", message, allowed=allowed)
    profile = records.write(
        call.world, replace(profile, phone_number=profile.pending_phone_number, pending_phone_number=None)
    )
    return shapes.show_profile(profile, call.environment)


ACTIONS = (
    Action(
        "set_kyc",
        "sets the KYC status and, if a level is given, the limits of that level",
        set_kyc,
        parameters=lambda: bodies.SetKyc,
        initially=Initial("kyc", "The KYC status of the account", 5, is_list=False),
    ),
    Action(
        "set_profile",
        "makes the profile active, suspended or closed",
        set_profile,
        parameters=lambda: bodies.SetProfile,
    ),
    Action(
        "set_limits",
        "sets account limits of the environment",
        set_limits,
        parameters=lambda: bodies.SetLimits,
        initially=Initial("limits", "The limits of the account", 4, is_list=False),
    ),
    Action(
        "set_production_access",
        "grants or withdraws production access",
        set_production_access,
        parameters=lambda: bodies.SetProductionAccess,
    ),
    Action("verify_phone", "lets a changed phone number take effect", verify_phone),
)
