"""The operations of the profile, and the actions of compliance and support on it.

Chapter "Profile" of the specification; actions of the control interface.
"""

from __future__ import annotations

from simulator.resources.profile import actions, shapes
from simulator.resources.profile.bodies import PatchProfile, SetKyc, SetLimits, SetProductionAccess, SetProfile
from simulator.wire.actions import Action
from simulator.wire.operation import Operation

OPERATIONS = (
    Operation(
        "GET",
        "/profile",
        "get_profile",
        "Profile",
        "The profile of the account",
        actions.show_profile,
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
        actions.patch,
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
        actions.show_kyc,
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
        actions.show_limits,
        shapes.AccountLimits,
        group="profile",
        reads=True,
        profile_gate=False,
    ),
)

ACTIONS = (
    Action("set_kyc", "sets the KYC status, and with a level its limits", actions.set_kyc, parameters=SetKyc),
    Action("set_profile", "makes the profile active, suspended or closed", actions.set_profile, parameters=SetProfile),
    Action("set_limits", "sets account limits of the environment", actions.set_limits, parameters=SetLimits),
    Action(
        "set_production_access",
        "grants or withdraws production access",
        actions.set_production_access,
        parameters=SetProductionAccess,
    ),
    Action("verify_phone", "lets a changed phone number take effect", actions.verify_phone),
)
