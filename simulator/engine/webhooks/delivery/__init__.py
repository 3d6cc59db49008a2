"""Delivery of events to endpoints: queues, attempts, retries, faults, and delivery records."""
