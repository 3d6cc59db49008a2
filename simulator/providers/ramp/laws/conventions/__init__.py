"""Laws about every resource: lists, paging, errors, idempotency, texts."""
