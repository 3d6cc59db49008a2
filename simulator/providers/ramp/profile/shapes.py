"""How the profile, KYC and the limits are shown (tables "Profile", "KYC detail" and "Limits" of the specification)."""

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
    """The account behind the key, as its dashboard shows it."""

    user_id: Uuid
    """The id of the account; other users of the service can send to it."""
    account_type: AccountType
    """Whether the account is a person's or a company's."""
    first_name: str
    """First name of the person, or of who acts for the company."""
    last_name: str
    """Last name of the person, or of who acts for the company."""
    business_name: str | None
    """Name of the company; null for an individual."""
    email: Annotated[str, Format("email")]
    """The verified e-mail address; notices of the service go there."""
    phone_number: PhoneText
    """The verified phone number, in international format."""
    country: CountryText
    """The country of the account, by its two-letter code (ISO 3166-1)."""
    default_currency: FiatText
    """The fiat currency in which limits are counted and shown."""
    kyc_status: KycText
    """How far the check of identity has come; only `approved` accounts move money."""
    two_factor_enabled: bool
    """Whether signing in to the dashboard takes a second factor."""
    environment: Annotated[str, OneOf(ENVIRONMENTS)]
    """The environment of the key that was used."""
    status: Annotated[str, OneOf(PROFILE_STATUSES)]
    """Whether the account may be used."""
    created_at: Timestamp
    """When the account was opened."""


class RequiredAction(TypedDict):
    """Something that compliance still needs."""

    code: str
    """What is needed, for programs."""
    message: str
    """What is needed, for people."""


class KycDetail(TypedDict):
    """How far the check of the account's identity has come, and what it still needs."""

    kyc_status: KycText
    """How far it has come; only `approved` accounts move money."""
    account_type: AccountType
    """Whether the account is a person's or a company's."""
    level: Annotated[int, Field(ge=1, le=3), Assumed("M14", "minimum", "maximum")]
    """The tier that the account has reached; a higher one has higher limits."""
    submitted_at: Annotated[Timestamp | None, Assumed("kyc-times", "nullable")]
    """When the documents were handed in; null before."""
    reviewed_at: Annotated[Timestamp | None, Assumed("kyc-times", "nullable")]
    """When compliance last decided; null before."""
    required_actions: list[RequiredAction]
    """What compliance still needs; empty when nothing."""


class TransactionLimit(TypedDict):
    """How much a single transaction may move."""

    max: AmountText
    """The most that one transaction may move."""


class PeriodLimit(TypedDict):
    """How much may be moved in a period, and how much of it is left."""

    max: AmountText
    """The most that may be moved in the period."""
    used: AmountText
    """What has been moved in the present period."""
    remaining: AmountText
    """What may still be moved in it."""


class LimitSet(TypedDict):
    """The limits of the account, in its currency."""

    per_transaction: TransactionLimit
    """What a single transaction may move."""
    daily: PeriodLimit
    """What may be moved in a day."""
    monthly: PeriodLimit
    """What may be moved in a month."""


class LimitResets(TypedDict):
    """When the periods of the limits begin anew."""

    daily: Timestamp
    """When the next day begins and `daily.used` is zero again."""
    monthly: Timestamp
    """When the next month begins and `monthly.used` is zero again."""


class AccountLimits(TypedDict):
    """How much the account may move, by its KYC level, and what is used of it."""

    currency: FiatText
    """The fiat currency of all amounts here: the profile's `default_currency`."""
    limits: LimitSet
    """The limits and what is used of them."""
    resets_at: LimitResets
    """When the periods begin anew."""


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
    "Profile": (Profile, KycDetail, RequiredAction, AccountLimits, LimitSet, TransactionLimit, PeriodLimit, LimitResets)
}
