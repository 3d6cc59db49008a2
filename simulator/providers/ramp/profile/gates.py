"""The gates of decision H18: what an account must be before an operation is allowed. Each raises its ApiError 403."""

from __future__ import annotations

from simulator.engine.rows.error import ApiError
from simulator.kernel.world import World
from simulator.providers.ramp.profile.records import profile_of
from simulator.providers.ramp.profile.states import KYC_REQUIRED, PRODUCTION_ACCESS_REQUIRED


def require_active(world: World) -> None:
    """Refuse a suspended or closed profile with `forbidden`."""
    status = profile_of(world).status
    if status != "active":
        raise ApiError("forbidden", f"The profile is {status}.")


def require_kyc(world: World) -> None:
    """Refuse an account whose KYC is not approved with `kyc_required`."""
    status = profile_of(world).kyc_status
    if status != "approved":
        raise KYC_REQUIRED.error(f"The account has not passed KYC: its status is {status}.")


def require_production_access(world: World) -> None:
    """Refuse live keys and tokens of an account without production access with `production_access_required`."""
    if not profile_of(world).production_access:
        raise PRODUCTION_ACCESS_REQUIRED.error("The account has no production access yet.")
