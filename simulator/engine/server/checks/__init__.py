"""Checks before a call reaches its operation: gates, idempotency, limits, quotas, faults."""
