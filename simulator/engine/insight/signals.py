"""The kinds of advice as one table, and the signal: one place in the traffic that shows one of them."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.engine.records.advice import AdviceKind, Severity
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.kernel.dataclass import dataclass

INFO: Severity = "info"
WARNING: Severity = "warning"
ERROR: Severity = "error"


@dataclass(frozen=True)
class Signal:
    """One place that shows a kind of advice about a subject: calls (`requests`), or other ids (`evidence`).

    `detail` fills the message; `severity` replaces the kind's. `at_ms` is simulated time, None where there is none.
    """

    kind: str
    subject: str
    at_ms: int | None
    requests: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    detail: str = ""
    severity: Severity | None = None


_KINDS: Mapping[str, AdviceKind] = {
    "unknown_field": AdviceKind(
        WARNING,
        "{subject} was sent a field or parameter that it does not know: {detail}.",
        "Correct the name or leave it out; the service ignores it, so what you meant does not happen.",
        "decision H6",
    ),
    "post_without_key": AdviceKind(
        WARNING,
        "{subject} was called without an Idempotency-Key.",
        "Send a fresh Idempotency-Key with every POST and the same one when you retry it.",
        "Errors, retry guidance; decision H14",
    ),
    "retried_with_new_key": AdviceKind(
        ERROR,
        "{subject} got no answer or a failure ({detail}) and was repeated under another Idempotency-Key.",
        "Store the key before the first try, and send the same one with every retry.",
        "Errors, retry guidance; decision H14",
    ),
    "key_reused": AdviceKind(
        ERROR,
        "{subject} was refused because its Idempotency-Key had come with another request: {detail}.",
        "Make one key for one thing that is to be done, for example from the id of your order.",
        "Errors, retry guidance; decision H14",
    ),
    "reference_paid_twice": AdviceKind(
        WARNING,
        "{subject} was done twice under one reference, {detail}, and neither came to nothing.",
        "Let one order be paid once: claim it in your database first, and take its id for the Idempotency-Key.",
        "Errors, retry guidance; decision H14",
    ),
    "polling_without_webhooks": AdviceKind(
        INFO,
        "{subject} was read {detail} times, and no webhook endpoint is registered.",
        "Register an endpoint, and read the resource when an event tells of it.",
        "Events",
    ),
    "unchanged_retry": AdviceKind(
        WARNING,
        "{subject} was repeated unchanged after it had answered {detail}.",
        "Do not retry 400, 403, 404 and 422 without changing the request.",
        "Errors, retry guidance",
    ),
    "retry_before_retry_after": AdviceKind(
        WARNING,
        "{subject} was retried after {detail}, before the time of Retry-After had passed.",
        "Wait for the Retry-After header value, then retry with exponential backoff.",
        "Errors, rate_limited",
    ),
    "retry_without_backoff": AdviceKind(
        WARNING,
        "{subject} was retried without backoff after {detail}.",
        "Retry 429, 500 and 503 with growing waits, for example 1 s, 2 s, 4 s, up to 5 attempts.",
        "Errors, retry guidance",
    ),
    "not_retried": AdviceKind(
        WARNING,
        "{subject} answered {detail} and was never retried.",
        "Retry 429, 500 and 503 with exponential backoff and the same Idempotency-Key.",
        "Errors, retry guidance",
    ),
    "not_reauthenticated": AdviceKind(
        ERROR,
        "Calls were answered 401 unauthorized and no new token was requested afterwards.",
        "After a 401 request a new token with POST /auth/token and repeat the call with it.",
        "Authentication, item 5",
    ),
    "token_per_request": AdviceKind(
        WARNING,
        "Tokens of {subject} were replaced after at most one call each, while they were still valid.",
        "Keep a token for its expires_in (one hour) and share it between calls.",
        "Authentication, item 3",
    ),
    "fast_polling": AdviceKind(
        WARNING,
        "{subject} was read again and again within a second, and nothing had changed.",
        "Poll once a second at most, or better wait for the webhook.",
        "Events",
    ),
    "amount_as_number": AdviceKind(
        ERROR,
        "{subject} was refused because {detail} was sent as a JSON number.",
        'Send amounts as decimal strings, for example "100.00".',
        "General conventions, item 3; decision H7",
    ),
    "limit_alias": AdviceKind(
        INFO,
        "{subject} was asked with `limit`.",
        "Use `size`; `limit` is only an alias kept for compatibility.",
        "Common list parameters; Versioning",
    ),
    "webhook_not_acknowledged": AdviceKind(
        WARNING,
        "The endpoint {subject} did not acknowledge deliveries: {detail}.",
        "Answer 2xx within 10 seconds, and do the work afterwards.",
        "Delivery rules, item 1",
    ),
    "webhook_slow": AdviceKind(
        WARNING,
        "The endpoint {subject} took {detail} to acknowledge; at 10 s the delivery counts as failed.",
        "Put the event in a queue, answer 2xx at once, and do the work afterwards.",
        "Delivery rules, item 1",
    ),
    "forged_webhook_accepted": AdviceKind(
        ERROR,
        "The endpoint {subject} acknowledged a webhook whose signature does not fit its body.",
        "Compare X-Signature with your own HMAC over the raw body, in constant time, and refuse what differs.",
        "Delivery and signature",
    ),
    "stale_webhook_accepted": AdviceKind(
        ERROR,
        "The endpoint {subject} acknowledged a webhook whose X-Timestamp is more than 5 minutes off.",
        "Refuse a webhook whose X-Timestamp differs from your clock by more than 5 minutes.",
        "Delivery and signature",
    ),
    "not_fetched_after_event": AdviceKind(
        INFO,
        "{subject} was acknowledged, but the resource was not read afterwards.",
        "Re-fetch the resource after an event: events can arrive more than once or out of order.",
        "Delivery rules, item 4",
    ),
    "fault_never_hit": AdviceKind(
        INFO,
        "The fault {subject} was never hit.",
        "Check its `match`, or make the traffic that it should disturb.",
        "control interface, faults",
    ),
    "step_skipped": AdviceKind(
        INFO,
        "A step of a scenario was skipped: {subject} ({detail}).",
        "Somebody else was faster, or the object had moved on; change the scenario if that was not meant.",
        "scenario files, rules of evaluation",
    ),
    "step_failed": AdviceKind(
        ERROR,
        "A step of a scenario failed and was undone: {subject} ({detail}).",
        "Correct the parameters of the step; when it fails again at once, the scenario is stopped.",
        "scenario files, rules of evaluation",
    ),
    "scenario_stopped": AdviceKind(
        ERROR,
        "The scenario {subject} was stopped: {detail}.",
        "Correct the scenario and upload it again, or activate it again.",
        "scenario files, rules of evaluation",
    ),
}


def kinds(vocabulary: Vocabulary) -> Mapping[str, AdviceKind]:
    """Return the kinds of advice on a service, by name."""
    return {**_KINDS, **vocabulary.provider.advice}
