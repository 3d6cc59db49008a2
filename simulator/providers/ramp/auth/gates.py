"""What a caller needs before anything of a call is looked at (decisions H2 and H18)."""

from __future__ import annotations

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call, Operation
from simulator.engine.worlds.settings import assumes
from simulator.providers.ramp.auth.operations import permits, require_access
from simulator.providers.ramp.profile import require_active, require_kyc


def check_gates(operation: Operation, call: Call) -> None:
    """403 for the environment, the permissions of the key, the profile and the KYC, in this order.

    A call without a caller is the account's own (a control call makes it), which no key restricts.
    """
    if not operation.token:
        return
    require_access(call.world, call.environment)
    if call.caller is not None and not permits(call.caller, operation.group, operation.reads):
        raise ApiError("forbidden", "This key pair lacks the permission for this operation.")
    if operation.profile_gate:
        require_active(call.world)
    if operation.money or (operation.profile_gate and assumes(call.world, "H18", "kyc_for_every_call")):
        require_kyc(call.world)
