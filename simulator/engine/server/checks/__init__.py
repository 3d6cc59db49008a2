"""Checks before a call reaches its operation: gates, idempotency, rate limits, quotas and faults."""
