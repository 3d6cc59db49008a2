"""Behaviour rules for all resources: lists, paging, errors, idempotency, strings."""
