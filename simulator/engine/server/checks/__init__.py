"""Checks that run before the operation of a call: idempotency, rate limits, quotas and faults."""
