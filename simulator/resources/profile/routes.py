"""The operations of the profile, and the actions of compliance and support on it.

Chapter "Profile" of the specification; actions of the control interface.
"""

from __future__ import annotations

from decimal import Decimal

from simulator.resources.profile import actions, shapes
from simulator.resources.profile.bodies import PatchProfile, SetKyc, SetLimits, SetProductionAccess, SetProfile
from simulator.resources.profile.records import RequiredAction, profile_of
from simulator.wire.actions import Action, ActionCall
from simulator.wire.errors import ControlError, invalid
from simulator.wire.fields import Nothing
from simulator.wire.json import JsonObject
from simulator.wire.operation import Call, Operation


def _get_profile(call: Call[None, None, None]) -> shapes.Profile:
    return shapes.show_profile(profile_of(call.world), call.environment)


def _patch_profile(call: Call[PatchProfile, None, None]) -> shapes.Profile:
    for name in call.body.model_extra or ():
        if name.startswith("business"):
            raise invalid(name, "it cannot be changed through the interface")
    return shapes.show_profile(actions.patch(call.world, call.body), call.environment)


def _get_kyc(call: Call[None, None, None]) -> shapes.KycDetail:
    return shapes.show_kyc(profile_of(call.world))


def _get_limits(call: Call[None, None, None]) -> shapes.AccountLimits:
    return shapes.show_limits(call.world, call.environment)


OPERATIONS = (
    Operation(
        "GET",
        "/profile",
        "get_profile",
        "Profile",
        "The profile of the account",
        _get_profile,
        shapes.Profile,
        group="profile",
        reads=True,
        profile_gate=False,
    ),
    Operation(
        "PATCH",
        "/profile",
        "update_profile",
        "Profile",
        "Change names, phone number or default currency; a new phone number must be verified first",
        _patch_profile,
        shapes.Profile,
        body=PatchProfile,
        group="profile",
        errors=("invalid_parameter", "invalid_phone_number"),
    ),
    Operation(
        "GET",
        "/profile/kyc",
        "get_kyc",
        "Profile",
        "The state of KYC",
        _get_kyc,
        shapes.KycDetail,
        group="profile",
        reads=True,
        profile_gate=False,
    ),
    Operation(
        "GET",
        "/profile/limits",
        "get_limits",
        "Profile",
        "The account's limits and what is used of them",
        _get_limits,
        shapes.AccountLimits,
        group="profile",
        reads=True,
        profile_gate=False,
    ),
)


def _set_kyc(call: ActionCall[None, SetKyc]) -> shapes.KycDetail:
    wanted = call.parameters
    needed = wanted.required_actions
    return shapes.show_kyc(
        actions.set_kyc(
            call.world,
            wanted.status,
            wanted.level,
            None if needed is None else [RequiredAction(item.code, item.message) for item in needed],
        )
    )


def _set_profile(call: ActionCall[None, SetProfile]) -> shapes.Profile:
    return shapes.show_profile(actions.set_status(call.world, call.parameters.status), call.environment)


def _set_limits(call: ActionCall[None, SetLimits]) -> shapes.AccountLimits:
    given = call.parameters.model_dump(include=set(SetLimits.model_fields), exclude_none=True)
    actions.set_limits(call.world, call.environment, {name: Decimal(text) for name, text in given.items()})
    return shapes.show_limits(call.world, call.environment)


def _set_production_access(call: ActionCall[None, SetProductionAccess]) -> JsonObject:
    profile = actions.set_production_access(call.world, call.parameters.granted)
    return {**shapes.show_profile(profile, call.environment), "production_access": profile.production_access}


def _verify_phone(call: ActionCall[None, Nothing]) -> shapes.Profile:
    try:
        profile = actions.verify_phone(call.world)
    except LookupError as error:
        allowed = [trigger.name for trigger in ACTIONS if trigger.name != "verify_phone"]
        raise ControlError(409, "invalid_transition", f"Nothing to verify: {error}.", allowed=allowed) from None
    return shapes.show_profile(profile, call.environment)


ACTIONS = (
    Action("set_kyc", "sets the KYC status, and with a level its limits", _set_kyc, parameters=SetKyc),
    Action("set_profile", "makes the profile active, suspended or closed", _set_profile, parameters=SetProfile),
    Action("set_limits", "sets account limits of the environment", _set_limits, parameters=SetLimits),
    Action(
        "set_production_access",
        "grants or withdraws production access",
        _set_production_access,
        parameters=SetProductionAccess,
    ),
    Action("verify_phone", "lets a changed phone number take effect", _verify_phone),
)
