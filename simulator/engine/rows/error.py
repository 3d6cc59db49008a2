"""Error codes, and exceptions that become error responses. Source: section "Errors"; H19 for `invalid_state`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the error catalogue: the code, its status, its cause, and its source."""

    code: str
    status: int
    cause: str
    basis: str = "specified"
    anywhere: bool = False
    """True if any operation may return it undeclared. It is checked before the operation's rules (decision H2)."""
    lasting: bool = False
    """True if repeating the request returns the same error. Other errors may disappear after a state change."""
    after: str = ""
    """The preceding code in the catalogue, if it is not the previous code in the same package."""

    @property
    def name(self) -> str:
        return self.code

    def error(self, message: str, param: str | None = None) -> ApiError:
        return ApiError(self.code, message, param, self.status)


ENGINE_ERRORS: Mapping[str, ErrorCode] = {
    row.code: row
    for row in (
        ErrorCode("unauthorized", 401, "the token is missing, expired or invalid", anywhere=True),
        ErrorCode("forbidden", 403, "the key lacks permission, or the profile is not active", anywhere=True),
        ErrorCode("invalid_request", 400, "the body or query is malformed", anywhere=True, lasting=True),
        ErrorCode("missing_parameter", 400, "a required field is absent; param names it", anywhere=True, lasting=True),
        ErrorCode("invalid_parameter", 400, "a value is invalid; param names it", anywhere=True, lasting=True),
        ErrorCode("invalid_date_range", 400, "end_date is before start_date", anywhere=True, lasting=True),
        ErrorCode("not_found", 404, "the resource does not exist in this environment", anywhere=True, lasting=True),
        ErrorCode("idempotency_conflict", 409, "the same Idempotency-Key with a different request", anywhere=True),
        ErrorCode("rate_limited", 429, "too many requests; wait for the Retry-After header value", anywhere=True),
        ErrorCode("internal_error", 500, "an unexpected error; retry with backoff", anywhere=True),
        ErrorCode("service_unavailable", 503, "the service or a partner is temporarily unavailable", anywhere=True),
        ErrorCode("invalid_state", 409, "the operation is not possible in the present status", "H19"),
    )
}
"""The errors that the engine itself raises, in every service."""


@dataclass
class ApiError(Exception):
    """A refusal by the API: a code from the error catalogue, a readable message, and the invalid parameter, if any. The
    default of `status` is the HTTP status of the code. Some design decisions prescribe another status (decision H3:
    405). Raise `KeyError` if no status is given and the code is not one of the engine's codes. `headers` are sent with
    the response.
    """

    code: str
    message: str
    param: str | None = None
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.status:
            self.status = ENGINE_ERRORS[self.code].status
        super().__init__(f"{self.code}: {self.message}")

    def envelope(self, request_id: str | None = None) -> JsonObject:
        """Return the error envelope {error: {code, message, param?, request_id?}}."""
        return _envelope(self, {} if request_id is None else {"request_id": request_id})


def sentence(text: str) -> str:
    """Return a string with a full stop added, unless it is a question."""
    return text if text.endswith("?") else f"{text}."


def missing(param: str) -> ApiError:
    return ApiError("missing_parameter", f"The required parameter `{param}` is missing.", param)


def invalid(param: str, why: str) -> ApiError:
    return ApiError("invalid_parameter", sentence(f"The parameter `{param}` is not valid: {why}"), param)


def not_found(what: str, identifier: str, param: str | None = None) -> ApiError:
    return ApiError("not_found", f"There is no {what} with the id {identifier!r}.", param)


class ControlError(Exception):
    """A refusal by the control interface. `members` are additional fields of the error object."""

    def __init__(self, status: int, code: str, message: str, param: str | None = None, **members: object) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.members = members

    def envelope(self) -> JsonObject:
        return _envelope(self, self.members)


def _envelope(error: ApiError | ControlError, more: Mapping[str, object]) -> JsonObject:
    param = {} if error.param is None else {"param": error.param}
    return {"error": {"code": error.code, "message": error.message, **param, **more}}
