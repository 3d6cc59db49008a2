"""The account with its KYC and production access, access checks, and the other users of the platform. Both environments
share the account (decision S25), so each world saves it once.
"""

from __future__ import annotations

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.kind import Record
from simulator.kernel.dataclass import dataclass, replace
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.profile.states import KYC_REQUIRED, PRODUCTION_ACCESS_REQUIRED

ACCOUNT = "account"
FRESH_LEVEL = 2


@dataclass(frozen=True, slots=True)
class RequiredAction:
    """An action that compliance requires from the account owner."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The account. Fields ending in `_ms` are times in milliseconds."""

    user_id: Id
    account_type: str
    first_name: str
    last_name: str
    business_name: str | None
    email: str
    phone_number: str
    country: str
    default_currency: str
    two_factor_enabled: bool
    status: str
    kyc_status: str
    kyc_level: int
    submitted_at_ms: Milliseconds | None
    reviewed_at_ms: Milliseconds | None
    production_access: bool
    created_at_ms: Milliseconds
    required_actions: tuple[RequiredAction, ...] = ()
    pending_phone_number: str | None = None
    """The new phone number until it is verified, otherwise None (decision S24)."""

    @property
    def kyc_id(self) -> str:
        """The id of the KYC resource. Its history is saved under this id."""
        return f"{self.user_id}:kyc"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileStatus(Record):
    """The account as a resource whose status can change. The status is saved in `Profile`."""

    kind = "profile"
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Kyc(Record):
    """The account's KYC as a resource. In events, its id is the account's user_id."""

    kind = "kyc"
    profile: Profile

    @property
    def object_id(self) -> str:
        return self.profile.user_id


@dataclass(frozen=True, slots=True)
class PlatformUser:
    """Another user of the platform, who can receive internal transfers."""

    user_id: Id
    email: str
    phone_number: str
    first_name: str
    last_name: str


PROFILES = TableKey("profile", Profile)
PLATFORM_USERS = TableKey("platform_users", PlatformUser)


def profile_of(world: World) -> Profile:
    """Return the account of a world."""
    return world.store[PROFILES].rows[ACCOUNT]  # read five times per request, and a method takes twice as long


def write(world: World, profile: Profile) -> Profile:
    """Save the account. To change a status, apply a transition instead."""
    world.store[PROFILES].put(ACCOUNT, profile)
    return profile


def profile_status(world: World) -> ProfileStatus:
    """Return the account as a resource whose status can change."""
    profile = profile_of(world)
    began_ms = profile.created_at_ms
    return ProfileStatus(
        id=profile.user_id,
        environment="",
        sequence=0,
        created_at_ms=began_ms,
        updated_at_ms=began_ms,
        status=profile.status,
        profile=profile,
    )


def kyc(world: World) -> Kyc:
    """Return the account's KYC."""
    profile = profile_of(world)
    began_ms = profile.created_at_ms
    return Kyc(
        id=profile.kyc_id,
        environment="",
        sequence=0,
        created_at_ms=began_ms,
        updated_at_ms=began_ms,
        status=profile.kyc_status,
        profile=profile,
    )


def put_status(world: World, record: ProfileStatus) -> None:
    """Save the account's status in its profile."""
    write(world, replace(record.profile, status=record.status))


def put_kyc(world: World, record: Kyc) -> None:
    """Save the account's KYC in its profile."""
    write(world, replace(record.profile, kyc_status=record.status))


def platform_users(world: World) -> list[PlatformUser]:
    """Return the other users of the platform, without the account itself."""
    return list(world.store[PLATFORM_USERS].values())


def platform_user(
    world: World, *, user_id: str | None = None, email: str | None = None, phone_number: str | None = None
) -> PlatformUser | None:
    """Return the other user with the given id, e-mail address or phone number, or None if there is none."""
    return next((user for user in platform_users(world) if _matches(user, user_id, email, phone_number)), None)


def is_oneself(
    world: World, *, user_id: str | None = None, email: str | None = None, phone_number: str | None = None
) -> bool:
    """Return True if an id, e-mail address or phone number belongs to the account itself."""
    return _matches(profile_of(world), user_id, email, phone_number)


def _matches(person: Profile | PlatformUser, user_id: str | None, email: str | None, phone_number: str | None) -> bool:
    if user_id is not None:
        return person.user_id == user_id.lower()
    if email is not None:
        return person.email.casefold() == email.casefold()
    return phone_number is not None and person.phone_number == phone_number


def require_active(world: World) -> None:
    """Raise `ApiError` 403 forbidden if the profile is suspended or closed."""
    status = profile_of(world).status
    if status != "active":
        raise ApiError("forbidden", f"The profile is {status}.")


def require_kyc(world: World) -> None:
    """Raise `ApiError` 403 kyc_required if the account's KYC is not approved."""
    status = profile_of(world).kyc_status
    if status != "approved":
        raise KYC_REQUIRED.error(f"The account has not passed KYC: its status is {status}.")


def require_production_access(world: World) -> None:
    """Raise `ApiError` 403 production_access_required if the account has no production access."""
    if not profile_of(world).production_access:
        raise PRODUCTION_ACCESS_REQUIRED.error("The account has no production access yet.")
