"""Checks before a call reaches its operation: idempotency, rate limits, quotas and faults."""
