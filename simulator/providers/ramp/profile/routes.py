"""The operations of the profile, and the actions of compliance and support on it.

Chapter "Profile" of the specification; actions of the control interface.
"""

from __future__ import annotations

from simulator.engine.rows.action import Action
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.profile import actions, bodies, shapes

OPERATIONS = (
    Operation(
        "GET",
        "/profile",
        "get_profile",
        "Profile",
        "The profile of the account",
        actions.show_profile,
        lambda: shapes.Profile,
        group="profile",
        reads=True,
        profile_gate=False,
        description=(
            "Shows the account behind the key: who it belongs to, whether it may move money, and its default currency."
        ),
    ),
    Operation(
        "PATCH",
        "/profile",
        "update_profile",
        "Profile",
        "Change names, phone number or default currency; a new phone number must be verified first",
        actions.patch,
        lambda: shapes.Profile,
        body=lambda: bodies.PatchProfile,
        group="profile",
        errors=("invalid_parameter", "invalid_phone_number"),
        description=(
            "Changes the fields that are sent and leaves the others. A new phone number must be verified before "
            "it takes effect: until then the answer shows the old one. E-mail, country, account type and "
            "business details cannot be changed through the interface."
        ),
    ),
    Operation(
        "GET",
        "/profile/kyc",
        "get_kyc",
        "Profile",
        "The state of KYC",
        actions.show_kyc,
        lambda: shapes.KycDetail,
        group="profile",
        reads=True,
        profile_gate=False,
        description=(
            "Shows how far the check of the account's identity has come, the tier it has reached, and what "
            "compliance still needs."
        ),
    ),
    Operation(
        "GET",
        "/profile/limits",
        "get_limits",
        "Profile",
        "The account's limits and what is used of them",
        actions.show_limits,
        lambda: shapes.AccountLimits,
        group="profile",
        reads=True,
        profile_gate=False,
        description=(
            "Shows how much the account may move in one transaction, in a day and in a month, how much of it is "
            "used, and when the counts begin anew. Ramps, purchases and withdrawals count, in fiat; a higher "
            "KYC level has higher limits."
        ),
    ),
)

ACTIONS = (
    Action(
        "set_kyc", "sets the KYC status, and with a level its limits", actions.set_kyc, parameters=lambda: bodies.SetKyc
    ),
    Action(
        "set_profile",
        "makes the profile active, suspended or closed",
        actions.set_profile,
        parameters=lambda: bodies.SetProfile,
    ),
    Action(
        "set_limits", "sets account limits of the environment", actions.set_limits, parameters=lambda: bodies.SetLimits
    ),
    Action(
        "set_production_access",
        "grants or withdraws production access",
        actions.set_production_access,
        parameters=lambda: bodies.SetProductionAccess,
    ),
    Action("verify_phone", "lets a changed phone number take effect", actions.verify_phone),
)
