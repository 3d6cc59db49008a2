"""How the profile, KYC and the limits are shown (tables "Profile", "KYC detail" and "Limits" of the specification)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.world import ENVIRONMENTS, World
from simulator.resources import reference
from simulator.resources.profile import limits, records
from simulator.resources.profile.states import KYC_STATUSES, PROFILE_STATUSES
from simulator.wire.shapes import AmountText, Clauses, CountryText, FiatText, Format, OneOf, PhoneText, Timestamp, Uuid

KycStatus = Literal["not_started", "pending", "action_required", "approved", "rejected"]
AccountType = Annotated[str, OneOf(("individual", "business"))]
KycText = Annotated[str, OneOf(KYC_STATUSES)]


class Profile(TypedDict):
    user_id: Uuid
    account_type: AccountType
    first_name: str
    last_name: str
    business_name: str | None
    email: Annotated[str, Format("email")]
    phone_number: PhoneText
    country: CountryText
    default_currency: FiatText
    kyc_status: KycText
    two_factor_enabled: bool
    environment: Annotated[str, OneOf(ENVIRONMENTS)]
    status: Annotated[str, OneOf(PROFILE_STATUSES)]
    created_at: Timestamp


class RequiredAction(TypedDict):
    code: str
    message: str


class KycDetail(TypedDict):
    kyc_status: KycText
    account_type: AccountType
    level: Annotated[int, Field(ge=1, le=3)]
    submitted_at: Timestamp | None
    reviewed_at: Timestamp | None
    required_actions: list[RequiredAction]


class TransactionLimit(TypedDict):
    max: AmountText


class PeriodLimit(TypedDict):
    max: AmountText
    used: AmountText
    remaining: AmountText


class LimitSet(TypedDict):
    per_transaction: TransactionLimit
    daily: PeriodLimit
    monthly: PeriodLimit


class LimitResets(TypedDict):
    daily: Timestamp
    monthly: Timestamp


class AccountLimits(TypedDict):
    currency: FiatText
    limits: LimitSet
    resets_at: LimitResets


def show_profile(profile: records.Profile, environment: str) -> Profile:
    """The profile as a key of this environment sees it."""
    return {
        "user_id": profile.user_id,
        "account_type": profile.account_type,
        "first_name": profile.first_name,
        "last_name": profile.last_name,
        "business_name": profile.business_name,
        "email": profile.email,
        "phone_number": profile.phone_number,
        "country": profile.country,
        "default_currency": profile.default_currency,
        "kyc_status": profile.kyc_status,
        "two_factor_enabled": profile.two_factor_enabled,
        "environment": environment,
        "status": profile.status,
        "created_at": format_timestamp(profile.created_at_ms),
    }


def show_kyc(profile: records.Profile) -> KycDetail:
    return {
        "kyc_status": profile.kyc_status,
        "account_type": profile.account_type,
        "level": profile.kyc_level,
        "submitted_at": format_moment(profile.submitted_at_ms),
        "reviewed_at": format_moment(profile.reviewed_at_ms),
        "required_actions": [{"code": item.code, "message": item.message} for item in profile.required_actions],
    }


def show_limits(world: World, environment: str) -> AccountLimits:
    """The limits of an environment in the profile's default currency, at this instant."""
    currency = reference.FIATS[records.profile_of(world).default_currency]
    daily_ms, monthly_ms = limits.resets_at_ms(world)

    def period(name: str) -> PeriodLimit:
        return {
            "max": currency.format(limits.maximum(world, environment, name)),
            "used": currency.format(limits.used(world, environment, name)),
            "remaining": currency.format(limits.remaining(world, environment, name)),
        }

    return {
        "currency": currency.code,
        "limits": {
            "per_transaction": {"max": currency.format(limits.maximum(world, environment, "per_transaction"))},
            "daily": period("daily"),
            "monthly": period("monthly"),
        },
        "resets_at": {"daily": format_timestamp(daily_ms), "monthly": format_timestamp(monthly_ms)},
    }


CLAUSES: Clauses = {
    "Profile": (
        Profile,
        KycDetail,
        RequiredAction,
        AccountLimits,
        LimitSet,
        TransactionLimit,
        PeriodLimit,
        LimitResets,
    ),
}
