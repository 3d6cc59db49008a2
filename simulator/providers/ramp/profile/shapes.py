"""Response models for profile, KYC and limits (tables "Profile", "KYC detail" and "Limits" of the specification)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.text.shapes import AmountText, Assumed, Clauses, Format, Meanings, OneOf, Timestamp, Uuid
from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.profile import limits, records
from simulator.providers.ramp.profile.states import KYC_STATUSES, PROFILE_STATUSES
from simulator.providers.ramp.shapes import CountryText, FiatText, PhoneText

KycStatus = Annotated[
    Literal["not_started", "pending", "action_required", "approved", "rejected"], Meanings(KYC_STATUSES)
]
ACCOUNT_TYPES = {"individual": "The account of a person.", "business": "The account of a company."}
ENVIRONMENTS = {"sandbox": "No real money moves.", "production": "Real money moves."}
AccountType = Annotated[str, OneOf(ACCOUNT_TYPES)]
KycText = Annotated[str, OneOf(KYC_STATUSES)]


class Profile(TypedDict):
    """The account that the API key belongs to."""

    user_id: Uuid
    """The id of the account. Other users of the service can send to it."""
    account_type: AccountType
    """The type of account."""
    first_name: str
    """The first name of the account holder, or of the company's representative."""
    last_name: str
    """The last name of the account holder, or of the company's representative."""
    business_name: str | None
    """The name of the company. Null for an individual."""
    email: Annotated[str, Format("email")]
    """The verified e-mail address, which receives notices from the service."""
    phone_number: PhoneText
    """The verified phone number, in international format."""
    country: CountryText
    """The country of the account, as a two-letter code (ISO 3166-1)."""
    default_currency: FiatText
    """The fiat currency of the account's limits."""
    kyc_status: KycText
    """The status of the identity check. Only `approved` accounts can move money."""
    two_factor_enabled: bool
    """True if signing in to the dashboard requires a second factor."""
    environment: Annotated[str, OneOf(ENVIRONMENTS)]
    """The environment that the API key belongs to."""
    status: Annotated[str, OneOf(PROFILE_STATUSES)]
    """The status of the account."""
    created_at: Timestamp
    """The creation time of the account."""


class RequiredAction(TypedDict):
    """An action that compliance requires."""

    code: str
    """A code for the required action."""
    message: str
    """A description of the required action."""


class KycDetail(TypedDict):
    """The status of the account's identity check, and the actions that are still required."""

    kyc_status: KycText
    """The status. Only `approved` accounts can move money."""
    account_type: AccountType
    """The type of account."""
    level: Annotated[int, Field(ge=1, le=3), Assumed("M14", "minimum", "maximum")]
    """The tier of the account. A higher tier has higher limits."""
    submitted_at: Annotated[Timestamp | None, Assumed("kyc-times", "nullable")]
    """The time at which the documents were submitted, or null if they have not been submitted."""
    reviewed_at: Annotated[Timestamp | None, Assumed("kyc-times", "nullable")]
    """The time of compliance's last decision, or null if there is none."""
    required_actions: list[RequiredAction]
    """The required actions. Empty if there are none."""


class TransactionLimit(TypedDict):
    """The limit for a single transaction."""

    max: AmountText
    """The maximum amount of one transaction."""


class PeriodLimit(TypedDict):
    """The limit for a period, and its usage."""

    max: AmountText
    """The maximum amount in the period."""
    used: AmountText
    """The amount used in the current period."""
    remaining: AmountText
    """The amount that remains in the current period."""


class LimitSet(TypedDict):
    """The limits of the account, in its default currency."""

    per_transaction: TransactionLimit
    """The limit for a single transaction."""
    daily: PeriodLimit
    """The limit for a day."""
    monthly: PeriodLimit
    """The limit for a month."""


class LimitResets(TypedDict):
    """The times at which the limit periods reset."""

    daily: Timestamp
    """The start of the next day, when `daily.used` is reset to zero."""
    monthly: Timestamp
    """The start of the next month, when `monthly.used` is reset to zero."""


class AccountLimits(TypedDict):
    """The account's limits, which depend on its KYC level, and their usage."""

    currency: FiatText
    """The fiat currency of all amounts in this response, which is the profile's `default_currency`."""
    limits: LimitSet
    """The limits and their usage."""
    resets_at: LimitResets
    """The times at which the periods reset."""


def show_profile(profile: records.Profile, environment: str) -> Profile:
    """Return the response body for the profile. `environment` is the environment of the request."""
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
    """Return the current limits of an environment, in the profile's default currency."""
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
    "Profile": (Profile, KycDetail, RequiredAction, AccountLimits, LimitSet, TransactionLimit, PeriodLimit, LimitResets)
}
