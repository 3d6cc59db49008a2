"""The complete error catalogue as one table, and the exception that carries an answer to the wire.

Chapter "Errors" of the specification; `invalid_state` is the one code beyond it (decision H19).
"""

from __future__ import annotations

from dataclasses import field

from simulator.engine.rows.by_name import by_name
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the catalogue: the code, its status, its cause, and what it rests on."""

    code: str
    status: int
    cause: str
    basis: str = "specified"


_ROWS = (
    ErrorCode("unauthorized", 401, "the token is missing, expired or invalid"),
    ErrorCode("invalid_credentials", 401, "the key pair does not match or is revoked"),
    ErrorCode("environment_mismatch", 401, "a sandbox key on production or the reverse"),
    ErrorCode("kyc_required", 403, "the account has not passed KYC"),
    ErrorCode("production_access_required", 403, "live keys before production access was approved"),
    ErrorCode("forbidden", 403, "the key lacks permission, or the profile is not active"),
    ErrorCode("invalid_request", 400, "the body or query is malformed"),
    ErrorCode("missing_parameter", 400, "a required field is absent; param names it"),
    ErrorCode("invalid_parameter", 400, "a value is invalid; param names it"),
    ErrorCode("invalid_date_range", 400, "end_date lies before start_date"),
    ErrorCode("order_not_found", 404, "no order with this order_id for the account"),
    ErrorCode("not_found", 404, "the resource does not exist in this environment"),
    ErrorCode("idempotency_conflict", 409, "the same Idempotency-Key with a different request"),
    ErrorCode("unsupported_pair", 422, "this combination of network, asset, fiat or method is not supported"),
    ErrorCode("amount_too_low", 422, "below the minimum for the pair or asset"),
    ErrorCode("amount_too_high", 422, "above the limit for the pair or account"),
    ErrorCode("quote_expired", 422, "the quote is older than 30 minutes"),
    ErrorCode("quote_already_used", 409, "the quote was already confirmed"),
    ErrorCode("quote_not_found", 404, "no such quote for the account"),
    ErrorCode("invalid_wallet_address", 422, "the address is not valid for the network"),
    ErrorCode("beneficiary_mismatch", 422, "the beneficiary's currency or method does not match the quote"),
    ErrorCode("payment_failed", 422, "the payer's provider declined the collection"),
    ErrorCode("payout_failed", 422, "the recipient's bank or provider rejected the payout; funds refunded"),
    ErrorCode("insufficient_deposit", 422, "the deposit is less than the quoted amount"),
    ErrorCode("insufficient_balance", 422, "the wallet balance is too low"),
    ErrorCode("slippage_exceeded", 422, "the swap rate moved beyond the slippage tolerance"),
    ErrorCode("network_unavailable", 503, "the target network is down or temporarily unavailable"),
    ErrorCode("unsupported_network", 422, "the network is not active or not supported for the operation"),
    ErrorCode("unsupported_asset", 422, "the asset is not available on the network"),
    ErrorCode("invoice_expired", 422, "the Lightning invoice expired before payment"),
    ErrorCode("wallet_disabled", 409, "the wallet is disabled and cannot receive funds"),
    ErrorCode("invalid_phone_number", 422, "the phone number is not valid for the country"),
    ErrorCode("invalid_bank_account", 422, "the bank code or account number was not validated"),
    ErrorCode("unsupported_provider", 422, "the mobile money provider is not supported in the country"),
    ErrorCode("invalid_webhook_url", 422, "the URL is not a public HTTPS endpoint that answers 200"),
    ErrorCode("unsupported_event", 422, "an event type in events does not exist"),
    ErrorCode("rate_limited", 429, "too many requests; wait for the Retry-After header value"),
    ErrorCode("internal_error", 500, "an unexpected error; retry with backoff"),
    ErrorCode("service_unavailable", 503, "the service or a partner is temporarily unavailable"),
    ErrorCode("invalid_state", 409, "the operation is not possible in the present status", "H19"),
)

CATALOGUE = by_name("errors", _ROWS, lambda row: row.code)


@dataclass
class ApiError(Exception):
    """A refusal of the interface: a code of the catalogue, a message for people, the parameter it is about.

    `status` is the catalogue's unless a decision fixes another (405 of H3). `headers` go with the answer.
    """

    code: str
    message: str
    param: str | None = None
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.status:
            self.status = CATALOGUE[self.code].status
        super().__init__(f"{self.code}: {self.message}")

    def envelope(self, request_id: str | None = None) -> JsonObject:
        """The error envelope {error: {code, message, param?, request_id?}}."""
        error: JsonObject = {"code": self.code, "message": self.message}
        if self.param is not None:
            error["param"] = self.param
        if request_id is not None:
            error["request_id"] = request_id
        return {"error": error}


def sentence(text: str) -> str:
    """Text with its full stop, which a question does without."""
    return text if text.endswith("?") else f"{text}."


def missing(param: str) -> ApiError:
    return ApiError("missing_parameter", f"The required parameter `{param}` is missing.", param)


def invalid(param: str, why: str) -> ApiError:
    return ApiError("invalid_parameter", sentence(f"The parameter `{param}` is not valid: {why}"), param)


def not_found(what: str, identifier: str, param: str | None = None) -> ApiError:
    return ApiError("not_found", f"There is no {what} with the id {identifier!r}.", param)


class ControlError(Exception):
    """A refusal of the control interface: any status and code, with further members of `error`."""

    def __init__(self, status: int, code: str, message: str, param: str | None = None, **members: object) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.members = members

    def envelope(self) -> JsonObject:
        error: JsonObject = {"code": self.code, "message": self.message}
        if self.param is not None:
            error["param"] = self.param
        return {"error": error | self.members}
